"""The sample site is what the demo promises: some hundred pages, a few dozen real files, an ordinary mess."""

import io
import json
import re
import zipfile
from collections import Counter

import pytest

from coati.model import Failure, Page, Redirect, Target
from coati.testing.sample_site import sample_site
from coati.testing.site import Site
from coati.web.media import essence
from coati.web.urls import extension_of, normalise
from tests.testing.survey import Survey


@pytest.fixture(scope="module")
def survey() -> Survey:
    return Survey(sample_site(seed=0))


@pytest.fixture(scope="module")
def site(survey: Survey) -> Site:
    return survey.site


def test_it_has_a_few_hundred_pages_and_a_few_dozen_files(survey: Survey) -> None:
    assert 300 <= len(survey.urls(Page)) <= 500
    assert 50 <= len(survey.urls(Target)) <= 120
    assert 10 <= len(survey.urls(Failure)) <= 60
    assert 8 <= len(survey.urls(Redirect)) <= 30
    # Data hang on a small part of the pages.
    assert len(survey.rewards()) < 0.2 * len(survey.urls(Page))


def test_every_file_is_what_its_type_says(survey: Survey, site: Site) -> None:
    kinds: Counter[str] = Counter()
    for url in survey.urls(Target):
        response = site.get(url)
        body = response.body
        assert body
        kind = essence(response.media_type).rpartition("/")[2].rpartition(".")[2]
        kinds[kind] += 1
        if kind == "json":
            assert json.loads(body)["records"]
        elif kind == "pdf":
            assert body.startswith(b"%PDF-")
            assert body.rstrip().endswith(b"%%EOF")
        elif kind == "csv":
            assert body.count(b"\n") > 1
        else:
            with zipfile.ZipFile(io.BytesIO(body)) as package:
                assert package.testzip() is None
    assert set(kinds) == {"csv", "json", "pdf", "zip", "sheet", "spreadsheet"}
    assert min(kinds.values()) >= 5


def test_files_without_an_extension_say_their_name(survey: Survey, site: Site) -> None:
    bare = [url for url in survey.urls(Target) if not extension_of(url)]
    assert len(bare) >= 10
    assert all("filename=" in site.get(url).header("Content-Disposition") for url in bare)


def test_some_files_have_two_addresses(survey: Survey, site: Site) -> None:
    copies = Counter(site.get(url).body for url in survey.urls(Target))
    assert sum(count > 1 for count in copies.values()) >= 3


def test_robots_txt_closes_a_section_and_names_the_site_map(survey: Survey, site: Site) -> None:
    robots = (site.get(site.start_url + "robots.txt").body or b"").decode()
    assert "Disallow: /internal/" in robots
    assert "rawl-delay" not in robots
    assert f"Sitemap: {site.start_url}sitemap.xml" in robots
    # Honest pages link to what is closed, so a crawler has something to refuse.
    assert {
        site.start_url + "internal/minutes",
        site.start_url + "search?q=population",
    } <= survey.depths.keys()


def test_the_site_map_lists_the_open_pages(survey: Survey, site: Site) -> None:
    sitemap = (site.get(site.start_url + "sitemap.xml").body or b"").decode()
    listed = {url.replace("&amp;", "&") for url in re.findall("<loc>(.*?)</loc>", sitemap)}
    pages = {url for url in survey.urls(Page) if "/internal/" not in url and "/search" not in url}
    assert pages == listed


def test_every_url_is_in_normal_form_and_every_redirect_stays_on_the_site(site: Site) -> None:
    assert [url for url in site if normalise(url) != url] == []
    locations = [record.entry.location for record in site.to_records() if record.entry.location]
    assert [url for url in locations if url not in site.responses] == []


def test_style_sheet_and_charts_are_there(site: Site) -> None:
    assert essence(site.get(site.start_url + "style.css").media_type) == "text/css"
    pictures = {
        site.start_url.rstrip("/") + path
        for url in site
        for path in re.findall(r'<img src="(.*?)"', (site.get(url).body or b"").decode("utf-8", "ignore"))
    }
    assert pictures
    assert pictures <= site.responses.keys()


def test_the_seed_decides_and_nothing_else() -> None:
    assert sample_site(seed=3).responses == sample_site(seed=3).responses
    assert sample_site(seed=3).responses != sample_site(seed=4).responses


def test_it_can_stand_anywhere() -> None:
    site = sample_site("http://127.0.0.9:8080", seed=0)
    assert site.start_url == "http://127.0.0.9:8080/"
    assert b"quillmark.test" not in b"".join(response.body or b"" for response in site.responses.values())
