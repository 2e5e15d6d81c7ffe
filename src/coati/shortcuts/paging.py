"""The next page of an API's list, whatever the list says of its own length.

A page that lists nothing has no next one. One that is as full as was requested has one, even where the total
says that all was given; and one that is not full has where the total says so, since many servers give less
than was requested. So a wrong total costs one request, and only a server that makes up entries has no end:
the number of pages of one list is bounded, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import parse_qsl, quote

from coati.readers.listed import API_PAGE, Listed

# Pages of one list. At 100 entries each these are a hundred thousand files.
MAX_PAGES: Final = 1_000
# Kept as they are in queries: APIs use them in names, as in page[limit].
_SAFE = "[]:,*@/+.-_~"


def parameter(url: str, name: str, default: int) -> int:
    """Return a parameter of a URL that is a whole number.

    >>> parameter("https://a.test/?page=3", "page", 1)
    3
    """
    for key, value in parse_qsl(url.partition("?")[2], keep_blank_values=True):
        if key == name and value.isascii() and value.isdigit() and len(value) < 10:  # noqa: PLR2004
            return int(value)
    return default


def with_parameters(url: str, changes: Mapping[str, object]) -> str:
    """Return a URL with some parameters changed or added.

    >>> with_parameters("https://a.test/?per_page=100&page=1", {"page": 2})
    'https://a.test/?per_page=100&page=2'
    """
    path, _, query = url.partition("?")
    kept = [(key, value) for key, value in parse_qsl(query, keep_blank_values=True) if key not in changes]
    pairs = ((key, str(value)) for key, value in (*kept, *changes.items()))
    return (
        f"{path}?{'&'.join(f'{quote(key, safe=_SAFE)}={quote(value, safe=_SAFE)}' for key, value in pairs)}"
    )


def next_by_offset(
    url: str, what: tuple[str, str], names: tuple[str, str], got: int, total: int | None, *, first: int = 0
) -> Iterator[Listed]:
    """Continue after the entries of this page; ``names`` are the parameters of the offset and of the size."""
    offset = parameter(url, names[0], first)
    requested = parameter(url, names[1], got)
    behind = offset - first + got
    more = got >= requested or (total is not None and behind < total)
    if got > 0 and more and behind <= MAX_PAGES * max(requested, 1):
        yield Listed(with_parameters(url, {names[0]: offset + got}), (*what, API_PAGE))


def next_by_page(
    url: str, what: tuple[str, str], names: tuple[str, str], got: int, pages: int | None
) -> Iterator[Listed]:
    """Return the next page; ``pages`` is how many there are, where that is known."""
    page = parameter(url, names[0], 1)
    requested = parameter(url, names[1], got)
    more = got >= requested or (pages is not None and page < pages)
    if got > 0 and more and page <= MAX_PAGES:
        yield Listed(with_parameters(url, {names[0]: page + 1}), (*what, API_PAGE))


def next_by_link(address: str, what: tuple[str, str], got: int) -> Iterator[Listed]:
    """Follow what a list names as its next page; one that leads back is known, and not requested again."""
    if address and got > 0:
        yield Listed(address, (*what, API_PAGE))
