"""A crawl over a synthetic site, for a test that kills it.

Each request that is sent is appended to a file beside the run, as a server's log would have it.
"""

import os
import signal
from pathlib import Path

from coati.model import Request
from coati.runs.layout import holds_run
from coati.runs.store import RunStore
from tests.runs.synthetic import Loop, Site, new_store

SITE = Site(11, 1500)
STRATEGY, WIDTH = "sb-classifier", 4
BETWEEN_SNAPSHOTS = 25


def crawl(folder: Path, sent: Path, most_answers: int | None = None) -> None:
    """Begin or resume, with a snapshot now and then.

    After ``most_answers`` it only waits for its end: however fast the machine is, a kill that comes late
    still meets an unfinished crawl.
    """
    server_log = os.open(sent, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def on_send(request: Request) -> None:
        os.write(server_log, f"{request.id} {request.url}\n".encode())

    with RunStore.open(folder, 2000.0) if holds_run(folder) else new_store(folder) as store:
        loop = Loop(store, SITE, STRATEGY, WIDTH, on_send=on_send)
        answers = 0
        while steps := loop.steps(BETWEEN_SNAPSHOTS):
            store.snapshot(loop.strategy, loop.form)
            answers += steps
            if most_answers is not None and answers >= most_answers:
                signal.pause()
        store.finish(3000.0, "nothing left", loop.strategy, loop.form)
