"""The URLs of a generated site, both ways: from a node to its URL, and from a URL back to the node.

A URL carries the number of its node, so nothing is stored for items, files and errors: whoever requests a URL
has its numbers tried. Errors take the numbers after the last item or file, and look just like those.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from coati.strategies.chance import draw
from coati.testing.section_families import FAMILIES
from coati.testing.site_graph import Role

if TYPE_CHECKING:
    from collections.abc import Callable

    from coati.testing.site_graph import SiteGraph

FILE_TYPES = (
    ("csv", "text/csv"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("pdf", "application/pdf"),
    ("json", "application/json"),
    ("zip", "application/zip"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("xls", "application/vnd.ms-excel"),
    ("xml", "application/xml"),
)

OTHER_TYPES = (
    ("/media/{n}", "image/jpeg"),
    ("/assets/{slug}-{n}.css", "text/css"),
    ("/embed/{slug}/{n}", "video/mp4"),
    ("/assets/{n}/{slug}.js", "application/javascript"),
)

_REDIRECT_URLS = ("/old/{slug}-{n}.html", "/go?to={n}", "/r/{n}", "/{year}/{slug}/{n}")

WORDS = tuple(
    """
    water air soil rain river coast harbour bridge road rail bus bicycle traffic parking housing rent
    permit building energy solar wind heating waste recycling forest farm harvest fishery market trade
    export import price wage income tax budget grant debt labour school pupil teacher library museum
    theatre sport health hospital clinic birth migration age family household election council crime
    court safety fire tourism hotel
    """.split()  # noqa: SIM905 - words read best as words
)

_NUMBER = re.compile(r"(?<!\d)\d{1,9}(?!\d)")

# Salts that keep the draws for different ends apart.
_SLUG, _TYPE, _BARE, _YEAR = range(1, 5)


class Node(Enum):
    """The kinds of numbered things that have a URL."""

    PAGE = "page"
    TARGET = "target"
    ERROR = "error"
    REDIRECT = "redirect"
    OTHER = "other"
    PICTURE = "picture"


class ErrorStyle(Enum):
    """What the URL of an error looks like."""

    ITEM = "item"
    FILE = "file"
    TOOL = "tool"


_ERROR_STYLES = (*[ErrorStyle.ITEM] * 5, *[ErrorStyle.FILE] * 3, *[ErrorStyle.TOOL] * 2)


class Found(NamedTuple):
    """What a URL stands for."""

    node: Node
    number: int


class Addresses:
    """The paths of one site, queries included; they start with a slash and are in normal form."""

    def __init__(self, graph: SiteGraph, seed: int, extensionless_share: float) -> None:
        self._graph = graph
        self._seed = seed
        self._bare_per_million = round(extensionless_share * 1_000_000)
        self._upper_pages: dict[int, str] = {}
        self._by_path: dict[str, int] = {}
        for page, role in enumerate(graph.roles):
            if role != Role.ITEM:
                path = self._upper_path(page)
                self._upper_pages[page] = path
                self._by_path[path] = page
        self._writers: dict[Node, tuple[Callable[[int], str], int]] = {
            Node.TARGET: (self.target, len(graph.targets)),
            Node.ERROR: (self.error, len(graph.errors)),
            Node.REDIRECT: (self.redirect, len(graph.redirects)),
            Node.OTHER: (self.other, len(graph.others)),
            Node.PICTURE: (self.picture, len(self.pictures)),
        }

    def page(self, page: int) -> str:
        """Return the path of a page."""
        return self._upper_pages.get(page) or self._item(page, self._graph.families[page])

    def target(self, target: int) -> str:
        """Return the path of a target."""
        return self._file(target, self._graph.targets.owner(target))

    def target_type(self, target: int) -> tuple[str, str]:
        """Return the extension and the media type of a target."""
        return FILE_TYPES[draw(self._seed + _TYPE, target, len(FILE_TYPES))]

    def error(self, error: int) -> str:
        """Return the path of an error; most look like those of items and files."""
        owner = self._graph.errors.owner(error)
        style = self.error_style(error)
        if style is ErrorStyle.ITEM:
            return self._item(len(self._graph) + error, self._graph.families[owner])
        if style is ErrorStyle.FILE:
            return self._file(len(self._graph.targets) + error, owner)
        return f"/print?doc={error}"

    def error_style(self, error: int) -> ErrorStyle:
        """Tell what an error looks like."""
        return _ERROR_STYLES[draw(self._seed, error, len(_ERROR_STYLES))]

    def redirect(self, redirect: int) -> str:
        """Return the path of a redirect."""
        pattern = _REDIRECT_URLS[draw(self._seed + _TYPE, redirect, len(_REDIRECT_URLS))]
        return self._write(pattern, redirect)

    def other(self, other: int) -> str:
        """Return the path of something that is neither a page nor a target."""
        return self._write(self.other_type(other)[0], other)

    def other_type(self, other: int) -> tuple[str, str]:
        """Return the pattern and the media type of such a thing."""
        return OTHER_TYPES[draw(self._seed + _TYPE, other, len(OTHER_TYPES))]

    @property
    def pictures(self) -> range:
        """The numbers of the pictures: every fourth page has one."""
        return range((len(self._graph) + 3) // 4)

    def pictures_of(self, page: int) -> range:
        """Return the numbers of the pictures that belong to a page."""
        return range(page // 4, page // 4 + 1) if page % 4 == 0 else range(0)

    def picture(self, picture: int) -> str:
        """Return the path of a picture; its extension is on every blocklist."""
        return f"/pictures/{picture}.jpg"

    def title(self, number: int) -> str:
        """Return some words for a number, the same as in its URL."""
        return self._slug(number).replace("-", " ").capitalize()

    def find(self, path: str) -> Found | None:
        """Tell what a path stands for; None if nothing does."""
        page = self._by_path.get(path)
        if page is not None:
            return Found(Node.PAGE, page)
        numbers = {int(digits) for digits in _NUMBER.findall(path)}
        for number in numbers:
            if number < len(self._graph) and self.page(number) == path:
                return Found(Node.PAGE, number)
            for node, (write, count) in self._writers.items():
                for candidate in self._candidates(node, number):
                    if 0 <= candidate < count and write(candidate) == path:
                        return Found(node, candidate)
        return None

    def _candidates(self, node: Node, number: int) -> tuple[int, ...]:
        if node is Node.ERROR:
            return number, number - len(self._graph), number - len(self._graph.targets)
        return (number,)

    def _upper_path(self, page: int) -> str:
        graph = self._graph
        if graph.roles[page] == Role.HOME:
            return "/"
        family = FAMILIES[graph.families[page]]
        if graph.roles[page] == Role.HUB:
            return f"/{family.name}/h{page}"
        head = f"/{family.name}/c{graph.chain[page]}"
        place = graph.place[page]
        return head + family.next_page.format(place=place) if place > 1 else head

    def _item(self, number: int, family: int) -> str:
        return self._write(FAMILIES[family].item_url, number)

    def _file(self, number: int, owner: int) -> str:
        family = FAMILIES[self._graph.families[owner]]
        if draw(self._seed + _BARE, number, 1_000_000) < self._bare_per_million:
            return self._write(family.bare_file_url, number)
        return self._write(family.file_url, number)

    def _write(self, pattern: str, number: int) -> str:
        extension = self.target_type(number)[0] if "{ext}" in pattern else ""
        slug = self._slug(number) if "{slug}" in pattern else ""
        year = 2001 + draw(self._seed + _YEAR, number, 24) if "{year}" in pattern else 0
        return pattern.format(n=number, slug=slug, ext=extension, year=year)

    def _slug(self, number: int) -> str:
        pair = draw(self._seed + _SLUG, number, len(WORDS) ** 2)
        first, second = divmod(pair, len(WORDS))
        return f"{WORDS[first]}-{WORDS[second]}"
