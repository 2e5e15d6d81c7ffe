from __future__ import annotations

import pytest

from coati.errors import ConfigError
from coati.model import NO_LINKS, Failure, Link, Other, Outcome, Page, Redirect, Target
from coati.strategies.sb.link_models import URL_CONTEXTS, URL_MODELS, LinkModel
from coati.strategies.sb.tag_paths import TagPathStrategy
from coati.strategies.sb.url_classes import LearntClasses, UrlClass
from coati.strategies.state import pack, unpack
from coati.testing.checks import check_strategy
from coati.testing.generator import generate_site
from coati.testing.site_parameters import SiteParameters

START = "http://a.test/"
PAGE, TARGET = Page(200, 1, NO_LINKS), Target(200, 1, "text/csv")
SITE = generate_site(SiteParameters(pages=30, links_per_page=10, error_share=0.2), 3)


def link(number: int, anchor: str, *, path: tuple[str, ...] = ("html", "a"), context: str = "") -> Link:
    """Make a link whose URL says nothing."""
    return Link(f"{START}{number:04}", path, anchor, context)


@pytest.mark.parametrize("context", URL_CONTEXTS)
@pytest.mark.parametrize("model", URL_MODELS)
def test_every_variant_crawls_by_the_contract(model: str, context: str) -> None:
    def build(start_url: str, seed: int) -> TagPathStrategy:
        return TagPathStrategy([start_url], LearntClasses(model=LinkModel(model, context)), seed)

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
