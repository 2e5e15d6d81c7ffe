"""Arguments as users of notebooks give them: what is clear is taken, and mistakes are told in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import coati
from coati.errors import ConfigError, UsageError
from tests.experiments.made_sites import small_archive
from tests.live.scripted import Route, Script, file, page, scripted

URL = "http://127.0.0.1:9/"


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def site() -> Iterator[Script]:
    routes: dict[str, Route] = {"/": page("/a.csv", "/b"), "/b": page("/"), "/a.csv": file(b"a\n1\n")}
    with scripted(routes) as script:
        yield script


MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "harvest of one URL": (
        lambda: coati.harvest(URL, types="data", out="out"),
        r"is a URL, and a single text names a file with URLs: give a list, \['http://127\.0\.0\.1:9/'\]",
    ),
    "harvest of one URL into a store": (
        lambda: coati.harvest_into_store(URL, store="out", types="data"),
        "give a list",
    ),
    "harvest of a number": (lambda: coati.harvest(5, out="out"), "source: 5 is not a text"),  # type: ignore[arg-type]
    "harvest of nothing": (lambda: coati.harvest([None], out="out"), "source: None is not a text"),  # type: ignore[list-item]
    "sites at once as text": (
        lambda: coati.harvest([URL], types="data", out="out", sites_at_once="3"),  # type: ignore[arg-type]
        "sites_at_once is '3': it must be a whole number",
    ),
    "excluded hosts as a number": (
        lambda: coati.harvest([URL], types="data", out="out", exclude_hosts=3),  # type: ignore[arg-type]
        "exclude_hosts: 3 is not a text",
    ),
    "crawl of nothing": (lambda: coati.crawl(None), "start: None is not a text; give one text, or a list"),  # type: ignore[arg-type]
    "crawl of bytes": (lambda: coati.crawl(b"http://a/"), "start: b'http://a/' is not a text"),  # type: ignore[arg-type]
    "crawl with types as a list": (
        lambda: coati.crawl(URL, types=[".csv", ".xlsx"]),  # type: ignore[arg-type]
        r"types: \['\.csv', '\.xlsx'\] is not a text; write '\.csv,\.xlsx'",
    ),
    "crawl without a folder": (
        lambda: coati.crawl(URL, out=None),  # type: ignore[arg-type]
        "out: None is not a text; leave it out",
    ),
    "part of a request": (lambda: coati.crawl(URL, max_requests=2.5), "2.5 is not a whole number"),  # type: ignore[arg-type]
    "inspect of a list": (lambda: coati.inspect([URL]), r"url: \['http.*'\] is not a text; give one text"),  # type: ignore[arg-type]
    "search for nothing": (lambda: coati.discover(None), "words: None is not a text"),  # type: ignore[arg-type]
    "watch of a URL": (lambda: coati.watch(URL), "this is a URL: crawl it first"),
    "watch of nothing": (lambda: coati.watch(None), "source: None is not a text"),  # type: ignore[arg-type]
    "cycles as text": (lambda: coati.watch("run", cycles="2"), "cycles is '2': it must be a whole number"),  # type: ignore[arg-type]
    "run of nothing": (lambda: coati.open_run(None), "folder: None is not a path"),  # type: ignore[arg-type]
    "explain nothing": (lambda: coati.explain(None), "url: None is not a text"),  # type: ignore[arg-type]
    "replay of a class": (
        lambda: coati.replay("a", ["bfs", Script]),  # type: ignore[list-item]
        r"strategies: <class .*> is not a text; name it as 'tests\.live\.scripted:Script'",
    ),
    "replay of one class": (lambda: coati.replay("a", Script), "name it as 'tests.live.scripted:Script'"),  # type: ignore[arg-type]
    "crawl by a class": (
        lambda: coati.crawl(URL, strategy=Script),  # type: ignore[arg-type]
        "strategy: .* is not a text; name it as 'tests.live.scripted:Script'",
    ),
    "replay of a class of a notebook": (
        lambda: coati.replay("a", [type("Mine", (), {"__module__": "__main__"})]),  # type: ignore[list-item]
        "put it into a file of its own, such as my_module.py, and name it as my_module:MyName",
    ),
    "no store": (
        lambda: coati.harvest_into_store([URL], store=None, types="data"),  # type: ignore[arg-type]
        "store: None is not a path",
    ),
    "watch of no store": (lambda: coati.watch_store(None), "store: None is not a path"),  # type: ignore[arg-type]
    "state of no store": (lambda: coati.describe_store(None), "store: None is not a path"),  # type: ignore[arg-type]
    "import of nothing": (lambda: coati.import_archive(None, "out"), "sources: None is not a text"),  # type: ignore[arg-type]
    "archive of nothing": (lambda: coati.describe_archive(None), "folder: None is not a path"),  # type: ignore[arg-type]
    "index of nothing": (lambda: coati.index_archives(None, "out"), "archives: None is not a text"),  # type: ignore[arg-type]
    "replay of the world": (lambda: coati.replay("a", "bfs", scope="world"), "unknown scope 'world'"),
    "replay with types as a list": (
        lambda: coati.replay("a", "bfs", types=[".csv"]),  # type: ignore[arg-type]
        r"types: \['\.csv'\] is not a text",
    ),
    "replay with a text for a number": (
        lambda: coati.replay("a", "bfs", max_requests="5"),  # type: ignore[arg-type]
        "max_requests is '5': it must be a whole number",
    ),
    "jobs as text": (
        lambda: coati.experiment("t.toml", jobs="2"),  # type: ignore[arg-type]
        "jobs is '2': it must be a whole number of at least 0",
    ),
    "words of a search for a crawl": (
        lambda: coati.crawl(URL, words="air"),  # type: ignore[call-arg]
        r"unknown option 'words'\. Known: archive, ",
    ),
    "format of a command": (
        lambda: coati.harvest([URL], types="data", out="out", format="json"),  # type: ignore[call-arg]
        "unknown option 'format'",
    ),
    "types of a search": (
        lambda: coati.discover("air", types="tables"),  # type: ignore[call-arg]
        "unknown option 'types'",
    ),
    "speed of an inspection": (
        lambda: coati.inspect(URL, concurrency=3),  # type: ignore[call-arg]
        "unknown option 'concurrency'",
    ),
    "scope of a watch": (
        lambda: coati.watch("run", scope="any"),  # type: ignore[call-arg]
        "unknown option 'scope'",
    ),
    "cycles of a store": (
        lambda: coati.watch_store("store", every="1h"),  # type: ignore[call-arg]
        "unknown option 'every'",
    ),
    "misspelt option": (
        lambda: coati.crawl_each([URL], out="out", max_request=5),  # type: ignore[call-arg]
        "unknown option 'max_request'; did you mean 'max_requests'",
    ),
    "list of sites for a crawl": (
        lambda: coati.crawl(from_file="sites.txt"),  # type: ignore[call-arg]
        "from_file: call coati.crawl_each instead",
    ),
    "import of an empty list": (lambda: coati.import_archive([], "out"), "sources: there is none"),
    "part of a byte": (lambda: coati.replay("a", "bfs", max_bytes=2.5), r"max_bytes is 2\.5"),  # type: ignore[arg-type]
    "time in words": (lambda: coati.replay("a", "bfs", max_time="soon"), "max_time: not a time: 'soon'"),
    "stop as a truth value": (lambda: coati.crawl(URL, stop=True), "stop: True is not a coati.StopSignal"),  # type: ignore[arg-type]
    "stop as a function": (lambda: coati.watch("run", stop=print), "is not a coati.StopSignal"),  # type: ignore[arg-type]
    "query with a text for a list": (
        lambda: coati.Run(Path("run")).query("SELECT ?", "abc"),
        "parameters: 'abc' is not a list; give one value for each",
    ),
    "seeds as a list": (lambda: coati.replay("a", "bfs", seeds=[1]), r"seeds is \[1\]: it must be"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_in_words(mistake: str, tmp_path: Path) -> None:
    call, words = MISTAKES[mistake]
    with pytest.raises(UsageError, match=words) as told:
        call()
    # Nothing of ours is shown as if it had failed before.
    assert told.value.__context__ is None or told.value.__suppress_context__
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_a_crawl_comes_alone(site: Script) -> None:
    Path("mine.py").write_text("class Mine:\n    def __init__(self, urls, seed): ...\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="has no choose") as told:
        coati.crawl(site.start, out="run", delay=0, strategy="mine:Mine")
    assert told.value.__context__ is None


def test_what_is_clear_is_taken(site: Script) -> None:
    run = coati.crawl(
        site.start,
        out="run",
        max_requests=1e1,  # type: ignore[arg-type]
        delay=timedelta(0),
        max_time=timedelta(hours=1),
    )
    assert (run.run.settings["max_requests"], run.run.settings["max_time"]) == (10, 3600.0)
    assert coati.crawl(Path("run")).resumed
    found = coati.harvest([site.start], out="both", types="data", delay=0, exclude_hosts="other.example")
    assert found.stop is coati.StopReason.FINISHED
    Path("hosts.txt").write_text("127.0.0.1\n")
    with pytest.raises(coati.CoatiError, match="nothing to harvest"):
        coati.harvest([site.start], out="none", types="data", exclude_hosts=Path("hosts.txt"))


def test_numbers_and_times_of_a_notebook_are_taken() -> None:
    archive = small_archive(Path("site"), pages=20)
    results = coati.replay(
        archive,
        "random",
        seeds=np.int64(2),  # type: ignore[arg-type]
        max_bytes="1MB",
        max_time=timedelta(hours=1),
    )
    assert isinstance(results, coati.ReplayResults)
    assert [run.seed for run in results.runs] == [0, 1]


def test_a_query_takes_values_by_position_and_by_name(site: Script) -> None:
    run = coati.crawl(site.start, out="run", delay=0).run
    assert run.query("SELECT ? AS n", [5]) == run.query("SELECT :n AS n", {"n": 5}) == [{"n": 5}]


def test_a_result_stands_for_its_folder(site: Script) -> None:
    run = coati.crawl(site.start, out="run", delay=0, strategy="bfs")
    assert coati.open_run(run) == coati.open_run(run.run) == run.run
    assert coati.explain("/a.csv", run).verdict.value == "target"
    assert coati.report(run) == run.report
    assert coati.verify(run).whole
    assert [each.folder for each in coati.merge([run], "all.sqlite").sites] == ["run"]
    assert len(coati.sample(run, 1, guess=False).files) == 1
    watch = coati.watch(run, delay=0)
    assert coati.open_run(watch).folder == watch.folder
    harvested = coati.harvest([site.start], out="both", types="data", delay=0)
    assert isinstance(harvested, coati.FilesHarvested)
    assert [each.folder for each in coati.find_runs(harvested)] == [f"both/sites/{harvested.sites[0].site}"]


def test_results_are_shown_on_one_line(site: Script) -> None:
    done = "nothing was left to request"
    files = coati.harvest([site.start], out="files", types="data", delay=0)
    assert repr(files) == f"<FilesHarvested 'files': 1 target from 1 site; {done}>"
    pages = coati.harvest([site.start], out="pages", goal="opengraph", delay=0)
    assert repr(pages) == f"<PagesHarvested 'pages': 0 relevant pages from 1 host; {done}>"
    stored = coati.harvest_into_store([site.start], store="memory://shown", types="data", delay=0)
    assert repr(stored) == f"<StoreHarvest 'memory://shown': 1 target from 1 site; {done}>"
    archive = small_archive(Path("site"), pages=20)
    assert repr(coati.replay(archive, "random,bfs", seeds=2)) == (
        "<ReplayResults on 'site': 3 runs of random, bfs>"
    )
    coati.index_archives(archive, "index")
    found = coati.discover("nothing like that", search=["local=index"], out="found", delay=0)
    assert repr(found).startswith("<DiscoveryRun 'found': 0 repositories; ")
    described = 'table = "t"\ntitle = "A table"\nmeasures = ["auc"]\nsites = ["site"]\nseeds = 1\n'
    Path("table.toml").write_text(f'{described}strategies = ["bfs"]\n', encoding="utf-8")
    results = coati.experiment("table.toml", archives=".", jobs=0, parquet=False)
    assert repr(results) == f"<ExperimentResults 'A table': {len(results.rows())} numbers>"


def test_runs_of_a_replay_are_asked_for_by_name() -> None:
    archive = small_archive(Path("site"), pages=20)
    results = coati.replay(archive, "bfs", start_url="http://generated.test/")
    with pytest.raises(ConfigError, match="unknown measure 'ac'; did you mean 'auc'"):
        results.spread("bfs", "ac")
    with pytest.raises(ConfigError, match=r"unknown strategy of these runs 'scent'\. Known: bfs"):
        results.spread("scent", "auc")
    with pytest.raises(ConfigError, match="unknown measure 'stop'"):
        results.spread("bfs", "stop")
