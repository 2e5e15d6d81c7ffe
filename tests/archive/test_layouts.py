import gzip
from pathlib import Path

import pytest

from coati.archive.sources.layouts import detect_layout, open_source
from coati.archive.sources.source import SourceOptions
from coati.errors import ConfigError, UsageError
from tests.archive import test_replica, test_wacz
from tests.archive.samples import Reports, make, no_progress
from tests.archive.warcs import packed, response

WARC = packed([response("http://example.test/")])


def test_layouts_are_known_by_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(WARC)
    assert detect_layout([tmp_path / "a.warc.gz"]) == "warc"
    (tmp_path / "packed").write_bytes(WARC)
    assert detect_layout([tmp_path / "packed"]) == "warc"
    (tmp_path / "plain").write_bytes(gzip.decompress(WARC))
    assert detect_layout([tmp_path / "plain"]) == "warc"
    assert detect_layout([tmp_path / "packed", tmp_path / "plain"]) == "warc"
    assert detect_layout([tmp_path]) == "warc"
    assert detect_layout([test_wacz.make(tmp_path / "x", {"a": b""})]) == "wacz"
    assert detect_layout([test_replica.make(tmp_path / "replica")]) == "replica"
    (tmp_path / "site").mkdir()
    assert detect_layout([tmp_path / "site"]) == "folder"


def test_a_site_that_offers_warc_files_is_still_a_site(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_bytes(b"<p>")
    (tmp_path / "a.warc.gz").write_bytes(WARC)
    assert detect_layout([tmp_path]) == "folder"


def test_the_folder_of_a_crawl_gives_its_files(tmp_path: Path) -> None:
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "b.warc.gz").write_bytes(WARC)
    layout, source = open_source([tmp_path], "auto", SourceOptions())
    assert layout == "warc"
    assert source.meta().start_url == "http://example.test/"


def test_several_wacz_files_are_one_source(tmp_path: Path) -> None:
    pages = ("http://example.test/", "http://example.test/second")
    paths = [
        test_wacz.make(tmp_path / f"{number}.wacz", {"archive/a.warc.gz": packed([response(url)])})
        for number, url in enumerate(pages)
    ]
    for sources in (paths, [tmp_path]):
        layout, source = open_source(sources, "auto", SourceOptions())
        reports = Reports()
        urls = [record.entry.url for record in source.records(reports, no_progress)]
        assert (urls, reports.all) == (list(pages), [])
        assert layout == ("wacz" if sources is paths else "warc")


def test_warc_and_wacz_files_can_be_mixed(tmp_path: Path) -> None:
    (tmp_path / "b.warc.gz").write_bytes(packed([response("http://example.test/b")]))
    wacz = test_wacz.make(tmp_path / "a.wacz", {"archive/a.warc.gz": WARC})
    layout, source = open_source([tmp_path / "b.warc.gz", wacz], "auto", SourceOptions())
    urls = [record.entry.url for record in source.records(Reports(), no_progress)]
    assert (layout, urls) == ("warc", ["http://example.test/b", "http://example.test/"])


def test_what_cannot_be_a_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty").write_text("")
    (tmp_path / "site").mkdir()
    with pytest.raises(UsageError, match="there is nothing at"):
        open_source([tmp_path / "nowhere"], "auto", SourceOptions())
    for name in ("text", "empty"):
        with pytest.raises(UsageError, match="neither a WARC file"):
            open_source([tmp_path / name], "auto", SourceOptions())
    with pytest.raises(UsageError, match="is an archive already"):
        open_source([make(tmp_path / "a")], "auto", SourceOptions())
    with pytest.raises(UsageError, match="only if they are WARC or WACZ files"):
        open_source([tmp_path / "site", tmp_path / "a"], "folder", SourceOptions())
    with pytest.raises(UsageError, match="is not in the layout 'wacz'"):
        open_source([tmp_path / "site"], "wacz", SourceOptions())
    with pytest.raises(UsageError, match="is not in the layout 'replica'"):
        open_source([tmp_path / "text"], "replica", SourceOptions())
    with pytest.raises(UsageError, match="no WARC file"):
        open_source([tmp_path / "site"], "warc", SourceOptions())
    with pytest.raises(ConfigError, match="Known: auto, folder, replica, snapshots, wacz, warc"):
        open_source([tmp_path / "site"], "wrac", SourceOptions())
