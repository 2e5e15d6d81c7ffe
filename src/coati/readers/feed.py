"""Feeds: RSS 0.9 to 2.0 and Atom. Each entry gives its link and the files that it encloses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from coati.readers.dates import seconds_of
from coati.readers.listed import Listed, TagPath
from coati.readers.xml_tags import tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coati.readers.xml_tags import Tag

_NAMES = (
    "rss", "rdf", "feed", "item", "entry", "link", "guid", "enclosure", "title",
    "pubdate", "published", "updated", "date",
)  # fmt: skip
_ENTRIES: Final[dict[str, TagPath]] = {
    "rss": ("rss", "channel", "item"),
    "rdf": ("rdf", "item"),
    "feed": ("feed", "entry"),
}
_DATES = frozenset({"pubdate", "published", "updated", "date"})
# Other vocabularies have titles and links of their own, of pictures and podcasts for one.
_OWN_PREFIXES = frozenset({"", "atom", "rss", "a10"})
# What an entry of Atom points to beside itself: the feed, its editor, the answers to it.
_FOLLOWED = frozenset({"alternate", "enclosure", "related", "via", "describedby"})
_MAX_TITLE_CHARS = 300
_MAX_LINKS_OF_ENTRY = 100


@dataclass(slots=True)
class _Entry:
    title: str = ""
    permalink: str = ""
    modified: float | None = None
    links: list[tuple[str, str]] = field(default_factory=list)

    def take(self, tag: Tag) -> None:
        if tag.name in _DATES:
            # Updated after it was published: the later date says when it changed.
            dates = [date for date in (self.modified, seconds_of(tag.text)) if date is not None]
            self.modified = max(dates, default=None)
        elif tag.prefix not in _OWN_PREFIXES:
            return
        elif tag.name == "title":
            self.title = self.title or " ".join(tag.text.split())[:_MAX_TITLE_CHARS]
        elif tag.name == "guid":
            self.permalink = "" if tag.attribute("ispermalink").lower() == "false" else tag.text
        elif tag.name == "enclosure":
            self._add("enclosure", tag.attribute("url"))
        elif tag.name == "link":
            relation = tag.attribute("rel").lower() or "alternate"
            if relation in _FOLLOWED:
                name = "enclosure" if relation == "enclosure" else "link"
                self._add(name, tag.attribute("href") or tag.text)

    def _add(self, name: str, reference: str) -> None:
        if reference and len(self.links) < _MAX_LINKS_OF_ENTRY:
            self.links.append((name, reference))

    def listed(self, path: TagPath) -> Iterator[Listed]:
        links = self.links
        if not any(name == "link" for name, _ in links) and self.permalink.startswith("http"):
            links = [("link", self.permalink), *links]
        for name, reference in links:
            yield Listed(reference, (*path, name), self.title, self.modified)


def read_feed(text: str) -> Iterator[Listed]:
    """Yield what the entries of a feed link to; the title is the anchor.

    >>> feed = "<rss><channel><item><title>New</title><link>/a</link></item></channel></rss>"
    >>> (entry,) = read_feed(feed)
    >>> entry.reference, entry.tag_path, entry.anchor
    ('/a', ('rss', 'channel', 'item', 'link'), 'New')
    """
    path = _ENTRIES["rss"]
    entry: _Entry | None = None
    for tag in tags(text, _NAMES):
        if tag.name in {"item", "entry"}:
            if entry is not None:
                yield from entry.listed(path)
            entry = None if tag.closes else _Entry()
        elif tag.name in _ENTRIES:
            path = path if tag.closes else _ENTRIES[tag.name]
        elif entry is not None and not tag.closes:
            entry.take(tag)
    if entry is not None:
        yield from entry.listed(path)
