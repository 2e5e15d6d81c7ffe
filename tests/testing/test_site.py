import pytest

from coati.errors import UsageError
from coati.testing.site import Response, Site, body_chunks, body_of

START = "http://a.test/"


def test_a_url_that_the_site_does_not_have_is_not_found() -> None:
    assert Site(START, {}).get(START).status == 404


def test_headers_are_found_in_any_case() -> None:
    assert Response.file("text/csv", b"", name="a.csv").header("content-DISPOSITION").endswith('"a.csv"')
    assert Response().header("Location") == ""


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 200_000, 400_001])
def test_filler_has_the_declared_size_and_differs_between_urls(size: int) -> None:
    response = Response.file("text/csv", size_bytes=size)
    body = body_of(START, response)
    assert len(body) == size == response.size_bytes
    assert b"".join(body_chunks(START, response)) == body
    if size >= 20:
        assert body != body_of(START + "b", response)


def test_records_carry_what_an_archive_needs() -> None:
    site = Site(
        START,
        {
            START: Response.page("<p>é"),
            START + "old": Response.redirect("new#there"),
            START + "data": Response.file("Text/CSV; header=present", size_bytes=7),
        },
    )
    page, redirect, file = site.to_records()
    assert (page.entry.media_type, page.entry.size_bytes, page.body) == ("text/html", 5, "<p>é".encode())
    assert (redirect.entry.status, redirect.entry.location) == (301, START + "new")
    assert (file.entry.media_type, file.entry.size_bytes, file.body) == ("text/csv", 7, None)
    assert [record.entry.kind for record in (page, redirect, file)] == [None] * 3


@pytest.mark.parametrize("start_url", ["a.test", "ftp://a.test/", "http://a.test", "http://A.test/"])
def test_a_start_that_is_no_normal_url_is_refused(start_url: str) -> None:
    with pytest.raises(UsageError, match="normal form"):
        Site(start_url, {})


def test_an_impossible_response_is_refused() -> None:
    with pytest.raises(UsageError, match="99"):
        Response(99)
    with pytest.raises(UsageError, match="negative"):
        Response.file("text/csv", size_bytes=-1)
