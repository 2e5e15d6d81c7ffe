"""Content management systems whose APIs need a key: what they list for everyone is a sitemap or a feed.

TYPO3 12 has no public list of files; its SEO extension answers ``?type=1533906435`` with a sitemap
(docs.typo3.org/c/typo3/cms-seo/main/en-us/XmlSitemap). Joomla's Web Services API (4.0 and later,
docs.joomla.org/J4.x:Joomla_Core_APIs) needs a token; ``?format=feed&type=rss`` of its start page does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coati.shortcuts.profile import ApiEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage


@dataclass(frozen=True, slots=True)
class SitemapOnly:
    """A software that is recognised by its generator, and lists pages at one URL."""

    name: str
    title: str
    written_from: str
    address: str
    what: str

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by the generator."""
        if self.name not in page.generator:
            return None
        return [ApiEntry(page.at(self.address), self.what, sure=False)]

    def reads(self, url: str) -> bool:
        """Return False: sitemaps and feeds have readers of their own."""
        return False

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """List nothing."""
        return iter(())


TYPO3 = SitemapOnly(
    "typo3",
    "TYPO3",
    "SEO extension of TYPO3 12: docs.typo3.org/c/typo3/cms-seo/main/en-us/XmlSitemap",
    "/?type=1533906435",
    "sitemap",
)
JOOMLA = SitemapOnly(
    "joomla",
    "Joomla",
    "feeds of Joomla 4 and 5: docs.joomla.org/RSS_Feeds",
    "/?format=feed&type=rss",
    "feed",
)
