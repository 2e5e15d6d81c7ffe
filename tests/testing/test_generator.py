"""Do the parameters come out as asked? A breadth-first crawl with the real link extractor tells."""

import statistics
import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coati.errors import ConfigError, UsageError
from coati.model import Failure, Other, Page, Redirect, Target
from coati.testing.generator import generate_site
from coati.testing.paper_sites import PAPER_SITES, paper_site_parameters
from coati.testing.section_families import FAMILIES
from coati.testing.site_parameters import SiteParameters
from coati.web.urls import extension_of, normalise
from tests.testing.survey import Survey

# The corners of the paper's Table 1: flat and rich, deep, poor, many pages with targets, many errors.
SITES = {
    "default": SiteParameters(),
    "flat": SiteParameters(pages=600, target_share=0.67, pages_with_targets=0.05, target_depth=2.8),
    "deep": SiteParameters(pages=800, target_depth=60, pages_with_targets=0.2, target_share=0.3),
    "poor": SiteParameters(pages=1200, target_share=0.03, pages_with_targets=0.0074),
    "rich": SiteParameters(pages=600, target_share=0.59, pages_with_targets=0.41, target_depth=5.2),
    "lopsided": SiteParameters(pages=600, barren_depth=0.5, rich_last=1),
    "buried": SiteParameters(pages=600, barren_depth=-0.5, rich_last=-1, target_depth=8),
    "wasteful": SiteParameters(pages=500, error_share=0.29, redirect_share=0.1, other_share=0.05),
}


@pytest.fixture(scope="module", params=SITES)
def surveyed(request: pytest.FixtureRequest) -> tuple[SiteParameters, Survey]:
    parameters = SITES[request.param]
    return parameters, Survey(generate_site(parameters, seed=3))


def test_counts_come_out_exactly(surveyed: tuple[SiteParameters, Survey]) -> None:
    parameters, survey = surveyed
    assert len(survey.urls(Page)) == parameters.pages
    assert len(survey.urls(Target)) == parameters.targets
    assert len(survey.rewards()) == parameters.target_pages


def test_shares_of_what_is_no_use_come_out(surveyed: tuple[SiteParameters, Survey]) -> None:
    parameters, survey = surveyed
    assert survey.share(Failure) == pytest.approx(parameters.error_share, abs=0.01)
    assert survey.share(Redirect) == pytest.approx(parameters.redirect_share, abs=0.01)
    assert survey.share(Other) == pytest.approx(parameters.other_share, abs=0.01)


def test_targets_are_as_deep_as_asked(surveyed: tuple[SiteParameters, Survey]) -> None:
    parameters, survey = surveyed
    assert survey.target_depth() == pytest.approx(parameters.target_depth, rel=0.25)


def test_extensionless_targets_come_out(surveyed: tuple[SiteParameters, Survey]) -> None:
    parameters, survey = surveyed
    targets = survey.urls(Target)
    bare = sum(not extension_of(url) for url in targets) / len(targets)
    assert bare == pytest.approx(parameters.extensionless_share, abs=0.15)


def test_pages_have_the_size_and_the_links_that_were_asked_for(
    surveyed: tuple[SiteParameters, Survey],
) -> None:
    parameters, survey = surveyed
    pages = [outcome for outcome in survey.outcomes.values() if isinstance(outcome, Page)]
    assert statistics.mean(page.size_bytes for page in pages) == pytest.approx(parameters.page_bytes, rel=0.1)
    assert statistics.median(len(page.links.urls) for page in pages) == pytest.approx(
        parameters.links_per_page, abs=2
    )


def test_every_url_is_normal_unique_and_answers_what_the_site_lists(
    surveyed: tuple[SiteParameters, Survey],
) -> None:
    _, survey = surveyed
    urls = list(survey.site)
    assert len(urls) == len(set(urls)) == len(survey.site)
    assert [url for url in urls if normalise(url) != url] == []
    assert [url for url in urls if url not in survey.site.responses] == []
    # All but the pictures, which the rules of a crawl leave out, is reachable, and nothing else but the one
    # place outside.
    reachable = {url for url in survey.outcomes if url.startswith(survey.site.start_url)}
    assert reachable == {url for url in urls if "/pictures/" not in url}


@pytest.mark.parametrize(("depth", "rich_last"), [(3.0, -1), (6.0, 0), (6.0, 1)])
def test_barren_pages_lie_beyond_the_targets_or_before_them(depth: float, rich_last: float) -> None:
    def depths(barren: float) -> tuple[list[int], list[int]]:
        parameters = SiteParameters(
            pages=500, target_depth=depth, barren_depth=barren, rich_last=rich_last, page_bytes=100
        )
        survey = Survey(generate_site(parameters, seed=2))
        pages, targets = survey.urls(Page), survey.urls(Target)
        return [survey.depths[url] for url in pages], [survey.depths[url] for url in targets]

    pages, targets = depths(0.6)
    assert sum(place > max(targets) for place in pages) >= 0.5 * len(pages)
    pages, targets = depths(-0.6)
    assert sum(place <= statistics.median(targets) for place in pages) >= 0.6 * len(pages)
    assert statistics.mean(targets) == pytest.approx(depth, rel=0.25)


def test_sections_with_targets_stand_where_they_are_asked_for() -> None:
    def sections(rich_last: float) -> list[str]:
        site = generate_site(SiteParameters(pages=300, target_depth=3, rich_last=rich_last), seed=1)
        outcome = Survey(site).outcomes[site.start_url]
        assert isinstance(outcome, Page)
        links = [outcome.links.link(index) for index in range(len(outcome.links.urls))]
        urls = [link.url for link in links if "li.section" in link.tag_path]
        return [url.removeprefix(site.start_url).split("/")[0] for url in urls]

    rich = {family.name for family in FAMILIES if family.rich}
    last, first = ([name in rich for name in sections(value)] for value in (1, -1))
    assert last == sorted(last) != first == sorted(first, reverse=True)


def test_rewards_are_heavy_tailed() -> None:
    parameters = SiteParameters(
        pages=2500, target_share=0.5, reward_spread=3.0, links_per_page=5, page_bytes=100
    )
    rewards = Survey(generate_site(parameters, seed=1)).rewards()
    assert statistics.mean(rewards) == pytest.approx(10, abs=0.1)
    assert statistics.pstdev(rewards) / statistics.mean(rewards) == pytest.approx(3.0, rel=0.5)
    assert statistics.median(rewards) < 5
    assert max(rewards) > 100


def test_sizes_of_targets_are_log_normal() -> None:
    parameters = SiteParameters(
        pages=3000, target_share=0.5, target_bytes=1_000_000, target_bytes_sd=2_000_000
    )
    site = generate_site(parameters, seed=1)
    sizes = [site.get(url).size_bytes for url in list(site)[3000:6000]]
    assert statistics.mean(sizes) == pytest.approx(1_000_000, rel=0.15)
    assert statistics.pstdev(sizes) == pytest.approx(2_000_000, rel=0.4)


def test_targets_stand_in_few_places_and_ids_scatter_the_rest() -> None:
    survey = Survey(generate_site(SiteParameters(unique_ids=0), seed=1))
    targets = {survey.tag_paths[url] for url in survey.urls(Target)}
    pages = {survey.tag_paths[url] for url in survey.urls(Page) if url in survey.tag_paths}
    assert len(targets) <= 8
    assert len(targets | pages) <= 30
    assert not targets & pages
    scattered = Survey(generate_site(SiteParameters(unique_ids=0.5), seed=1))
    assert len(set(scattered.tag_paths.values())) > 100


def test_errors_look_like_good_urls() -> None:
    survey = Survey(generate_site(SiteParameters(pages=1000, error_share=0.2), seed=1))
    good_paths = {
        survey.tag_paths[url] for url in survey.urls(Page) + survey.urls(Target) if url in survey.tag_paths
    }
    errors = survey.urls(Failure)
    alike = [url for url in errors if survey.tag_paths[url] in good_paths]
    assert len(alike) > 0.3 * len(errors)
    statuses = {outcome.status for outcome in survey.outcomes.values() if isinstance(outcome, Failure)}
    assert statuses == {403, 404, 410, 500}


def test_redirects_lead_to_pages_targets_chains_loops_and_outside() -> None:
    survey = Survey(generate_site(SiteParameters(pages=500, redirect_share=0.2, target_share=0.5), seed=1))
    kinds = set()
    for url in survey.urls(Redirect):
        hops = [url]
        outcome = survey.outcomes[url]
        while isinstance(outcome, Redirect) and outcome.location not in hops:
            hops.append(outcome.location)
            outcome = survey.outcomes[outcome.location]
        end = "loop" if isinstance(outcome, Redirect) else type(outcome).__name__
        kinds.add((end, len(hops) > 2))
    assert {("Page", False), ("Page", True), ("Target", False), ("loop", False), ("Refused", False)} <= kinds


def test_traps_are_entered_from_honest_pages_and_end_where_the_knobs_say() -> None:
    parameters = SiteParameters(pages=60, calendar_pages=30, concatenating_pages=9, session_pages=40)
    site = generate_site(parameters, seed=1)
    survey = Survey(site)
    assert sum("/calendar/" in url for url in survey.urls(Page)) == 30
    assert sum("sid=" in url for url in survey.urls(Page)) == 40
    # The rules of a crawl stop at the third repetition.
    assert sum("/guide/" in url for url in survey.urls(Page)) == 2
    assert sum("/guide/" in url for url in site) == 9
    assert [url for url in site if url not in site.responses] == []
    assert site.get(site.start_url + "calendar/2022-07").status == 404
    assert site.get(site.start_url + "calendar/2020-13").status == 404


def test_the_seed_decides_and_nothing_else() -> None:
    parameters = SiteParameters(pages=80)

    def everything(seed: int) -> dict[str, object]:
        return dict(generate_site(parameters, seed).responses)

    assert everything(1) == everything(1)
    assert everything(1).keys() != everything(2).keys()


def test_the_base_url_is_all_that_differs_between_places() -> None:
    here, there = (
        generate_site(SiteParameters(pages=30), 1, base) for base in ("http://a.test", "https://b.test:99/")
    )
    assert [url.removeprefix("http://a.test") for url in here] == [
        url.removeprefix("https://b.test:99") for url in there
    ]
    assert "http://a.test.evil.test/" not in here.responses


@pytest.mark.parametrize("base_url", ["a.test", "http://a.test/b", "http://a.test/?q", "ftp://a.test"])
def test_a_base_url_is_an_origin(base_url: str) -> None:
    with pytest.raises(UsageError, match="origin"):
        generate_site(SiteParameters(), 1, base_url)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("pages", 0),
        ("target_share", 1.0),
        ("error_share", -0.1),
        ("error_share", 0.9),
        ("pages_with_targets", 1.1),
        ("pages_with_targets", 0.9),
        ("target_depth", 0.5),
        ("target_depth", 200.0),
        ("templates", 7),
        ("calendar_pages", -1),
        ("reward_spread", -1),
        ("barren_depth", 0.9),
        ("rich_last", -1.1),
    ],
)
def test_knobs_that_no_site_could_have_are_refused(parameter: str, value: float) -> None:
    with pytest.raises(ConfigError, match=r"depth|pages with targets|errors|" + parameter):
        replace(SiteParameters(), **{parameter: value})  # type: ignore[arg-type]


@given(
    st.integers(1, 120),
    st.floats(0, 0.7),
    st.floats(1, 12),
    st.integers(1, 6),
    st.floats(0, 0.3),
    st.integers(0, 2**64),
)
@settings(max_examples=40)
def test_every_url_of_any_site_is_found_again_and_reachable(
    pages: int, target_share: float, depth: float, templates: int, waste: float, seed: int
) -> None:
    parameters = SiteParameters(
        pages=max(pages, round(4 * depth) + 1),
        target_share=target_share,
        pages_with_targets=min(0.5, target_share),
        target_depth=depth,
        templates=templates,
        error_share=waste,
        redirect_share=waste / 2,
        links_per_page=3,
        page_bytes=50,
    )
    site = generate_site(parameters, seed)
    urls = list(site)
    assert len(set(urls)) == len(urls) == len(site)
    reachable = {url for url in Survey(site).outcomes if url.startswith(site.start_url)}
    assert reachable == {url for url in urls if "/pictures/" not in url}


def test_a_big_site_needs_little_memory() -> None:
    tracemalloc.start()
    site = generate_site(SiteParameters(pages=30_000, target_share=0.3, target_depth=6), seed=1)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(site) > 50_000
    assert kept / len(site) < 60


@pytest.mark.parametrize("name", PAPER_SITES)
def test_sites_like_those_of_the_paper(name: str) -> None:
    model = PAPER_SITES[name]
    parameters = replace(paper_site_parameters(name, pages=800), page_bytes=100, links_per_page=5)
    survey = Survey(generate_site(parameters, seed=1))
    pages, targets = len(survey.urls(Page)), len(survey.urls(Target))
    assert targets / (pages + targets) == pytest.approx(model.targets_k / model.available_k, abs=0.01)
    assert 100 * len(survey.rewards()) / pages == pytest.approx(model.pages_with_targets_pct, abs=0.2)
    if parameters.target_pages >= 30:
        # Where a dozen pages have all the targets, chance decides how deep these lie.
        assert survey.target_depth() == pytest.approx(model.target_depth, rel=0.35)


def test_an_unknown_site_of_the_paper_is_named() -> None:
    with pytest.raises(ConfigError, match="'xx'"):
        paper_site_parameters("xx", 100)
