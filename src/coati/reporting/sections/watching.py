"""What a watch found: a calendar of changes, the latest changes, and which pages are visited why."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime
from typing import TYPE_CHECKING

from coati.reporting.calendar import day_calendar, hour_calendar
from coati.reporting.safe_html import Html, element, joined, shortened, web_link
from coati.reporting.tables import Column, TableCell, counted, table
from coati.reporting.watched_pages import WatchedPage, watched_pages
from coati.runs.changes_file import Change, read_changes
from coati.times import format_moment
from coati.units import format_count, format_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from sqlite3 import Connection

    from coati.reporting.run_facts import RunFacts

_CHANGES_SHOWN = 50
_PAGES_SHOWN = 200
_KINDS = ("new", "changed", "gone")


def watching(connection: Connection, folder: Path, facts: RunFacts) -> Html:
    """Show what changed and when, and what the visits went to."""
    changes = read_changes(folder)
    parts = [element("h2", "What changed"), element("p", _in_words(changes, facts))]
    if changes:
        parts += [_calendars(changes, facts), _changes_table(changes, facts)]
    pages = watched_pages(connection, _PAGES_SHOWN)
    if pages:
        parts += [
            element("h3", "Which pages are visited, and why"),
            element("p", _PAGES_NOTE, class_="note"),
            _pages_table(pages, facts),
        ]
    return element("section", *parts, id="changes")


_PAGES_NOTE = joined(
    "New links are relevant links that were not known before. A page is visited because something new is"
    " expected, or because it has waited longest. ",
    element("code", "coati explain PAGE --run FOLDER"),
    " shows more about one page.",
)


def _in_words(changes: Sequence[Change], facts: RunFacts) -> str:
    kinds = Counter(change.what for change in changes)
    counts_text = ", ".join(f"{format_count(kinds[kind])} {kind}" for kind in _KINDS)
    cycles = format_count(facts.cycles, "cycle")
    return f"{counts_text} since {format_moment(facts.began_at)}, in {cycles}. Times are UTC."


def _calendars(changes: Sequence[Change], facts: RunFacts) -> Html:
    came = [_moment(change.seen_at) for change in changes if change.what != "gone"]
    by_day = Counter(moment.date() for moment in came)
    by_hour = Counter((moment.weekday(), moment.hour) for moment in came)
    first, last = _day(facts.began_at), _day(facts.last_sign)
    days = element(
        "figure",
        day_calendar(
            by_day, min(first, *by_day) if by_day else first, max(last, *by_day) if by_day else last
        ),
        element("figcaption", "New and changed files by the day on which they were found."),
    )
    hours = element(
        "figure",
        hour_calendar(by_hour),
        element("figcaption", "The same by weekday and hour: when this site publishes."),
    )
    return element("div", days, hours, class_="figures")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _day(text: str) -> date:
    return _moment(text).date()


def _changes_table(changes: Sequence[Change], facts: RunFacts) -> Html:
    columns = (
        Column("When (UTC)"),
        Column("What"),
        Column("File", wide=True),
        Column("Found on", wide=True),
        Column("Dated by the site"),
    )
    cells = [
        (
            TableCell(
                element("span", format_moment(change.seen_at, short=True), class_="date"), change.seen_at
            ),
            change.what,
            web_link(change.url, shortened(change.title or facts.on_site(change.url), 90)),
            web_link(change.found_on, facts.on_site(change.found_on), 60) if change.found_on else "",
            shortened(change.dated, 40),
        )
        for change in changes[::-1][:_CHANGES_SHOWN]
    ]
    shown = f"The latest {format_count(len(cells))} of {format_count(len(changes), 'change')}; all of them: "
    note = joined(shown, element("a", "changes.jsonl", href="changes.jsonl"), ".")
    return joined(
        element("h3", "The latest changes"),
        element("p", note, class_="note"),
        table(columns, cells, "The latest changes"),
    )


def _pages_table(pages: Sequence[WatchedPage], facts: RunFacts) -> Html:
    columns = (
        Column("Page", wide=True),
        Column("Visits", numeric=True),
        Column("About every", numeric=True),
        Column("New links", numeric=True),
        Column("Why"),
        Column("Last visit (UTC)"),
    )
    cells = [
        (
            web_link(page.url, facts.on_site(page.url), 80),
            counted(page.visits),
            TableCell(
                "" if page.every_seconds is None else format_seconds(page.every_seconds), page.every_seconds
            ),
            counted(page.new_links),
            _why(page),
            TableCell(element("span", format_moment(page.last_at, short=True), class_="date"), page.last_at),
        )
        for page in pages
    ]
    return table(columns, cells, "Watched pages")


def _why(page: WatchedPage) -> str:
    if page.gone:
        return "gone: not visited any more"
    reasons = []
    if page.expected:
        reasons.append(f"{format_count(page.expected)} × something new expected")
    if page.explored:
        reasons.append(f"{format_count(page.explored)} × waited longest")
    return ", ".join(reasons) or "first visit"
