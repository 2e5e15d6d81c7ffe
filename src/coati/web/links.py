"""From the bytes of a page to its links, with the tag path, the anchor and the text around each.

The tree is lexbor's, which is a browser's: implied elements are there, damage is repaired the way the HTML
standard says. Links stand in document order.

Most of a page's links share their ancestors, so the path of each ancestor is built once and kept by node for
the length of the call. Everything that comes from the page is bounded: bytes parsed, path length, token
length, text length. A page may have very many links; they are all returned.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from coati.model import Link
from coati.web.charset import decode_page
from coati.web.urls import MAX_URL_CHARS, resolve

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from coati.web.rules import Refusal, Rules

# What is parsed of one page. The largest honest page of our replicas has 2 MB; a tree takes about ten times
# the bytes in memory.
MAX_PAGE_BYTES = 16 * 1024 * 1024

_MAX_PATH_TOKENS = 128
_MAX_TOKEN_CHARS = 200
_MAX_TEXT_CHARS = 300

_LINK_SELECTOR = "a[href], area[href], iframe[src], frame[src], meta[http-equiv]"
_REFRESH_URL = re.compile(r"\s*[\d.]*\s*[;,]\s*(?:url\s*=\s*)?[\"']?\s*([^\"']+)", re.IGNORECASE)
_NO_LINK = ("#", "javascript:", "mailto:", "tel:", "data:")


class ParsedLinks:
    """The links of a parsed page (`coati.model.PageLinks`); keeps the tree alive while it lives."""

    __slots__ = ("_nodes", "_paths", "_texts", "urls")

    def __init__(self, urls: list[str], nodes: list[LexborNode]) -> None:
        self.urls = urls
        self._nodes = nodes
        self._paths: dict[int, tuple[str, ...]] = {}
        self._texts: dict[int, str] = {}

    def link(self, index: int) -> Link:
        """Build one link: tag path, anchor and the text around it."""
        node = self._nodes[index]
        path = _path_of(node, self._paths)
        parent = node.parent
        context = "" if parent is None else _text_of(parent, self._texts)
        return Link(self.urls[index], path, _collapse(node.text()), context)


class ExtractedPage(NamedTuple):
    """What a page gives.

    ``refused`` lists links that the rules forbid, at least when they are met first; ``truncated`` says that
    only the first bytes were parsed, ``nofollow`` that the page's meta robots ask not to follow its links.
    """

    links: ParsedLinks
    refused: list[tuple[str, Refusal]]
    truncated: bool
    nofollow: bool


class LinkExtractor:
    """Finds links under the rules of one crawl; bad references are left out, nothing raises.

    >>> page = LinkExtractor().extract(b'<p class=x><a href="/a.csv">Data</a>', "http://example.org/")
    >>> page.links.link(0)
    Link(url='http://example.org/a.csv', tag_path=('html', 'body', 'p.x', 'a'), anchor='Data', context='Data')
    """

    def __init__(self, rules: Rules | None = None) -> None:
        self._rules = rules
        # A site repeats its menu on each page of a directory. Resolving and the rules are the dearest part
        # of a link, so their answer is kept by directory and reference.
        self._resolve_in = lru_cache(maxsize=1 << 15)(self._resolve)
        self._refused: list[tuple[str, Refusal]] = []

    def extract(self, body: bytes, url: str, content_type: str = "") -> ExtractedPage:
        """Find the links of the page at ``url``, in document order."""
        truncated = len(body) > MAX_PAGE_BYTES
        tree = LexborHTMLParser(decode_page(body[:MAX_PAGE_BYTES], content_type))
        base = _base_url(tree, url)
        directory = base.partition("?")[0].rpartition("/")[0] + "/"
        self._refused = []
        urls: list[str] = []
        nodes: list[LexborNode] = []
        for node in tree.css(_LINK_SELECTOR):
            reference = _reference(node)
            if not reference:
                continue
            if reference[0] == "?":
                target = self._resolve(base, reference)
            else:
                target = self._resolve_in(directory, reference)
            if target is not None:
                urls.append(target)
                nodes.append(node)
        return ExtractedPage(ParsedLinks(urls, nodes), self._refused, truncated, _has_nofollow(tree))

    def _resolve(self, base: str, reference: str) -> str | None:
        url = resolve(base, reference)
        if url is None or self._rules is None:
            return url
        refusal = self._rules.refusal(url)
        if refusal is None:
            return url
        self._refused.append((url, refusal))
        return None


def _reference(node: LexborNode) -> str | None:
    """Give what a link element points to, without the fragment; None where that is no other page."""
    attributes = node.attributes
    reference = attributes.get("href")
    if reference is None:
        reference = attributes.get("src")
        if reference is None:
            reference = _refresh_target(attributes)
            if reference is None:
                return None
    reference = reference.strip()
    if reference.startswith(_NO_LINK) or len(reference) > MAX_URL_CHARS:
        return None
    return reference.partition("#")[0]


def _has_nofollow(tree: LexborHTMLParser) -> bool:
    for node in tree.css('meta[name="robots" i]'):
        content = (node.attributes.get("content") or "").lower()
        if "nofollow" in content or "none" in content:
            return True
    return False


def _base_url(tree: LexborHTMLParser, url: str) -> str:
    element = tree.css_first("base[href]")
    reference = element.attributes.get("href") if element is not None else None
    return (resolve(url, reference.strip()) if reference else None) or url


def _path_of(node: LexborNode, paths: dict[int, tuple[str, ...]]) -> tuple[str, ...]:
    """Give the tokens from ``html`` down to ``node``, walking up only as far as nobody walked before."""
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


def _text_of(node: LexborNode, texts: dict[int, str]) -> str:
    key = node.mem_id
    text = texts.get(key)
    if text is None:
        text = texts[key] = _collapse(node.text())
    return text


def _collapse(text: str) -> str:
    # Cut before splitting: a whole page may stand inside one anchor.
    return " ".join(text[: 2 * _MAX_TEXT_CHARS].split())[:_MAX_TEXT_CHARS]


def _refresh_target(attributes: dict[str, str | None]) -> str | None:
    if (attributes.get("http-equiv") or "").strip().lower() != "refresh":
        return None
    found = _REFRESH_URL.match(attributes.get("content") or "")
    return found.group(1) if found else None
