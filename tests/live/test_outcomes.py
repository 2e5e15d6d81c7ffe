from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request as ScrapyRequest
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from scrapy.http import Response

from coati.live.failures import DownloadError, FailureReason, PrivateAddressError
from coati.live.outcomes import BODY_BYTES, BODY_FILE, ResponseReader
from coati.model import Failure, Method, Other, Page, Redirect, Refused, Request, Target
from coati.runs.skip_reasons import REASONS, SkipReason
from coati.web.media import PRESETS
from coati.web.rules import Rules

URL = "http://example.org/a/"
GET = Request(1, Method.GET, URL)
READER = ResponseReader(Rules("http://example.org/"), PRESETS["data"])


def response(status: int = 200, body: bytes = b"", **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(URL, status=status, body=body, headers=named, request=ScrapyRequest(URL))


def test_a_page_gives_its_links_and_what_the_rules_refuse() -> None:
    body = b'<a href="b">B</a><a href="http://example.com/">out</a><a href=c.png>'
    # A reader tells each refusal once.
    reader = ResponseReader(Rules("http://example.org/"), PRESETS["data"])
    reading = reader.read(GET, response(body=body, Content_Type="text/html"))
    assert isinstance(reading.outcome, Page)
    assert list(reading.outcome.links.urls) == ["http://example.org/a/b"]
    assert dict(reading.refused) == {
        "http://example.com/": "out of scope",
        "http://example.org/a/c.png": "blocked extension",
    }
    assert (reading.outcome.size_bytes, reading.body) == (len(body), body)


def test_a_target_is_known_by_its_type() -> None:
    reading = READER.read(GET, response(body=b"1,2", Content_Type="Text/CSV; charset=x"))
    assert reading.outcome == Target(200, 3, "text/csv")
    assert READER.read(GET, response(body=b"{", Content_Type="font/woff")).outcome == Other(
        200, 1, "font/woff"
    )
    assert READER.read(GET, response(body=b"?")).outcome == Target(200, 1, "text/plain")
    assert READER.read(GET, response(body=b"\x00")).outcome == Target(200, 1, "application/octet-stream")
    assert READER.read(GET, response(body=b"GIF89a")).outcome == Other(200, 6, "image/gif")
    assert READER.read(GET, response()).outcome == Other(200, 0, "")


def test_what_has_no_type_is_told_by_its_first_bytes_also_in_a_file(tmp_path: Path) -> None:
    assert isinstance(READER.read(GET, response(body=b"<!doctype html><a href=x>")).outcome, Page)
    for body, media_type in ((b"PK\x03\x04", "application/zip"), (b"<html>", "")):
        (tmp_path / "body").write_bytes(body)
        answer = response()
        assert answer.request is not None
        answer.request.meta.update({BODY_FILE: str(tmp_path / "body"), BODY_BYTES: len(body)})
        outcome = READER.read(GET, answer).outcome
        assert isinstance(outcome, Target | Other)
        assert outcome.media_type == media_type


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_outcome(status: int) -> None:
    outcome = READER.read(GET, response(status, Location="../b?x#y")).outcome
    assert outcome == Redirect(status, 0, "http://example.org/b?x")


@pytest.mark.parametrize("location", ["", "mailto:me@example.org", "javascript:0", "http://[bad", "x" * 9000])
def test_a_redirect_to_nowhere_is_a_failure(location: str) -> None:
    outcome = READER.read(GET, response(302, Location=location)).outcome
    if location:
        assert isinstance(outcome, Failure)
        assert outcome.reason == FailureReason.NO_LOCATION


@pytest.mark.parametrize("status", [100, 206, 300, 404, 418, 500, 999])
def test_other_statuses_fail_with_their_number(status: int) -> None:
    outcome = READER.read(GET, response(status, b"x", Content_Type="text/csv")).outcome
    if 200 <= status < 300:
        assert isinstance(outcome, Target)
    else:
        assert outcome == Failure(status, 1, f"status {status}")


def test_a_head_has_neither_size_nor_links() -> None:
    head = Request(1, Method.HEAD, URL)
    outcome = READER.read(head, response(Content_Type="text/html", Content_Length="500")).outcome
    assert isinstance(outcome, Page)
    assert (outcome.size_bytes, list(outcome.links.urls)) == (0, [])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (CannotResolveHostError(), FailureReason.NO_HOST),
        (DownloadConnectionRefusedError(), FailureReason.NOT_CONNECTED),
        (DownloadTimeoutError(), FailureReason.TIMEOUT),
        (ResponseDataLossError(), FailureReason.SHORT_BODY),
        (DownloadFailedError(), FailureReason.BROKEN_OFF),
        (DownloadError(FailureReason.TOO_SLOW), FailureReason.TOO_SLOW),
        (DownloadError(FailureReason.TOO_LARGE), FailureReason.TOO_LARGE),
        (DownloadError(FailureReason.BOMB), FailureReason.BOMB),
        (IgnoreRequest("exceeded DOWNLOAD_MAXSIZE during decompression"), FailureReason.BOMB),
        (ValueError("?"), FailureReason.UNSUPPORTED),
    ],
)
def test_errors_have_reasons_in_words(error: Exception, reason: FailureReason) -> None:
    reading = READER.read_error(GET, error)
    assert reading.outcome == Failure(0, 0, reason)
    assert reading.drops == (reason,)


def test_refusals_have_reasons_that_a_run_can_list() -> None:
    robots = READER.read_error(GET, IgnoreRequest("Forbidden by robots.txt")).outcome
    private = READER.read_error(GET, PrivateAddressError("10.0.0.1")).outcome
    assert (robots, private) == (Refused(SkipReason.ROBOTS), Refused(SkipReason.PRIVATE_ADDRESS))
    assert {SkipReason.ROBOTS, SkipReason.PRIVATE_ADDRESS} <= set(REASONS)


@given(
    status=st.integers(100, 999),
    body=st.binary(max_size=400),
    headers=st.dictionaries(
        st.sampled_from(["Content-Type", "Location", "X-Robots-Tag", "Content-Length"]),
        st.binary(max_size=80),
    ),
    method=st.sampled_from(Method),
)
def test_nothing_that_a_server_sends_makes_it_raise(
    status: int, body: bytes, headers: dict[str, bytes], method: Method
) -> None:
    answer = Response(URL, status=status, body=body, headers=headers, request=ScrapyRequest(URL))
    READER.read(Request(1, method, URL), answer)
