"""The structured data of one page, in full: extruct (extra ``markup``) reads it, we write it as statements.

extruct is thorough and slow, so only pages that the detector labelled as relevant come here, and only the
syntaxes that it saw on them are read. Nothing is fetched. What extruct cannot read is named by syntax.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from coati.errors import ConfigError
from coati.markup.item_statements import (
    collect_microdata,
    collect_microformats,
    collect_open_graph,
    collect_rdfa,
)
from coati.markup.json_ld_statements import collect_json_ld
from coati.markup.statements import Collector, Statement
from coati.web.charset import decode_page
from coati.web.links import MAX_PAGE_BYTES
from coati.web.markup.json_ld import readable_scripts

# What is read of one page, but for JSON-LD: extruct's parsers take a second for a megabyte of dense markup.
MAX_CHARS = 4 << 20
# Statements of one page that are kept.
MAX_STATEMENTS = 50_000

_EXTRUCT_NAMES = {
    "microdata": "microdata",
    "rdfa": "rdfa",
    "json-ld": "json-ld",
    "microformats": "microformat",
    "opengraph": "opengraph",
}


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a page says. ``items`` are extruct's own, by syntax; ``failed`` are syntaxes not read whole."""

    statements: list[Statement]
    items: dict[str, list[Any]]
    failed: tuple[str, ...] = ()


def require_extruct() -> None:
    """Raise `ConfigError` where pages cannot be read in full: before the crawl, not after it."""
    if importlib.util.find_spec("extruct") is None:
        raise ConfigError(
            "extracting structured data in full needs extruct: pip install 'coati[markup]',"
            " or leave it out with --no-extract"
        )


def extract_statements(
    body: bytes, url: str, content_type: str = "", syntaxes: Collection[str] = tuple(_EXTRUCT_NAMES)
) -> Extracted:
    """Read the structured data of a page in full; nothing raises that the page can cause."""
    text, _ = decode_page(body[:MAX_PAGE_BYTES], content_type)
    collector = Collector(MAX_STATEMENTS)
    items: dict[str, list[Any]] = {}
    failed = []
    for syntax in syntaxes:
        try:
            found = _read(text if syntax == "json-ld" else text[:MAX_CHARS], url, syntax)
            _collect(syntax, found, url, collector)
        # Parsers of half a dozen libraries, on anything that the web holds: what they raise is not ours.
        except Exception:  # noqa: BLE001
            failed.append(syntax)
            continue
        if found:
            items[syntax] = found
        if collector.full:
            failed.append(syntax)
    return Extracted(collector.statements, items, tuple(failed))


def _read(text: str, url: str, syntax: str) -> list[Any]:
    import extruct

    name = _EXTRUCT_NAMES[syntax]
    try:
        found: list[Any] = extruct.extract(text, base_url=url, syntaxes=[name])[name]
    except ValueError:
        if syntax != "json-ld":
            raise
        # For one script that is broken, extruct gives all of them up.
        scripts = [node.text() for node in LexborHTMLParser(text).css('script[type="application/ld+json" i]')]
        found = readable_scripts(scripts)
    # What cannot be written as JSON cannot be kept, nor can halves of characters ("\\ud800" in a script).
    return list(json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")))


def _collect(syntax: str, found: list[Any], url: str, collector: Collector) -> None:
    if syntax == "json-ld":
        collect_json_ld(found, url, collector)
    elif syntax == "microdata":
        collect_microdata(found, collector)
    elif syntax == "microformats":
        collect_microformats(found, collector)
    elif syntax == "rdfa":
        collect_rdfa(found, collector)
    else:
        collect_open_graph(found, url, collector)
