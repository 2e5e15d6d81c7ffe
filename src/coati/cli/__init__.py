"""The command line: one module per command.

What every command needs takes a tenth of a second to import, and what a crawl needs a second. An import that
is interrupted shows a traceback, or lets a library say that it is broken. So `main` imports before it runs
anything, and until that is done Ctrl-C ends the program at once.
"""

from __future__ import annotations

# What `signal` is made of; that itself takes milliseconds to import.
import _signal  # type: ignore[import-not-found]  # an inner part of Python, without a stub
import gc
import os

_INTERRUPTED = 130


class ImportGuard:
    """While this is entered, Ctrl-C ends the program with a line, since there is nothing to save yet.

    The garbage collector pauses, and later leaves out what was imported: modules stay until the end.
    """

    def __enter__(self) -> None:
        """Take over from what would raise a KeyboardInterrupt; a program that ignores Ctrl-C still does."""
        gc.disable()
        self._before = _signal.getsignal(_signal.SIGINT)
        if self._before is _signal.default_int_handler:
            _signal.signal(_signal.SIGINT, _end)

    def __exit__(self, *_: object) -> None:
        """Restore the old handler."""
        from coati.garbage_collection import spare_imported_modules

        if self._before is _signal.default_int_handler:
            _signal.signal(_signal.SIGINT, self._before)
        spare_imported_modules()
        gc.enable()


def _end(*_: object) -> None:
    os.write(2, b"coati: interrupted\n")
    os._exit(_INTERRUPTED)


def main() -> None:
    """Run the command that the program was started with, and exit with its code."""
    with ImportGuard():
        from coati.cli.main import main as run_command
    run_command()
