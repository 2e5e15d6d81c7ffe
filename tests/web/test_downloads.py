import pytest

from coati.model import Kind
from coati.web.downloads import download_type, proposed_name
from coati.web.media import PRESETS

URL = "http://example.org/download.php?id=12"


@pytest.mark.parametrize(
    "declared",
    ["binary/octet-stream", "application/force-download; charset=utf-8", "Application/X-Download"],
)
def test_a_type_that_names_no_format_is_that_of_any_binary_file(declared: str) -> None:
    assert download_type(declared) == "application/octet-stream"


@pytest.mark.parametrize(
    ("disposition", "is_file"),
    [
        ("attachment; filename=a.csv", True),
        (" Attachment; filename*=UTF-8''a%20b.XLS", True),
        ("attachment", False),
        ("attachment; filename=version 2.0", False),
        ("attachment; filename=a.html", False),
        ("inline; filename=a.csv", False),
        ("", False),
    ],
)
def test_a_file_that_is_declared_as_a_page_is_recognised_by_its_name(
    disposition: str, *, is_file: bool
) -> None:
    assert download_type("text/html", disposition) == ("application/octet-stream" if is_file else "text/html")


@pytest.mark.parametrize("declared", ["", "text/html", "text/csv; charset=utf-8", "application/zip"])
def test_other_types_stay_as_declared(declared: str) -> None:
    assert download_type(declared) == declared


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Gäste.XLSX", Kind.TARGET),
        ("a.tar.csv", Kind.TARGET),
        ("csv", Kind.OTHER),
        ("a.exe", Kind.OTHER),
        ("", Kind.OTHER),
    ],
)
def test_the_proposed_name_tells_a_wanted_file_where_the_url_does_not(name: str, kind: Kind) -> None:
    assert PRESETS["tables"].kind("application/octet-stream", URL, name) is kind


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("=?UTF-8?B?w5xiZXJzaWNodC5jc3Y=?=", "Übersicht.csv"),
        ("=?ISO-8859-1?Q?=DCbersicht_2020.csv?=", "Übersicht 2020.csv"),
        ("=?UTF-8?B?a?=", "=?UTF-8?B?a?="),
        ("=?no-such-code?Q?a.csv?=", "=?no-such-code?Q?a.csv?="),
        ("=?x", "=?x"),
    ],
)
def test_names_in_words_of_mail_are_decoded(word: str, name: str) -> None:
    assert proposed_name(f'attachment; filename="{word}"') == name


def test_no_name_turns_a_page_into_a_file() -> None:
    name = proposed_name('attachment; filename="table.csv"')
    assert PRESETS["tables"].kind("text/html", URL, name) is Kind.PAGE
