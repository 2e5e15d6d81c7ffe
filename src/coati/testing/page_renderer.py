"""The pages of a generated site as HTML, each from its number alone."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from functools import lru_cache
from itertools import islice
from random import Random
from statistics import NormalDist
from typing import TYPE_CHECKING

from coati.strategies.chance import draw
from coati.testing.section_families import FAMILIES
from coati.testing.site_graph import Role
from coati.testing.site_urls import WORDS, ErrorStyle

if TYPE_CHECKING:
    from coati.testing.section_families import Family
    from coati.testing.site_graph import SiteGraph
    from coati.testing.site_parameters import SiteParameters
    from coati.testing.site_traps import Traps
    from coati.testing.site_urls import Addresses

OUTSIDE_URL = "http://elsewhere.test/"

# How many of the first pages are linked from everywhere, and how far apart the ones on a page are (a prime).
_POPULAR = 4_000
_STRIDE = 37

# Menus show this many of the sections; the start page shows all.
_MENU_ENTRIES = 12

# Salts that keep the draws for different ends apart from each other and from those of the URLs.
_RELATED, _IDS, _PAGE_SIZE, _CHILD, _TEXT = range(101, 106)

_TEXT_CHARS = 1 << 16

# Where redirects lead, one after the other: "next" followed by "back" is a loop, two "next" are a chain. A
# page that moved is linked by its old address only, one that is doubled by both.
_TURNS = ("moved", "next", "target", "next", "back", "moved", "outside", "doubled", "next", "next")

_EMPTY_PARAGRAPH = "<p></p>"


class Renderer:
    """Writes pages, and says where redirects lead."""

    def __init__(
        self, parameters: SiteParameters, graph: SiteGraph, addresses: Addresses, traps: Traps, seed: int
    ) -> None:
        self._parameters = parameters
        self._graph = graph
        self._addresses = addresses
        self._seed = seed
        self._ids_per_million = round(parameters.unique_ids * 1_000_000)
        self._text = _prose(seed)
        # Nobody else links into a chain that extends beyond all others.
        self._popular = array(
            "I", islice((page for page in range(len(graph)) if not graph.remote[page]), _POPULAR)
        )
        # Links to popular pages and among siblings recur from page to page.
        self._list_item = lru_cache(maxsize=1 << 14)(self._write_list_item)
        entries = [(addresses.page(page), addresses.title(page)) for page in graph.children(0)]
        entries = entries[:_MENU_ENTRIES] + traps.entrances()
        self._menu = "".join(f'<li><a href="{href}">{text}</a></li>' for href, text in entries)

    def page(self, page: int) -> str:
        """Write a page."""
        graph = self._graph
        family = FAMILIES[graph.families[page]]
        title = self._addresses.title(page)
        content = self._content(page, family)
        head = (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>\n'
            f'<body class="{family.name if page else "home"}">\n'
            f'<header id="top"><nav class="menu"><ul>{self._menu}</ul></nav></header>\n'
            f'<main id="content"><p class="breadcrumb"><a href="{self._addresses.page(graph.parents[page])}">'
            f"Up</a></p>\n<h1>{title}</h1>\n"
        )
        related = self._related(
            page, self._parameters.links_per_page - head.count("<a ") - content.count("<a ")
        )
        foot = f'{related}</main>\n<footer class="foot"><p><a href="/">Home</a></p></footer></body></html>\n'
        wanted = log_normal(
            self._parameters.page_bytes, self._parameters.page_bytes // 2, self._seed + _PAGE_SIZE, page
        )
        filler = self._filler(page, wanted - len(head) - len(content) - len(foot))
        return f"{head}{content}{filler}{foot}"

    def destination(self, redirect: int) -> str:
        """Say where a redirect leads: to a page, a target, the next redirect, in a circle, or outside."""
        turn = _TURNS[redirect % len(_TURNS)]
        last = len(self._graph.redirects) - 1
        owner = self._graph.redirects.owner(redirect)
        # The last target of this page or of one before it: a later one would come nearer by the redirect.
        target = self._graph.targets.of(owner).stop - 1
        if turn == "outside":
            return OUTSIDE_URL
        if turn == "back":
            return self._addresses.redirect(redirect - 1)
        if turn == "next" and redirect < last:
            return self._addresses.redirect(redirect + 1)
        if turn == "target" and target >= 0:
            return self._addresses.target(target)
        return self._addresses.page(self._moved_page(redirect, owner))

    def _moved_page(self, redirect: int, owner: int) -> int:
        children = self._graph.children(owner)
        if not children:
            return self._graph.parents[owner]
        return children[draw(self._seed + _CHILD, redirect, len(children))]

    def _replaced(self, page: int) -> set[int]:
        """Return the children that a page links to by their old address only."""
        return {
            self._moved_page(redirect, page)
            for redirect in self._graph.redirects.of(page)
            if _TURNS[redirect % len(_TURNS)] == "moved"
        }

    def _content(self, page: int, family: Family) -> str:
        entries, files, tools = self._attached(page, family)
        role = self._graph.roles[page]
        if role == Role.ITEM:
            files_block = family.files.format(files=files) if files else ""
            text = self._filler(page, 200)
            article = family.article.format(id=self._own_id(page, "article"), text=text, files=files_block)
            return f"{article}\n{self._list(family, entries)}{tools}"
        replaced = self._replaced(page)
        children = [child for child in self._graph.children(page) if child not in replaced]
        if role == Role.LISTING:
            pager = ""
            if children and self._graph.roles[children[-1]] == Role.LISTING:
                pager = family.pager.format(href=self._addresses.page(children.pop()))
            entries = "".join(self._entry(family, child) for child in children) + entries
            block = f'<div class="downloads">{files}</div>' if files else ""
            return f"{block}{self._list(family, entries)}{pager}\n{tools}"
        links = "".join(
            f'<li class="{"section" if page == 0 else "category"}">'
            f'<a href="{self._addresses.page(child)}">{self._addresses.title(child)}</a></li>'
            for child in children
        )
        block = f'<div class="downloads">{files}</div>' if files else ""
        return f'<div class="sections"><ul>{links}</ul></div>\n{block}{self._list(family, entries)}{tools}'

    def _attached(self, page: int, family: Family) -> tuple[str, str, str]:
        """Write what hangs on a page, by where it stands: among the entries, the files or the tools."""
        graph, addresses = self._graph, self._addresses
        entries: list[str] = []
        files: list[str] = []
        tools: list[str] = []
        for target in graph.targets.of(page):
            text = f"{addresses.title(target)} ({addresses.target_type(target)[0]})"
            files.append(family.file.format(href=addresses.target(target), text=text))
        for error in graph.errors.of(page):
            href, style = addresses.error(error), addresses.error_style(error)
            if style is ErrorStyle.ITEM:
                entries.append(family.entry.format(href=href, text=addresses.title(error), id=""))
            elif style is ErrorStyle.FILE:
                files.append(family.file.format(href=href, text=addresses.title(error)))
            else:
                tools.append(f'<a class="tool" href="{href}">Print</a>')
        for redirect in graph.redirects.of(page):
            href = addresses.redirect(redirect)
            entries.append(family.entry.format(href=href, text=addresses.title(redirect), id=""))
        tools += [
            f'<a class="media" href="{addresses.other(other)}">Media</a>' for other in graph.others.of(page)
        ]
        tools += [
            f'<a class="picture" href="{addresses.picture(picture)}">Picture</a>'
            for picture in addresses.pictures_of(page)
        ]
        block = f'<p class="tools">{" ".join(tools)}</p>\n' if tools else ""
        return "".join(entries), "".join(files), block

    def _list(self, family: Family, entries: str) -> str:
        return family.listing.format(entries=entries) + "\n" if entries else ""

    def _entry(self, family: Family, page: int) -> str:
        return family.entry.format(
            href=self._addresses.page(page),
            text=self._addresses.title(page),
            id=self._own_id(page, "entry"),
        )

    def _own_id(self, page: int, what: str) -> str:
        if draw(self._seed + _IDS, page, 1_000_000) < self._ids_per_million:
            return f' id="{what}-{page}"'
        return ""

    def _related(self, page: int, count: int) -> str:
        """Link to siblings and to popular pages, all with lower numbers: no depth changes by them."""
        if count <= 0 or page == 0:
            return ""
        siblings = self._graph.children(self._graph.parents[page])
        links = []
        popular = bisect_left(self._popular, page)
        for among, size, share in (
            (siblings, len(siblings), count // 2),
            (self._popular, popular, count - count // 2),
        ):
            at = draw(self._seed + _RELATED, page, size)
            links += [self._list_item(among[(at + turn * _STRIDE) % size]) for turn in range(share)]
        return f'<aside class="related"><ul>{"".join(links)}</ul></aside>\n'

    def _write_list_item(self, page: int) -> str:
        return f'<li><a href="{self._addresses.page(page)}">{self._addresses.title(page)}</a></li>'

    def _filler(self, page: int, size: int) -> str:
        size -= len(_EMPTY_PARAGRAPH)
        if size <= 0:
            return ""
        start = draw(self._seed + _TEXT, page, _TEXT_CHARS // 2)
        text = self._text[start : start + size]
        while len(text) < size:
            text += self._text[: size - len(text)]
        return f"<p>{text}</p>"


def log_normal(mean: float, sd: float, seed: int, number: int) -> int:
    """Draw a size of at least one byte from the log-normal with this mean and standard deviation."""
    variance = math.log(1 + (sd / mean) ** 2)
    uniform = (draw(seed, number, 1 << 53) + 0.5) / (1 << 53)
    normal = NormalDist().inv_cdf(uniform)
    return max(1, round(math.exp(math.log(mean) - variance / 2 + math.sqrt(variance) * normal)))


def _prose(seed: int) -> str:
    """Make up text without markup, of the words that titles are made of."""
    rng = Random(seed)
    sentences = []
    size = 0
    while size < _TEXT_CHARS:
        sentence = " and ".join(rng.choices(WORDS, k=rng.randint(3, 12))).capitalize() + ". "
        sentences.append(sentence)
        size += len(sentence)
    return "".join(sentences)
