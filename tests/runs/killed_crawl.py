"""A crawl over a synthetic site, for a test that kills it: ``python -m tests.runs.killed_crawl FOLDER``.

Each request that is sent is appended to a file beside the run, as a server's log would have it.
"""

import os
import sys
from pathlib import Path

from coati.model import Request
from coati.runs.layout import holds_run
from coati.runs.store import RunStore
from tests.runs.synthetic import Loop, Site, new_store

SITE = Site(11, 1500)
STRATEGY, WIDTH = "sb-classifier", 4


def crawl(folder: Path, sent: Path) -> None:
    """Begin or go on, with a snapshot now and then."""
    server_log = os.open(sent, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def on_send(request: Request) -> None:
        os.write(server_log, f"{request.id} {request.url}\n".encode())

    with RunStore.open(folder, 2000.0) if holds_run(folder) else new_store(folder) as store:
        loop = Loop(store, SITE, STRATEGY, WIDTH, on_send=on_send)
        while loop.steps(60):
            store.snapshot(loop.strategy, loop.form)
        store.finish(3000.0, "nothing left", loop.strategy, loop.form)


if __name__ == "__main__":
    crawl(Path(sys.argv[1]), Path(sys.argv[2]))
