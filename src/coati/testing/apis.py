"""APIs in front of made-up and of archived sites: whole, partial, stale, oddly paged, closed, or hostile.

A site that has one shows it on its start page, as the software would, and lists its files under the
software's own addresses. So a crawl with shortcuts can be tried on any site of which the files are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from coati.archive.record import Entry, Record
from coati.errors import unknown_name
from coati.model import Kind
from coati.testing.api_answers import SOFTWARE, ApiFile, ApiRequest
from coati.testing.site import Response, Site, record_of
from coati.web.media import PRESETS
from coati.web.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coati.archive.archive import Archive


class ApiState(StrEnum):
    """How well an API knows its site, and how it answers."""

    WHOLE = "whole"
    HALF = "half"
    STALE = "stale"
    ODD = "odd"
    CLOSED = "closed"
    HOSTILE = "hostile"


# What an oddly paged API gives at most on one page, whatever is requested.
_ODD_PAGE = 7
_USUAL_PAGE = 10_000
_REDIRECTED = re.compile(
    r"/(?:plone/(?P<plone>\d+)/@@download/file|download/(?P<socrata>\d+)"
    r"|api/v2/tables/(?P<pxweb>\d+)/data|rest/data/A,F(?P<sdmx>\d+),1.0/all)\Z"
)
_STUDY = re.compile(r"/index\.php/catalog/(\d+)/related-materials\Z")


@dataclass(frozen=True, slots=True)
class Api:
    """The API of one software, which lists ``files`` at ``base_url``, the root of a host.

    ``most`` is what it gives at most on one page, whatever is requested.
    """

    software: str
    base_url: str
    files: Sequence[ApiFile]
    state: ApiState = ApiState.WHOLE
    most: int | None = None

    def __post_init__(self) -> None:
        """Refuse a software that has no API here."""
        if self.software not in SOFTWARE:
            raise unknown_name("software with an API", self.software, SOFTWARE)

    @property
    def listed(self) -> list[ApiFile]:
        """What it lists in its state."""
        if self.state is ApiState.HALF:
            return list(self.files[::2])
        if self.state is ApiState.STALE:
            # Every second address is one that the site has no more.
            return [_dead(file) if at % 2 else file for at, file in enumerate(self.files)]
        return list(self.files)

    def get(self, url: str) -> Response | None:
        """Answer for an address of the API; None for any other."""
        path = url.removeprefix(self.base_url.rstrip("/"))
        if path == url:
            return None
        moved = _REDIRECTED.match(path.partition("?")[0])
        if moved is not None and (number := moved[self.software]) is not None:
            return Response.redirect(self.listed[int(number)].url) if int(number) < len(self.listed) else None
        study = _STUDY.match(path) if self.software == "nada" else None
        if study is not None and int(study[1]) < len(self.listed):
            return Response.page(
                f'<html><body><a href="{self.listed[int(study[1])].url}">File</a></body></html>'
            )
        is_list = path.partition("?")[0] == SOFTWARE[self.software].path
        return self._answer(url) if is_list else None

    def _answer(self, url: str) -> Response:
        if self.state is ApiState.CLOSED:
            return Response(401, (("Content-Type", "application/json"),), b'{"code": "rest_forbidden"}')
        if self.state is ApiState.HOSTILE:
            return _hostile(url)
        odd = self.state is ApiState.ODD
        listed = self.listed
        # An odd one counts wrongly, too.
        most = _ODD_PAGE if odd else self.most or _USUAL_PAGE
        request = ApiRequest(url, most, 3 * len(listed) if odd else len(listed))
        return SOFTWARE[self.software].answer(request, listed)

    def mark(self, page: Response) -> Response:
        """Let a page show the software."""
        software, body = SOFTWARE[self.software], page.body or b""
        header = ("X-Generator", software.generator) if software.generator else software.header
        if header is not None:
            return replace(page, headers=(*page.headers, header), body=body)
        before, mark, rest = body.partition(b"<head>")
        shown = software.head.encode()
        return replace(page, body=before + mark + shown + rest if mark else shown + body)


def _dead(file: ApiFile) -> ApiFile:
    folder, _, name = file.url.rpartition("/")
    return replace(file, url=f"{folder}/gone-{name}")


def _hostile(url: str) -> Response:
    """Respond with what no API should: a list that leads on for ever, to other hosts and to itself."""
    number = sum(map(ord, url)) % 4
    if number == 0:
        return Response.page("<html><body>Please log in <a href='/login'>here</a></body></html>")
    if number == 1:
        return Response(200, (("Content-Type", "application/json"),), b"[" * 200_000)
    loop = {
        "links": {"next": {"href": url}},
        "data": [{"attributes": {"uri": {"url": f"http://elsewhere.test/{number}.csv"}}}],
        "result": {"count": 10**12, "results": [{"resources": [{"url": "javascript:alert(1)"}]}]},
    }
    return Response(200, (("Content-Type", "application/json"),), str(loop).replace("'", '"').encode())


def files_of(site: Site) -> list[ApiFile]:
    """Return the files of a made-up site that a crawl for data wants, in its own order."""
    types = PRESETS["data"]
    found = []
    for url in site:
        response = site.get(url)
        if response.status == 200 and types.kind(response.media_type, url) is Kind.TARGET:  # noqa: PLR2004
            found.append(ApiFile(url, url.rpartition("/")[2], response.media_type.partition(";")[0]))
    return found


def with_api(
    site: Site,
    software: str,
    state: ApiState = ApiState.WHOLE,
    files: Sequence[ApiFile] | None = None,
    most: int | None = None,
) -> Site:
    """Put an API in front of a site; without ``files`` it lists those that the site has.

    >>> site = Site("http://a.test/", {
    ...     "http://a.test/": Response.page("<html><head></head></html>"),
    ...     "http://a.test/b.csv": Response.file("text/csv", b"1,2"),
    ... })
    >>> with_api(site, "dcat").get("http://a.test/data.json").media_type
    'application/json'
    """
    root = resolve(site.start_url, "/") or site.start_url
    api = Api(software, root, files_of(site) if files is None else files, state, most)
    return Site(site.start_url, _Responses(site, api))


class _Responses(Mapping[str, Response]):
    """The responses of a site, and of the API in front of it."""

    def __init__(self, site: Site, api: Api) -> None:
        self._site = site
        self._api = api
        self._start = api.mark(site.get(site.start_url))

    def __getitem__(self, url: str) -> Response:
        if url == self._site.start_url:
            return self._start
        answer = self._api.get(url) or self._site.responses.get(url)
        if answer is None:
            raise KeyError(url)
        return answer

    def __iter__(self) -> Iterator[str]:
        return iter(self._site)

    def __len__(self) -> int:
        return len(self._site)


class ArchiveWithApi:
    """An archive with an API in front of it; all else is the archive's (`coati.archive.archive.Archive`)."""

    def __init__(self, archive: Archive, api: Api) -> None:
        self._archive = archive
        self._api = api

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the archive has
        return getattr(self._archive, name)

    def entry(self, url: str, as_of: float | None = None) -> Entry | None:
        """Return what is known of a URL."""
        answer = self._api.get(url)
        return self._archive.entry(url, as_of) if answer is None else record_of(url, answer).entry

    def record(self, url: str, as_of: float | None = None) -> Record:
        """Return headers and body of a URL; the start page shows the software."""
        answer = self._api.get(url)
        if answer is not None:
            return record_of(url, answer)
        record = self._archive.record(url, as_of)
        if url != self._archive.meta.start_url:
            return record
        shown = self._api.mark(Response(200, record.headers, record.body))
        return replace(record, headers=shown.headers, body=shown.body)

    def body(self, url: str, as_of: float | None = None) -> bytes:
        """Return the body of a URL."""
        answer = self._api.get(url)
        return self._archive.body(url, as_of) if answer is None else answer.body or b""
