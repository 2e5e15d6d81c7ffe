import json
from pathlib import Path
from typing import Any

import click
import pytest

from coati.archive.archive import Archive
from coati.cli.archive import archive
from coati.cli.main import run
from tests.archive import test_replica, test_wacz
from tests.archive.samples import SITE, make, volume
from tests.archive.warcs import packed, response

ROOT = "http://example.test/"
Captured = pytest.CaptureFixture[str]


def as_json(arguments: list[str | Path], capsys: Captured, code: int = 0) -> dict[str, Any]:
    """Run a command with ``--format json``; gives the one object that it prints."""
    assert run([*map(str, arguments), "--format", "json"]) == code
    (line,) = capsys.readouterr().out.splitlines()
    facts = json.loads(line)
    assert isinstance(facts, dict)
    return facts


def test_a_replica_is_imported_and_described(tmp_path: Path, capsys: Captured) -> None:
    source = test_replica.make(tmp_path / "small")
    facts = as_json(["archive", "import", source, tmp_path / "a"], capsys)
    assert facts["layout"] == "replica"
    assert facts["name"] == "small"
    assert facts["records"] == 5
    assert facts["kinds"] == {"html": 2, "target": 1, "other": 0, "redirect": 1, "broken": 1}
    assert facts["damaged"] == 0
    assert facts["target_types"] is None
    info = as_json(["archive", "info", tmp_path / "a"], capsys)
    assert info["digest"] == facts["digest"]
    assert info["start_url"] == "http://small.test/"
    assert info["origin"] == "made up"
    assert info["size_bytes"]["target"] == 1234567
    assert info["statuses"] == {"200": 3, "301": 1, "404": 1}
    assert "css" in info["blocked_extensions"]
    assert info["links_outside"] == {"count": 0, "examples": []}


def test_each_layout_is_recognised(tmp_path: Path, capsys: Captured) -> None:
    warc = tmp_path / "a.warc.gz"
    warc.write_bytes(packed([response(ROOT), response(f"{ROOT}x.csv", b"a", media_type="text/csv")]))
    wacz = test_wacz.make(tmp_path / "a.wacz", {"archive/a.warc.gz": warc.read_bytes()})
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_bytes(b"<a href=x.csv>x</a>")
    (site / "x.csv").write_bytes(b"a,b")
    for source, layout in ((warc, "warc"), (wacz, "wacz"), (site, "folder")):
        facts = as_json(["archive", "import", source, tmp_path / layout], capsys)
        assert facts["layout"] == layout
        assert facts["kinds"]["target"] == 1
        assert facts["target_types"]["name"] == "data"


def test_several_warc_files_are_one_site(tmp_path: Path, capsys: Captured) -> None:
    sources: list[str | Path] = []
    for name in ("a", "b"):
        path = tmp_path / f"{name}.warc.gz"
        path.write_bytes(packed([response(ROOT + name)]))
        sources.append(path)
    facts = as_json(["archive", "import", *sources, tmp_path / "out"], capsys)
    assert facts["records"] == 2
    assert facts["start_url"] == f"{ROOT}a"
    assert facts["origin"] == "a.warc.gz and 1 more"


def test_wishes_reach_the_archive(tmp_path: Path, capsys: Captured) -> None:
    warc = tmp_path / "a.warc.gz"
    warc.write_bytes(packed([response(ROOT), response(f"{ROOT}x.csv", b"abc", media_type="text/csv")]))
    options = [
        "--start-url",
        "HTTP://example.test",
        "--types",
        "tables",
        "--name",
        "mine",
        "--no-target-bodies",
    ]
    facts = as_json(["archive", "import", warc, tmp_path / "out", *options, "--layout", "warc"], capsys)
    assert (facts["name"], facts["start_url"], facts["bodies"]) == ("mine", ROOT, 1)
    assert facts["target_types"]["name"] == "tables"
    assert facts["size_bytes"]["target"] == 3


def test_damage_is_named_and_the_rest_is_imported(tmp_path: Path, capsys: Captured) -> None:
    warc = tmp_path / "a.warc.gz"
    good = packed([response(ROOT), response(f"{ROOT}b")])
    warc.write_bytes(good + packed([response(f"{ROOT}c")])[:-40])
    assert run(["archive", "import", str(warc), str(tmp_path / "out"), "--format", "json"]) == 0
    shown = capsys.readouterr()
    facts = json.loads(shown.out)
    assert (facts["records"], facts["damaged"]) == (2, 1)
    assert facts["damaged_parts"][0]["where"] == f"{warc}, byte {len(good)}"
    assert shown.err.count("\n") == 1
    assert f"warning: {warc}, byte {len(good)}" in shown.err


def test_much_damage_does_not_flood_the_screen(tmp_path: Path, capsys: Captured) -> None:
    table = [test_replica.TABLE[0], *["nonsense"] * 500]
    source = test_replica.make(tmp_path / "small", table=table)
    facts_line = run(["archive", "import", str(source), str(tmp_path / "a"), "--format", "json"])
    shown = capsys.readouterr()
    assert facts_line == 0
    assert len(shown.err.splitlines()) == 21
    assert "480 more parts are damaged" in shown.err
    facts = json.loads(shown.out)
    assert facts["damaged"] == 500
    assert len(facts["damaged_parts"]) == 100


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["archive", "import", "nowhere", "out"], "there is nothing at nowhere"),
        (["archive", "import", "file", "out"], "neither a WARC file"),
        (["archive", "import", "site", "out", "--start-url", "example.org"], "is not a URL"),
        (["archive", "import", "site", "out", "--types", "tabels"], "did you mean 'tables'"),
        (["archive", "import", "site", "archived"], "--overwrite"),
        (["archive", "import", "broken.warc.gz", "out", "--start-url", ROOT], "no readable record"),
        (["archive", "import", "broken.warc.gz", "out"], "it is empty, or no WARC file"),
        (["archive", "info", "nowhere"], "there is no archive at nowhere"),
        (["archive", "info", "site"], "is not an archive"),
        (["archive", "verify", "nowhere"], "there is no archive at nowhere"),
        (["archive", "reindex", "nowhere"], "there is no archive at nowhere"),
        (["archive", "export", "nowhere", "out", "--to", "kit"], "there is no archive at nowhere"),
        (["archive", "export", "archived", "file", "--to", "warc"], "file already exists"),
    ],
)
def test_bad_input_is_one_clear_line(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("site").mkdir()
    Path("site/index.html").write_bytes(b"<p>")
    Path("file").write_text("hello")
    Path("broken.warc.gz").write_bytes(b"\x1f\x8b\x08broken")
    make(Path("archived"))
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = [line for line in shown.err.splitlines() if not line.startswith("warning:")]
    assert len(lines) == 1
    assert lines[0].startswith("coati: ")
    assert said in lines[0]
    assert not Path("out").exists()
    assert not Path("out.partial").exists()


def test_a_start_url_that_is_not_archived_is_warned_of(tmp_path: Path, capsys: Captured) -> None:
    warc = tmp_path / "a.warc.gz"
    warc.write_bytes(packed([response(ROOT)]))
    arguments = ["archive", "import", str(warc), str(tmp_path / "out"), "--start-url", f"{ROOT}x"]
    assert run(arguments) == 0
    assert "the start URL is not in the archive" in capsys.readouterr().err


def test_an_archive_is_replaced_with_overwrite(tmp_path: Path, capsys: Captured) -> None:
    source = test_replica.make(tmp_path / "small")
    folder = make(tmp_path / "a")
    facts = as_json(["archive", "import", source, folder, "--overwrite"], capsys)
    assert facts["name"] == "small"


def test_info_names_links_that_lead_out_of_the_archive(tmp_path: Path, capsys: Captured) -> None:
    folder = make(tmp_path / "a")
    info = as_json(["archive", "info", folder], capsys)
    assert info["links_outside"] == {"count": 1, "examples": [{"url": f"{ROOT}gone", "page": ROOT}]}
    assert "links_outside" not in as_json(["archive", "info", folder, "--no-links"], capsys)
    assert run(["archive", "info", str(folder)]) == 0
    shown = capsys.readouterr().out
    for expected in (
        "http://example.test/gone",
        "on http://example.test/",
        "made up",
        "CC0",
        "text/csv",
        "10.0 MB",
    ):
        assert expected in shown


def test_the_summary_of_an_import_is_readable(tmp_path: Path, capsys: Captured) -> None:
    source = test_replica.make(tmp_path / "small")
    assert run(["archive", "import", str(source), str(tmp_path / "a")]) == 0
    shown = capsys.readouterr().out
    assert "5 (2 pages, 1 target, 0 other, 1 redirect, 1 failure)" in shown
    assert "each record is labelled with its kind" in shown


def test_verify_names_the_damaged_records(tmp_path: Path, capsys: Captured) -> None:
    folder = make(tmp_path / "a")
    assert as_json(["archive", "verify", folder], capsys) == {
        "archive": str(folder),
        "records": len(SITE),
        "damaged": [],
    }
    octets = bytearray(volume(folder).read_bytes())
    octets[-40] ^= 0xFF
    volume(folder).write_bytes(octets)
    facts = as_json(["archive", "verify", folder], capsys, code=2)
    assert [damaged["url"] for damaged in facts["damaged"]] == [f"{ROOT}down"]
    assert run(["archive", "verify", str(folder)]) == 2
    shown = capsys.readouterr().out
    assert "coati-00001.warc.gz" in shown
    assert "6 records, 1 damaged" in shown


def test_reindex_mends_an_archive(tmp_path: Path, capsys: Captured) -> None:
    folder = make(tmp_path / "a")
    with Archive.open(folder) as archive:
        digest = archive.digest()
    (folder / "index.sqlite").unlink()
    assert run(["archive", "info", str(folder)]) == 2
    assert "coati archive reindex" in capsys.readouterr().err
    assert as_json(["archive", "reindex", folder], capsys) == {
        "archive": str(folder),
        "records": len(SITE),
        "damaged": 0,
    }
    assert as_json(["archive", "info", folder, "--no-links"], capsys)["digest"] == digest


def test_exports(tmp_path: Path, capsys: Captured) -> None:
    folder = make(tmp_path / "a")
    kit = as_json(["archive", "export", folder, tmp_path / "kit", "--to", "kit"], capsys)
    assert (kit["table"], kit["records"], kit["left_out"]) == ("example", 5, 1)
    assert Path(kit["file"]).exists()
    warc = as_json(["archive", "export", folder, tmp_path / "a.warc.gz", "--to", "warc"], capsys)
    assert warc["size_bytes"] == (tmp_path / "a.warc.gz").stat().st_size


def test_the_kit_export_says_which_targets_were_renamed(tmp_path: Path, capsys: Captured) -> None:
    table = [test_replica.TABLE[0], "http://small.test/x.nc\t200\tapplication/x-netcdf\t5\ttarget\t\t"]
    source = test_replica.make(tmp_path / "small", table=table)
    assert run(["archive", "import", str(source), str(tmp_path / "a")]) == 0
    assert run(["archive", "export", str(tmp_path / "a"), str(tmp_path / "kit"), "--to", "kit"]) == 0
    assert "1 of the type application/x-netcdf were exported as application/pdf" in capsys.readouterr().out


def test_every_option_is_in_the_guide() -> None:
    guide = Path(__file__).parents[2] / "docs" / "how-to" / "archive-a-site.md"
    text = guide.read_text(encoding="utf-8")
    for name, command in archive.commands.items():
        assert f"coati archive {name}" in text
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert any(option in text for option in (*parameter.opts, *parameter.secondary_opts)), (
                    parameter
                )


def test_an_import_into_this_empty_folder(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = test_replica.make(tmp_path / "small")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert as_json(["archive", "import", source, "."], capsys)["records"] == 5
    with Archive.open(tmp_path / "here") as opened:
        assert len(opened) == 5
