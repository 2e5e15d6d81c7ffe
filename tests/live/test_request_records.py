"""WARC files hold the requests beside the responses, without credentials."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.archive.test_web_archive_exports import validate
from tests.cli.commands import Coati, coati
from tests.live.scripted import Script, answer, file, page, scripted

__all__ = ["coati"]

PRIVATE = {"authorization", "cookie", "x-api-key", "x-desk", "proxy-authorization"}


@pytest.fixture
def site() -> Iterator[Script]:
    routes = {
        "/": lambda exchange: exchange.answer(
            body="<a href=/a?b=c%20d>a</a><a href=/x.csv>x</a>", Set_Cookie="seen=1"
        ),
        "/a?b=c%20d": page("/x.csv", "/moved"),
        "/moved": answer(301, Location="/a?b=c%20d"),
        "/x.csv": file(),
    }
    with scripted(routes) as server:
        yield server


Records = list[tuple[str, str, dict[str, str]]]


def records(*paths: Path) -> Records:
    """Return type, address and HTTP headers of all records; each must say what its digests say."""
    found = []
    for path in paths:
        with path.open("rb") as opened:
            for record in ArchiveIterator(opened, check_digests="raise"):
                headers = {} if record.http_headers is None else dict(record.http_headers.headers)
                url = record.rec_headers.get_header("WARC-Target-URI")
                found.append((record.rec_type, url, headers))
    return found


def of(kind: str, found: Records) -> dict[str, dict[str, str]]:
    return {url: headers for each, url, headers in found if each == kind}


def test_requests_are_kept_without_secrets(coati: Coati, site: Script, tmp_path: Path) -> None:
    (tmp_path / "pass.txt").write_text("secret", encoding="utf-8")
    said = coati(
        *("crawl", site.start, "--out", "run", "--delay", "0", "--strategy", "bfs", "--archive", "kept"),
        *("--user", "jo", "--password-file", "pass.txt", "--header", "X-Api-Key: 7", "--cookies", "id=8"),
        *("--header", f"{site.base} X-Desk: 9", "--header", "Accept-Language: pt"),
    )
    assert said.code == 0, said.err
    assert {"authorization", "cookie", "x-api-key", "x-desk"} <= site.asked[-1].headers.keys()
    run = records(tmp_path / "run" / "warc" / "pages.warc.gz")
    kept = records(*sorted((tmp_path / "kept" / "warc").iterdir()))
    assert of("request", run).keys() == of("response", run).keys()
    assert len(of("request", run)) == 2
    assert of("request", kept).keys() == of("response", kept).keys()
    assert len(of("request", kept)) == 4
    for headers in (*of("request", run).values(), *of("request", kept).values()):
        told = {name.lower(): value for name, value in headers.items()}
        assert not PRIVATE & told.keys()
        assert told["host"] == site.base.removeprefix("http://")
        assert told["accept-language"] == "pt"
        assert told["user-agent"].startswith("Coati/")


def test_what_an_archive_answers_was_not_asked(coati: Coati, site: Script, tmp_path: Path) -> None:
    start = ("crawl", site.start, "--delay", "0", "--strategy", "bfs", "--archive", "kept")
    assert coati(*start, "--out", "first").code == 0
    asked = len(site.asked)
    for name, options in (("second", ()), ("third", ("--offline",))):
        assert coati(*start, "--out", name, *options).code == 0
        found = records(tmp_path / name / "warc" / "pages.warc.gz")
        assert not of("request", found)
        assert of("response", found).keys() == of("response", records(_pages(tmp_path / "first"))).keys()
    assert len(site.asked) == asked


def _pages(run: Path) -> Path:
    return run / "warc" / "pages.warc.gz"


def test_files_with_requests_are_imported_exported_and_verified(
    coati: Coati, site: Script, tmp_path: Path
) -> None:
    start = ("crawl", site.start, "--delay", "0", "--strategy", "bfs", "--archive", "kept", "--out", "run")
    assert coati(*start).code == 0
    assert coati("verify", "run").code == 0
    assert coati("archive", "verify", "kept").code == 0
    assert coati("archive", "export", "kept", "kept.wacz", "--to", "wacz").code == 0
    validate(tmp_path / "kept.wacz")
    for source, captures in (("run/warc/pages.warc.gz", 2), ("kept.wacz", 4), ("kept/warc", 4)):
        imported = coati("archive", "import", source, f"again-{captures}", "--overwrite", "--format", "json")
        assert (imported.code, imported.json["records"]) == (0, captures), imported.err
    assert coati("archive", "reindex", "kept").code == 0
    assert coati("archive", "verify", "kept").code == 0
