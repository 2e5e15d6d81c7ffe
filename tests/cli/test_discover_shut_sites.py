"""Sites that do not let ``coati discover`` read them: the search continues, and names the unread."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from coati.testing.server import serve
from coati.testing.site import Response, Site
from tests.cli.commands import Coati, coati
from tests.discovering.made_web import lines_of
from tests.live.scripted import Route, answer, scripted

__all__ = ["coati"]

WORDS = "rain flood dataset csv download catalogue metadata table series archive open data portal " * 3
LINKS = "".join(f"<a href='/data/{n}'>data</a>" for n in range(12))
QUICK = ("--delay", 0, "--limits", "allow_private=true", "--limits", "retry_seconds=0.01", "--max-queries", 1)


def _text(body: str, media_type: str = "text/html") -> Route:
    return lambda exchange: exchange.answer(body=body, media_type=media_type)


HOME = _text(f"<title>Shut</title><p>{WORDS}</p>{LINKS}")
NO_RULES = answer(404)


def _open(base: str) -> Site:
    files = "".join(f"<a href='/files/{n}.csv'>csv</a>" for n in range(20))
    return Site(base + "/", {base + "/": Response.page(f"<title>Open</title><p>{WORDS}</p>{files}")})


@pytest.mark.parametrize(
    ("routes", "site", "explained", "reported"),
    [
        (
            {"*": answer(403)},
            "not checked",
            "no page of it could be read: 1 URL (403: Forbidden)",
            "Sites that could not be read",
        ),
        (
            {"/robots.txt": _text("User-agent: *\nDisallow: /\n", "text/plain"), "*": HOME},
            "not checked",
            "no page of it could be read: 1 URL (forbidden by the site's robots.txt)",
            "Sites that could not be read",
        ),
        (
            {"/robots.txt": NO_RULES, "/": HOME, "*": answer(403)},
            "rejected",
            "on 0 of 1 pages checked; not read: 12 URLs (403: Forbidden)",
            "Checked, and not verified",
        ),
        (
            {"/robots.txt": NO_RULES, "*": answer(429, Retry_After="3600")},
            "not checked",
            "no page of it could be read: 1 URL (its server failed too often)",
            "asks for no requests before",
        ),
        (
            {"*": answer(429, Retry_After="0")},
            "not checked",
            "no page of it could be read: 1 URL (robots.txt could not be fetched)",
            "Sites that could not be read",
        ),
    ],
    ids=["forbidden", "robots.txt", "forbidden inside", "a long pause", "too many requests"],
)
def test_a_site_that_is_shut(
    coati: Coati, routes: dict[str, Route], site: str, explained: str, reported: str
) -> None:
    with serve(_open) as others, scripted(routes) as shut:
        # Another name of this machine, since a port makes no site.
        url = shut.start.replace("127.0.0.1", "localhost")
        hits = json.dumps({"results": [{"url": url}, {"url": others.sites[0].start_url}]})
        with scripted({"*": _text(hits, "application/json")}) as engine:
            engines = ("--search", f"searxng={engine.base}")
            said = coati("discover", "rain data", *engines, *QUICK, "--quiet", "--format", "json")
    assert said.code == 0
    *found, summary = lines_of(said.out)
    assert summary["stop"] == "finished"
    assert [line["title"] for line in found] == ["Open"]
    why = re.sub(r"\s+", " ", coati("explain", url, "--run", "rain-data").out)
    assert f"localhost is {site}" in why
    assert explained in why
    report = Path("rain-data/report.html").read_text(encoding="utf-8")
    assert reported in report
    assert "localhost" in report
