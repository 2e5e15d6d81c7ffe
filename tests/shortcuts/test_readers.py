"""Answers of each API, written from its documentation: files with all that is told of them, the next page."""

import json
from collections.abc import Mapping

import pytest

from coati.readers.formats import Format
from coati.readers.listed import Listed
from coati.readers.registry import PageReader
from coati.shortcuts.api_answer import MAX_ANSWER_BYTES, MAX_VALUES, ApiAnswer
from coati.shortcuts.registry import PROFILES
from coati.shortcuts.shortcuts import Shortcuts
from coati.web.titles import best_title

HOST = "https://a.test"


def read(url: str, body: object, headers: Mapping[str, str] | None = None) -> list[Listed]:
    text = body if isinstance(body, str) else json.dumps(body)
    found = Shortcuts().read(HOST + url, text.encode(), "application/json", (headers or {}).items())
    return list(found.listed)


def one_file(listed: list[Listed]) -> Listed:
    (found,) = [each for each in listed if not each.tag_path[-1].startswith("api")]
    return found


def pages_of(listed: list[Listed]) -> list[str]:
    return [each.reference for each in listed if each.tag_path[-1].startswith("api")]


def test_wordpress() -> None:
    url = "/wp-json/wp/v2/media?media_type=application&per_page=1&page=1"
    media = {
        "source_url": "https://a.test/wp-content/uploads/taxes.pdf",
        "mime_type": "application/pdf",
        "title": {"rendered": "Taxes &amp; fees"},
        "modified_gmt": "2024-05-01T10:00:00",
    }
    listed = read(url, [media], {"X-WP-TotalPages": "2"})
    found = one_file(listed)
    assert found[:4] == (
        "https://a.test/wp-content/uploads/taxes.pdf",
        ("wordpress", "media", "source_url"),
        "Taxes & fees",
        1714557600.0,
    )
    assert pages_of(listed) == [HOST + url.replace("page=1", "page=2").replace("per_page=2", "per_page=1")]


def test_drupal() -> None:
    entry = {
        "attributes": {"filename": "a.xlsx", "uri": {"url": "/sites/a.xlsx"}, "filemime": "application/x"}
    }
    listed = read(
        "/jsonapi/file/file?page[offset]=0", {"data": [entry], "links": {"next": {"href": "/next"}}}
    )
    assert one_file(listed).reference == "/sites/a.xlsx"
    assert pages_of(listed) == ["/next"]
    assert pages_of(read("/jsonapi/file/file", {"data": [entry], "links": {}})) == []


def test_plone() -> None:
    body = {
        "items": [{"@id": "https://a.test/f/report.pdf", "title": "Report", "modified": "2024-01-01"}],
        "batching": {"next": "https://a.test/++api++/@search?b_start=100"},
    }
    listed = read("/++api++/@search?portal_type=File", body)
    assert one_file(listed).reference == "https://a.test/f/report.pdf/@@download/file"
    assert len(pages_of(listed)) == 1


def test_ckan() -> None:
    package = {
        "title": "Budget",
        "license_title": "CC BY 4.0",
        "metadata_modified": "2024-01-02T00:00:00",
        "resources": [{"url": "https://a.test/budget.csv", "name": "Budget 2024", "format": "CSV"}],
    }
    listed = read(
        "/api/3/action/package_search?rows=1&start=0", {"result": {"count": 5, "results": [package]}}
    )
    found = one_file(listed)
    assert (found.heading, found.licence, found.context) == ("Budget", "CC BY 4.0", "Budget 2024 (CSV)")
    assert pages_of(listed) == [HOST + "/api/3/action/package_search?rows=1&start=1"]


@pytest.mark.parametrize("url", ["/data.json", "/api/feed/dcat-us/1.1.json"])
def test_dcat(url: str) -> None:
    dataset = {
        "title": "Roads",
        "license": "https://creativecommons.org/publicdomain/zero/1.0/",
        "modified": "2023-03-03",
        "distribution": [
            {"downloadURL": "https://a.test/roads.zip", "title": "Shapes", "mediaType": "application/zip"},
            {"accessURL": "https://a.test/roads"},
        ],
    }
    first, second = read(url, {"dataset": [dataset]})
    assert (first.anchor, first.tag_path[-1]) == ("Shapes", "downloadURL")
    assert (second.anchor, second.tag_path[-1]) == ("Roads", "accessURL")
    assert first.licence == dataset["license"]


def test_dkan() -> None:
    dataset = {"title": "Roads", "distribution": [{"downloadURL": "https://a.test/roads.csv"}]}
    assert one_file(read("/api/1/metastore/schemas/dataset/items", [dataset])).heading == "Roads"


def test_socrata() -> None:
    entry = {
        "resource": {"id": "abcd-1234", "name": "Permits", "type": "dataset", "updatedAt": "2024-02-02"},
        "metadata": {"license": "Public Domain"},
    }
    listed = read("/api/catalog/v1?limit=1&offset=0", {"results": [entry], "resultSetSize": 2})
    assert one_file(listed).reference == "/api/views/abcd-1234/rows.csv?accessType=DOWNLOAD"
    assert pages_of(listed) == [HOST + "/api/catalog/v1?limit=1&offset=1"]


def test_opendatasoft() -> None:
    entry = {
        "dataset_id": "trees",
        "has_records": True,
        "metas": {"default": {"title": "Trees", "license": "ODbL", "modified": "2024-01-01"}},
        "attachments": [{"url": "https://a.test/notes.pdf", "title": "Notes", "mimetype": "application/pdf"}],
    }
    listed = read(
        "/api/explore/v2.1/catalog/datasets?limit=100&offset=0", {"total_count": 1, "results": [entry]}
    )
    assert [found.reference for found in listed] == [
        "/api/explore/v2.1/catalog/datasets/trees/exports/csv",
        "https://a.test/notes.pdf",
    ]
    assert {found.licence for found in listed} == {"ODbL"}


def test_dataverse() -> None:
    file = {"name": "a.tab", "url": "https://a.test/api/access/datafile/7", "dataset_name": "Survey"}
    listed = read(
        "/api/search?q=*&type=file&per_page=1&start=0", {"data": {"total_count": 3, "items": [file]}}
    )
    assert one_file(listed).heading == "Survey"
    assert len(pages_of(listed)) == 1


def test_invenio() -> None:
    record = {
        "metadata": {"title": "Maps", "rights": [{"id": "cc-by-4.0"}]},
        "links": {"files": "https://a.test/api/records/1/files"},
        "files": {"entries": {"maps.zip": {"key": "maps.zip", "mimetype": "application/zip"}}},
    }
    listed = read(
        "/api/records?size=25&page=1", {"hits": {"hits": [record]}, "links": {"next": "/api/records?page=2"}}
    )
    found = one_file(listed)
    assert found.reference == "https://a.test/api/records/1/files/maps.zip/content"
    assert found.licence == "cc-by-4.0"


def test_dspace() -> None:
    stream = {"name": "thesis.pdf", "_links": {"content": {"href": "https://a.test/server/api/b/1/content"}}}
    bundle = {"name": "ORIGINAL", "_embedded": {"bitstreams": {"_embedded": {"bitstreams": [stream]}}}}
    item = {"name": "Thesis", "uuid": "1", "_embedded": {"bundles": {"_embedded": {"bundles": [bundle]}}}}
    result = {
        "_embedded": {"objects": [{"_embedded": {"indexableObject": item}}]},
        "_links": {"next": {"href": "/n"}},
    }
    listed = read("/server/api/discover/search/objects?page=0", {"_embedded": {"searchResult": result}})
    assert one_file(listed).reference == "https://a.test/server/api/b/1/content"
    assert pages_of(listed) == ["/n"]
    old = {
        "name": "Thesis",
        "bitstreams": [{"name": "a.pdf", "retrieveLink": "/bitstreams/1/retrieve", "sizeBytes": 9}],
    }
    assert one_file(read("/rest/items?limit=100&offset=0", [old])).reference == "/rest/bitstreams/1/retrieve"


def test_oai_pmh() -> None:
    body = (
        "<OAI-PMH><ListRecords><record><header><datestamp>2024-01-01</datestamp></header><metadata>"
        "<dc:title>Report</dc:title><dc:identifier>https://a.test/1/report.pdf</dc:identifier>"
        "<dc:identifier>doi:10.1/x</dc:identifier><dc:rights>CC0</dc:rights></metadata></record>"
        "<resumptionToken>a/b</resumptionToken></ListRecords></OAI-PMH>"
    )
    listed = read("/cgi/oai2?verb=ListRecords&metadataPrefix=oai_dc", body)
    found = one_file(listed)
    assert (found.reference, found.anchor, found.licence) == ("https://a.test/1/report.pdf", "Report", "CC0")
    assert pages_of(listed) == [HOST + "/cgi/oai2?verb=ListRecords&resumptionToken=a%2Fb"]


def test_geonetwork() -> None:
    body = (
        '<csw:SearchResults numberOfRecordsMatched="250"><csw:Record><dc:title>Rivers</dc:title>'
        "<dct:references>https://a.test/rivers.zip</dct:references></csw:Record></csw:SearchResults>"
    )
    listed = read("/srv/eng/csw?request=GetRecords&maxRecords=100&startPosition=1", body)
    assert one_file(listed).anchor == "Rivers"
    assert pages_of(listed) == [HOST + "/srv/eng/csw?request=GetRecords&maxRecords=100&startPosition=2"]


def test_nada() -> None:
    study = {"id": "12", "title": "Census", "url": "https://a.test/index.php/catalog/12"}
    listed = read("/index.php/api/catalog/search?ps=100&page=1", {"result": {"found": 150, "rows": [study]}})
    assert one_file(listed).reference == "https://a.test/index.php/catalog/12/related-materials"
    assert len(pages_of(listed)) == 1


def test_pxweb() -> None:
    body = {
        "tables": [{"id": "T 1", "label": "Population", "updated": "2024-01-01"}],
        "page": {"totalPages": 1},
    }
    listed = read("/api/v2/tables?pageSize=1000&pageNumber=1", body)
    assert one_file(listed).reference == "tables/T%201/data?outputFormat=csv"
    assert pages_of(listed) == []


def test_sdmx() -> None:
    body = (
        '<str:Dataflow agencyID="ESTAT" id="NAMA" version="1.0"><com:Name>Accounts</com:Name></str:Dataflow>'
        '<str:Dataflow agencyID="ESTAT" id="DEMO" version="1.0"><com:Name>People</com:Name></str:Dataflow>'
    )
    first, second = read("/rest/dataflow/all/all/latest", body)
    assert (first.reference, first.anchor) == (HOST + "/rest/data/ESTAT,NAMA,1.0/all", "Accounts")
    assert second.anchor == "People"
    flows = {"data": {"dataflows": [{"agencyID": "IMF", "id": "CPI", "version": "2.0", "name": "Prices"}]}}
    assert one_file(read("/rest/dataflow", flows)).reference == HOST + "/rest/data/IMF,CPI,2.0/all"


def test_sharepoint() -> None:
    cells = {"Path": "https://a.test/docs/a.docx", "Title": "A", "FileExtension": "docx"}
    row = "".join(
        f"<d:element><d:Key>{k}</d:Key><d:Value>{v}</d:Value></d:element>" for k, v in cells.items()
    )
    listed = read(
        "/_api/search/query?rowlimit=500&startrow=0", f"<d:TotalRows m:type='x'>2</d:TotalRows>{row}{row}"
    )
    assert [found.reference for found in listed] == ["https://a.test/docs/a.docx"] * 2


ADDRESSES = (
    "/wp-json/wp/v2/media?per_page=1", "/jsonapi/file/file", "/++api++/@search?x=1", "/_api/search/query?x=1",
    "/api/3/action/package_search?rows=1", "/data.json", "/api/1/metastore/schemas/dataset/items",
    "/api/feed/dcat-us/1.1.json", "/api/catalog/v1?limit=1", "/api/explore/v2.1/catalog/datasets?limit=1",
    "/api/search?type=file", "/api/records?size=1", "/server/api/discover/search/objects?size=1",
    "/rest/items?limit=1", "/oai?verb=ListRecords", "/csw?request=GetRecords", "/api/catalog/search?ps=1",
    "/api/v2/tables?pageSize=1", "/rest/dataflow",
)  # fmt: skip

NASTY = (
    "", "null", "[]", "{}", "42", '"text"', "[null, 1, [], {}]", "<html><body>Please log in</body></html>",
    "[" * 100_000, '{"a":' * 100_000, '{"result": {"results": 7, "count": "many"}}',
    '{"data": {"items": [1]}}',
    '{"result": {"results": [{"resources": [{"url": 5}, {"url": null}, {"url": ""}]}]}}', "\x00" * 100,
    '{"dataset": {"title": {"a": {"b": {}}}, "distribution": "no"}}',
    '{"links": {"next": {"href": {"href": 1}}}}',
)  # fmt: skip


@pytest.mark.parametrize("url", ADDRESSES)
def test_what_is_not_an_answer_lists_nothing_and_nothing_raises(url: str) -> None:
    shortcuts = Shortcuts()
    assert shortcuts.reads(HOST + url)
    for body in NASTY:
        assert list(shortcuts.read(HOST + url, body.encode(), "application/json", ()).listed) == []
    assert shortcuts.broken == {}


def test_every_api_is_read_by_one_profile() -> None:
    for url in ADDRESSES:
        assert sum(profile.reads(HOST + url) for profile in PROFILES) == 1, url


def test_an_answer_without_end_is_read_to_a_bound_and_marked() -> None:
    body = b'[{"source_url": "/a.pdf"},' + b" " * MAX_ANSWER_BYTES
    found = Shortcuts().read(HOST + ADDRESSES[0], body, "application/json", ())
    assert found.truncated
    assert list(found.listed) == []


@pytest.mark.parametrize("value", ["{}", "[]", '{"a":1}', '"1"', "1.5"])
def test_values_that_take_more_memory_than_a_catalogue_does_are_not_read(value: str) -> None:
    filled = json.dumps({"results": [{"resources": []}] * 9})
    assert ApiAnswer.of("http://a.test/", filled.encode(), "application/json", {}).json is not None
    many = f"[{','.join([value] * MAX_VALUES)},{filled}]".encode()
    assert len(many) < MAX_ANSWER_BYTES
    answer = ApiAnswer.of("http://a.test/", many, "application/json", {})
    assert (answer.truncated, answer.json) == (False, None)


def test_paging_ends_where_nothing_more_is_listed_whatever_the_total_says() -> None:
    url = "/api/3/action/package_search?rows=2&start=4"
    full = {"resources": [{"url": "/a.csv"}]}
    assert pages_of(read(url, {"result": {"count": 10**9, "results": []}})) == []
    assert pages_of(read(url, {"result": {"count": 0, "results": [full, full]}})) != []
    far = "/api/3/action/package_search?rows=2&start=999999"
    assert pages_of(read(far, {"result": {"count": 10**9, "results": [full, full]}})) == []
    negative = "/wp-json/wp/v2/media?per_page=100&page=1"
    assert pages_of(read(negative, [{"source_url": "/a"}], {"X-WP-TotalPages": "-5"})) == []


def test_the_format_of_a_file_does_not_become_its_title() -> None:
    url = HOST + "/wp-json/wp/v2/media?per_page=100&page=1"
    media = [{"source_url": "/7.pdf", "mime_type": "application/pdf", "title": {"rendered": "7.pdf"}}]
    reader = PageReader(shortcuts=Shortcuts())
    page = reader.read(Format.API, json.dumps(media).encode(), url, "application/json").links
    row, heading, *_ = page.nearby_text(0)
    assert best_title(page.link(0).anchor, row, heading, "", "") == "7.pdf"
