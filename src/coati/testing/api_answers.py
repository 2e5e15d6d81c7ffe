"""What the API of each software answers, as far as Coati asks: from a list of files to bodies and headers.

Written from the same documentation as the profiles (`coati.shortcuts.software`), but apart from them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from coati.testing.site import Response


@dataclass(frozen=True, slots=True)
class ApiFile:
    """A file that an API lists; files with the same ``dataset`` belong together."""

    url: str
    title: str = ""
    media_type: str = "application/octet-stream"
    modified: str = "2024-05-01T10:00:00Z"
    licence: str = "CC BY 4.0"
    dataset: str = ""


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request to an API: its address, and what it may list at most on one page.

    ``total`` is what the API says that it has, which need not be true.
    """

    url: str
    most: int
    total: int

    def parameter(self, name: str, default: str = "") -> str:
        """Return a parameter of the address."""
        return parse_qs(urlsplit(self.url).query, keep_blank_values=True).get(name, [default])[0]

    def number(self, name: str, default: int) -> int:
        """Return a parameter that is a number."""
        value = self.parameter(name)
        return int(value) if value.isdigit() else default

    def part(self, entries: Sequence[Any], begin: int, size: int) -> list[Any]:
        """Return one page of a list."""
        return list(entries[begin : begin + min(size, self.most)])

    def at(self, path: str) -> str:
        """Return an address of the same host."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{path}"

    def with_parameter(self, name: str, value: object) -> str:
        """Return this address with one parameter changed."""
        head, _, query = self.url.partition("?")
        kept = [part for part in query.split("&") if part and unquote(part.partition("=")[0]) != name]
        return f"{head}?{'&'.join([*kept, f'{name}={value}'])}"


def _json(value: object, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    return Response(200, (("Content-Type", "application/json"), *headers), json.dumps(value).encode())


def _xml(text: str) -> Response:
    return Response(200, (("Content-Type", "text/xml; charset=utf-8"),), text.encode())


def _datasets(files: Sequence[ApiFile]) -> list[tuple[str, list[ApiFile]]]:
    found: dict[str, list[ApiFile]] = {}
    for file in files:
        found.setdefault(file.dataset or file.title or file.url, []).append(file)
    return list(found.items())


def _wordpress(request: ApiRequest, files: Sequence[ApiFile]) -> Response:
    kind = request.parameter("media_type")
    media = [file for file in files if file.media_type.startswith("text/") == (kind == "text")]
    size, page = request.number("per_page", 10), request.number("page", 1)
    part = request.part(media, (page - 1) * min(size, request.most), size)
    if not part and page > 1:
        return Response(
            400, (("Content-Type", "application/json"),), b'{"code": "rest_post_invalid_page_number"}'
        )
    pages = -(-len(media) * request.total // max(1, len(files)) // min(size, request.most))
    entries = [
        {
            "source_url": file.url,
            "mime_type": file.media_type,
            "title": {"rendered": escape(file.title)},
            "modified_gmt": file.modified.removesuffix("Z"),
        }
        for file in part
    ]
    return _json(entries, (("X-WP-Total", str(request.total)), ("X-WP-TotalPages", str(pages))))


def _drupal(request: ApiRequest, files: Sequence[ApiFile]) -> Response:
    offset, size = request.number("page[offset]", 0), min(50, request.number("page[limit]", 50))
    part = request.part(files, offset, size)
    data = [
        {
            "type": "file--file",
            "attributes": {
                "filename": file.title,
                "uri": {"value": "public://x", "url": file.url},
                "filemime": file.media_type,
                "changed": file.modified,
            },
        }
        for file in part
    ]
    links = {"self": {"href": request.url}}
    if offset + len(part) < len(files):
        links["next"] = {"href": request.with_parameter("page[offset]", offset + len(part))}
    return _json({"jsonapi": {"version": "1.0"}, "data": data, "links": links})


def _plone(request: ApiRequest, files: Sequence[ApiFile]) -> Response:
    begin, size = request.number("b_start", 0), request.number("b_size", 25)
    part = request.part(files, begin, size)
    items = [
        {"@id": request.at(f"/plone/{files.index(file)}"), "title": file.title, "modified": file.modified}
        for file in part
    ]
    batching = {}
    if begin + len(part) < len(files):
        batching["next"] = request.with_parameter("b_start", begin + len(part))
    return _json({"items": items, "items_total": request.total, "batching": batching})


def _sharepoint(request: ApiRequest, files: Sequence[ApiFile]) -> Response:
    part = request.part(files, request.number("startrow", 0), request.number("rowlimit", 10))
    rows = "".join(
        "".join(
            f"<d:element><d:Key>{key}</d:Key><d:Value>{escape(value)}</d:Value></d:element>"
            for key, value in (("Path", file.url), ("Title", file.title), ("LastModifiedTime", file.modified))
        )
        for file in part
    )
    return _xml(f"<d:query><d:TotalRows m:type='Edm.Int32'>{request.total}</d:TotalRows>{rows}</d:query>")


def _ckan(request: ApiRequest, files: Sequence[ApiFile]) -> Response:
    packages = _datasets(files)
    part = request.part(packages, request.number("start", 0), request.number("rows", 10))
    results = [
        {
            "name": name,
            "title": name,
            "license_title": held[0].licence,
            "metadata_modified": held[0].modified,
            "resources": [
                {"url": file.url, "name": file.title, "format": file.media_type.rpartition("/")[2].upper()}
                for file in held
            ],
        }
        for name, held in part
    ]
    count = len(packages) if request.total == len(files) else request.total
    return _json({"success": True, "result": {"count": count, "results": results}})


def _dcat_datasets(files: Sequence[ApiFile]) -> list[dict[str, object]]:
    return [
        {
            "title": name,
            "license": held[0].licence,
            "modified": held[0].modified,
            "distribution": [
                {"downloadURL": file.url, "title": file.title, "mediaType": file.media_type} for file in held
            ],
        }
        for name, held in _datasets(files)
    ]


def _dcat(_: ApiRequest, files: Sequence[ApiFile]) -> Response:
    return _json(
        {"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": _dcat_datasets(files)}
    )


def _socrata(request: ApiRequest, files: Sequence[ApiFile]) -> Response:
    begin = request.number("offset", 0)
    part = request.part(files, begin, request.number("limit", 100))
    results = [
        {
            "resource": {
                "id": str(begin + at),
                "name": file.title,
                "type": "file",
                "updatedAt": file.modified,
            },
            "metadata": {"license": file.licence},
        }
        for at, file in enumerate(part)
    ]
    return _json({"results": results, "resultSetSize": request.total})


def _opendatasoft(request: ApiRequest, files: Sequence[ApiFile]) -> Response:
    part = request.part(files, request.number("offset", 0), min(100, request.number("limit", 10)))
    results = [
        {
            "dataset_id": "x",
            "has_records": False,
            "metas": {"default": {"title": file.title, "license": file.licence, "modified": file.modified}},
            "attachments": [{"url": file.url, "title": file.title, "mimetype": file.media_type}],
        }
        for file in part
    ]
    return _json({"total_count": request.total, "results": results})


def _dataverse(request: ApiRequest, files: Sequence[ApiFile]) -> Response:
    part = request.part(files, request.number("start", 0), min(1000, request.number("per_page", 10)))
    items = [
        {
            "name": file.title,
            "type": "file",
            "url": file.url,
            "file_content_type": file.media_type,
            "published_at": file.modified,
            "dataset_name": file.dataset or file.title,
        }
        for file in part
    ]
    return _json({"status": "OK", "data": {"total_count": request.total, "items": items}})


def _invenio(request: ApiRequest, files: Sequence[ApiFile]) -> Response:
    page, size = request.number("page", 1), min(25, request.number("size", 10), request.most)
    part = request.part(files, (page - 1) * size, size)
    hits = [
        {
            "metadata": {"title": file.dataset or file.title, "rights": [{"id": file.licence}]},
            "updated": file.modified,
            "files": {
                "entries": {
                    file.title: {
                        "key": file.title,
                        "mimetype": file.media_type,
                        "links": {"content": file.url},
                    }
                }
            },
        }
        for file in part
    ]
    links = {"next": request.with_parameter("page", page + 1)} if page * size < len(files) else {}
    return _json({"hits": {"hits": hits, "total": request.total}, "links": links})


def _dspace(request: ApiRequest, files: Sequence[ApiFile]) -> Response:
    page, size = request.number("page", 0), min(100, request.number("size", 20), request.most)
    part = request.part(files, page * size, size)
    objects = []
    for at, file in enumerate(part):
        stream = {"name": file.title, "_links": {"content": {"href": file.url}}}
        bundle = {"name": "ORIGINAL", "_embedded": {"bitstreams": {"_embedded": {"bitstreams": [stream]}}}}
        item = {
            "uuid": str(page * size + at),
            "name": file.dataset or file.title,
            "lastModified": file.modified,
            "metadata": {"dc.rights": [{"value": file.licence}]},
            "_embedded": {"bundles": {"_embedded": {"bundles": [bundle]}}},
        }
        objects.append({"_embedded": {"indexableObject": item}})
    links = {}
    if (page + 1) * size < len(files):
        links["next"] = {"href": request.with_parameter("page", page + 1)}
    return _json({"_embedded": {"searchResult": {"_embedded": {"objects": objects}, "_links": links}}})


def _oai(request: ApiRequest, files: Sequence[ApiFile]) -> Response:
    begin = request.number("resumptionToken", 0)
    part = request.part(files, begin, 100)
    records = "".join(
        f"<record><header><identifier>oai:x</identifier><datestamp>{file.modified}</datestamp></header>"
        f"<metadata><dc:title>{escape(file.title)}</dc:title><dc:identifier>{escape(file.url)}</dc:identifier>"
        f"<dc:rights>{escape(file.licence)}</dc:rights></metadata></record>"
        for file in part
    )
    more = begin + len(part)
    token = f"<resumptionToken>{more}</resumptionToken>" if more < len(files) else ""
    return _xml(f"<OAI-PMH><ListRecords>{records}{token}</ListRecords></OAI-PMH>")


def _geonetwork(request: ApiRequest, files: Sequence[ApiFile]) -> Response:
    part = request.part(files, request.number("startPosition", 1) - 1, request.number("maxRecords", 10))
    records = "".join(
        f"<csw:Record><dc:title>{escape(file.title)}</dc:title><dct:modified>{file.modified}</dct:modified>"
        f"<dct:references>{escape(file.url)}</dct:references></csw:Record>"
        for file in part
    )
    return _xml(f'<csw:SearchResults numberOfRecordsMatched="{request.total}">{records}</csw:SearchResults>')


def _nada(request: ApiRequest, files: Sequence[ApiFile]) -> Response:
    page, size = request.number("page", 1), min(request.number("ps", 15), request.most)
    begin = (page - 1) * size
    rows = [
        {"id": str(begin + at), "title": file.title, "url": request.at(f"/index.php/catalog/{begin + at}")}
        for at, file in enumerate(request.part(files, begin, size))
    ]
    return _json({"result": {"found": request.total, "rows": rows}})


def _pxweb(request: ApiRequest, files: Sequence[ApiFile]) -> Response:
    page, size = request.number("pageNumber", 1), min(request.number("pageSize", 20), request.most)
    begin = (page - 1) * size
    tables = [
        {"id": str(begin + at), "label": file.title, "updated": file.modified}
        for at, file in enumerate(request.part(files, begin, size))
    ]
    pages = -(-request.total // size)
    return _json({"tables": tables, "page": {"pageNumber": page, "pageSize": size, "totalPages": pages}})


def _sdmx(_: ApiRequest, files: Sequence[ApiFile]) -> Response:
    flows = "".join(
        f'<str:Dataflow agencyID="A" id="F{at}" version="1.0"><com:Name>{escape(file.title)}</com:Name>'
        "</str:Dataflow>"
        for at, file in enumerate(files)
    )
    return _xml(f"<mes:Structure>{flows}</mes:Structure>")


class Software(NamedTuple):
    """A software with an API: the path of its list, what answers there, and how a page shows the software.

    A page shows it by a header, by its generator, or by something in its head that is not a link to follow.
    """

    path: str
    answer: Callable[[ApiRequest, Sequence[ApiFile]], Response]
    generator: str = ""
    header: tuple[str, str] | None = None
    head: str = ""


SOFTWARE: Final = {
    "wordpress": Software(
        "/wp-json/wp/v2/media", _wordpress, header=("Link", '</wp-json/>; rel="https://api.w.org/"')
    ),
    "drupal": Software("/jsonapi/file/file", _drupal, generator="Drupal 10"),
    "plone": Software("/++api++/@search", _plone, generator="Plone"),
    "sharepoint": Software(
        "/_api/search/query", _sharepoint, header=("MicrosoftSharePointTeamServices", "16.0.0.0")
    ),
    "ckan": Software("/api/3/action/package_search", _ckan, generator="ckan 2.10.4"),
    "dkan": Software(
        "/api/1/metastore/schemas/dataset/items",
        lambda _, files: _json(_dcat_datasets(files)),
        head='<meta name="generator" content="Drupal 10"><link href="/modules/contrib/dkan/x.css">',
    ),
    "socrata": Software("/api/catalog/v1", _socrata, header=("X-Socrata-RequestId", "x")),
    "opendatasoft": Software(
        "/api/explore/v2.1/catalog/datasets",
        _opendatasoft,
        head='<script src="https://static.opendatasoft.com/x.js"></script>',
    ),
    "arcgis-hub": Software(
        "/api/feed/dcat-us/1.1.json", _dcat, head='<link href="https://hubcdn.arcgis.com/x.css">'
    ),
    "dataverse": Software("/api/search", _dataverse, head='<link href="/dataverse.xhtml">'),
    "invenio-rdm": Software("/api/records", _invenio, generator="InvenioRDM 12"),
    "dspace": Software("/server/api/discover/search/objects", _dspace, generator="DSpace 7.6"),
    "eprints": Software("/cgi/oai2", _oai, generator="EPrints 3.4.5"),
    "oai-pmh": Software("/oai", _oai, head='<link href="/oai?verb=Identify">'),
    "geonetwork": Software("/geonetwork/srv/eng/csw", _geonetwork, generator="GeoNetwork 4.4"),
    "nada": Software("/index.php/api/catalog/search", _nada, generator="NADA"),
    "pxweb": Software("/api/v2/tables", _pxweb, generator="PxWeb"),
    "sdmx": Software("/rest/dataflow/all/all/latest", _sdmx, head='<link href="/rest/dataflow">'),
    "dcat": Software("/data.json", _dcat, head='<link href="/data.json">'),
}
"""By the name of the profile."""
