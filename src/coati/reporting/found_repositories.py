"""What a search for repositories wrote into its run, for whoever explains it."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection, Row

_THERE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'repositories'"
_ALL = "SELECT * FROM repositories ORDER BY rank IS NULL, rank, files DESC, site"
_ONE = "SELECT * FROM repositories WHERE site = ?"
_COUNT = "SELECT count(*) FROM repositories WHERE rank IS NOT NULL"


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
    return connection.execute(_THERE).fetchone() is not None


def all_sites(connection: Connection) -> list[Row]:
    """Return every site that was checked, the verified ones first."""
    return connection.execute(_ALL).fetchall() if has_repositories(connection) else []


def verified_count(connection: Connection) -> int:
    """Count the verified repositories."""
    if not has_repositories(connection):
        return 0
    found: int = connection.execute(_COUNT).fetchone()[0]
    return found


def verdict_on(connection: Connection, site: str) -> SiteVerdict | None:
    """Return what was decided about a site; None where it was not checked."""
    row = connection.execute(_ONE, (site,)).fetchone() if has_repositories(connection) else None
    if row is None:
        return None
    trail = tuple(row["trail"].splitlines())
    return SiteVerdict(site, row["state"], _because(row), row["action"], trail)


def _because(row: Row) -> str:
    if row["by_user"]:
        return "you said so"
    pages, files = row["pages_fetched"], row["files"]
    seen = f"{files:,} different data files on {row['dataset_pages']:,} of {pages:,} pages checked"
    if row["state"] == "verified":
        return seen
    if row["state"] == "rejected":
        return f"too few data files: {seen}"
    return f"the check is not finished: {seen} so far"
