"""Mistakes of users and damaged folders, over all commands: one clear line, exit code 2, nothing lost."""

from __future__ import annotations

import gzip
import os
import resource
import shlex
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coati.cli.main import run
from coati.search.index_file import APPLICATION_ID, VERSION
from tests.archive.warcs import packed, response
from tests.cli.commands import Coati, coati
from tests.live.scripted import file, page, scripted

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["coati"]

MODULE = b"""
class Fails:
    def __init__(self):
        raise ValueError("not today")

class Needs:
    def __init__(self):
        from coati.errors import ConfigError
        raise ConfigError("mine needs a key")

class Bare:
    pass

three = 3
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a run, an archive, an index, and a lot that is none of them, once for all tests."""
    desk = tmp_path_factory.mktemp("template")
    with scripted({"/": page("/a.csv"), "/a.csv": file(b"a\n")}) as site:
        assert run(["crawl", site.start, "--out", f"{desk}/run", "--delay", "0", "--quiet"]) == 0
    (desk / "site.warc.gz").write_bytes(packed([response("http://a.test/")]))
    assert run(["archive", "import", f"{desk}/site.warc.gz", f"{desk}/archive"]) == 0
    assert run(["search", "index", f"{desk}/archive", "--out", f"{desk}/index"]) == 0
    (desk / "folder").mkdir()
    contents = {
        "empty.txt": b"",
        "text.txt": b"x\n",
        "bytes.txt": bytes(range(128, 256)) * 30,
        "pages.txt": b"http://a.test/\n",
        "with_errors.py": b"def (\n",
        "of_mine.py": MODULE,
        "cut.gz": gzip.compress(b"a.org b.org\n")[:-6],
        "broken.gz": b"\x1f\x8b\x08\0\0\0\0\0\0\3" + b"\xff" * 300,
    }
    for name, content in contents.items():
        (desk / name).write_bytes(content)
    return desk


@pytest.fixture
def desk(coati: Coati, template: Path) -> Coati:
    """Run commands in a copy of all that."""
    shutil.copytree(template, ".", dirs_exist_ok=True)
    return coati


SEARCH = "discover rain --search local=index"
HARVEST = "harvest pages.txt --types data"


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("discover rain --search :Engine", "write it as my_module:MyName"),
        ("discover rain --search of_mine:", "write it as my_module:MyName"),
        ("discover rain --search ..of_mine:Bare", "write it as my_module:MyName"),
        ("discover rain --search with_errors:Engine", "cannot be imported: SyntaxError"),
        ("discover rain --search of_mine:Fails", "ValueError: not today"),
        ("discover rain --search of_mine:three", "it cannot be made"),
        ("discover rain --search of_mine:Needs", "coati: mine needs a key"),
        ("discover rain --search of_mine:Bare", "has no name"),
        ("discover rain --search os.path:join", "it takes no arguments"),
        ("discover rain --search commoncrawl=broken.gz", "the extract cannot be read"),
        ("discover rain --search commoncrawl=cut.gz", "the extract cannot be read"),
        ("discover rain --search commoncrawl=folder", "the extract cannot be read"),
        ("discover rain --search commoncrawl=text.txt", "no line has two host names"),
        ("discover rain --search local=text.txt", "is not a search index"),
        ("discover rain --search local=folder", "there is no search index"),
        (f"{SEARCH} --start-model bytes.txt", "is not a start model (UnicodeDecodeError: "),
        (f"{SEARCH} --start-model folder", "cannot be read: Is a directory"),
        (f"{SEARCH} --accept nonsense", "not a URL: 'nonsense'"),
        (f"{SEARCH} --accept javascript:1", "not a URL: 'javascript:1'"),
        (f"{SEARCH} --out text.txt --archive archive --offline", "text.txt is a file"),
        ("discover ./run --search local=index --out other", "--out names another folder"),
        ("learn pages --data text.txt --other text.txt --out model", "line 1: not a JSON object"),
        ("learn pages --data bytes.txt --other text.txt --out model", "line 1: not a JSON object"),
        ("learn pages --data broken.gz --other text.txt --out model", "cannot be read after line 0"),
        ("harvest empty.txt --types data", "holds no address"),
        ("harvest bytes.txt --types data", "is not a URL"),
        ("harvest folder --types data", "there is no harvest in folder"),
        ("harvest nowhere --types data", "No such file or directory"),
        ("harvest --from run --types data", "not the folder of a discovery"),
        ("harvest pages.txt --goal :goal", "write it as my_module:MyName"),
        ("harvest pages.txt --goal with_errors:goal", "SyntaxError"),
        ("harvest pages.txt --goal of_mine:three", "it must be a function"),
        (f"{HARVEST} --user me", "--user and --password-file go together"),
        (f"{HARVEST} --limits retries=many", "is not a whole number"),
        (f"{HARVEST} --store text.txt", "Does the store exist"),
        (f"{HARVEST} --cluster local:2", "need --store"),
        ("crawl http://a.test/ --profile :Cms", "write it as my_module:MyName"),
        ("crawl http://a.test/ --profile of_mine:Fails", "ValueError: not today"),
        ("crawl --from-file folder", "cannot be read: Is a directory"),
        ("inspect http://a.test/ --profile with_errors:Cms", "SyntaxError"),
        ("watch nowhere", "nowhere does not exist"),
        ("watch folder", "folder is a folder without a crawl"),
        ("watch run empty.txt", "is a list of pages, which is watched alone"),
        ("watch", "nothing to watch"),
        ("watch run --store folder", "give no other source"),
        ("watch empty.txt --once", "holds no address"),
        ("watch run --once --every 0", "every must be above 0"),
        ("watch run --once --out run", "holds something else than a watch"),
        ("watch run --once --relevant model=bytes.txt", "is not a start model"),
        ("watch run --once --notify nonsense", "not the address of a web hook"),
        ("watch run --once --notify file:///etc/passwd", "not the address of a web hook"),
        ("watch run --diff 1d", "there is no watch in run"),
        ("verify folder", "there is no run in folder"),
        ("verify text.txt", "there is no run in text.txt"),
        ("merge folder --out all.sqlite", "there is no run in folder"),
        ("merge run run --out all.sqlite", "are the same run"),
        ("merge run --out folder", "folder already exists"),
        ("merge run --out text.txt", "--overwrite replaces it"),
        ("merge run --out run/run.sqlite --overwrite", "is the database of a run that is to be merged"),
        ("merge run --out text.txt/all.sqlite", "File exists: 'text.txt'"),
        ("pull folder a.test", "holds no site 'a.test'"),
        ("pull folder ../../run", "holds no site '../../run'"),
        ("pull nothing://x/y a.test", "cannot be used: Protocol not known"),
        ("fleet status folder", "holds no harvest of a fleet"),
        ("fleet log folder a.test", "holds no site 'a.test'"),
        ("fleet free folder a.test", "holds no site 'a.test'"),
        ("fleet status folder --every soon", "not a time: 'soon'"),
        ("archive import folder folder/archive --layout folder", "lies in the folder that is imported"),
        ("archive import site.warc.gz run", "already exists and is not an archive"),
        ("archive import site.warc.gz text.txt/archive", "Not a directory"),
        ("archive import site.warc.gz new --start-url nonsense", "is not a URL"),
    ],
)
def test_a_mistake_is_told_in_one_line(desk: Coati, command: str, complaint: str) -> None:
    before = _files()
    said = desk(*shlex.split(command))
    assert complaint in said.err
    *_, last = said.err.splitlines()
    assert last.startswith("coati: ")
    assert said.code == 2
    assert _files().items() >= before.items(), "something that was there is gone or changed"


def _files() -> dict[str, bytes]:
    """Return what is here; a database may be given a lock and a log beside it."""
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def test_a_topic_is_no_folder_where_another_is_named(desk: Coati) -> None:
    """The folder of a search has the name of its topic; another search of this topic goes elsewhere."""
    options = ("--search", "local=index", "--archive", "archive", "--offline", "--quiet", "--format", "json")
    assert desk("discover", "rain", *options).json["folder"] == "rain"
    again = desk("discover", "rain", *options, "--out", "other").json
    assert (again["folder"], again["resumed"], again["topic"]) == ("other", False, "rain")
    assert desk("discover", "rain", *options).json["resumed"]


def test_the_folder_of_a_watch_is_no_other_one(desk: Coati) -> None:
    with scripted({"/": page("/a.csv"), "/a.csv": file(b"a\n")}) as site:
        assert desk("crawl", site.start, "--out", "here", "--delay", 0, "--quiet").code == 0
        assert desk("watch", "here", "--once", "--out", "watched").code == 0
    elsewhere = desk("watch", "watched", "--once", "--out", "other")
    assert (elsewhere.code, "--out names another folder" in elsewhere.err) == (2, True)
    both = desk("watch", "run", "watched", "--once")
    assert (both.code, "to resume it, give no other source" in both.err) == (2, True)
    for since in ("99999999999d", "0001-01-01T00:00:00+23:00", "soon"):
        said = desk("watch", "watched", "--diff", since)
        assert (said.code, "is neither a day (2026-05-01) nor a time ago" in said.err) == (2, True)
    assert desk("watch", "watched", "--diff", "0001-01-01").out == "0 changes since 0001-01-01T00:00:00Z\n"


def test_an_index_without_its_tables(desk: Coati) -> None:
    Path("bare").mkdir()
    with closing(sqlite3.connect("bare/index.sqlite")) as database:
        database.executescript(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};")
    for command in ("search query bare rain", "discover rain --search local=bare"):
        said = desk(*command.split())
        assert (said.code, "is not a search index (no such table" in said.err) == (2, True)


def _cut(database: Path) -> None:
    data = database.read_bytes()
    database.write_bytes(data[: len(data) // 2])


def _overwritten(database: Path) -> None:
    data = database.read_bytes()
    database.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))


def _without_tables(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript("PRAGMA foreign_keys = OFF; DROP TABLE files; DROP TABLE pages;")


@pytest.mark.parametrize("damage", [_cut, _overwritten, _without_tables])
@pytest.mark.parametrize(
    "command",
    ["show", "verify", "report", "explain /a.csv --run", "merge --out all.sqlite", "crawl"],
)
def test_a_damaged_run_is_told_in_one_line(desk: Coati, damage: Callable[[Path], None], command: str) -> None:
    damage(Path("run/run.sqlite"))
    said = desk(*shlex.split(command), "run")
    assert said.code == 2
    (line,) = said.err.splitlines()
    assert line.startswith("coati: ")
    assert "run" in line
    assert not Path("all.sqlite").exists()


@pytest.mark.parametrize("damage", ["urls = 3", "urls = [3]", 'seed = "x"'])
@pytest.mark.parametrize("command", ["show", "merge --out all.sqlite", "crawl", "runs"])
def test_damaged_settings_are_told_in_one_line(desk: Coati, damage: str, command: str) -> None:
    path = Path("run/run.toml")
    name = damage.partition(" ")[0]
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith(f"{name} =")]
    path.write_text("\n".join([damage, *kept]), encoding="utf-8")
    said = desk(*shlex.split(command), "." if command == "runs" else "run")
    assert said.code == (0 if command == "runs" else 2)
    assert f"run.toml cannot be read: {name} is" in said.out + said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize(("command", "file"), [("crawl", "run/run.toml"), ("harvest", "many/harvest.toml")])
def test_settings_that_were_emptied_name_what_is_missing(desk: Coati, command: str, file: str) -> None:
    path = Path(file)
    path.parent.mkdir(exist_ok=True)
    path.write_text("", encoding="utf-8")
    said = desk(command, path.parent)
    assert (said.code, "is damaged: it names no start URL" in said.err) == (2, True), said.err


def test_damaged_runs_are_named_among_others(desk: Coati) -> None:
    shutil.copytree("run", "other")
    _without_tables(Path("run/run.sqlite"))
    said = desk("runs", ".", "--format", "json")
    assert said.json["folder"].endswith("other")
    assert "the database in run cannot be read" in said.err


def test_a_device_or_a_pipe_is_no_file_to_replace(desk: Coati) -> None:
    os.mkfifo("pipe")
    said = desk("merge", "run", "--out", "pipe", "--overwrite")
    assert (said.code, said.err) == (2, "coati: pipe already exists and is not a file\n")
    assert Path("pipe").is_fifo()


@pytest.mark.parametrize(
    "command",
    [
        "merge run --out new",
        "search index archive --out new",
        "archive export archive new --to warc",
        "archive export archive new --to wacz",
        "archive export archive new --to kit",
    ],
)
def test_a_full_disk_is_told_with_the_place(desk: Coati, command: str) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, before[1]))
    try:
        said = desk(*command.split())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert said.code == 5
    assert said.err.startswith("coati: new")
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("command", "left"),
    [
        ("harvest {list} --types data --out new --delay 0 --quiet", ("sites/", "harvest.toml.new")),
        ("harvest {list} --types data --out new --delay 0 --quiet", ("sites/",)),
        ("harvest {list} --goal structured-data --out new --delay 0 --quiet", ("state/",)),
        (
            "harvest {list} --goal structured-data --out new --delay 0 --quiet",
            ("state/", "run.toml", "run.sqlite", "run.sqlite-journal"),
        ),
        ("watch {list} --once --out new", ("state/", "watch.toml.new")),
        ("crawl {start} --out new --delay 0 --quiet", ("state/", "run.toml.new")),
    ],
)
def test_what_was_killed_while_it_began_is_not_in_the_way(
    coati: Coati, command: str, left: tuple[str, ...]
) -> None:
    Path("new").mkdir()
    for name in left:
        path = Path("new") / name
        if name.endswith("/"):
            path.mkdir()
        else:
            path.touch()
    with scripted({"/": page("/a.csv"), "/a.csv": file(b"a\n")}) as site:
        Path("list.txt").write_text(f"{site.start}\n")
        said = coati(*command.format(list="list.txt", start=site.start).split())
    assert (said.code, said.err if said.code else "") == (0, "")


@pytest.mark.parametrize(
    "command",
    [
        "harvest pages.txt --types data --out run",
        "harvest pages.txt --goal structured-data --out archive",
        "watch pages.txt --once --out run",
        "harvest pages.txt --types data --out full",
    ],
)
def test_nothing_begins_where_something_else_is(desk: Coati, command: str) -> None:
    Path("full/sites/mine").mkdir(parents=True)
    for name in ("files", "files.csv", "report.html", "datapackage.json", "warc"):
        path = Path("run") / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    said = desk(*command.split())
    assert said.code == 2
    assert "choose a new folder with --out" in said.err


def test_pages_that_cannot_be_read_are_told_when_they_are_indexed(desk: Coati) -> None:
    (volume,) = Path("archive/warc").iterdir()
    volume.write_bytes(volume.read_bytes()[:-20])
    said = desk("search", "index", "archive", "--out", "new", "--format", "json")
    assert (said.json["pages"], said.json["damaged"]) == (0, 1)
    assert "warning: 1 page could not be read; the first: archive/warc/" in said.err
