"""An explanation in lines, for the terminal and for notebooks: where a URL was found, and what decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.runs.found_by import LINKS
from coati.strategies.scent.link_groups import SWEPT_LINKS
from coati.times import format_moment
from coati.units import format_bytes, format_count, format_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coati.reporting.explanation import Explanation, GroupStanding, UrlRequest
    from coati.reporting.found_repositories import SiteVerdict
    from coati.reporting.watched_pages import WatchedPage

_VISITS_SHOWN = 3


def explanation_lines(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """Say what is known of a URL, in lines: what it is about, or nothing if it goes on, and the words."""
    if explanation.site is not None:
        yield from _site(explanation.site)
    yield from _found(explanation)
    if explanation.skipped is not None and explanation.skipped.meaning:
        yield "rule", f"{explanation.skipped.reason}: {explanation.skipped.meaning}"
        if explanation.found is None and explanation.skipped.found_on:
            yield "found on", explanation.skipped.found_on
    if explanation.watched is not None:
        yield from _watched(explanation.watched)
    # Of a watched page the visits are summed up, and the latest ones shown.
    for request in (
        explanation.requests if explanation.watched is None else explanation.requests[-_VISITS_SHOWN:]
    ):
        yield from _request(request, explanation)
    if explanation.leads_to:
        yield "leads to", " -> ".join(explanation.leads_to)
    yield from _file(explanation)
    if explanation.siblings is not None:
        waiting = (
            f"; {format_count(explanation.siblings.waiting)} waiting" if explanation.siblings.waiting else ""
        )
        yield "same place", f"{_standing(explanation.siblings)}{waiting}"
    yield from _reasons(explanation)
    if explanation.missing:
        yield "missing", explanation.missing
    for place, near in enumerate(explanation.nearest):
        yield "" if place else "nearest", near


def _site(site: SiteVerdict) -> Iterator[tuple[str, str]]:
    yield "site", site_line(site)
    if site.action:
        yield "action", site.action
    for place, step in enumerate(site.trail):
        yield "" if place else "trail", step


def site_line(site: SiteVerdict) -> str:
    """Say what a search decided about a site."""
    return f"{site.site} is {site.state}: {site.because}"


def _reasons(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """Show the reasons with what each adds to the score; the words say what the strategy had seen."""
    name = "score then" if explanation.requests else "score now"
    if explanation.score is not None:
        total = (
            f"{explanation.score:.3f}{', which did not decide' if explanation.score_decided is False else ''}"
        )
        yield name, f"{total}. Change of the score by each reason:"
        name = ""
    for reason in explanation.reasons:
        yield name, f"{reason.contribution:+.3f} {reason.words}"
        name = ""


def _found(explanation: Explanation) -> Iterator[tuple[str, str]]:
    found = explanation.found
    if found is None:
        return
    if found.redirected_from:
        yield "found by", f"a redirect from {found.redirected_from}"
    if found.found_on:
        yield "found on", found.found_on
    if found.found_by and not found.redirected_from and found.found_by != LINKS:
        yield "found by", found.found_by
    if found.anchor:
        yield "link text", found.anchor
    if found.context and found.context != found.anchor:
        yield "around it", found.context
    if found.tag_path:
        yield "place", found.tag_path


def _watched(page: WatchedPage) -> Iterator[tuple[str, str]]:
    often = "" if page.every_seconds is None else f", about every {format_seconds(page.every_seconds)}"
    yield "watched", f"{format_count(page.visits, 'visit')}{often}; the last {format_moment(page.last_at)}"
    why = (
        f"{format_count(page.expected)} × something new was expected, {format_count(page.explored)} × it had"
    )
    yield "why", f"{why} waited longest; last: {page.why}"
    kinds = f"unchanged {format_count(page.unchanged)} ×, failed {format_count(page.failed)} ×"
    yield "led to", f"{format_count(page.new_links, 'new link')}; {kinds}"
    if page.gone:
        yield "gone", "not visited any more: it was missing too often"


def _request(request: UrlRequest, explanation: Explanation) -> Iterator[tuple[str, str]]:
    is_visit = explanation.watched is not None
    before = format_count(request.requests_before, "request")
    yield "chosen", f"{format_moment(request.chosen_at)}, after {before} ({request.method})"
    yield from _chosen_by(request, explanation)
    if request.kind is not None and request.kind != "refused":
        what = [
            f"status {request.status}" if request.status else "",
            request.media_type or "",
            request.reason or "",
        ]
        if request.size_bytes:
            what.append(format_bytes(request.size_bytes))
        # The reason may be the status.
        yield "response", ", ".join(dict.fromkeys(part for part in what if part))
    if request.links is not None:
        yield "links", f"{format_count(request.links)}, {format_count(request.new_links or 0)} of them new"
    if request.reward is not None and explanation.site is None:
        yield "led to", format_count(round(request.reward), "new link" if is_visit else "target")
    elif request.reward is not None and request.arm is None:
        yield "led to", format_count(round(request.reward), "new data file")
    elif request.reward is not None:
        yield "looks like", "a repository's page" if request.reward > 0 else "no page of a repository"


def _chosen_by(request: UrlRequest, explanation: Explanation) -> Iterator[tuple[str, str]]:
    if request.cause is not None:
        yield "by", request.cause
        if request.group is not None and request.group.name == SWEPT_LINKS:
            yield "", _standing(request.group)
    elif request.group is not None and explanation.watched is not None:
        yield "by", f"{request.group.name}{_score(request)}"
    elif request.group is not None and explanation.site is not None:
        yield "by", f"{request.group.name}{_score(request)}"
        yield "", _standing_of_action(request.group)
    elif request.group is not None:
        yield "by", f"group {request.arm}{_score(request)}: {request.group.name or 'no name yet'}"
        yield "", _standing(request.group)
    elif request.score:
        yield "by", f"score {request.score:.3g}"


def _score(request: UrlRequest) -> str:
    return "" if request.score is None else f" with score {request.score:.3g}"


def _standing_of_action(group: GroupStanding) -> str:
    """Tell what an action of a search has found: there are no targets."""
    looked = format_count(group.rewarded or 0)
    return (
        f"{format_count(group.followed, 'request')} in this run: {looked} looked like a repository's page,"
        f" {format_count(group.failures)} failed"
    )


def _standing(group: GroupStanding) -> str:
    return (
        f"{format_count(group.followed, 'request')} in this run:"
        f" {format_count(group.were_targets, 'target')},"
        f" {format_count(group.led_to)} more on its pages, {format_count(group.failures)} failed"
    )


def _file(explanation: Explanation) -> Iterator[tuple[str, str]]:
    file = explanation.file
    if file is None:
        return
    form = f"{file.media_type or 'no type'}, {format_bytes(file.size_bytes)}"
    yield "file", f"{file.file} ({form}), {format_moment(file.fetched_at)}"
    yield "SHA-256", file.sha256
    if file.redirects:
        yield "redirects", " -> ".join(file.redirects)
    for place, copy in enumerate(file.same_as):
        yield "" if place else "same bytes", copy
