import importlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import coati
from coati.child_processes import ChildProcess
from coati.errors import UsageError
from coati.experiments.comparing import wins_table
from coati.experiments.errors import ExperimentError
from coati.experiments.outputs import write_outputs
from coati.experiments.runner import SITES_FOLDER, Study, run_experiment
from coati.experiments.site_specs import ArchivedSite, GeneratedSite, GeneratedWeb
from coati.experiments.sites import Places
from coati.experiments.spec import Experiment, Variant, parse_experiment, read_experiment
from coati.experiments.summaries import value_of
from coati.experiments.tables import objects, result_table
from coati.experiments.workers import Job, LostJob, Workers
from coati.jobs.generated_sites import GENERATORS
from tests.experiments.jobs import count, die, die_once, fail, hang
from tests.experiments.made_sites import DEGENERATE, small_archive, write_archive
from tests.experiments.test_spec import SHIPPED, SMALL

ALL_MEASURES = [
    "requests_to_90_pct", "volume_to_90_pct", "auc", "clairvoyant_ratio", "gap_closed", "reward_mean",
    "misclassification_pct", "group_reward:1", "saved_pct:dry", "lost_pct:dry", "late_cost_ratio",
]  # fmt: skip


def silent(_doing: str, _done: int, _total: int) -> None:
    """Show nothing."""


def run(experiment: Experiment, tmp_path: Path, jobs: int = 0) -> Study:
    cache = tmp_path / "out" / SITES_FOLDER
    places = Places(tmp_path / "archives", cache, GENERATORS)
    return run_experiment(experiment, places, tmp_path / "out", jobs, silent)


def small(**changes: object) -> Experiment:
    return parse_experiment(
        {
            **SMALL,
            "measures": ALL_MEASURES,
            "strategies": ["bfs", "random", "sb-classifier", "sb-oracle"],
            "seeds": 2,
            "early_stops": [{"name": "dry", "rule": "dry"}],
            "figures": ["curves", "areas", "groups"],
            **changes,
        },
        Path(),
    )


def comparable(study: Study) -> list[dict[str, Any]]:
    """Return every number but those that a clock made."""
    return [each for each in objects(study) if each["measure"] != "late_cost_ratio"]


def briefly_trained(variant: Variant) -> Variant:
    """Return a variant that learns from at most 50 pages before it crawls."""
    hosts = variant.settings.hosts
    hosts = replace(hosts, training_pages=min(50, hosts.training_pages))
    return replace(variant, settings=replace(variant.settings, hosts=hosts))


# Those over histories are run in test_watch_trials, searches for repositories in test_search_trials, budgets
# over many sites in test_budget_trials.
OF_SITES = [file for file in SHIPPED if file.parent.name not in {"wsdm2018", "cikm2021", "many_sites"}]


@pytest.mark.parametrize("file", OF_SITES, ids=lambda file: file.stem)
def test_every_shipped_experiment_runs_for_50_steps(file: Path, tmp_path: Path) -> None:
    experiment = read_experiment(file).narrowed(frozenset(), 1, 50)
    archived = [site for site in experiment.sites if isinstance(site, ArchivedSite)][:1]
    generated = [site for site in experiment.sites if isinstance(site, GeneratedSite)]
    for number, folder in enumerate([*(site.folder for site in archived), "other"]):
        small_archive(tmp_path / "archives" / folder, seed=number)
    # The deepest; they differ in their parameters only, and the generator has tests of its own.
    deepest = [site for site in generated if site.model == "ju"] or generated[:1]
    chosen = [replace(site, pages=80) for site in deepest]
    webs = [replace(site, scale=0.001) for site in experiment.sites if isinstance(site, GeneratedWeb)]
    if webs:
        variants = tuple(briefly_trained(variant) for variant in experiment.variants)
        experiment = replace(experiment, variants=variants, classify=min(50, experiment.classify))
    study = run(replace(experiment, sites=(*archived, *chosen, *webs), examples=("other",)), tmp_path)
    found = objects(study)
    assert {each["measure"] for each in found} == set(experiment.measures)
    # A web has pages enough for every row.
    large = {site.name for site in webs}
    steps = [
        result.values["requests"]
        for (site, row, _), result in study.results.items()
        if row == "bfs" or site in large
    ]
    assert set(steps) <= {50}
    assert len(steps) >= len(webs) * len(experiment.variants)
    runs = [each for each in found if each["kind"] == "run" and each["site"] in large]
    assert len(runs) == len(webs) * len(experiment.variants) * len(experiment.measures)
    assert all(isinstance(each["value"], float) for each in runs)
    names = {path.suffix for path in write_outputs(study, tmp_path / "out", parquet=True)}
    assert {".jsonl", ".md", ".parquet"} <= names
    assert ({".png", ".svg"} <= names) == bool(experiment.figures)


@pytest.mark.parametrize("name", DEGENERATE)
def test_a_site_with_nothing_to_find_is_not_defined(name: str, tmp_path: Path) -> None:
    write_archive(DEGENERATE[name], tmp_path / "archives" / "a")
    # Drawing is the slow part, and once is enough to see that it copes.
    figures = ["curves", "groups"] if name == "no-targets" else []
    study = run(small(figures=figures), tmp_path)
    summaries = [each for each in objects(study) if each["kind"] == "summary"]
    for each in summaries:
        if each["measure"] in {"requests_to_90_pct", "volume_to_90_pct", "auc", "lost_pct:dry"}:
            assert (each["value"], each["state"]) == (None, "not defined")
    write_outputs(study, tmp_path / "out", parquet=False)
    assert "not defined" in (tmp_path / "out" / "t.md").read_text(encoding="utf-8")


def test_a_second_attempt_makes_only_the_runs_that_are_missing(tmp_path: Path) -> None:
    small_archive(tmp_path / "archives" / "a")
    first = run(small(), tmp_path)
    cells = sorted((tmp_path / "out" / "cells").iterdir())
    assert (first.reused, len(cells)) == (0, len(first.results))
    cells[0].unlink()
    cells[1].write_bytes(cells[1].read_bytes()[:100])
    cells[2].write_text('{"values": 3}')
    second = run(small(), tmp_path)
    assert second.reused == len(cells) - 3
    assert comparable(second) == comparable(first)


def test_a_site_that_is_named_by_types_has_its_figures(tmp_path: Path) -> None:
    small_archive(tmp_path / "archives" / "a")
    experiment = small(sites=[{"archive": "a", "types": "text/csv"}], strategies=["bfs"], bounds=False)
    files = write_outputs(run(experiment, tmp_path), tmp_path / "out", parquet=False)
    assert tmp_path / "out" / "t-a-text-csv.png" in files


@pytest.mark.parametrize(
    ("measures", "by"),
    [
        (["gap_closed"], "requests_to_90_pct"),
        (["requests_to_25_pct", "requests_to_90_pct"], "requests_to_90_pct"),
        (["auc", "requests_to_25_pct"], "requests_to_25_pct"),
        (["curve_ratio"], "curve_ratio"),
    ],
)
def test_rows_are_compared_by_the_requests_that_are_measured(
    measures: list[str], by: str, tmp_path: Path
) -> None:
    small_archive(tmp_path / "archives" / "a")
    study = run(small(strategies=["bfs", "dfs"], measures=measures, figures=[], early_stops=[]), tmp_path)
    own, other = (value_of(study, study.of("a", Variant(name))[0], by) for name in ("bfs", "dfs"))
    assert own is not None
    assert other is not None
    table = wins_table(study, "bfs")
    assert table.rows[0][-1] == f"{own / other:.2f} (a)"
    assert ("90 %" in table.notes[0]) == (by == "requests_to_90_pct")
    assert by == "requests_to_90_pct" or by in table.notes[0]


def test_rows_with_the_same_settings_share_their_runs(tmp_path: Path) -> None:
    small_archive(tmp_path / "archives" / "a")
    variants = [
        {"strategy": "sb-oracle", "name": name, "settings": {"tag_paths": {"ngram": n}}}
        for name, n in (("two", 2), ("again", 2), ("three", 3))
    ]
    study = run(small(strategies=[], variants=variants, bounds=False), tmp_path)
    assert len(study.results) == 6
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 4


def test_processes_side_by_side_give_what_one_gives(tmp_path: Path) -> None:
    small_archive(tmp_path / "archives" / "a")
    small_archive(tmp_path / "archives" / "b", seed=1)
    experiment = small(sites=["a", "b"], strategies=["bfs", "sb-oracle"], seeds=1)
    alone = run(experiment, tmp_path)
    for file in (tmp_path / "out" / "cells").iterdir():
        file.unlink()
    assert comparable(run(experiment, tmp_path, jobs=2)) == comparable(alone)


def test_changed_code_of_ones_own_is_run_again_by_the_same_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_archive(tmp_path / "archives" / "a")
    (tmp_path / "runs_mine.py").write_text(
        "from coati.strategies.baselines import breadth_first, depth_first\n"
        "from runs_mine_order import ORDER\n"
        "def build(urls, seed):\n    return breadth_first(urls) if ORDER == 1 else depth_first(urls)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    experiment = small(strategies=["runs_mine:build"], seeds=1, bounds=False)
    made = []
    for order in (1, 2):
        (tmp_path / "runs_mine_order.py").write_text(f"ORDER = {order}  # {'.' * order}\n")
        study = run(experiment, tmp_path, jobs=1)
        assert study.reused == 0
        made.append([each["value"] for each in objects(study) if each["measure"] == "auc"])
    assert made[0] != made[1]
    assert run(experiment, tmp_path, jobs=1).reused == 1


MINE = "from coati.strategies.baselines import breadth_first, depth_first\nfrom {0}_order import build\n"
ORDER = "from coati.strategies.baselines import {0}\ndef build(urls, seed):\n    return {0}(urls)\n"


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that decides how a strategy of one's own crawls, which imports it."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "edited.py").write_text(MINE.format("edited"))
    file = tmp_path / "edited_order.py"
    file.write_text(ORDER.format("breadth_first"))
    yield file
    for name in ("edited", "edited_order"):
        sys.modules.pop(name, None)


def test_code_that_changed_since_it_was_imported_makes_no_result_in_this_process(
    mine: Path, tmp_path: Path
) -> None:
    archive = small_archive(tmp_path / "archives" / "a")
    experiment = small(strategies=["edited:build", "dfs"], seeds=1, bounds=False, measures=["auc"])
    coati.replay(archive, "edited:build")
    mine.write_text(ORDER.format("depth_first"))
    with pytest.raises(UsageError, match=r"edited_order\.py has changed .*jobs=1"):
        run(experiment, tmp_path)
    with pytest.raises(UsageError, match=r"edited_order\.py has changed since Python imported it"):
        coati.replay(archive, "edited:build")
    assert not list((tmp_path / "out").glob("cells/*"))
    # What does not use it is none the worse for it, and whoever imports the code again may use it.
    coati.replay(archive, "bfs")
    for name in ("edited_order", "edited"):
        importlib.reload(sys.modules[name])
    own, depth_first = (each for each in objects(run(experiment, tmp_path)) if each["kind"] == "summary")
    assert own["value"] == depth_first["value"]


def test_reloaded_code_is_another_run(mine: Path, tmp_path: Path) -> None:
    small_archive(tmp_path / "archives" / "a")
    experiment = small(strategies=["edited:build"], seeds=1, bounds=False)
    assert run(experiment, tmp_path).reused == 0
    mine.write_text(ORDER.format("depth_first"))
    for name in ("edited_order", "edited"):
        importlib.reload(sys.modules[name])
    assert run(experiment, tmp_path).reused == 0
    assert run(experiment, tmp_path).reused == 1


def test_a_file_that_cannot_be_read_any_more_is_told(mine: Path, tmp_path: Path) -> None:
    archive = small_archive(tmp_path / "archives" / "a")
    coati.replay(archive, "edited:build")
    mine.write_text("def build(urls, seed:\n")
    with pytest.raises(UsageError, match=r"edited_order\.py, line 1: "):
        coati.replay(archive, "edited:build")


def test_another_budget_or_archive_is_another_run(tmp_path: Path) -> None:
    small_archive(tmp_path / "archives" / "a")
    run(small(), tmp_path)
    assert run(small(budget={"max_requests": 9}), tmp_path).reused == 0
    (tmp_path / "archives" / "a").rename(tmp_path / "archives" / "b")
    assert run(small(sites=["b"]), tmp_path).reused
    small_archive(tmp_path / "archives" / "a", seed=9)
    assert run(small(), tmp_path).reused == 0


def test_runs_that_end_with_the_last_target_measure_the_same(tmp_path: Path) -> None:
    small_archive(tmp_path / "archives" / "a")
    measures = ["requests_to_90_pct", "auc", "clairvoyant_ratio", "gap_closed"]
    whole, short = (
        run(small(measures=measures, figures=[], early_stops=[], until_all_found=each), tmp_path)
        for each in (False, True)
    )
    assert comparable(short) == comparable(whole)
    made = [
        sum(result.values["requests"] or 0 for result in study.results.values()) for study in (whole, short)
    ]
    assert made[1] < made[0]


def test_tres_learns_from_the_other_archives_and_never_from_the_site_itself(tmp_path: Path) -> None:
    for number, name in enumerate("abc"):
        small_archive(tmp_path / "archives" / name, seed=number)
    shutil.copytree(tmp_path / "archives" / "a", tmp_path / "archives" / "copy-of-a")
    asked = {"strategies": ["tres-light"], "seeds": 1, "figures": [], "bounds": False}
    study = run(small(**asked, sites=["a", "b", "c"]), tmp_path)
    texts = " ".join(result_table(study).notes)
    assert "other archive among a, b, c" in texts
    assert "regression on their words" in texts
    assert len(list((tmp_path / "out" / "examples").iterdir())) == 3
    # Fewer sites are run with the same examples; another example is another run; a copy gives none.
    narrowed = small(**asked, sites=["a", "b", "c"]).narrowed(frozenset({"a"}), None, None)
    assert run(narrowed, tmp_path).reused == 1
    assert run(small(**asked, sites=["a"], examples=["b"]), tmp_path).reused == 0
    assert run(small(**asked, sites=["a"], examples=["b", "c", "copy-of-a"]), tmp_path).reused == 1
    with pytest.raises(UsageError, match="with targets and without"):
        run(small(**asked, sites=["a"], examples=["copy-of-a"]), tmp_path)
    with pytest.raises(UsageError, match="examples ="):
        run(small(**asked, sites=[{"generated": "qa", "pages": 60}]), tmp_path)


def test_tres_without_pytorch_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    for number, name in enumerate("ab"):
        small_archive(tmp_path / "archives" / name, seed=number)
    with pytest.raises(UsageError, match=r"coati\[tres\]"):
        run(small(strategies=["tres"], sites=["a", "b"], seeds=1), tmp_path)


def test_a_missing_archive_is_an_error_that_lists_the_others(tmp_path: Path) -> None:
    small_archive(tmp_path / "archives" / "other")
    with pytest.raises(UsageError, match="only: other"):
        run(small(), tmp_path)
    with pytest.raises(UsageError, match="--archives"):
        run_experiment(small(), Places(None, tmp_path, GENERATORS), tmp_path, 0, silent)


def test_a_generated_site_is_made_once(tmp_path: Path) -> None:
    experiment = small(sites=[{"generated": "qa", "pages": 60}], strategies=["bfs"])
    study = run(experiment, tmp_path)
    (site,) = study.sites
    assert (site.name, site.generated, site.scale) == ("qa-like", True, "60 pages, seed 0")
    assert site.totals.targets == 77  # 2.45 of 4.36 thousand URLs
    (folder,) = (tmp_path / "out" / SITES_FOLDER).iterdir()
    made = (folder / "archive.toml").stat().st_mtime_ns
    run(experiment, tmp_path)
    assert (folder / "archive.toml").stat().st_mtime_ns == made


# The command, which has nothing more to do once five runs are done: it can only be killed then.
FIVE_RUNS = """
import signal, sys
from coati.cli.main import run
from coati.experiments.workers import Workers

def run_five(workers, jobs):
    for number, result in enumerate(run_all(workers, jobs), start=1):
        yield result
        if number == 5:
            print("five are done", flush=True)
            signal.pause()

run_all, Workers.run = Workers.run, run_five
run(sys.argv[1:])
"""


def test_an_experiment_that_was_killed_goes_on(tmp_path: Path) -> None:
    small_archive(tmp_path / "archives" / "a", pages=150)
    file = tmp_path / "t.toml"
    file.write_text(
        'table = "t"\ntitle = "T"\nmeasures = ["auc"]\nsites = ["a"]\nseeds = 20\nstrategies = ["random"]\n'
    )
    out = tmp_path / "out"
    command = [
        sys.executable, "-c", FIVE_RUNS, "experiment", str(file), "--archives", str(tmp_path / "archives"),
        "--out", str(out), "--jobs", "1", "--no-parquet",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "five are done\n"
        process.kill()
    experiment = read_experiment(file)
    places = Places(tmp_path / "archives", out / SITES_FOLDER, GENERATORS)
    went_on = run_experiment(experiment, places, out, 0, silent)
    assert went_on.reused == 5
    afresh = run_experiment(experiment, places, tmp_path / "afresh", 0, silent)
    assert afresh.reused == 0
    assert objects(went_on) == objects(afresh)


# --- processes that die, hang or fail -------------------------------------------------------------------


def test_a_job_whose_process_was_killed_is_done_by_another(tmp_path: Path) -> None:
    jobs = [Job(die_once, tmp_path / "marker"), Job(hang, 0.0), Job(die, None), Job(hang, 0.0)]
    found = dict(Workers(2).run(jobs))
    assert found[0] == found[1] == found[3] == "done"
    assert isinstance(found[2], LostJob)
    assert "died" in found[2].reason


def test_a_job_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    take = Workers._take  # noqa: SLF001 - where it is noticed that a job has begun

    def time_goes_by(workers: Workers, worker: Any, number: int) -> Iterator[tuple[int, Any]]:  # noqa: ANN401
        nonlocal now
        yield from take(workers, worker, number)
        # Once the first has begun, an hour passes; afterwards time stands still.
        now = 3600.0

    monkeypatch.setattr(Workers, "_take", time_goes_by)
    monkeypatch.setattr("coati.experiments.workers._now", lambda: now)
    found = dict(Workers(1, limit_seconds=2.0).run([Job(hang, 600.0), Job(hang, 0.0)]))
    assert isinstance(found[0], LostJob)
    assert found[1] == "done"


def test_an_error_of_a_job_is_raised_where_it_is_read() -> None:
    with pytest.raises(UsageError, match="wrong"):
        list(Workers(1).run([Job(fail, UsageError("wrong"))]))
    with pytest.raises(ExperimentError, match=r"(?s)a long one failed:.*ZeroDivisionError.*your own code"):
        list(Workers(1).run([Job(fail, ZeroDivisionError("x"), name="a long one")]))


def test_an_error_of_ones_own_strategy_names_the_run_and_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_archive(tmp_path / "archives" / "a")
    (tmp_path / "raises_mine.py").write_text(
        "from coati.strategies.baselines import breadth_first\n"
        "class Fails:\n"
        "    def __init__(self, urls, seed):\n        self.inner = breadth_first(urls)\n"
        "    def __getattr__(self, name):\n        return getattr(self.inner, name)\n"
        "    def observe(self, request_id, outcome, now):\n        raise ZeroDivisionError\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    experiment = small(strategies=["raises_mine:Fails"], first_seed=7, seeds=1, bounds=False)
    with pytest.raises(ExperimentError) as raised:
        run(experiment, tmp_path, jobs=1)
    told = str(raised.value)
    assert told.startswith("the run of raises_mine:Fails on a, seed 7 failed:\nTraceback")
    assert told.endswith(f"this error comes from your own code: {tmp_path / 'raises_mine.py'}, line 8")


def test_jobs_of_one_place_share_a_desk() -> None:
    jobs = [Job(count, None, place) for place in ("a", "b", "a", "b", "a")]
    assert [result for _, result in Workers(0).run(jobs)] == [1, 2, 3, 4, 5]
    found = dict(Workers(1).run(jobs))
    assert [found[number] for number in (0, 2, 4)] == [1, 2, 3]


def test_no_process_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[ChildProcess] = []

    def start(target: Callable[..., None], *arguments: object) -> ChildProcess:
        started.append(ChildProcess(target, *arguments))
        return started[-1]

    monkeypatch.setattr("coati.experiments.workers.ChildProcess", start)
    results = Workers(2).run([Job(hang, 0.0), Job(hang, 60.0)])
    next(results)
    assert [child.is_alive for child in started] == [True, True]
    results.close()  # type: ignore[attr-defined]  # it is a generator
    assert [child.is_alive for child in started] == [False, False]
