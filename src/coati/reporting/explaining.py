"""Why a URL was requested or skipped in a run: which rule or which score decided.

Most of it is in the log. The score of a link that still waits comes from the strategy, if it can explain
itself; if not, the links in the same place on their pages, and their results, say as much.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from sqlite3 import Connection, Row
from typing import NamedTuple

from coati.errors import UsageError
from coati.model import OutcomeKind
from coati.reporting.explanation import (
    Explanation,
    FoundLink,
    GroupStanding,
    SavedFile,
    SkippedUrl,
    UrlRequest,
    Verdict,
)
from coati.reporting.found_repositories import verdict_on
from coati.reporting.nearest_urls import nearest_known
from coati.reporting.restored_strategy import NotExplained, explained_by_strategy, settings_of
from coati.reporting.skip_meanings import meaning_of
from coati.reporting.watched_pages import is_watch_run, watched_page
from coati.runs.found_by import way_of
from coati.runs.reader import RunReader
from coati.settings.run_settings import RunSettings
from coati.strategies.scent.link_groups import SWEPT_LINKS
from coati.units import format_count
from coati.web.queries import parse_query
from coati.web.urls import is_query, normalise, resolve, site_of

# Requests, redirects and copies beyond these are of no help to anybody.
_MAX_ASKED = 20
_MAX_HOPS = 20
_MAX_COPIES = 20

_START = "SELECT url FROM requests ORDER BY chosen_event LIMIT 1"
# The latest ones, in order: of a page that is visited again and again these decide.
_ASKED = """
SELECT * FROM (SELECT requests.*, pages.links, pages.new_links,
       (SELECT coalesce(sum(charged), 0) FROM requests AS earlier
        WHERE earlier.observed_event < requests.chosen_event) AS requests_before
FROM requests LEFT JOIN pages ON pages.request = requests.id
WHERE requests.url = ? ORDER BY chosen_event DESC LIMIT ?) ORDER BY chosen_event
"""
_REQUEST_COLUMNS = tuple(name for name in UrlRequest.__slots__ if name not in {"request", "group", "cause"})
_CHOSEN = "SELECT id, url, chosen_event, redirected_from, arm FROM requests WHERE id = ?"
_LABEL = "SELECT label FROM groups WHERE arm = ?"
# The request for the same URL before this one, if it met an outage.
_DEFERRED = """
SELECT id FROM (SELECT id, kind FROM requests WHERE url = ? AND chosen_event < ?
                ORDER BY chosen_event DESC LIMIT 1) WHERE kind IS 'deferred'
"""
_LINK = """
SELECT links.id, links.anchor, links.context, tag_paths.path, requests.url AS found_on
FROM links JOIN requests ON requests.id = links.page
LEFT JOIN tag_paths ON tag_paths.id = links.tag_path
WHERE links.url = ? ORDER BY links.id LIMIT 1
"""
_REDIRECT = "SELECT url FROM requests WHERE location = ? ORDER BY observed_event LIMIT 1"
_SKIPPED = """
SELECT skipped.reason, requests.url AS found_on FROM skipped
LEFT JOIN requests ON requests.id = skipped.source WHERE skipped.url = ? ORDER BY skipped.id LIMIT 1
"""
_TARGET = "SELECT * FROM targets WHERE url = ? ORDER BY version DESC LIMIT 1"
_URL_OF_FILE = "SELECT url FROM targets WHERE file = ? ORDER BY request LIMIT 1"
_COPIES = "SELECT url FROM targets WHERE sha256 = ? AND url <> ? ORDER BY request LIMIT ?"
_GROUP = """
SELECT coalesce((SELECT label FROM groups WHERE arm = ?1), '') AS label, count(*) AS followed,
       coalesce(sum(new_target), 0) AS were_targets, coalesce(sum(kind IS 'failure'), 0) AS failures,
       coalesce(sum(reward > 0), 0) AS rewarded,
       (SELECT count(DISTINCT targets.url) FROM targets JOIN requests AS page ON page.id = targets.found_by
        WHERE page.arm = ?1) AS led_to
FROM requests WHERE arm = ?1 AND kind IS NOT 'deferred' AND kind IS NOT 'refused'
     AND strategy NOT LIKE 'retry %'
"""
_SIBLINGS = """
WITH alike AS (SELECT id FROM tag_paths WHERE path = ?1)
SELECT count(*) AS followed, coalesce(sum(requests.new_target), 0) AS were_targets,
       coalesce(sum(requests.kind IS 'failure'), 0) AS failures,
       (SELECT count(DISTINCT targets.url) FROM targets JOIN requests AS page ON page.id = targets.found_by
        JOIN links ON links.id = page.link WHERE links.tag_path IN alike) AS led_to,
       (SELECT count(*) FROM links WHERE tag_path IN alike) AS links
FROM requests JOIN links ON links.id = requests.link
WHERE links.tag_path IN alike AND requests.method = 'GET' AND requests.kind IS NOT 'deferred'
"""
_STANDING = ("followed", "were_targets", "led_to", "failures")
_LOCATION = "SELECT location FROM requests WHERE url = ? AND location IS NOT NULL LIMIT 1"

_VERDICTS = {
    # Where the first answer was long ago.
    kind.value: Verdict.PAGE if kind is OutcomeKind.UNCHANGED else Verdict(kind.value)
    for kind in OutcomeKind
}


_NOT_WATCHED = (
    "It is known but was not requested: a watch visits the pages that link to files, and follows new"
    " links. Use coati explain on the run of the crawl to see why this one was not chosen."
)


def explain_url(folder: Path, url: str) -> Explanation:
    """Say what a run knows of a URL, and what decided about it.

    A URL without a host is taken as one of the site, or as the name of a file that the run collected. Raises
    `coati.errors.UsageError` if it is neither.
    """
    with RunReader(folder) as run:
        run.connection.execute("BEGIN")
        try:
            whole = _absolute(run.connection, url)
            explanation = _explain(run, whole)
            of_file = _url_of_file(run, url) if explanation.verdict is Verdict.UNKNOWN else None
            if of_file is not None:
                whole = of_file
                explanation = _explain(run, whole)
            site = None if is_query(whole) else verdict_on(run.connection, site_of(whole))
            watched = watched_page(run.connection, whole) if is_watch_run(run.settings) else None
            explanation = replace(explanation, site=site, watched=watched)
        finally:
            run.connection.execute("ROLLBACK")
    if explanation.verdict is Verdict.UNKNOWN and explanation.site is None and not _looks_like_one(url):
        raise _no_url(url)
    return explanation


def _absolute(connection: Connection, url: str) -> str:
    if is_query(url):
        return parse_query(url).address
    start = connection.execute(_START).fetchone()
    if start and is_query(start[0]) and "://" not in url:
        # A search has no site that a path could be of: the name of one is meant, and its best page.
        site = verdict_on(connection, url.lower().removeprefix("www."))
        url = site.trail[-1] if site and site.trail else f"http://{url}"
    known = normalise(url) if "://" in url else resolve(start[0], url) if start else None
    if known is None or not url.strip():
        raise _no_url(url)
    return known


def _url_of_file(run: RunReader, text: str) -> str | None:
    """Find where a file in ``files`` came from, given its name, or its path as a shell completes it."""
    if "://" in text:
        return None
    names = {text, text.removeprefix("files/")}
    files, path = run.layout.files.resolve(), Path(text).resolve()
    if path.is_relative_to(files):
        names.add(path.relative_to(files).as_posix())
    for name in sorted(names):
        found = run.connection.execute(_URL_OF_FILE, (name,)).fetchone()
        if found is not None:
            return str(found[0])
    return None


def _looks_like_one(url: str) -> bool:
    """Tell what is meant as a URL, or as a path of the site, from a slip."""
    return "://" in url or url.startswith(("/", "?", "./", "../"))


def _no_url(url: str) -> UsageError:
    return UsageError(
        f"not a web URL: {url!r}; give one like https://www.example.org/data.csv, a path like /data.csv, or"
        " the name of a collected file"
    )


def _weighed(
    explanation: Explanation,
    run: RunReader,
    settings: RunSettings | None,
    found: FoundLink,
    chosen: _Choice | None = None,
) -> Explanation:
    """Add what the strategy says of the score, or why it cannot; ``chosen`` where the URL was requested."""
    if settings is None:
        return explanation
    url, before_event = (explanation.url, None) if chosen is None else (chosen.url, chosen.event)
    explained = explained_by_strategy(run, settings, url, found, before_event)
    if isinstance(explained, NotExplained):
        return replace(explanation, missing=f"what the strategy says of its score: {explained.reason}")
    if explained is None:
        return explanation
    decided = chosen is None or not _is_sweep(run.connection, chosen.arm)
    return replace(
        explanation, score=explained.score, score_decided=decided, reasons=tuple(explained.reasons)
    )


def _explain(run: RunReader, url: str) -> Explanation:
    connection = run.connection
    settings = settings_of(run)
    strategy = settings.strategy if settings else ""
    found = _found_link(connection, url)
    requests = _requests(connection, url)
    skipped = _skipped(connection, url)
    if requests:
        if found is None and settings is not None:
            found = _start(url, settings)
        explanation = _explain_requested(connection, url, requests, found, strategy)
        if settings is None or found is None or found.is_start:
            return explanation
        if settings.topic:
            # A search judges a page by its words, which it did not know before the request.
            return _weighed(explanation, run, settings, found)
        return _weighed(explanation, run, settings, found, _deciding_choice(connection, requests[-1].request))
    if skipped is not None:
        because = f"It was found and skipped: {skipped.reason}."
        return Explanation(url, Verdict.SKIPPED, because, found, skipped=skipped, strategy=strategy)
    if found is not None:
        return _explain_waiting(run, url, found, settings)
    refusal = settings.rules.refusal(url) if settings else None
    if refusal is not None:
        skipped = SkippedUrl(refusal.value, meaning_of(refusal.value))
    because = "The run never found it" + (
        ": no fetched page links to it."
        if refusal is None
        else f", and its rules forbid it: {refusal.value}."
    )
    nearest = nearest_known(connection, url)
    return Explanation(url, Verdict.UNKNOWN, because, skipped=skipped, nearest=nearest, strategy=strategy)


def _start(url: str, settings: RunSettings) -> FoundLink | None:
    """Say why a URL was requested before any link was known."""
    if url in settings.urls:
        return FoundLink(found_by="it is a start URL", is_start=True)
    if url in settings.start_urls:
        return FoundLink(found_by="it is requested at the start, for its list of addresses", is_start=True)
    return None


class _Choice(NamedTuple):
    """A choice of the strategy: the URL, its event in the log, and its group."""

    url: str
    event: int
    arm: int | None


def _deciding_choice(connection: Connection, request: int) -> _Choice:
    """Return the choice that led to a request.

    A redirect is followed, and a URL that met an outage requested again, because of an earlier choice.
    """
    row = connection.execute(_CHOSEN, (request,)).fetchone()
    for _ in range(_MAX_ASKED):
        earlier = row["redirected_from"]
        if earlier is None:
            deferred = connection.execute(_DEFERRED, (row["url"], row["chosen_event"])).fetchone()
            earlier = None if deferred is None else deferred["id"]
        if earlier is None:
            break
        row = connection.execute(_CHOSEN, (earlier,)).fetchone()
    return _Choice(row["url"], row["chosen_event"], row["arm"])


def _is_sweep(connection: Connection, arm: int | None) -> bool:
    """Tell whether a group is what scent's sweep chose."""
    row = connection.execute(_LABEL, (arm,)).fetchone()
    return row is not None and row["label"] == SWEPT_LINKS


def _explain_waiting(run: RunReader, url: str, found: FoundLink, settings: RunSettings | None) -> Explanation:
    strategy = settings.strategy if settings else ""
    if is_watch_run(run.settings):
        return Explanation(url, Verdict.WAITING, _NOT_WATCHED, found, strategy=strategy)
    waiting = Explanation(
        url,
        Verdict.WAITING,
        "It is known but was not requested: its turn had not come.",
        found,
        siblings=_siblings(run.connection, found.tag_path),
        strategy=strategy,
    )
    weighed = _weighed(waiting, run, settings, found)
    if weighed.score is None:
        return weighed
    because = f"It is known but was not requested: {strategy} expected more from other links."
    return replace(weighed, because=because)


def _explain_requested(
    connection: Connection, url: str, requests: tuple[UrlRequest, ...], found: FoundLink | None, strategy: str
) -> Explanation:
    # A HEAD only announces; the last request that is more than that says what became of the URL.
    # One that was not modified is what it was before.
    fetches = [each for each in requests if each.method == "GET"] or list(requests)
    last = next((each for each in reversed(fetches) if each.kind != OutcomeKind.UNCHANGED), fetches[-1])
    verdict = Verdict.IN_FLIGHT if last.kind is None else _VERDICTS[last.kind]
    skipped = None
    if verdict is Verdict.REFUSED:
        skipped = SkippedUrl(
            last.reason or "", meaning_of(last.reason or ""), found.found_on if found else None
        )
    if last.method == "HEAD" and verdict in {Verdict.PAGE, Verdict.TARGET}:
        verdict = Verdict.WAITING
    return Explanation(
        url,
        verdict,
        _because(verdict, last),
        found,
        requests,
        _saved(connection, url),
        skipped,
        siblings=_siblings(connection, found.tag_path) if found and verdict is Verdict.WAITING else None,
        strategy=strategy,
        leads_to=_leads_to(connection, url),
    )


def _because(verdict: Verdict, last: UrlRequest) -> str:
    sentences = {
        Verdict.TARGET: "It was fetched and is a file of the wanted types.",
        Verdict.PAGE: f"It was fetched and is a page with {format_count(last.links or 0, 'link')},"
        f" {format_count(last.new_links or 0)} of them new.",
        Verdict.REDIRECT: f"It was requested and redirects elsewhere (status {last.status}).",
        Verdict.FAILURE: f"It was requested and failed: {last.reason or last.status}.",
        Verdict.REFUSED: f"It was chosen and then skipped: {last.reason}.",
        Verdict.IN_FLIGHT: "It was chosen and has no response yet: it is in flight, or the run was killed.",
        Verdict.WAITING: "Only its type was requested so far (HEAD); it is waiting to be fetched.",
        Verdict.DEFERRED: f"It could not be reached ({last.reason}) and will be requested again.",
        Verdict.OTHER: "It was fetched and is neither a page nor a wanted file"
        f" ({last.media_type or 'no type'}).",
    }
    return sentences[verdict]


def _requests(connection: Connection, url: str) -> tuple[UrlRequest, ...]:
    return tuple(
        UrlRequest(
            request=row["id"],
            group=None if row["arm"] is None else _group(connection, row["arm"]),
            cause=_cause(connection, row),
            **{name: row[name] for name in _REQUEST_COLUMNS},
        )
        for row in connection.execute(_ASKED, (url, _MAX_ASKED)).fetchall()
    )


def _cause(connection: Connection, row: Row) -> str | None:
    """Say why a URL was requested if no score decided."""
    if row["redirected_from"] is not None:
        before = connection.execute(_CHOSEN, (row["redirected_from"],)).fetchone()
        return f"the redirect from {before['url']}, which is followed at once"
    if connection.execute(_DEFERRED, (row["url"], row["chosen_event"])).fetchone() is not None:
        return "an earlier choice: it could not be reached then, so it is requested again"
    if _is_sweep(connection, row["arm"]):
        return f"the sweep: {SWEPT_LINKS.removesuffix(' (sweep)')}; not the score"
    return None


def _found_link(connection: Connection, url: str, hops: int = _MAX_HOPS) -> FoundLink | None:
    """Find the link that the URL was found by, or the one that a redirect to it began with."""
    link: Row | None = connection.execute(_LINK, (url,)).fetchone()
    if link is not None:
        context = link["context"] or link["anchor"]
        way = way_of(link["path"]) if link["path"] else None
        return FoundLink(link["found_on"], link["anchor"], link["path"], context, found_by=way)
    redirect = connection.execute(_REDIRECT, (url,)).fetchone()
    if redirect is None:
        return None
    # Redirects may go in a circle.
    before = _found_link(connection, redirect["url"], hops - 1) if hops > 1 else None
    return replace(before or FoundLink(), redirected_from=redirect["url"])


def _skipped(connection: Connection, url: str) -> SkippedUrl | None:
    row = connection.execute(_SKIPPED, (url,)).fetchone()
    return None if row is None else SkippedUrl(row["reason"], meaning_of(row["reason"]), row["found_on"])


def _saved(connection: Connection, url: str) -> SavedFile | None:
    row = connection.execute(_TARGET, (url,)).fetchone()
    if row is None:
        return None
    copies = connection.execute(_COPIES, (row["sha256"], url, _MAX_COPIES))
    return SavedFile(
        f"files/{row['file']}",
        row["sha256"],
        row["size_bytes"],
        row["media_type"],
        row["fetched_at"],
        redirects=tuple(json.loads(row["redirects"])),
        same_as=tuple(copy["url"] for copy in copies),
    )


def _group(connection: Connection, arm: int) -> GroupStanding:
    row = connection.execute(_GROUP, (arm,)).fetchone()
    return GroupStanding(name=row["label"], **{name: row[name] for name in (*_STANDING, "rewarded")})


def _siblings(connection: Connection, tag_path: str | None) -> GroupStanding | None:
    if tag_path is None:
        return None
    row = connection.execute(_SIBLINGS, (tag_path,)).fetchone()
    waiting = max(0, row["links"] - row["followed"])
    return GroupStanding(tag_path, waiting=waiting, **{name: row[name] for name in _STANDING})


def _leads_to(connection: Connection, url: str) -> tuple[str, ...]:
    """Follow redirects as far as the log knows them."""
    hops: list[str] = []
    at = url
    while len(hops) < _MAX_HOPS:
        row = connection.execute(_LOCATION, (at,)).fetchone()
        if row is None or row["location"] in {url, *hops}:
            break
        at = row["location"]
        hops.append(at)
    return tuple(hops)
