from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.errors import ConfigError
from coati.model import Kind
from coati.web.media import BLOCKED_EXTENSIONS, BLOCKED_MEDIA_PREFIXES, PRESETS, essence, parse_types

URL = "http://example.org/get"

# The published kit's list, written out independently of the module's building blocks.
PUBLISHED = """
application/octet-stream application/pdf application/x-pdf application/csv application/x-csv
application/vnd.ms-excel application/vnd.ms-excel.sheet.macroenabled.12
application/vnd.openxmlformats-officedocument.spreadsheetml.sheet
application/vnd.openxmlformats-officedocument.wordprocessingml.document
application/vnd.openxmlformats-officedocument.wordprocessingml.template
application/vnd.openxmlformats-officedocument.presentationml.presentation
application/vnd.oasis.opendocument.spreadsheet application/vnd.oasis.opendocument.text
application/vnd.oasis.opendocument.presentation
application/msword application/zip application/x-zip-compressed
application/zip-compressed application/x-tar application/x-gtar application/x-gzip application/x-7z-compressed
application/vnd.rar application/x-rar-compressed application/xml application/json application/yaml
application/x-yaml application/rdf+xml application/rss+xml text/csv text/x-csv text/x-comma-separated-values
text/comma-separated-values text/json text/yaml text/x-yaml text/plain
"""


def test_the_papers_preset_is_the_published_list_of_38() -> None:
    assert PRESETS["data"].media_types == set(PUBLISHED.split())
    assert len(PRESETS["data"].media_types) == 38
    assert not PRESETS["data"].extensions


def test_the_extended_preset_closes_the_published_gaps() -> None:
    extended = PRESETS["data-extended"].media_types
    assert extended > PRESETS["data"].media_types
    for missing in (
        "text/tab-separated-values",
        "application/gzip",
        "text/xml",
        "application/vnd.ms-powerpoint",
    ):
        assert missing in extended
        assert missing not in PRESETS["data"].media_types


def test_168_extensions_and_three_kinds_of_media_are_blocked() -> None:
    assert len(BLOCKED_EXTENSIONS) == 168
    assert {"3g2", "jfif-tbnl", "png", "svg", "ts", "xwd"} <= BLOCKED_EXTENSIONS
    assert BLOCKED_EXTENSIONS.isdisjoint({"csv", "pdf", "zip", "html", "json", "xml", "txt"})
    assert set(BLOCKED_MEDIA_PREFIXES) == {"audio/", "video/", "image/"}


def test_the_presets_are_those_that_the_help_names() -> None:
    assert list(PRESETS) == ["data", "data-extended", "tables", "documents", "archives", "all-files", "none"]
    for preset in PRESETS.values():
        assert all(re.fullmatch(r"[a-z]+/[a-z0-9.+\-]+", media_type) for media_type in preset.media_types)
        assert preset.extensions.isdisjoint(BLOCKED_EXTENSIONS)


@pytest.mark.parametrize(
    ("types", "media_type", "url", "kind"),
    [
        ("data", "text/csv", URL, Kind.TARGET),
        ("data", "Text/CSV; header=present", URL, Kind.TARGET),
        ("data", " text/csv ;x", URL, Kind.TARGET),
        ("data", "text/tab-separated-values", URL, Kind.OTHER),
        ("data", "text/html; charset=utf-8", "http://example.org/a.csv", Kind.PAGE),
        ("data", "application/xhtml+xml", URL, Kind.PAGE),
        ("data", "application/octet-stream", URL, Kind.TARGET),
        ("data", "", "http://example.org/a.csv", Kind.OTHER),
        ("data", "image/png", URL, Kind.OTHER),
        ("data", "nonsense", URL, Kind.OTHER),
        ("tables", "application/octet-stream", "http://example.org/a.CSV?v=1", Kind.TARGET),
        ("tables", "application/octet-stream", URL, Kind.OTHER),
        ("tables", "text/html", "http://example.org/a.csv", Kind.PAGE),
        ("tables", "image/png", "http://example.org/a.csv", Kind.OTHER),
        ("tables", "application/pdf", URL, Kind.OTHER),
        ("documents", "application/pdf", URL, Kind.TARGET),
        ("documents", "text/csv", URL, Kind.OTHER),
        ("archives", "application/gzip", URL, Kind.TARGET),
        ("archives", "application/x-unknown", "http://example.org/a.tgz", Kind.TARGET),
        ("all-files", "application/x-anything", URL, Kind.TARGET),
        ("all-files", "text/css", URL, Kind.OTHER),
        ("all-files", "application/x-javascript", URL, Kind.OTHER),
        ("all-files", "video/mp4", URL, Kind.OTHER),
        ("all-files", "text/html", URL, Kind.PAGE),
        # What the user names is meant, even if nobody else collects it.
        ("application/javascript", "application/javascript", URL, Kind.TARGET),
        ("all-files,text/css", "text/css", URL, Kind.TARGET),
        (".nc, application/x-netcdf", "application/octet-stream", "http://example.org/a.nc", Kind.TARGET),
        ("tables,.nc", "text/csv", URL, Kind.TARGET),
    ],
)
def test_an_answer_is_a_target_by_its_media_type_or_extension(
    types: str, media_type: str, url: str, kind: Kind
) -> None:
    assert parse_types(types).kind(media_type, url) is kind


@given(st.sampled_from(sorted(PRESETS)), st.text(max_size=30))
def test_no_media_type_makes_it_fail(preset: str, media_type: str) -> None:
    assert PRESETS[preset].kind(media_type, URL) in {Kind.PAGE, Kind.TARGET, Kind.OTHER}
    assert essence(essence(media_type)) == essence(media_type)


def test_a_preset_by_name_is_the_preset_itself() -> None:
    assert parse_types(" Data ") is PRESETS["data"]
    assert (
        parse_types("data,tables").media_types == PRESETS["data"].media_types | PRESETS["tables"].media_types
    )


def test_parameters_and_case_of_a_named_type_do_not_matter() -> None:
    assert parse_types("Text/Turtle; charset=utf-8,.TTL").media_types == {"text/turtle"}
    assert parse_types("text/turtle,.TTL").extensions == {"ttl"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "presets: data"),
        (" , ,", "presets: data"),
        ("tabels", "did you mean 'tables'?"),
        ("csv", r"did you mean '\.csv'\? An extension starts with a dot"),
        ("data,xlsx", r"did you mean '\.xlsx'"),
        ("data,z z", "Known: all-files, archives, data, data-extended, documents, none, tables"),
        (".", "is not an extension"),
        (".tar.gz", "after the last dot|follows the last dot"),
        (".a b", "is not an extension"),
        (".é", "is not an extension"),
        ("/", "is not a media type"),
        ("text/", "is not a media type"),
        ("text/*", "no wildcards"),
        ("text/csv/x", "is not a media type"),
        ("image/png", "never collected"),
        (".png", "never followed"),
        ("text/html", "pages"),
    ],
)
def test_what_could_never_match_is_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parse_types(text)


@pytest.mark.parametrize("preset", ["data", "all-files"])
def test_what_is_written_for_crawlers_is_not_a_target(preset: str) -> None:
    types = PRESETS[preset]
    assert types.kind("text/plain", "http://example.org/robots.txt") is Kind.OTHER
    assert types.kind("text/plain", "http://example.org/data/robots.txt") is Kind.TARGET
