"""Replays, experiments and archives as functions."""

import json
import math
import re
import sys
from functools import partial
from pathlib import Path

import pytest

import coati
from coati.jobs.stopping import StoppedError
from tests.archive.snapshots import write_news
from tests.replaying import tiny_site

OWN = """
from coati.strategies.baselines import breadth_first


def mine(start_urls, seed):
    \"\"\"Breadth-first under another name.\"\"\"
    return breadth_first(start_urls)
"""

OWN_WATCH = """
from coati.assembly import build_strategy


def mine(start_urls, seed):
    return build_strategy("arrivals", start_urls, seed)
"""

FILE = """
table = "tiny"
title = "A tiny site"
measures = ["requests_to_90_pct", "curve_ratio"]
seeds = 2
strategies = ["bfs", "tres-light"]
compared = "bfs"
halves = true
sites = ["tiny", { archive = "tiny", types = "application/pdf" }]
"""


@pytest.fixture
def archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "own_order.py").write_text(OWN)
    (tmp_path / "own_watch.py").write_text(OWN_WATCH)
    (tmp_path / "tiny.toml").write_text(FILE)
    tiny_site.make(tmp_path / "archives" / "tiny")
    return tmp_path / "archives"


def test_a_replay_returns_every_run_and_tells_how_it_goes(archives: Path) -> None:
    told: list[tuple[str, int | None]] = []
    found = coati.replay(
        archives / "tiny",
        ["bfs", "random", "own_order:mine"],
        seeds=2,
        on_run=lambda name, seed, _requests, _targets: told.append((name, seed)),
    )
    assert [(run.strategy, run.seed) for run in found.runs] == [
        ("bfs", None), ("random", 0), ("random", 1), ("own_order:mine", 0), ("own_order:mine", 1),
    ]  # fmt: skip
    assert found.spread("own_order:mine", "auc") == found.spread("bfs", "auc")
    assert found.spread("bfs", "requests_to_90_pct").median == pytest.approx(80)
    assert "tiny" in found._repr_html_()
    assert not re.search(r"\.\d{5}", found._repr_html_())
    assert isinstance(found, coati.ReplayResults)
    found.write("out")
    lines = Path("out/results.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["seed"] for line in lines] == [None, 0, 1, 0, 1]
    short = coati.replay(archives / "tiny", "bfs", max_requests=2)
    assert math.isinf(short.spread("bfs", "requests_to_90_pct").median)


def test_watches_are_replayed_over_a_history(tmp_path: Path) -> None:
    news = tmp_path / "news"
    coati.import_archive(write_news(tmp_path / "tables"), news, name="news")
    ready: list[str] = []
    steps: set[str] = set()
    results: list[object] = []
    found = coati.replay(
        news,
        "rr,arrivals",
        per_cycle=1,
        every="1h",
        cold=True,
        out=tmp_path / "out",
        on_ready=ready.append,
        on_progress=lambda step, _done, _total: steps.add(step),
        on_result=results.append,
    )
    assert isinstance(found, coati.WatchReplayResults)
    assert found.strategies() == ["rr", "arrivals"]
    assert ready == ["news: 2 pages, 4 cycles"]
    assert {"extracting links", "what is new"} <= steps
    assert results == list(found.runs)
    assert (tmp_path / "out" / "coverage.png").is_file()
    assert 0 <= found.spread("rr", "coverage").median <= 1
    assert "news" in found._repr_html_()
    assert repr(found) == "<WatchReplayResults on 'news': 2 runs of rr, arrivals>"
    # Nothing is new to a label that no link has.
    nothing = coati.replay(news, "rr", relevant="label=nobody")
    assert math.isnan(nothing.spread("rr", "coverage").median)
    with pytest.raises(coati.CoatiError, match="unknown measure 'auc'"):
        found.spread("rr", "auc")


def test_a_strategy_that_does_not_fit_is_told_and_never_loops(archives: Path, tmp_path: Path) -> None:
    tiny = archives / "tiny"
    with pytest.raises(coati.CoatiError, match="not a history"):
        coati.replay(tiny, "arrivals")
    with pytest.raises(coati.CoatiError, match="cannot be replayed together"):
        coati.replay(tiny, "arrivals,bfs")
    with pytest.raises(coati.CoatiError, match="--per-cycle is for strategies that watch pages"):
        coati.replay(tiny, "bfs", per_cycle=3)
    with pytest.raises(coati.CoatiError, match="--max-time is for strategies that crawl a site"):
        coati.replay(tiny, "arrivals", max_time="1h")
    coati.import_archive(write_news(tmp_path / "tables"), tmp_path / "news")
    with pytest.raises(coati.CoatiError, match="every must be above 0"):
        coati.replay(tmp_path / "news", "arrivals", every=0)
    with pytest.raises(coati.CoatiError, match="prospect searches the web"):
        coati.replay(tiny, "bfs,prospect")
    with pytest.raises(coati.CoatiError, match="own_watch:mine watches pages"):
        coati.replay(tiny, "own_watch:mine")


def test_a_part_of_an_experiment_needs_nothing_that_it_does_not_use(archives: Path) -> None:
    found = coati.experiment(
        "tiny.toml",
        archives=archives,
        jobs=0,
        sites=["tiny"],
        strategies=["bfs", "own_order:mine"],
        parquet=False,
    )
    rows = {(row["strategy"], row["measure"]): row for row in found.rows()}
    assert rows["own_order:mine", "curve_ratio"]["median"] == rows["bfs", "curve_ratio"]["median"]
    assert rows["bfs", "curve_ratio"]["median"] is not None
    titles = [table.title for table in found.tables()]
    assert any(title.startswith("bfs against") for title in titles)
    assert "tiny" in found._repr_html_()


def test_a_replay_is_stopped_from_outside_and_has_told_what_was_finished(archives: Path) -> None:
    stop = coati.StopSignal()
    finished: list[object] = []

    def first(run: object) -> None:
        finished.append(run)
        stop.set()

    with pytest.raises(StoppedError, match="stopped by its StopSignal"):
        coati.replay(archives / "tiny", "bfs,dfs", on_result=first, stop=stop)
    assert len(finished) == 1
    with pytest.raises(coati.CoatiError):
        coati.replay(archives / "tiny", "bfs", on_result=first, stop=stop)


@pytest.mark.parametrize("jobs", [0, 1])
def test_an_experiment_is_stopped_from_outside_and_resumed_by_the_same_call(
    archives: Path, jobs: int
) -> None:
    stop = coati.StopSignal()

    run = partial(
        coati.experiment,
        "tiny.toml",
        archives=archives,
        jobs=jobs,
        sites="tiny",
        strategies="bfs",
        parquet=False,
    )

    def first(step: str, done: int, _total: int) -> None:
        if (step, done) == ("runs", 1):
            stop.set()

    with pytest.raises(StoppedError):
        run(on_progress=first, stop=stop)
    assert run().study.reused == 1


def test_an_unknown_strategy_is_told_with_each_known_one_once(archives: Path) -> None:
    with pytest.raises(coati.CoatiError, match="unknown strategy of this experiment") as raised:
        coati.experiment("tiny.toml", archives=archives, jobs=0, sites=["tiny"], strategies=["nope"])
    known = str(raised.value).rpartition("Known: ")[2].split(", ")
    assert "bfs" in known
    assert len(known) == len(set(known))


def test_rows_are_compared_with_the_same_seeds(archives: Path) -> None:
    text = FILE.replace('"curve_ratio"]', '"auc_ratio"]').replace("tres-light", "random")
    Path("tiny.toml").write_text(text)
    found = coati.experiment("tiny.toml", archives=archives, jobs=0, sites=["tiny"], parquet=False)
    (table,) = (table for table in found.tables() if table.title.startswith("bfs against"))
    area = {(run.strategy, run.seed): run.values["auc"] or math.nan for run in found.study.results.values()}
    best = area["clairvoyant", None]
    of_seeds = [(area["random", seed] - area["bfs", None]) / best for seed in (0, 1)]
    differences = {row[0]: row[-1] for row in table.rows}
    assert table.header[-1] == "difference of auc_ratio"
    assert differences["random"] == f"{sum(of_seeds) / 2:+.4f}"


def test_a_site_may_be_crawled_for_other_types(archives: Path) -> None:
    found = coati.experiment(
        "tiny.toml", archives=archives, jobs=0, strategies=["bfs", "dfs"], seeds=1, parquet=False
    )
    assert [site.totals.targets for site in found.study.sites] == [3, 0]
    assert any(table.title == "Chosen on half of the sites" for table in found.tables())


def test_an_archive_is_imported_described_and_exported(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text("<a href=a.csv>data</a> <a href=gone.csv>gone</a>")
    (folder / "a.csv").write_text("a,b\n1,2\n")
    told: list[tuple[int, int]] = []
    made = coati.import_archive(
        folder, tmp_path / "held", start_url="http://a.test/", on_progress=lambda *how: told.append(how)
    )
    assert (made.layout, made.imported.records, made.archive.start_url) == ("folder", 3, "http://a.test/")
    assert told
    described = coati.describe_archive(tmp_path / "held")
    assert described.outside is not None
    assert described.outside.count == 1
    assert described.as_json()["records"] == 3
    assert "http://a.test/" in described._repr_html_()
    file = tmp_path / "one.warc.gz"
    assert coati.export_archive(tmp_path / "held", file, "warc") == file
    assert file.stat().st_size > 0
    with pytest.raises(coati.CoatiError, match="unknown layout"):
        coati.export_archive(tmp_path / "held", tmp_path / "x", "zip")


def test_an_archive_is_verified_and_its_index_rebuilt(archives: Path) -> None:
    folder = archives / "tiny"
    whole = coati.verify_archive(folder)
    assert (whole.whole, whole.records > 0) == (True, True)
    assert coati.reindex_archive(folder).records == whole.records
    (volume,) = (folder / "warc").iterdir()
    data = bytearray(volume.read_bytes())
    data[len(data) // 2] ^= 0xFF
    volume.write_bytes(data)
    told: list[str] = []
    found = coati.verify_archive(folder, on_damage=lambda record: told.append(record.url))
    assert not found.whole
    assert told == [record.url for record in found.damaged]
    assert found.damaged[0].url in found._repr_html_()
    rebuilt = coati.reindex_archive(folder)
    assert (rebuilt.as_json()["damaged"], rebuilt.records < whole.records) == (1, True)
    assert "damaged places" in rebuilt._repr_html_()


def test_archives_are_indexed_and_the_index_is_queried(archives: Path) -> None:
    told: list[int] = []
    made = coati.index_archives(archives, "index", on_progress=told.append)
    assert made.archives == 1
    assert made.pages == 4
    assert made.as_json() == {"index": "index", "archives": 1, "pages": 4, "damaged": 0}
    assert "<td>4</td>" in made._repr_html_()
    assert [hit.url for hit in coati.SearchIndex("index").search("gone").hits] == [tiny_site.START]
    with pytest.raises(coati.CoatiError, match="not for both"):
        made.index.search("http://a.test/", related=True, backlinks=True)


def test_a_model_is_trained_and_measured_on_other_hosts(tmp_path: Path) -> None:
    for kind, words in (("data", "statistics table download dataset"), ("other", "shop garden recipe")):
        lines = [json.dumps({"url": f"http://{kind}{n}.test/", "text": f"{words} {n}"}) for n in range(60)]
        (tmp_path / f"{kind}.jsonl").write_text("\n".join(lines))
    learnt = coati.learn_pages(
        tmp_path / "data.jsonl",
        [tmp_path / "other.jsonl"],
        tmp_path / "model.json",
        test_other=tmp_path / "other.jsonl",
    )
    (row,) = learnt.rows()
    assert (row["precision"], row["recall"]) == (1.0, 1.0)
    assert (learnt.words > 0, learnt.file.is_file()) == (True, True)
    assert "precision" in learnt._repr_html_()
    with pytest.raises(coati.CoatiError, match="no examples"):
        coati.learn_pages(tmp_path / "none", tmp_path / "other.jsonl", tmp_path / "model.json")
