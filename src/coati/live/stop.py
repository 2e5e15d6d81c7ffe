"""Why a live crawl ended: a closed set, in words, with the exit code of each."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from coati.budget import Limit


class StopReason(StrEnum):
    """What ended a crawl."""

    FINISHED = "nothing left to ask for"
    BUDGET_REQUESTS = Limit.REQUESTS.value
    BUDGET_BYTES = Limit.BYTES.value
    BUDGET_SECONDS = Limit.SECONDS.value
    BUDGET_TARGETS = Limit.TARGETS.value
    STOPPED_EARLY = "stopped early: too little was still coming"
    INTERRUPTED = "interrupted"
    START_UNREACHABLE = "the start page could not be reached"
    SITE_SILENT = "the site stopped answering"
    REFUSED = "the site refuses us"
    RATE_LIMITED = "the site asks for a longer wait than we may make"

    @property
    def exit_code(self) -> int:
        """The exit status of a command that ended for this reason."""
        return _EXIT_CODES.get(self, 0)

    @property
    def resumable(self) -> bool:
        """Whether going on later makes sense: something was left that could be asked for."""
        return self not in {StopReason.FINISHED, StopReason.START_UNREACHABLE, StopReason.REFUSED}

    @classmethod
    def of_limit(cls, limit: Limit) -> StopReason:
        """Return the reason for a spent budget."""
        return cls(limit.value)


_EXIT_CODES: Final = {
    StopReason.START_UNREACHABLE: 3,
    StopReason.SITE_SILENT: 3,
    StopReason.REFUSED: 4,
    StopReason.RATE_LIMITED: 4,
    StopReason.INTERRUPTED: 130,
}
