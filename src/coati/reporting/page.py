"""The report as one HTML page that loads nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from sqlite3 import Connection

from coati.reporting.found_repositories import has_repositories
from coati.reporting.run_facts import RunFacts, read_facts
from coati.reporting.safe_html import Html, element, shortened, trusted
from coati.reporting.sections.files import files
from coati.reporting.sections.groups import groups
from coati.reporting.sections.headline import headline
from coati.reporting.sections.how_found import how_found
from coati.reporting.sections.next_steps import next_steps
from coati.reporting.sections.problems import problems
from coati.reporting.sections.provenance import provenance
from coati.reporting.sections.relevant import relevant_pages
from coati.reporting.sections.removed_files import removed_files
from coati.reporting.sections.repositories import repositories
from coati.reporting.sections.search_curve import search_curve
from coati.reporting.sections.settings import settings
from coati.reporting.sections.watching import watching
from coati.runs.reader import RunReader
from coati.times import format_moment
from coati.version import __version__

_CONTENTS = (
    ("repositories", "The repositories"),
    ("changes", "What changed"),
    ("files", "The files"),
    ("found", "How they were found"),
    ("problems", "What failed"),
    ("next", "Next steps"),
    ("provenance", "Provenance"),
    ("settings", "Settings"),
    ("groups", "Which links led to files"),
)


def report_page(run: RunReader, pull: str = "", *, apart: bool = False) -> str:
    """Build the page; all of it is read at one moment of a run that may still be running.

    ``apart``: the page is not in the run's folder, to which its links lead. ``pull`` is the command that
    makes that folder, where there is none yet.
    """
    connection = run.connection
    connection.execute("BEGIN")
    try:
        facts = read_facts(run)
        taken_off = removed_files(connection)
        sections = (
            *repositories(connection),
            *((watching(connection, run.layout.folder, facts),) if facts.watches else ()),
            *(() if facts.is_search else (_found(connection, facts),)),
            *(() if taken_off is None else (taken_off,)),
            search_curve(connection, facts) if has_repositories(connection) else how_found(connection, facts),
            problems(connection),
            next_steps(connection, facts),
            provenance(facts),
            settings(facts),
            # What the actions of a search found stands with its repositories, and what hosts gave with pages.
            *(() if facts.is_search or facts.seeks_pages else (groups(connection),)),
        )
    finally:
        connection.execute("ROLLBACK")
    title = (
        f"Repositories on {shortened(facts.topic, 80)}"
        if facts.is_search
        else f"{facts.target_noun.capitalize()}s from {shortened(facts.site, 80) or 'a run'}"
    )
    seen = format_moment(facts.last_sign)
    footer = f"Written by Coati {__version__}{f' from the log as of {seen}' if seen else ''}."
    contents = _contents(sections, facts.target_noun)
    where = (_from_folder(pull),) if pull or apart else ()
    return _page(title, headline(facts), *where, contents, element("main", *sections), footer=footer)


def _from_folder(pull: str) -> Html:
    words = "The links to files on this page work in the folder of the run."
    made = (" This command makes it: ", element("code", pull)) if pull else ()
    return element("p", words, *made, class_="note")


def _found(connection: Connection, facts: RunFacts) -> Html:
    return (relevant_pages if facts.seeks_pages else files)(connection, facts)


def page_around(title: str, header: Html, *sections: Html) -> str:
    """Build a page of other sections, which looks the same."""
    return _page(title, header, element("main", *sections), footer=f"Written by Coati {__version__}.")


def _page(title: str, *parts: Html, footer: str) -> str:
    body = element("body", *parts, element("footer", footer), _script())
    return f"<!DOCTYPE html>\n{element('html', _head(title), body, lang='en')}\n"


def _head(title: str) -> Html:
    style = _resource("report.css")
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, _resource("report.js"))),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content=f"Coati {__version__}"),
        element("title", f"{title} · Coati"),
        element("style", trusted(style)),
    )


def _policy(style: str, script: str) -> str:
    """Allow our own style and script and nothing else: should a text get past the escaping, it stays dead."""
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)};"
        " base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _contents(sections: Sequence[Html], noun: str) -> Html:
    titles = {**dict(_CONTENTS), "files": f"The {noun}s"}
    there = [item for item in titles.items() if any(f' id="{item[0]}"' in part for part in sections)]
    return element(
        "nav", *(element("a", title, href=f"#{name}") for name, title in there), aria_label="Sections"
    )


def _script() -> Html:
    return element("script", trusted(_resource("report.js")))


def _resource(name: str) -> str:
    return resources.files("coati.reporting").joinpath(name).read_text(encoding="utf-8")
