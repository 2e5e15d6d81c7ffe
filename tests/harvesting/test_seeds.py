"""Lists of addresses, as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from coati.errors import ConfigError
from coati.harvesting.seeds import Seeds, WrongLine, read_seeds, seeds_of_discovery
from coati.harvesting.sites import is_excluded, read_hosts, sites_of
from coati.web.rules import Scope


def seeds(tmp_path: Path, text: str | bytes) -> Seeds:
    file = tmp_path / "list.txt"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_seeds(file)


def test_one_address_per_line_with_comments_and_notes(tmp_path: Path) -> None:
    found = seeds(
        tmp_path,
        "\ufeff# ministries\nhttps://a.test\n\n  b.test/data  the second\nHTTP://C.test:8080/x y\n",
    )
    assert found.urls == ("https://a.test/", "https://b.test/data", "http://c.test:8080/x")
    assert found.bare == 1
    assert (found.wrong, found.duplicates) == ((), 0)


@pytest.mark.parametrize(
    ("line", "url"),
    [
        ("a.test", "https://a.test/"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("a.test:8000/x:1", "http://a.test:8000/x:1"),
        ("a.test:80", "http://a.test/"),
        ("a.test:443/x", "https://a.test/x"),
        ("a.test:8443", "https://a.test:8443/"),
        ("a.test/x:80", "https://a.test/x:80"),
        ("[::1]:8000", "http://[::1]:8000/"),
        ("jo:123@a.test", "https://a.test/"),
    ],
)
def test_a_line_without_a_scheme_is_asked_over_https_unless_its_port_says_otherwise(
    tmp_path: Path, line: str, url: str
) -> None:
    assert seeds(tmp_path, line).urls == (url,)


def test_wrong_lines_are_told_with_their_numbers_and_the_rest_is_used(tmp_path: Path) -> None:
    found = seeds(tmp_path, "https://a.test/\nnonsense\nftp://b.test/\nhttps://A.test\nhttp://:80/\n")
    assert found.urls == ("https://a.test/",)
    assert found.duplicates == 1
    assert [line.number for line in found.wrong] == [2, 3, 5]
    assert str(WrongLine(2, "nonsense", "is not a URL")) == "line 2: 'nonsense' is not a URL"


@pytest.mark.parametrize(
    "text",
    [
        'name,URL,note\nA,https://a.test/x,1\n"B, the\nsecond",b.test,2\nC,,3\n',
        "Name;Website\r\nA;https://a.test/x\r\nB;b.test\r\n",
        "url\tsite\nhttps://a.test/x\tA\nb.test\tB\n",
        "site,start_url,requests\na.test-8000,https://a.test/x,3\nb,b.test,4\n",
    ],
)
@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16"])
def test_a_table_of_a_spreadsheet_is_a_list_too(tmp_path: Path, text: str, coding: str) -> None:
    found = seeds(tmp_path, text.encode(coding))
    assert found.urls == ("https://a.test/x", "https://b.test/")
    assert found.wrong == ()


def test_wrong_addresses_of_a_table_are_told_with_their_lines(tmp_path: Path) -> None:
    found = seeds(tmp_path, "name,url\nA,https://a.test/\nB,none\nC\n")
    assert found.wrong == (WrongLine(3, "none", "is not a URL"),)


def test_a_table_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="line 2 of the table cannot be read"):
        seeds(tmp_path, 'name,url\n"' + "x" * 200_000)


def test_an_address_with_a_comma_begins_no_table(tmp_path: Path) -> None:
    assert seeds(tmp_path, "https://a.test/web,site,url\n").urls == ("https://a.test/web,site,url",)


def test_lists_in_utf_16_are_read(tmp_path: Path) -> None:
    assert seeds(tmp_path, "https://a.test/\r\nb.test\r\n".encode("utf-16")).urls == (
        "https://a.test/",
        "https://b.test/",
    )


@pytest.mark.parametrize("text", [b"", b"# nothing\n", b"what\nis this\n", b"\x00\xff\xfe\n"])
def test_a_list_without_any_address_says_so(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(ConfigError, match="holds no address"):
        seeds(tmp_path, text)


def test_a_list_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_seeds(tmp_path / "missing.txt")


def test_the_sites_of_a_discovery(tmp_path: Path) -> None:
    (tmp_path / "repositories.csv").write_text("name,url\nA,https://a.test/\nB,\nC,what\n")
    found = seeds_of_discovery(tmp_path)
    assert found.urls == ("https://a.test/",)
    assert [line.number for line in found.wrong] == [4]
    (tmp_path / "repositories.jsonl").write_text('{"url": "https://b.test/", "title": "B"}\n\n{"x": 1}\nno\n')
    found = seeds_of_discovery(tmp_path)
    assert found.urls == ("https://b.test/",)
    assert [line.number for line in found.wrong] == [3, 4]


def test_a_folder_that_is_no_discovery_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not the folder of a discovery"):
        seeds_of_discovery(tmp_path)
    (tmp_path / "repositories.csv").write_text("name\nA\n")
    with pytest.raises(ConfigError, match="no column named url"):
        seeds_of_discovery(tmp_path)


def test_addresses_of_one_site_belong_together() -> None:
    sites = sites_of(["https://www.a.test/x", "http://a.test/y", "https://b.test/", "http://b.test:8080/"])
    assert [(site.name, len(site.urls)) for site in sites] == [
        ("a.test", 2),
        ("b.test", 1),
        ("b.test-8080", 1),
    ]


def test_no_page_belongs_to_two_sites() -> None:
    sites = sites_of(["https://gov.test/", "https://finance.gov.test/", "https://b.test/"])
    assert [site.scope for site in sites] == [Scope.HOST, Scope.DOMAIN, Scope.DOMAIN]


def test_hosts_that_are_excluded_take_what_lies_below_them() -> None:
    hosts = read_hosts(["a.test", "https://b.test/path", "# c.test"])
    assert is_excluded("a.test", hosts)
    assert is_excluded("data.a.test", hosts)
    assert is_excluded("b.test", hosts)
    assert not is_excluded("c.test", hosts)
    assert not is_excluded("nota.test", hosts)
