"""What can go wrong, as one tree.

    CoatiError
    ├── UsageError              the caller broke our contract; fix the call
    │   └── ConfigError           a run file or option names an unknown key or value
    ├── ArchiveError            data that we stored is missing or damaged
    │   ├── NotArchivedError      an archive does not hold the record that was read
    │   └── CorruptRecordError    a stored record cannot be read
    └── WriteError              the disk is full, or a place may not be written

The first branch separates *us* from *them*: a site or a network that fails is not an error here but an
outcome (`coati.model.Failure`), because failing is what the web does and a strategy learns from it.
The command line turns a `CoatiError` into one line and an exit code; anything else is a bug and keeps its
traceback.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class CoatiError(Exception):
    """The root of everything that Coati raises on purpose."""


class UsageError(CoatiError):
    """The caller wants something that makes no sense; the message says what would."""


class ConfigError(UsageError):
    """A setting has an unknown name or an impossible value."""


class ArchiveError(CoatiError):
    """An archive on disk is missing, damaged or of another version."""


class NotArchivedError(ArchiveError):
    """The archive holds no record for this URL."""


class CorruptRecordError(ArchiveError):
    """A record is there but cannot be read; the message names it."""


class WriteError(CoatiError):
    """Something could not be written; the message names the place and says why."""


def unknown_name(what: str, name: str, known: Iterable[str]) -> ConfigError:
    """Build the error for a misspelt name: it says the nearest known one and lists the others."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return ConfigError(f"unknown {what} {name!r}{hint} Known: {', '.join(names)}")
