"""Why something was left alone, in words of somebody who does not know ours."""

from __future__ import annotations

# By the values of `coati.runs.reasons.REASONS`; a test holds that none is missing.
MEANINGS = {
    "out of scope": "on another site, or outside the part of the site that was asked for",
    "blocked extension": "a picture, a film or a sound, by the name of the file",
    "excluded by a pattern": "excluded by --exclude",
    "excluded host": "its host is excluded",
    "not included by a pattern": "not among what --include names",
    "trap: URL too long": "an address so long that it is probably made by a machine without end",
    "trap: repeating parts": "an address that repeats itself, as endless ones do",
    "robots.txt": "the site's robots.txt asks crawlers to leave it alone",
    "nofollow": "the page asks crawlers not to follow its links",
    "X-Robots-Tag": "the server asks crawlers to leave it alone",
    "private address": "leads into a private network",
    "too large": "larger than --max-file-size",
    "blocked media type": "of a type that was not asked for, as the server said; only its headers were read",
    "redirect loop": "sent us round in a circle",
    "too many redirects": "sent us on and on",
    "duplicate page": "the same page under another address",
    "trap: endless pages": "one of endlessly many pages of the same kind, as calendars have them",
    "trap: too deep": "a long chain of similar pages without a file",
    "not in the archive": "the crawl was offline, and the archive does not hold it",
    "host keeps failing": "its server failed too often",
    "host budget used up": "its host had all the requests that --host-budget allows",
    "budget": "no budget was left for it",
    "no such search engine": "a query to a search engine that the run was not given",
    "not offered by the search engine": "a query of a kind that the search engine cannot answer",
    "search quota used up": "the search engine had been asked as often as it may be",
}


def meaning_of(reason: str) -> str:
    """Say what a reason means; nothing for one that another version wrote."""
    return MEANINGS.get(reason, "")
