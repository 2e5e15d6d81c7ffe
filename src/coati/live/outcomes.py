"""From what Scrapy hands over to what a strategy observes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import islice
from pathlib import Path

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from coati.live.failures import (
    FailureReason,
    HostEndedError,
    NotAskedError,
    PrivateAddressError,
    failure_reason,
)
from coati.live.header_texts import header_pairs, header_text
from coati.model import (
    NO_LINKS,
    Failure,
    Kind,
    Method,
    Other,
    Outcome,
    Page,
    Redirect,
    Refused,
    Request,
    Target,
    Unchanged,
)
from coati.readers.formats import Format, format_of, is_missing_robots
from coati.readers.registry import KnowsShortcuts, PageReader
from coati.runs.fetched import RenderNote
from coati.runs.skip_reasons import Reason, SkipReason
from coati.web.downloads import proposed_name
from coati.web.facts import NO_EXTRACTORS, Extractor, facts_of
from coati.web.markup.goals import Predicate
from coati.web.media import BLOCKED_MEDIA_PREFIXES, TargetTypes, essence
from coati.web.rules import Refusal, Rules
from coati.web.sniffing import SNIFFED_BYTES, sniffed_type
from coati.web.urls import is_query, resolve

NOT_MODIFIED = 304
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_EMPTY = frozenset({204, 205})

# By this key of its meta a Scrapy request is known as a strategy's.
REQUEST = "coati_request"

# The mark of a request that no archive may answer.
LIVE_ONLY = "coati_live_only"

# Keys of a Scrapy request's meta by which our components tell what they did.
BODY_FILE = "coati_body_file"
BODY_BYTES = "coati_body_bytes"
STOPPED = "coati_stopped"
ANSWER_SECONDS = "coati_answer_seconds"
# Set where only the first bytes of a body show whether it is worth reading.
LOOK_INSIDE = "coati_look_inside"
# Set where the URL is a list address (`coati.readers.list_addresses`), and where it is one of an API.
LIST = "coati_list"
API = "coati_api"
# Set where a page in a browser requests it, and what came of rendering a page (`RenderNote`).
PAGE_REQUEST = "coati_page_request"
RENDERED = "coati_rendered"
# The URL of a conditional request: whether what the run got last has changed.
CONDITIONAL = "coati_conditional"

# Flags of a Scrapy response by which our download handler tells that a body is not whole.
CUT = "cut"
DAMAGED = "dataloss"
# The flag of a page that a browser should have rendered, and could not.
NOT_RENDERED = "not_rendered"

# What a run keeps of these, for people.
MISSING = {CUT: "the rest was not read", DAMAGED: "it broke off", NOT_RENDERED: "its scripts were not run"}

# The flag of a robots.txt that had been fetched already, to be obeyed: it costs nothing.
KNOWN_RULES = "coati_known_rules"

_MAX_HEADERS = 200


@dataclass(frozen=True, slots=True)
class FetchResult:
    """What came of one request.

    ``refused`` lists links that the rules of the run forbid, ``skipped`` URLs that are left alone for
    another reason, and ``drops`` what was cut off or thrown away, to be counted. ``unsent`` says that the
    request itself was never made, and so costs nothing. ``sent`` are the headers of the request that
    brought a page, secrets left out; None where none was sent.
    """

    outcome: Outcome
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    body_file: Path | None = None
    refused: tuple[tuple[str, Refusal], ...] = ()
    skipped: tuple[tuple[str, Reason], ...] = ()
    drops: tuple[str, ...] = ()
    unsent: bool = False
    sent: tuple[tuple[str, str], ...] | None = None
    rendered: RenderNote | None = None


class ResponseReader:
    """Reads responses under the rules of one crawl; nothing that a server sends makes it raise."""

    def __init__(
        self,
        rules: Rules | None,
        types: TargetTypes,
        extractors: Mapping[str, Extractor] = NO_EXTRACTORS,
        goal: Predicate | None = None,
        shortcuts: KnowsShortcuts | None = None,
        agents: Collection[str] = ("coati",),
    ) -> None:
        self._types = types
        self._agents = agents
        self._reader = PageReader(rules, shortcuts)
        self._extractors = extractors
        self._goal = goal

    def read(self, request: Request, response: Response) -> FetchResult:
        """Turn a response into an outcome."""
        meta = response.request.meta if response.request is not None else {}
        body_file = meta.get(BODY_FILE)
        form = self._format(request, response, is_list=bool(meta.get(LIST)), api=bool(meta.get(API)))
        result = FetchResult(
            self._outcome(request, response, form, meta.get(BODY_BYTES) if body_file else None),
            _headers(response),
            None if body_file else response.body,
            Path(body_file) if body_file else None,
            drops=tuple(flag for flag in response.flags if flag in MISSING),
            unsent=KNOWN_RULES in response.flags,
            rendered=meta.get(RENDERED),
        )
        stopped = meta.get(STOPPED)
        if stopped is not None and 200 <= response.status < 300:  # noqa: PLR2004 - HTTP success
            return self._stopped(request, response, result, stopped)
        if form is not None and request.method is Method.GET:
            return self._page(request, response, form, result, is_list=bool(meta.get(LIST)))
        return result

    def read_error(self, request: Request, error: BaseException) -> FetchResult:
        """Turn the error that came in place of a response into an outcome."""
        if isinstance(error, PrivateAddressError):
            return FetchResult(Refused(SkipReason.PRIVATE_ADDRESS))
        if isinstance(error, HostEndedError):
            known = str(error) in {SkipReason.HOST_BUDGET, SkipReason.ROBOTS}
            return FetchResult(Refused(SkipReason(str(error)) if known else SkipReason.HOST_FAILING))
        if isinstance(error, NotAskedError):
            return FetchResult(Refused(error.reason))
        if isinstance(error, IgnoreRequest):
            message = str(error)
            if "robots.txt" in message:
                return FetchResult(Refused(SkipReason.ROBOTS))
            reason = FailureReason.BOMB if "decompress" in message else FailureReason.UNSUPPORTED
        else:
            reason = failure_reason(error)
        skipped = ((request.url, SkipReason.TOO_LARGE),) if reason is FailureReason.TOO_LARGE else ()
        return FetchResult(Failure(0, 0, reason), skipped=skipped, drops=(reason,))

    def read_silence(self, reason: FailureReason) -> FetchResult:
        """Return the outcome of a request that was not sent, because its host did not even tell its rules."""
        return FetchResult(Failure(0, 0, reason), drops=(reason,), unsent=True)

    def _format(self, request: Request, response: Response, *, is_list: bool, api: bool) -> Format | None:
        """Say as what a response is read; None if it is not a page."""
        if not 200 <= response.status < 300:  # noqa: PLR2004 - HTTP success
            missing = is_missing_robots(request.url, response.status, is_list=is_list)
            return Format.ROBOTS if missing else None
        media_type = _content_type(response)
        wanted = self._is_target(request, response, media_type)
        body = response.body if request.method is Method.GET else None
        return format_of(request.url, media_type, body, is_list=is_list, wanted=wanted, api=api)

    def _outcome(
        self, request: Request, response: Response, form: Format | None, streamed_bytes: int | None
    ) -> Outcome:
        status = response.status
        size = 0
        if request.method is Method.GET:
            size = len(response.body) if streamed_bytes is None else streamed_bytes
        if status in _REDIRECTS:
            given = header_text(response.headers, "Location").strip()
            location = resolve(request.url, given) if given else None
            if location is None:
                moved = is_query(request.url)  # nobody is told where to: the address may repeat a key
                reason = FailureReason.SEARCH_MOVED if moved else FailureReason.NO_LOCATION
                return Failure(status, size, reason)
            return Redirect(status, size, location)
        if form is not None:
            return Page(status, size, NO_LINKS)
        if not 200 <= status < 300:  # noqa: PLR2004 - HTTP success
            return _without_content(request, response, size)
        return self._success(request, response, size)

    def _success(self, request: Request, response: Response, size: int) -> Outcome:
        missing = _what_is_missing(request, response)
        if missing is not None:
            return Failure(response.status, size, missing)
        media_type = essence(_content_type(response))
        if self._is_target(request, response, media_type):
            return Target(response.status, size, media_type)
        return Other(response.status, size, media_type)

    def _is_target(self, request: Request, response: Response, media_type: str) -> bool:
        name = proposed_name(header_text(response.headers, "Content-Disposition"))
        return self._types.kind(media_type, request.url, name) is Kind.TARGET

    def _stopped(self, request: Request, response: Response, result: FetchResult, why: str) -> FetchResult:
        reason = SkipReason(why)
        outcome: Outcome
        if reason is SkipReason.TOO_LARGE:
            outcome = Failure(response.status, 0, FailureReason.TOO_LARGE)
        else:
            outcome = Other(response.status, 0, essence(header_text(response.headers, "Content-Type")))
        return replace(result, outcome=outcome, body=None, skipped=((request.url, reason),), drops=(reason,))

    def _page(
        self, request: Request, response: Response, form: Format, result: FetchResult, *, is_list: bool
    ) -> FetchResult:
        # The error page of a robots.txt that does not exist says nothing.
        body = response.body if response.status < 300 else b""  # noqa: PLR2004 - HTTP success
        content_type = _content_type(response)
        page = self._reader.read(form, body, request.url, content_type, result.headers, is_list=is_list)
        facts = facts_of(self._extractors, body, content_type)
        relevant = self._goal is not None and self._goal(facts)
        outcome = Page(response.status, _received(result, response), page.links, facts, relevant=relevant)
        if page.truncated and CUT not in result.drops:
            result = replace(result, drops=(*result.drops, CUT))
        why: SkipReason | None = None
        tags = (value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag"))
        if forbids_following(tags, self._agents):
            why = SkipReason.X_ROBOTS_TAG
        elif page.nofollow:
            why = SkipReason.NOFOLLOW
        if result.rendered is not None:
            result = replace(result, skipped=result.rendered.skipped)
        if why is None:
            return replace(result, outcome=outcome, refused=tuple(page.refused))
        return replace(
            result,
            outcome=replace(outcome, links=NO_LINKS),
            refused=tuple(page.refused),
            skipped=(*result.skipped, *((url, why) for url in dict.fromkeys(page.links.urls))),
        )


def _received(result: FetchResult, response: Response) -> int:
    """Count the bytes of a page, and of what it requested."""
    return len(response.body) + (0 if result.rendered is None else result.rendered.received_bytes)


def _what_is_missing(request: Request, response: Response) -> FailureReason | None:
    """Say why a success that is not a page did not bring all of what was requested; None if it did."""
    if response.status in _EMPTY:
        return FailureReason.NO_CONTENT
    if request.method is Method.HEAD or DAMAGED not in response.flags:
        return None
    return FailureReason.NOT_READY if response.status == HTTPStatus.ACCEPTED else FailureReason.PART


def _without_content(request: Request, response: Response, size: int) -> Outcome:
    """Tell what is unchanged from what failed."""
    if response.status != NOT_MODIFIED:
        return Failure(response.status, size, f"status {response.status}")
    if response.request is None or response.request.meta.get(CONDITIONAL) != request.url:
        return Failure(response.status, size, FailureReason.UNREQUESTED_304)
    return Unchanged(response.status, size)


def forbids_following(values: Iterable[str], agents: Collection[str] = ("coati",)) -> bool:
    """Tell whether X-Robots-Tag headers ask one of these agents not to follow the links of a page.

    >>> forbids_following(["noindex, nofollow"]), forbids_following(["otherbot: nofollow"])
    (True, False)
    """
    # A name is what stands before the version: MyBot/2.0 is mybot.
    ours = {"*", *(agent.partition("/")[0].strip().lower() for agent in agents)}
    for value in values:
        named, colon, rest = value.partition(":")
        # "unavailable_after: date" is the only directive with a colon; any other name is an agent's.
        if colon and "," not in named and named.strip().lower() not in {*ours, "unavailable_after"}:
            continue
        directives = rest if colon and named.strip().lower() in ours else value
        if any(part.strip().lower() in {"nofollow", "none"} for part in directives.split(",")):
            return True
    return False


def is_blocked(media_type: str) -> bool:
    """Tell whether a media type is never worth its bytes: pictures, sound, films."""
    return essence(media_type).startswith(BLOCKED_MEDIA_PREFIXES)


def _content_type(response: Response) -> str:
    """Return the content type that a response is read by: mostly the declared one."""
    declared = header_text(response.headers, "Content-Type")
    disposition = header_text(response.headers, "Content-Disposition")
    file = None if response.request is None else response.request.meta.get(BODY_FILE)
    if file is None:
        return sniffed_type(declared, response.body, disposition)
    with Path(file).open("rb") as body:
        sniffed = sniffed_type(declared, body.read(SNIFFED_BYTES), disposition)
    # What went to a file because nobody said that it is a page is not read as one.
    return declared if "html" in sniffed else sniffed


def _headers(response: Response) -> tuple[tuple[str, str], ...]:
    return tuple(islice(header_pairs(response.headers), _MAX_HEADERS))
