"""The command line: one module a command.

What every command needs takes a tenth of a second to import, and an import that is interrupted shows a
traceback. So where this is the program that was started, Ctrl-C ends it without a word until that is done.
"""

from __future__ import annotations

# What `signal` is made of; that itself takes milliseconds to import.
import _signal  # type: ignore[import-not-found]  # an inner part of Python, without a stub
import sys

_STARTED = sys.argv[0].endswith(("coati", "coati.exe", "-m")) if sys.argv else False
if _STARTED:
    _before = _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

from coati.cli.main import main  # noqa: E402 - not before

if _STARTED:
    _signal.signal(_signal.SIGINT, _before)

__all__ = ["main"]
