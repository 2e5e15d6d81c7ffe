"""Places of a generated site in which a careless crawler stays: each new page leads to more of the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coati.strategies.chance import draw
from coati.testing.site import Response

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.testing.site_parameters import SiteParameters

_MONTH = re.compile(r"/calendar/(\d{4,6})-(\d\d)\Z")
_GUIDE = re.compile(r"/help/(?:guide/)+\Z")
_VISIT = re.compile(r"/account\?sid=([0-9a-f]{12})-(\d{1,9})\Z")

_FIRST_YEAR = 2020


class Traps:
    """A calendar without end, a path that repeats itself, and pages under ever new session ids.

    They end after as many pages as the parameters say; to a crawler that counts in millions they end never.
    """

    def __init__(self, parameters: SiteParameters, seed: int) -> None:
        self._months = parameters.calendar_pages
        self._folders = parameters.concatenating_pages
        self._visits = parameters.session_pages
        self._seed = seed

    def __len__(self) -> int:
        """Count the pages in all traps."""
        return self._months + self._folders + self._visits

    def entrances(self) -> list[tuple[str, str]]:
        """Return path and title of the first page of each trap; honest pages link to them."""
        entrances = []
        if self._months:
            entrances.append((self._month(0), "Calendar"))
        if self._folders:
            entrances.append((self._folder(0), "Help"))
        if self._visits:
            entrances.append((self._visit(0), "Your account"))
        return entrances

    def paths(self) -> Iterator[str]:
        """List the paths of all pages."""
        yield from (self._month(number) for number in range(self._months))
        yield from (self._folder(number) for number in range(self._folders))
        yield from (self._visit(number) for number in range(self._visits))

    def get(self, path: str) -> Response | None:
        """Render a page; None if the path is in no trap."""
        if month := _MONTH.match(path):
            number = (int(month.group(1)) - _FIRST_YEAR) * 12 + int(month.group(2)) - 1
            if 0 <= number < self._months and self._month(number) == path:
                return self._calendar_page(number)
        elif _GUIDE.match(path):
            number = path.count("guide/") - 1
            if number < self._folders:
                # The link is meant to lead to this page itself, and lacks its slash.
                return _page("Guide", "nav", [("guide/", "Guide")] if number + 1 < self._folders else [])
        elif visit := _VISIT.match(path):
            number = int(visit.group(2))
            if number < self._visits and self._visit(number) == path:
                later = [2 * number + 1, 2 * number + 2]
                return _page(
                    "Account", "tabs", [(self._visit(n), "Refresh") for n in later if n < self._visits]
                )
        return None

    def _calendar_page(self, number: int) -> Response:
        others = (("Previous", number - 1), ("Next", number + 1), ("Next year", number + 12))
        links = [(self._month(n), text) for text, n in others if 0 <= n < self._months]
        return _page(f"Calendar, month {number}", "calendar", links)

    def _month(self, number: int) -> str:
        year, month = divmod(number, 12)
        return f"/calendar/{_FIRST_YEAR + year}-{month + 1:02}"

    def _folder(self, number: int) -> str:
        return "/help/" + "guide/" * (number + 1)

    def _visit(self, number: int) -> str:
        return f"/account?sid={draw(self._seed, number, 1 << 48):012x}-{number}"


def _page(title: str, place: str, links: Sequence[tuple[str, str]]) -> Response:
    items = "".join(f'<li><a href="{href}">{text}</a></li>' for href, text in links)
    return Response.page(
        f"<!doctype html><html><head><title>{title}</title></head><body>"
        f'<h1>{title}</h1><div class="{place}"><ul>{items}</ul></div></body></html>'
    )
