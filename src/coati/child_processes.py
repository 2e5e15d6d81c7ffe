"""Processes of our own, which run nothing of the program that uses us.

A process that `multiprocessing` spawns first imports the main module of the program that starts it. A script
without ``if __name__ == "__main__"`` would run again in each of them, and start more. Ours begin with
lines of our own: they get the module search path of their parent, and then the function to call.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

# Before the search path has come, only the standard library can be imported.
_PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
from multiprocessing.connection import Connection
pipe = Connection(int(sys.argv[1]))
sys.path[:] = pipe.recv()
from coati.child_processes import call_target
call_target(pipe)
"""


class ChildProcess:
    """A process that calls ``target(pipe, *arguments)``; what it sends there arrives at our ``pipe``.

    The target is imported by name, so it must be a function of a module. Our end of the pipe is closed when
    this process ends, however it ends. Whoever is done with a child calls `kill`; this happens at exit too.

    Ctrl-C reaches every process of a terminal: a child ignores it, and its parent does what is to be done.
    """

    def __init__(self, target: Callable[..., None], *arguments: object) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        with theirs:
            number = theirs.fileno()
            # `-P`: a file of the user's folder is not to be taken for a module of the standard library.
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-P", "-c", _PROGRAM, str(number)],
                stdin=subprocess.DEVNULL,
                pass_fds=[number],
            )
        self._end = weakref.finalize(self, _kill, self._process)
        # Where it has died already, whoever reads from the pipe finds out.
        with suppress(OSError):
            self.pipe.send(sys.path)
            self.pipe.send((target, arguments))

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def wait(self, seconds: float) -> bool:
        """Wait until it has ended by itself; tell whether it has."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return not self.is_alive

    def kill(self) -> None:
        """End it at once, if it has not ended, and close the pipe."""
        self.pipe.close()
        self._end()


def call_target(pipe: Connection[Any, Any]) -> None:
    """Do what a new process is for; it calls this itself."""
    try:
        target, arguments = pipe.recv()
    except (EOFError, OSError):
        return
    target(pipe, *arguments)


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
