"""A crawl that is killed at any moment loses nothing that it counted, and continues as before."""

import multiprocessing
import random
import signal
from collections import Counter
from multiprocessing.process import BaseProcess
from pathlib import Path

from coati.runs.layout import Layout, holds_run
from coati.runs.reader import RunReader
from coati.runs.store import RunStore
from tests.runs.killed_crawl import SITE, STRATEGY, WIDTH, crawl
from tests.runs.synthetic import Loop, check_files, dump, fast_folder, new_store, rows

KILLS = 15
# Fifteen such sessions stay below the 1,476 answers of the whole crawl.
ANSWERS_PER_SESSION = 75


def start(folder: Path, most_answers: int | None = None) -> BaseProcess:
    """Begin or resume the crawl in a process of its own, forked from one that has imported everything."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.runs.killed_crawl"])
    process = context.Process(target=crawl, args=(folder / "run", folder / "sent", most_answers))
    process.start()
    return process


def wait_for_requests(folder: Path, process: BaseProcess, requests: int) -> None:
    """Wait until the crawl has sent so many, so that kills follow its work and not the machine's speed."""
    while process.is_alive() and sent_requests(folder) < requests:
        process.join(0.001)


def sent_requests(folder: Path) -> int:
    log = folder / "sent"
    return log.read_bytes().count(b"\n") if log.exists() else 0


def test_a_crawl_that_is_killed_again_and_again_equals_one_that_was_not() -> None:
    chance = random.Random(4)
    with fast_folder() as folder:
        with new_store(folder / "whole") as whole:
            Loop(whole, SITE, STRATEGY, WIDTH).steps()
            expected = dump(whole)
        repeats = counted = 0
        for _ in range(KILLS):
            before = sent_requests(folder)
            process = start(folder, ANSWERS_PER_SESSION)
            if chance.random() < 0.8:
                wait_for_requests(folder, process, before + chance.randint(1, ANSWERS_PER_SESSION))
            process.join(chance.uniform(0, 0.01))
            process.kill()
            process.join()
            assert process.exitcode == -signal.SIGKILL
            repeats += WIDTH
            if not holds_run(folder / "run"):
                continue
            with RunReader(
                folder / "run"
            ) as reader:  # what another tool sees before anybody repairs anything
                seen = reader.totals()
                assert seen.targets >= counted
            with RunStore.open(folder / "run", 2000.0) as store:
                assert store.totals == seen
                assert check_files(store) == seen.targets
                assert len(list(Layout(folder / "run").files.iterdir())) == len(
                    rows(store, "SELECT 1 FROM files")
                )
                counted = store.totals.targets
        assert 0 < counted < len(expected["targets"])
        process = start(folder)
        process.join(60)
        assert process.exitcode == 0
        with RunStore.open(folder / "run", 2000.0) as store:
            assert dump(store) == expected
            assert check_files(store) == len(expected["targets"])
        sent = Counter((folder / "sent").read_text().splitlines())
        assert set(sent) == {f"{row[0]} {row[1]}" for row in expected["requests"]}
        assert sum(sent.values()) - len(sent) <= repeats
