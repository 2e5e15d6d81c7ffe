"""Syncs files to disk in the background, so that writers need not wait.

A disk takes from a fraction of a millisecond to tens of them to say that bytes are safe. A crawl that waited
in its own thread would send nothing meanwhile, and a hundred crawls in one process would wait for most of
their time. So what is safe from a kill anyway, and is to be safe from a power cut soon, is waited for here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class BackgroundSync:
    """Calls ``sync`` in a thread of its own on request; requests that come meanwhile are one.

    The thread begins with the first wish. ``sync`` must be fit to run beside its owner's thread.
    """

    def __init__(self, sync: Callable[[], None]) -> None:
        self._sync = sync
        self._changed = threading.Condition()
        self._wanted = self._ends = False
        self._failure: OSError | None = None
        self._thread: threading.Thread | None = None

    def check(self) -> None:
        """Raise what syncing failed with, if it did: nothing that is written from now on would be safe."""
        if self._failure is not None:
            raise self._failure

    def sync_soon(self) -> None:
        """Have everything that was written so far synced soon."""
        with self._changed:
            self._wanted = True
            self._changed.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="coati-sync", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Let the thread end, after what it is doing; a wish that it has not begun with is dropped."""
        with self._changed:
            self._ends = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._wanted or self._ends)
                if self._ends:
                    return
                self._wanted = False
            try:
                self._sync()
            except OSError as error:
                self._failure = error
                return
