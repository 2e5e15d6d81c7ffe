"""What a reader can do now, most useful first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from sqlite3 import Connection

from coati.reporting.long_pauses import long_pause
from coati.reporting.run_end import end_of
from coati.reporting.run_facts import RunFacts, RunStage
from coati.reporting.safe_html import Html, element, joined
from coati.reporting.start_page import few_links_in
from coati.runs.other_types import OtherType, other_types
from coati.units import format_count

_ROBOTS = """
SELECT coalesce(sum(urls), 0) FROM skip_counts WHERE reason IN ('robots.txt', 'nofollow', 'X-Robots-Tag')
"""
# Of the types that were not wanted, this many are suggested.
_NAMED_TYPES = 5
_TOO_LARGE = "SELECT coalesce(sum(urls), 0) FROM skip_counts WHERE reason = 'too large'"


def next_steps(connection: Connection, facts: RunFacts) -> Html:
    """List what fits this run."""
    steps = [element("li", step) for step in _steps(connection, facts)]
    return element("section", element("h2", "Next steps"), element("ul", *steps), id="next")


def _steps(connection: Connection, facts: RunFacts) -> Iterator[Html]:
    end = end_of(facts)
    if facts.stage is RunStage.RUNNING:
        yield joined(
            "The report is updated when the run ends. ",
            _command("coati report FOLDER"),
            " updates it now.",
        )
    if end.next_step:
        yield joined(end.next_step)
    rest = long_pause(connection)
    if rest is not None:
        yield joined(rest)
    # A search meets many addresses that nobody wants, and a watch follows only those that are new.
    if facts.waiting and facts.stage is not RunStage.RUNNING and not (facts.is_search or facts.watches):
        yield joined(f"{format_count(facts.waiting, 'known URL was', 'known URLs were')} not requested.")
    few_links = few_links_in(connection)
    if few_links:
        yield joined(few_links)
    if facts.repositories:
        yield joined(
            "Collect the files of these repositories: ",
            _command("coati harvest --from FOLDER --types data"),
            ".",
        )
    if (
        not facts.totals.targets
        and facts.totals.requests
        and not (facts.is_search or facts.watches or facts.seeks_pages)
    ):
        yield joined("Were these the right types? ", _command("coati types"), " lists them.")
    yield from _missing(connection, facts)
    yield joined(
        "Why was a URL requested or skipped? ", _command("coati explain URL --run FOLDER"), " answers that."
    )
    yield joined(
        "Run your own queries with ",
        _command("datasette run.sqlite"),
        f", or open {'repositories.csv' if facts.is_search else 'files.csv'} in a spreadsheet.",
    )


def _missing(connection: Connection, facts: RunFacts) -> Iterator[Html]:
    """Say what the run came upon and has not got, and what may get it."""
    others = other_types(connection, facts.settings)
    if others:
        yield _other_types(others, str(facts.settings["types"]))
    (robots,) = connection.execute(_ROBOTS).fetchone()
    if robots:
        yield joined(
            f"The site's robots.txt forbids {format_count(robots, 'URL')}. Ask its owner for what is missing."
        )
    (large,) = connection.execute(_TOO_LARGE).fetchone()
    if large:
        yield joined(
            f"{format_count(large, 'file was', 'files were')} skipped as too large; a larger"
            f" --max-file-size includes them."
        )


def _other_types(others: list[OtherType], types: str) -> Html:
    files = format_count(sum(row.files for row in others), "file was", "files were")
    named = ",".join([types, *(row.media_type for row in others[:_NAMED_TYPES])])
    return joined(
        f"{files} not collected because of the type. To collect them as well, crawl into a new folder with ",
        _command(f"--types {shlex.quote(named)}"),
        ".",
    )


def _command(text: str) -> Html:
    return element("code", text)
