"""Why a URL was skipped, in plain words."""

from __future__ import annotations

# By the values of `coati.runs.skip_reasons.REASONS`; a test holds that none is missing.
MEANINGS = {
    "out of scope": "on another site, or outside the chosen part of the site",
    "blocked extension": "an image, video or audio file, by its name",
    "excluded by a pattern": "excluded by --exclude",
    "excluded host": "its host is excluded",
    "not included by a pattern": "not among what --include names",
    "trap: URL too long": "a URL so long that it is probably generated without end",
    "trap: repeating parts": "a URL that repeats itself, as endless ones do",
    "robots.txt": "forbidden by the site's robots.txt",
    "nofollow": "the page asks crawlers not to follow its links",
    "X-Robots-Tag": "forbidden to crawlers by the server",
    "private address": "in a private network",
    "too large": "larger than --max-file-size",
    "blocked media type": "not of a wanted type according to the server; only its headers were read",
    "redirect loop": "redirects in a circle",
    "too many redirects": "redirects too often",
    "duplicate page": "the same page under another URL",
    "trap: endless pages": "one of endlessly many similar pages, such as those of a calendar",
    "trap: too deep": "a long chain of similar pages without a file",
    "not in the archive": "the crawl was offline, and it is not in the archive",
    "host keeps failing": "its server failed too often",
    "host budget used up": "its host had reached --host-budget",
    "no such search engine": "a query to a search engine that the run does not use",
    "not offered by the search engine": "a kind of query that the search engine does not offer",
    "search quota used up": "the search engine had reached its number of queries",
}


def meaning_of(reason: str) -> str:
    """Say what a reason means; nothing for one that another version wrote."""
    return MEANINGS.get(reason, "")
