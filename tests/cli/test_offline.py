"""``coati crawl --offline``: the archive answers, and nobody else is asked."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta, Entry, Record
from coati.cli.main import run
from coati.runs.reader import RunReader
from coati.testing.server import serve
from coati.testing.site import Response, Site
from coati.web.media import PRESETS
from tests.live.scripted import file, page, scripted

Captured = pytest.CaptureFixture[str]


def make_site(base: str) -> Site:
    """Make a site of 37 URLs: lists, pages, files, a redirect and a page that is gone."""
    responses = {base + "/": Response.page("".join(f"<p><a href='/list/{n}'>list</a></p>" for n in range(6)))}
    for number in range(6):
        names = [f"/set/{number}-{part}" for part in range(4)]
        items = "".join(f"<li class=set><a href='{name}'>{name}</a></li>" for name in names)
        responses[f"{base}/list/{number}"] = Response.page(f"<ul>{items}</ul><a href='/old'>old</a>")
        for part, name in enumerate(names):
            body = b"%d,%d" % (number, part)
            responses[base + name] = Response.file("text/csv", body)
    responses[base + "/old"] = Response.redirect("/list/0")
    return Site(base + "/", responses)


def crawl(*arguments: str, capsys: Captured) -> tuple[int, dict[str, object]]:
    code = run(["crawl", *arguments, "--delay", "0", "--format", "json", "--quiet", "--no-stop-when-dry"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("strategy", ["bfs", "sb-classifier", "scent"])
def test_every_archived_answer_is_used_while_the_server_is_down(
    tmp_path: Path, capsys: Captured, strategy: str
) -> None:
    archive = tmp_path / "archive"
    with serve(make_site) as server:
        start = server.site.start_url
        how = [start, "--strategy", "bfs", "--archive", str(archive)]
        _, online = crawl(*how, "--out", str(tmp_path / "online"), capsys=capsys)
    with Archive.open(archive) as held:
        urls = [entry.url for entry in held.entries()]
        digest = held.digest()
    how = [start, "--strategy", strategy, "--archive", str(archive), "--offline"]
    code, offline = crawl(*how, "--out", str(tmp_path / "offline"), capsys=capsys)
    assert code == 0
    assert offline["targets"] == online["targets"] == 24
    with RunReader(tmp_path / "offline") as reader:
        rows = reader.connection.execute("SELECT url, method FROM requests WHERE charged").fetchall()
    assert {url for url, method in rows if method == "GET"} == set(urls)
    assert any(method == "HEAD" for _, method in rows) == (strategy == "sb-classifier")
    with Archive.open(archive) as held:
        assert held.digest() == digest


def test_nothing_is_asked_of_the_network(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = "http://no-such-host.test/"

    def record(path: str, media_type: str, body: bytes) -> Record:
        return Record(Entry(start + path, 200, media_type, len(body)), (("Content-Type", media_type),), body)

    left_out = Record(Entry(start + "large.csv", 200, "text/csv", 10**9))
    links = b"".join(b"<a href='/%b'>x</a>" % name for name in (b"a.csv", b"missing", b"large.csv"))
    meta = ArchiveMeta("nowhere", start, PRESETS["data"])
    with Archive.create(tmp_path / "archive", meta) as archive:
        for each in (record("", "text/html", links), record("a.csv", "text/csv", b"1"), left_out):
            archive.add(each)

    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    arguments = [start, "--archive", str(tmp_path / "archive"), "--offline", "--out", str(tmp_path / "run")]
    code, result = crawl(*arguments, capsys=capsys)
    assert code == 0
    assert (result["requests"], result["targets"]) == (2, 1)
    with RunReader(tmp_path / "run") as reader:
        skipped = reader.connection.execute("SELECT url, reason FROM skipped ORDER BY url").fetchall()
    assert [tuple(row) for row in skipped] == [
        (start + "large.csv", "not in the archive"),
        (start + "missing", "not in the archive"),
    ]


def test_a_run_that_began_online_continues_offline(tmp_path: Path, capsys: Captured) -> None:
    how = ["--archive", str(tmp_path / "archive"), "--out", str(tmp_path / "run")]
    with scripted({"/": page("/a.csv", "/b.csv"), "/a.csv": file(b"a"), "/b.csv": file(b"b")}) as server:
        crawl(server.start, *how, capsys=capsys)
        other = ["--archive", str(tmp_path / "archive"), "--out", str(tmp_path / "other")]
        crawl(server.start, *other, "--max-requests", "2", capsys=capsys)
        asked = len(server.asked)
        code, result = crawl(server.start, *other, "--max-requests", "9", "--offline", capsys=capsys)
        assert len(server.asked) == asked
    assert (code, result["targets"]) == (0, 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--offline"], "offline needs an archive"),
        (["--archive-max-age", "1d"], "archive_max_age needs an archive"),
        (["--archive", "{a}", "--offline", "--archive-mode", "record"], "archive_mode record needs them"),
        (["--archive", "{a}", "--offline", "--dry-run"], "dry_run needs them"),
        (["--archive", "{a}", "--offline"], "there is no archive at"),
        (["--archive", "{b}", "--offline"], "http://a.test/ is not in the archive"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_done(
    tmp_path: Path, capsys: Captured, arguments: list[str], said: str
) -> None:
    meta = ArchiveMeta("b", "http://b.test/", PRESETS["data"])
    Archive.create(tmp_path / "b", meta).close()
    places = {"a": tmp_path / "a", "b": tmp_path / "b"}
    given = [argument.format(**places) for argument in arguments]
    assert run(["crawl", "http://a.test/", *given, "--out", str(tmp_path / "run")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
