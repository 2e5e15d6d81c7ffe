"""A website as a value: what each URL answers. Everything else in `coati.testing` makes or uses one.

A site may be a plain dictionary of responses or a mapping that renders a response when it is requested, so
that a million URLs need no more memory than their graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coati.archive.record import Entry, Record
from coati.errors import UsageError
from coati.web.media import essence
from coati.web.urls import normalise, resolve

Headers = tuple[tuple[str, str], ...]

_STATUSES = range(100, 600)


@dataclass(frozen=True, slots=True)
class Response:
    """What a URL answers.

    ``body`` is None where only a size is declared: archives keep the size, a server sends that many bytes
    of filler (`body_of`).

    >>> Response.file("text/csv", size_bytes=1000).size_bytes
    1000
    """

    status: int = 200
    headers: Headers = ()
    body: bytes | None = b""
    declared_bytes: int = 0

    def __post_init__(self) -> None:
        """Refuse what no server could answer."""
        if self.status not in _STATUSES:
            raise UsageError(f"{self.status} is not an HTTP status")
        if self.declared_bytes < 0:
            raise UsageError("a size is not negative")

    @classmethod
    def page(cls, html: str | bytes, status: int = 200) -> Response:
        """Answer with HTML."""
        body = html.encode() if isinstance(html, str) else html
        return cls(status, (("Content-Type", "text/html; charset=utf-8"),), body)

    @classmethod
    def file(
        cls, media_type: str, body: bytes | None = None, *, size_bytes: int = 0, name: str = ""
    ) -> Response:
        """Answer with a file: its bytes, or only its size; ``name`` becomes the Content-Disposition."""
        headers: Headers = (("Content-Type", media_type),)
        if name:
            headers += (("Content-Disposition", f'attachment; filename="{name}"'),)
        return cls(200, headers, body, size_bytes)

    @classmethod
    def redirect(cls, location: str, status: int = 301) -> Response:
        """Answer that the URL moved."""
        return cls(status, (("Location", location),), b"")

    @property
    def size_bytes(self) -> int:
        """The size of the body, whether or not it is here."""
        return self.declared_bytes if self.body is None else len(self.body)

    @property
    def media_type(self) -> str:
        """The Content-Type with its parameters; empty if there is none."""
        return self.header("Content-Type")

    def header(self, name: str) -> str:
        """Return the first header of this name, in any case of letters; empty if there is none."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")


NOT_FOUND = Response.page("<!doctype html><title>Not found</title><h1>Not found</h1>", 404)


@dataclass(frozen=True, slots=True)
class Site:
    """A website: where it starts and what its URLs answer, all of them in normal form.

    >>> site = Site("http://a.test/", {"http://a.test/": Response.page("<a href=b.csv>")})
    >>> site.get("http://a.test/").status, site.get("http://a.test/b.csv").status
    (200, 404)
    """

    start_url: str
    responses: Mapping[str, Response]

    def __post_init__(self) -> None:
        """Refuse a start that no crawler could request."""
        if normalise(self.start_url) != self.start_url:
            raise UsageError(f"not a web URL in normal form: {self.start_url}")

    def get(self, url: str) -> Response:
        """Answer for a URL in normal form; one that the site does not have is not found."""
        return self.responses.get(url, NOT_FOUND)

    def __len__(self) -> int:
        """Count the URLs that answer something of their own."""
        return len(self.responses)

    def __iter__(self) -> Iterator[str]:
        """List these URLs."""
        return iter(self.responses)

    def to_records(self) -> Iterator[Record]:
        """Return the site as an archive would hold it, each response rendered only when its turn comes."""
        for url in self:
            yield record_of(url, self.get(url))


def record_of(url: str, response: Response) -> Record:
    """Return one response as an archive would hold it."""
    location = response.header("Location")
    entry = Entry(
        url,
        response.status,
        essence(response.media_type),
        response.size_bytes,
        location=(resolve(url, location) or "") if location else "",
    )
    return Record(entry, response.headers, response.body)


def body_of(url: str, response: Response) -> bytes:
    r"""Return the body that a server sends for this response, filler where only the size is declared.

    The filler differs from URL to URL, so that no two files are equal by accident.

    >>> body_of("http://a.test/b", Response.file("text/csv", size_bytes=24))
    b'http://a.test/b\n0,1,2,3,'
    """
    if response.body is not None:
        return response.body
    return b"".join(body_chunks(url, response))


_FILLER = b"".join(b"%d,%d,%d,%d,\n" % (i, i + 1, i + 2, i + 3) for i in range(0, 20_000, 4))


def body_chunks(url: str, response: Response) -> Iterator[bytes]:
    """Return the same body in pieces, so that a huge one is never whole in memory."""
    if response.body is not None:
        yield response.body
        return
    left = response.declared_bytes
    head = (url.encode() + b"\n")[:left]
    yield head
    left -= len(head)
    while left > 0:
        yield _FILLER if left >= len(_FILLER) else _FILLER[:left]
        left -= len(_FILLER)
