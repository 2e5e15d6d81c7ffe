"""Files that a run came upon and did not collect, because their types are not among the wanted ones."""

from __future__ import annotations

from collections.abc import Mapping
from sqlite3 import Connection
from typing import NamedTuple

from coati.web.media import can_be_wanted

_OTHERS = """
SELECT media_type, count(DISTINCT url), min(url) FROM requests
WHERE kind = 'other' AND media_type <> '' GROUP BY 1 ORDER BY 2 DESC, 1
"""


class OtherType(NamedTuple):
    """A media type that was not wanted, how many files of it were met, and one of them."""

    media_type: str
    files: int
    example: str


def other_types(connection: Connection, settings: Mapping[str, object]) -> list[OtherType]:
    """Return the types that another --types would collect, the most frequent first.

    Runs that look for pages or repositories instead of files have none.
    """
    if settings.get("types", "none") == "none" or settings.get("topic"):
        return []
    rows = map(OtherType._make, connection.execute(_OTHERS))
    return [row for row in rows if can_be_wanted(row.media_type)]
