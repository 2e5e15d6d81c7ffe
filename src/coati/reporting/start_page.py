"""What went wrong at the start page of a run: why it was refused, or why it has no links."""

from __future__ import annotations

from collections.abc import Mapping
from sqlite3 import Connection

from coati.reporting.skip_meanings import meaning_of
from coati.runs.found_by import is_of_api
from coati.runs.skip_reasons import SkipReason
from coati.stop_reasons import (
    FORBIDDEN_START,
    LOGIN_REQUIRED,
    NO_ROBOTS_TXT,
    PRIVATE_START,
    START_REFUSED,
    StopText,
    redirected_start,
    strategy_left_site,
)
from coati.units import format_count
from coati.web.rules import Refusal

# A start page with fewer links than this gives a crawler nothing to go on.
FEW_LINKS = 3

_FIRST_TROUBLE = """
SELECT url, coalesce(status, 0) AS status, coalesce(reason, '') AS reason, redirected_from FROM requests
WHERE kind IN ('refused', 'failure', 'deferred') ORDER BY observed_event LIMIT 1
"""
_NOT_FOLLOWED = """
SELECT reason, count(*) AS urls FROM skipped
WHERE source = (SELECT min(request) FROM pages) GROUP BY 1 ORDER BY 2 DESC, 1
"""
_FIRST_PAGE = """
SELECT new_links, coalesce(media_type, '') FROM pages JOIN requests ON requests.id = pages.request
ORDER BY pages.request LIMIT 1
"""
_PATHS_OF_FIRST = """
SELECT tag_paths.path, count(*) FROM links JOIN tag_paths ON tag_paths.id = links.tag_path
WHERE links.page = (SELECT min(request) FROM pages) GROUP BY 1
"""
_LATER_LINKS = "SELECT count(*) FROM links WHERE page > (SELECT min(request) FROM pages)"
# A start that led to this many further links was only a door: a choice of languages, a frame, a refresh.
_LED_ON = 10
# The value of `coati.live.failures.FailureReason.NO_RULES`, which is not imported: it would bring Scrapy.
_NO_RULES = "robots.txt could not be fetched"

_BY_REASON = {
    SkipReason.ROBOTS.value: FORBIDDEN_START,
    SkipReason.PRIVATE_ADDRESS.value: PRIVATE_START,
    _NO_RULES: NO_ROBOTS_TXT,
}
_BY_STATUS = {401: LOGIN_REQUIRED, 403: START_REFUSED}


def failed_start(connection: Connection) -> StopText | None:
    """Say what kept a run that got nothing from its start page; None where the log tells no more."""
    row = connection.execute(_FIRST_TROUBLE).fetchone()
    if row is None:
        return None
    url, status, reason, redirected_from = row
    if reason == Refusal.SCOPE:
        return strategy_left_site(url) if redirected_from is None else redirected_start(url)
    return _BY_REASON.get(reason) or _BY_STATUS.get(status)


def few_links_in(connection: Connection) -> str:
    """Say why a run's start page gave few links; nothing where it gave enough, or there was no page."""
    found = connection.execute(_FIRST_PAGE).fetchone()
    if found is None:
        return ""
    links, media_type = found
    # What the software behind a site may list is requested because of the page; it is not a link of the page.
    links -= sum(count for path, count in connection.execute(_PATHS_OF_FIRST) if is_of_api(path))
    refused = dict(connection.execute(_NOT_FOLLOWED).fetchall())
    (later,) = connection.execute(_LATER_LINKS).fetchone()
    return "" if later >= _LED_ON and not refused else why_few_links(links, refused, media_type)


def why_few_links(links: int, refused: Mapping[str, int], media_type: str) -> str:
    """Say what few links on a start page may come of: our rules, if they refused any, else a script.

    A sitemap or a feed is built by no script, and one that names a single other sitemap is a good start.

    >>> why_few_links(0, {"not included by a pattern": 12}, "text/html")
    'The start page has no links to follow. Skipped: 12 not among what --include names.'
    """
    is_list = bool(media_type) and "html" not in media_type
    if links >= (1 if is_list else FEW_LINKS):
        return ""
    found = format_count(links, "link") if links else "no links"
    if refused:
        reasons = "; ".join(
            f"{format_count(urls)} {meaning_of(reason) or reason}" for reason, urls in refused.items()
        )
        return f"The start page has {found} to follow. Skipped: {reasons}."
    if is_list:
        return "The start URL is a list without links: start from a page of the site, or from another list."
    return (
        f"The start page has {found}: the site may build its pages with JavaScript. Try --render auto with"
        f" another --out (needs pip install 'coati[render]' and Chromium), or start from another page."
    )
