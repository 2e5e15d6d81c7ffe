"""From the bytes of a page to its links, with the tag path, the anchor and the text around each.

The tree is lexbor's, which is a browser's: implied elements are there, damage is repaired the way the HTML
standard says. Links are in document order. What a reader of the page could follow is a link: ``a`` (in
SVG too) and ``area``, frames, a refresh, and what is in ``noscript``; not what is in a ``template``, a
comment or a script, and not the old ``xlink:href``.

Most of a page's links share their ancestors, so the path of each ancestor is built once and kept by node for
the length of the call. Everything that comes from the page is bounded: bytes parsed, depth and elements of
the tree (`coati.web.heavy_pages`), links and the length of their URLs, path length, token length, text
length, and the work that texts take. A page of which not everything was read is marked as truncated.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import ada_url
from selectolax.lexbor import LexborHTMLParser

from coati.model import Link
from coati.web.charset import decode_page
from coati.web.heavy_pages import balanced, is_heavy
from coati.web.link_names import LinkNames, page_title
from coati.web.node_text import NodeTexts
from coati.web.urls import MAX_URL_CHARS, encode_query, origin_of, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborNode

    from coati.model import NearbyText, PageLinks
    from coati.web.rules import Refusal, Rules

# What is parsed of one page. The largest honest page of our replicas has 4 MB.
MAX_PAGE_BYTES = 16 * 1024 * 1024

# Links of one page: three times what the largest honest page of our replicas has, and a second's work.
MAX_LINKS = 1 << 15
# All their URLs together. One ``<base href>`` makes very long ones of very short references.
MAX_CHARS_OF_URLS = 1 << 23

_MAX_PATH_TOKENS = 128
_MAX_TOKEN_CHARS = 200

# Answers are kept for this many references, of a length that menus have and in directories of such a length:
# some 30 MB at the very worst.
_KEPT_REFERENCES = 1 << 15
_KEPT_CHARS = 256

# Links, and what counts for all links of a page: to walk through the tree again for that costs as much again.
_SELECTOR = "a[href], area[href], iframe[src], frame[src], meta, base[href]"
# A time, then perhaps "url=" and the reference, which quotes end: the standard's steps.
# Nothing is given back once it is taken, so that the time is in proportion to the length.
_REFRESH = re.compile(
    r"\s*+[\d.][\d.]*+(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?+(?:\"([^\"]*)|'([^']*)|(.*))",
    re.IGNORECASE | re.DOTALL,
)
_NO_LINK = ("#", "javascript:", "mailto:", "tel:", "data:")
# What a URL parser strips; a no-break space, which str.strip() takes too, is part of the reference.
_STRIPPED = "".join(map(chr, range(0x21)))
_STRIPPED_SET = frozenset(_STRIPPED)
# Nothing is relative to this base, and absolute references are what they are.
_NO_BASE = "about:blank"


class ParsedLinks:
    """The links of a parsed page (`coati.model.PageLinks`); keeps the tree alive while it lives."""

    __slots__ = ("_names", "_nodes", "_paths", "_reader", "_texts", "_tree", "urls")

    def __init__(self, urls: list[str], nodes: list[LexborNode], tree: LexborHTMLParser) -> None:
        self.urls = urls
        self._nodes = nodes
        self._tree = tree
        self._paths: dict[int, tuple[str, ...]] = {}
        self._texts: dict[int, str] = {}
        self._reader = NodeTexts()
        self._names: LinkNames | None = None

    @property
    def title(self) -> str:
        """The title of the page."""
        return page_title(self._tree)

    def link(self, index: int) -> Link:
        """Build one link: tag path, anchor and the text around it."""
        node = self._nodes[index]
        path = _path_of(node, self._paths)
        parent = node.parent
        context = "" if parent is None else self._context(parent)
        return Link(self.urls[index], path, self._reader.text_of(node), context)

    def nearby_text(self, index: int) -> NearbyText:
        """Return the row and the heading that a link belongs to."""
        if self._names is None:
            self._names = LinkNames(self._tree, self._reader)
        return self._names.of(self._nodes[index])

    def _context(self, parent: LexborNode) -> str:
        key = parent.mem_id
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = self._reader.text_of(parent)
        return text


class ReadPage(NamedTuple):
    """What a page gives.

    ``refused`` lists links that the rules forbid, at least when they are first found; ``truncated`` says that
    only the beginning was read, ``nofollow`` that the page forbids following its links.
    """

    links: PageLinks
    refused: Sequence[tuple[str, Refusal]] = ()
    truncated: bool = False
    nofollow: bool = False


class LinkExtractor:
    """Finds links under the rules of one crawl; bad references are left out, nothing raises.

    >>> page = LinkExtractor().extract(b'<p class=x><a href="/a.csv">Data</a>', "http://example.org/")
    >>> page.links.link(0)[:3]
    ('http://example.org/a.csv', ('html', 'body', 'p.x', 'a'), 'Data')
    """

    def __init__(self, rules: Rules | None = None) -> None:
        self._rules = rules
        # A site repeats its menu on each page. Resolving and the rules are the dearest part of a link, so
        # their answer is kept by reference and what that is relative to: the site or a directory.
        self._resolve_in = lru_cache(_KEPT_REFERENCES)(self._resolve)
        self._refused: list[tuple[str, Refusal]] = []

    def extract(self, body: bytes, url: str, content_type: str = "") -> ReadPage:
        """Find the links of the page at ``url`` (in normal form), in document order."""
        text, codec = decode_page(body[:MAX_PAGE_BYTES], content_type)
        truncated = len(body) > MAX_PAGE_BYTES
        if is_heavy(text):
            text, cut = balanced(text)
            truncated = truncated or cut
        tree = LexborHTMLParser(text)
        selected = tree.css(_SELECTOR)
        tags = [node.tag for node in selected]
        base = _base_url(selected[tags.index("base")], url) if "base" in tags else url
        site = directory = base
        if base != _NO_BASE:
            site, directory = origin_of(base) + "/", base.partition("?")[0].rpartition("/")[0] + "/"
        in_utf = codec.startswith("utf-")
        short = len(directory) <= _KEPT_CHARS
        self._refused = []
        urls: list[str] = []
        nodes: list[LexborNode] = []
        links, chars_left = 0, MAX_CHARS_OF_URLS
        for node, tag in zip(selected, tags, strict=True):
            reference = _reference(tag, node.attributes)
            if not reference:
                continue
            if links == MAX_LINKS or chars_left <= 0:
                truncated = True
                break
            links += 1
            if not in_utf and not reference.isascii():
                reference = encode_query(reference, codec)
            place = _place_of(reference, site, directory) if short else None
            target = self._resolve(base, reference) if place is None else self._resolve_in(place, reference)
            if target is None:
                # One that the rules forbid is kept as well, at its full length.
                chars_left -= len(directory) + len(reference)
            else:
                chars_left -= len(target)
                urls.append(target)
                nodes.append(node)
        nofollow = any(tag == "meta" and _is_nofollow(node) for node, tag in zip(selected, tags, strict=True))
        return ReadPage(ParsedLinks(urls, nodes, tree), self._refused, truncated, nofollow)

    def _resolve(self, base: str, reference: str) -> str | None:
        url = resolve(base, reference)
        if url is None or self._rules is None:
            return url
        refusal = self._rules.refusal(url)
        if refusal is None:
            return url
        self._refused.append((url, refusal))
        return None


def _place_of(reference: str, site: str, directory: str) -> str | None:
    """Return that from which a reference leads to the same URL as from the page: the site or the directory.

    None where it is long, and where it has no path ("?page=2", or "http:?page=2"): such a one depends on the
    file name of the page.
    """
    first = reference[0]
    if first == "?" or len(reference) > _KEPT_CHARS:
        return None
    if first == "/":
        return site
    if ":" not in reference:
        return directory
    if reference.startswith(("http://", "https://")):
        return site
    ends_with_scheme = reference.partition("?")[0].partition("#")[0].rstrip(_STRIPPED).endswith(":")
    return None if ends_with_scheme else directory


def _reference(tag: str | None, attributes: dict[str, str | None]) -> str | None:
    """Return what a link element points to, without the fragment; None where that is not another page."""
    if tag in {"a", "area"}:
        reference = attributes.get("href")
    elif tag == "meta":
        reference = _refresh_target(attributes)
    else:
        reference = None if tag == "base" else attributes.get("src")
    if reference is None:
        return None
    reference = reference.strip(_STRIPPED)
    if reference.startswith(_NO_LINK) or len(reference) > MAX_URL_CHARS:
        return None
    head, mark, _ = reference.partition("#")
    # A blank before the fragment belongs to the path; at the end it would be stripped.
    return reference if mark and head[-1:] in _STRIPPED_SET else head


def _refresh_target(attributes: dict[str, str | None]) -> str | None:
    if (attributes.get("http-equiv") or "").strip().lower() != "refresh":
        return None
    found = _REFRESH.match(attributes.get("content") or "")
    return found[1] or found[2] or found[3] if found else None


def _is_nofollow(meta: LexborNode) -> bool:
    attributes = meta.attributes
    if (attributes.get("name") or "").lower() != "robots":
        return False
    content = (attributes.get("content") or "").lower()
    return not {"nofollow", "none"}.isdisjoint(content.replace(",", " ").split())


def _base_url(element: LexborNode, url: str) -> str:
    """Return what references are relative to: the first ``<base href>`` decides, whatever comes of it."""
    reference = element.attributes.get("href")
    if not reference:
        return url
    try:
        base = ada_url.join_url(url, reference)
    except (ValueError, UnicodeError):
        return url
    if base.startswith(("data:", "javascript:")):
        return url
    return resolve(url, reference) or _NO_BASE


def _path_of(node: LexborNode, paths: dict[int, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the tokens from ``html`` down to ``node``; the way up is walked only where it is new."""
    unknown = []
    path: tuple[str, ...] = ()
    current: LexborNode | None = node
    while current is not None:
        known = paths.get(current.mem_id)
        if known is not None:
            path = known
            break
        unknown.append(current)
        current = current.parent
    for ancestor in reversed(unknown):
        tag = ancestor.tag
        if tag is not None and tag[0] not in "-!" and len(path) < _MAX_PATH_TOKENS:
            path = (*path, _token(tag, ancestor.attributes))
        paths[ancestor.mem_id] = path
    return path


def _token(tag: str, attributes: dict[str, str | None]) -> str:
    token = tag
    if classes := attributes.get("class"):
        token += "." + " ".join(classes.split())
    if identifier := attributes.get("id"):
        token += "#" + "_".join(identifier.split())
    return token if len(token) <= _MAX_TOKEN_CHARS else token[:_MAX_TOKEN_CHARS]
