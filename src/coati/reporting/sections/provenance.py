"""How far the report can be trusted: what is recorded, where, and in which sessions."""

from __future__ import annotations

from coati.reporting.run_facts import RunFacts, RunStage
from coati.reporting.safe_html import Html, element, shortened
from coati.reporting.tables import Column, table
from coati.times import format_moment

_MAX_SESSIONS = 30

_HOW = (
    "For every file the run stores its URL, redirects, the page and link that led to it, the response"
    " headers, the time, and the SHA-256 of its content. Pages are stored unchanged, as WARC. A file"
    " counts only when it is on disk with that SHA-256. Files with the same content are stored once and"
    " listed for each URL."
)
_HOW_SEARCHED = (
    "For every page the run stores its URL, the query or the page that led to it, the response headers and"
    " the time. Pages are stored unchanged, as WARC. A repository is verified by links to data files; the"
    " files are not fetched."
)
_FILES = (
    ("files/", "the files", "files/"),
    ("files.csv", "the files as a table, for a spreadsheet", "files.csv"),
    ("datapackage.json", "the same for Frictionless tools, with sizes and hashes", "datapackage.json"),
)
_REPOSITORIES = (
    ("repositories.csv", "every site that was checked, for a spreadsheet", "repositories.csv"),
    ("repositories.jsonl", "the verified ones, which coati harvest --from reads", "repositories.jsonl"),
    ("dataset_pages.csv", "their pages that link to data files", "dataset_pages.csv"),
)
_ALWAYS = (
    ("run.sqlite", "every request, link, group and file; opens in Datasette", "run.sqlite"),
    ("warc/pages.warc.gz", "the pages unchanged, for ReplayWeb.page and other viewers", "warc/"),
    ("run.toml", "the settings", "run.toml"),
)


def provenance(facts: RunFacts) -> Html:
    """Say what is recorded and where it stands."""
    there = (*(_REPOSITORIES if facts.is_search else _FILES), *_ALWAYS)
    items = [element("li", element("a", name, href=place), f": {words}") for name, words, place in there]
    return element(
        "section",
        element("h2", "Provenance"),
        element("p", _HOW_SEARCHED if facts.is_search else _HOW),
        element("h3", "In this folder"),
        element("ul", *items),
        element("h3", "Sessions"),
        _sessions(facts),
        id="provenance",
    )


def _sessions(facts: RunFacts) -> Html:
    shown = facts.sessions[-_MAX_SESSIONS:]
    columns = (Column("Began"), Column("Ended"), Column("Why it ended"), Column("Coati"))
    rows = [
        (
            format_moment(session.started_at),
            format_moment(session.ended_at)
            or ("still running" if facts.stage is RunStage.RUNNING else "cut off"),
            shortened(session.stop_reason, 90),
            shortened(session.coati, 20),
        )
        for session in shown
    ]
    return table(columns, rows, "Sessions")
