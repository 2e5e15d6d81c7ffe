"""The repositories that a search found, read from its run for reports and explanations."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection, Row

from coati.reporting.unread_sites import unread_by_site

_THERE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
_ALL = "SELECT * FROM repositories ORDER BY rank IS NULL, rank, files DESC, site"
_ONE = "SELECT * FROM repositories WHERE site = ?"
_END = "SELECT queries_waiting, gave_up_after FROM search_end"
_COUNTS = "SELECT count(rank), count(*) FROM repositories"
_LOOKED_AT = "SELECT count(*), sum(reward > 0) FROM requests WHERE host IN (?, ?) AND kind = 'page'"


@dataclass(frozen=True, slots=True)
class SiteVerdict:
    """What a search decided about a site, and by what."""

    site: str
    state: str
    because: str
    action: str
    trail: tuple[str, ...]


def has_repositories(connection: Connection) -> bool:
    """Tell whether the run is a search that has written what it found."""
    return _has_table(connection, "repositories")


def _has_table(connection: Connection, name: str) -> bool:
    return connection.execute(_THERE, (name,)).fetchone() is not None


def left_to_search(connection: Connection) -> tuple[int, int]:
    """Return how many queries wait, and after how many requests the search gave up; 0 where it did not."""
    if not _has_table(connection, "search_end"):
        return 0, 0
    waiting, gave_up_after = connection.execute(_END).fetchone()
    return waiting, gave_up_after


def all_sites(connection: Connection) -> list[Row]:
    """Return every site that was checked, the verified ones first."""
    return connection.execute(_ALL).fetchall() if has_repositories(connection) else []


def site_counts(connection: Connection) -> tuple[int, int]:
    """Count the verified repositories, and all sites that were checked."""
    if not has_repositories(connection):
        return 0, 0
    verified, checked = connection.execute(_COUNTS).fetchone()
    return verified, checked


def verdict_on(connection: Connection, site: str) -> SiteVerdict | None:
    """Return what a search decided about a site; None where the run is not a search."""
    if not has_repositories(connection):
        return None
    row = connection.execute(_ONE, (site,)).fetchone()
    unread = unread_by_site(connection).get(site, "")
    if row is None:
        return SiteVerdict(site, "not checked", _not_checked(connection, site, unread), "", ())
    trail = tuple(row["trail"].splitlines())
    return SiteVerdict(site, row["state"], _because(row, unread), row["action"], trail)


def _not_checked(connection: Connection, site: str, unread: str) -> str:
    pages, promising = connection.execute(_LOOKED_AT, (site, f"www.{site}")).fetchone()
    if not pages and unread:
        return f"no page of it could be read: {unread}"
    if not pages:
        return "no page of it was looked at"
    if promising:
        return "it looks like a repository, but not on the topic, so its check was put off (--off-topic)"
    looked = (
        "one page of it was looked at, and it"
        if pages == 1
        else f"{pages:,} pages of it were looked at, and none"
    )
    return f"{looked} {'did not look' if pages == 1 else 'looked'} like a repository's"


def _because(row: Row, unread: str) -> str:
    if row["by_user"]:
        return "you said so"
    pages, files = row["pages_fetched"], row["files"]
    seen = f"{files:,} different data files on {row['dataset_pages']:,} of {pages:,} pages checked"
    not_read = f"; not read: {unread}" if unread else ""
    if row["state"] == "verified":
        return seen
    if row["state"] == "rejected":
        return f"too few data files: {seen}{not_read}"
    return f"the check is not finished: {seen} so far{not_read}"
