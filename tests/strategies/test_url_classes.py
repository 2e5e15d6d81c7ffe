from __future__ import annotations

import pytest

from coati.errors import ConfigError
from coati.model import NO_LINKS, Failure, Link, Other, Outcome, Page, Redirect, Target
from coati.strategies.confusion import ConfusionMatrix, CountedClasses
from coati.strategies.link_models import URL_CONTEXTS, URL_MODELS, LinkModel
from coati.strategies.state import pack, unpack
from coati.strategies.tag_paths import TagPathStrategy
from coati.strategies.url_classes import LearntClasses, OracleClasses, UrlClass
from coati.testing.checks import check_strategy
from coati.testing.generator import generate_site
from coati.testing.knobs import SiteKnobs
from coati.testing.respond import Responder
from tests.strategies.test_focused import order_of
from tests.strategies.truths import truth_of

START = "http://a.test/"
PAGE, TARGET = Page(200, 1, NO_LINKS), Target(200, 1, "text/csv")
SITE = generate_site(SiteKnobs(pages=30, links_per_page=10, error_share=0.2), 3)


def link(number: int, anchor: str, *, path: tuple[str, ...] = ("html", "a"), context: str = "") -> Link:
    """Make a link whose URL says nothing."""
    return Link(f"{START}{number:04}", path, anchor, context)


@pytest.mark.parametrize("context", URL_CONTEXTS)
@pytest.mark.parametrize("model", URL_MODELS)
def test_every_variant_crawls_by_the_contract(model: str, context: str) -> None:
    def build(start_url: str, seed: int) -> TagPathStrategy:
        return TagPathStrategy(start_url, LearntClasses(model=LinkModel(model, context)), seed)

    check_strategy(lambda site, seed: build(site.start_url, seed), {"wasteful": SITE}, in_flight=[3])


@pytest.mark.parametrize("model", URL_MODELS)
@pytest.mark.parametrize("field", ["anchor", "tag_path", "context"])
def test_with_context_what_the_url_does_not_say_is_learnt(model: str, field: str) -> None:
    classes = LearntClasses(batch=4, model=LinkModel(model, "all"))

    def words(number: int, said: str) -> Link:
        if field == "tag_path":
            return link(number, "", path=("html", said))
        return link(number, said) if field == "anchor" else link(number, "", context=said)

    for number in range(40):
        target = number % 2 == 1
        some = words(number, "download csv" if target else "about us")
        classes.classify(some.url, some)
        classes.probed(some.url, TARGET if target else PAGE)
    for number, (said, expected) in enumerate(
        [("download csv", UrlClass.TARGET), ("about us", UrlClass.PAGE)]
    ):
        some = words(50 + number, said)
        assert classes.classify(some.url, some)[0] is expected


def test_what_was_seen_is_kept_until_the_answer_and_no_longer() -> None:
    classes = LearntClasses(batch=2, model=LinkModel("lr", "all"))
    answers: list[Outcome] = [TARGET, Failure(404, 0, ""), Redirect(301, 0, START), Other(200, 1, "")]
    for number, outcome in enumerate(answers):
        some = link(number, "words")
        classes.classify(some.url, some)
        loaded = LearntClasses(batch=2, model=LinkModel("lr", "all"))
        loaded.load(unpack(pack(classes.save())))
        classes = loaded
        assert classes.save()["class_seen"] == [[some.url, some.url, "words", "html/a", ""]]
        classes.learn(some.url, outcome)
        assert classes.save()["class_seen"] == []
    assert classes.save()["class_texts"] == [[link(0, "").url, "words", "html/a", ""]]


def test_a_server_without_head_loses_no_words() -> None:
    classes = LearntClasses(robust_probes=True, model=LinkModel("lr", "all"))
    some = link(1, "words")
    classes.classify(some.url, some)
    assert classes.probed(some.url, Failure(405, 0, "status 405")) is UrlClass.PAGE
    assert classes.save()["class_seen"] == []


@pytest.mark.parametrize(("model", "context"), [("svn", "url"), ("lr", "al")])
def test_a_misspelt_name_is_an_error_that_knows_the_right_one(model: str, context: str) -> None:
    with pytest.raises(ConfigError, match="did you mean"):
        LinkModel(model, context)


# --- confusion ------------------------------------------------------------------------------------


def test_watching_changes_nothing_and_counts_every_prediction() -> None:
    truth = truth_of(SITE)
    counted = CountedClasses(LearntClasses(), truth)
    answer = Responder(SITE).outcome
    watched = order_of(TagPathStrategy(SITE.start_url, counted, 1), answer)
    assert watched == order_of(TagPathStrategy(SITE.start_url, LearntClasses(), 1), answer)
    # All that can be reached was classified but the start and what HEADs were spent on.
    assert 0.5 * len(truth.urls) < counted.matrix.total < len(truth.urls)
    assert counted.matrix.cells[2][0] + counted.matrix.cells[2][1] > 0


def test_an_oracle_is_never_wrong() -> None:
    truth = truth_of(SITE)
    counted = CountedClasses(OracleClasses(truth), truth)
    order_of(TagPathStrategy(SITE.start_url, counted, 1), Responder(SITE).outcome)
    assert (counted.matrix.misclassification_rate, counted.matrix.cells[2]) == (0, (0, 0))


def test_counts_are_saved() -> None:
    truth = truth_of(SITE)
    counted = CountedClasses(OracleClasses(truth), truth)
    for url in truth.urls:
        counted.classify(url)
    other = CountedClasses(OracleClasses(truth), truth)
    other.load(unpack(pack(counted.save())))
    assert other.matrix == counted.matrix


def test_sites_weigh_the_same_whatever_their_size() -> None:
    small = ConfusionMatrix(((8, 2), (0, 10), (0, 0)))
    large = ConfusionMatrix(((400, 0), (0, 100), (500, 0)))
    nothing = ConfusionMatrix(((0, 0), (0, 0), (0, 0)))
    mean = ConfusionMatrix.mean([small, large, nothing])
    assert list(mean.cells) == [(40, 5), (0, 30), (25, 0)]
    assert mean.misclassification_rate == pytest.approx(100 * 5 / 75)
    assert mean.total == pytest.approx(100)


def test_no_rate_without_pages_and_targets() -> None:
    rates = [
        m.misclassification_rate
        for m in (ConfusionMatrix(((0, 0), (0, 0), (7, 1))), ConfusionMatrix.mean([]))
    ]
    assert rates == [None, None]
