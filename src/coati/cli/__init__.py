"""The command line: one module per command.

What every command needs takes a tenth of a second to import, and what a crawl needs a second. An import that
is interrupted shows a traceback, or lets a library say that it is broken. So `main` imports before it runs
anything, and until that is done Ctrl-C ends the program at once.

SIGTERM and SIGHUP do what Ctrl-C does, in every command and at every moment. A process that does not hear
them leaves its workers behind, and the first process of a container would ignore them.
"""

from __future__ import annotations

# What `signal` is made of; that itself takes milliseconds to import.
import _signal  # type: ignore[import-not-found]  # an inner part of Python, without a stub
import gc
import os

_INTERRUPTED = 130
_INTERRUPTS = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)


def _hang_up(*_: object) -> None:
    from coati.machine_errors import leave_closed_terminal

    leave_closed_terminal()
    raise KeyboardInterrupt


class ImportGuard:
    """While this is entered, Ctrl-C ends the program with a line, since there is nothing to save yet.

    The garbage collector pauses, and later leaves out what was imported: modules stay until the end.
    """

    def __enter__(self) -> None:
        """Take over from what would raise a KeyboardInterrupt; a program that ignores Ctrl-C still does."""
        gc.disable()
        raising = (_signal.default_int_handler, _hang_up)
        handlers = {kind: _signal.getsignal(kind) for kind in _INTERRUPTS}
        self._before = {kind: handler for kind, handler in handlers.items() if handler in raising}
        for kind in self._before:
            _signal.signal(kind, _end)

    def __exit__(self, *_: object) -> None:
        """Restore the old handler."""
        from coati.garbage_collection import spare_imported_modules

        for kind, handler in self._before.items():
            _signal.signal(kind, handler)
        spare_imported_modules()
        gc.enable()


def _end(*_: object) -> None:
    try:
        os.write(2, b"coati: interrupted\n")
    finally:
        # Also where the terminal was closed.
        os._exit(_INTERRUPTED)


def main() -> None:
    """Run the command that the program was started with, and exit with its code."""
    for kind, handler in ((_signal.SIGTERM, _signal.default_int_handler), (_signal.SIGHUP, _hang_up)):
        # Started by `nohup`, it is meant to continue.
        if _signal.getsignal(kind) == _signal.SIG_DFL:
            _signal.signal(kind, handler)
    with ImportGuard():
        from coati.cli.main import main as run_command
    run_command()
