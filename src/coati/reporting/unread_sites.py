"""Sites that kept a search from reading their pages: they forbid it, refuse it or do not respond."""

from __future__ import annotations

from collections import defaultdict
from sqlite3 import Connection

from coati.reporting.error_words import error_words
from coati.reporting.skip_meanings import meaning_of
from coati.units import format_count

_UNREAD = """
SELECT host, coalesce(status, 0) AS status, coalesce(reason, '') AS reason, count(*) AS urls FROM requests
WHERE id IN (SELECT max(id) FROM requests GROUP BY url) AND kind IN ('failure', 'refused', 'deferred')
AND host NOT LIKE 'search://%' GROUP BY 1, 2, 3 ORDER BY 4 DESC, 2, 3
"""
_READ = "SELECT DISTINCT host FROM requests WHERE kind IN ('page', 'target', 'other', 'unchanged')"
_REASONS = 3


def unread_by_site(connection: Connection) -> dict[str, str]:
    """Say of each site how many of its addresses could not be read, and why: by the last request for each."""
    reasons_by_site: dict[str, list[str]] = defaultdict(list)
    for host, status, reason, urls in connection.execute(_UNREAD):
        why = meaning_of(reason) or error_words(status, reason)
        reasons_by_site[host.removeprefix("www.")].append(f"{format_count(urls, 'URL')} ({why})")
    return {site: ", ".join(reasons[:_REASONS]) for site, reasons in reasons_by_site.items()}


def sites_never_read(connection: Connection) -> dict[str, str]:
    """Return the sites of which nothing could be read, with why."""
    read = {host.removeprefix("www.") for (host,) in connection.execute(_READ)}
    return {site: why for site, why in unread_by_site(connection).items() if site not in read}
