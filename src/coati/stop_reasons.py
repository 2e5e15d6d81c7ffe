"""Why a crawl ended: a closed set, with the exit code of each, in words, and what to do next."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from coati.budget import Limit
from coati.units import format_count


class StopReason(StrEnum):
    """What ended a crawl, in the same words everywhere: logs, JSON, messages and reports.

    >>> StopReason("nothing left to ask for")  # as logs of before have it
    <StopReason.FINISHED: 'nothing was left to request'>
    """

    FINISHED = "nothing was left to request"
    BUDGET_REQUESTS = Limit.REQUESTS.value
    BUDGET_BYTES = Limit.BYTES.value
    BUDGET_SECONDS = Limit.SECONDS.value
    BUDGET_TARGETS = Limit.TARGETS.value
    STOPPED_EARLY = "few files were left to find"
    INTERRUPTED = "it was interrupted"
    KILLED = "it was killed"
    START_UNREACHABLE = "the start page could not be reached"
    SITE_SILENT = "the site stopped responding"
    REFUSED = "the site refuses us"
    RATE_LIMITED = "the site asks for a pause"

    @classmethod
    def _missing_(cls, value: object) -> StopReason | None:
        return _EARLIER_WORDS.get(str(value))

    @property
    def exit_code(self) -> int:
        """The exit status of a command that ended for this reason."""
        return _EXIT_CODES.get(self, 0)

    @property
    def resumable(self) -> bool:
        """Whether it makes sense to resume the run: something was left to request."""
        return self not in {StopReason.FINISHED, StopReason.START_UNREACHABLE, StopReason.REFUSED}

    @property
    def words(self) -> StopWords:
        """What to say to people about it."""
        return StopWords(self.value, *_SENTENCES[self])

    @classmethod
    def of_limit(cls, limit: Limit) -> StopReason:
        """Return the reason for a spent budget."""
        return cls(limit.value)


class StopWords(NamedTuple):
    """What to say to people about the end of a run: briefly, in a sentence, and what to do next."""

    brief: str
    sentence: str
    next_step: str = ""


STOPPED_AT_START: Final = frozenset({StopReason.REFUSED, StopReason.START_UNREACHABLE})
"""The reasons of runs that got nothing."""

FAILED_STARTS: Final = STOPPED_AT_START | {StopReason.RATE_LIMITED}
"""Where nothing came of these but the answer that ended them, trying again means beginning again."""

_EARLIER_WORDS: Final = {
    "nothing left to ask for": StopReason.FINISHED,
    "budget of requests reached": StopReason.BUDGET_REQUESTS,
    "budget of bytes reached": StopReason.BUDGET_BYTES,
    "budget of time reached": StopReason.BUDGET_SECONDS,
    "budget of targets reached": StopReason.BUDGET_TARGETS,
    "stopped early: too little was still coming": StopReason.STOPPED_EARLY,
    "interrupted": StopReason.INTERRUPTED,
    "killed": StopReason.KILLED,
    "the site stopped answering": StopReason.SITE_SILENT,
    "the site asks for a longer wait than we may make": StopReason.RATE_LIMITED,
}

_EXIT_CODES: Final = {
    StopReason.START_UNREACHABLE: 3,
    StopReason.SITE_SILENT: 3,
    StopReason.REFUSED: 4,
    StopReason.RATE_LIMITED: 4,
    StopReason.INTERRUPTED: 130,
}

RESUME: Final = "Run the same command to resume."


def _larger(option: str) -> str:
    return f"To continue, run the same command with a larger {option}."


# A sentence for each, and what to do next.
_SENTENCES: Final = {
    StopReason.FINISHED: ("All known URLs that it may request were requested.",),
    StopReason.BUDGET_REQUESTS: ("It reached the limit of requests.", _larger("--max-requests")),
    StopReason.BUDGET_BYTES: ("It reached the limit of bytes.", _larger("--max-bytes")),
    StopReason.BUDGET_SECONDS: ("It reached the time limit.", _larger("--max-time")),
    StopReason.BUDGET_TARGETS: ("It reached the limit of targets.", _larger("--max-targets")),
    StopReason.STOPPED_EARLY: (
        "It stopped because many further requests would have found only a few more files.",
        "If you need every last file, resume with --stop-when-dry off.",
    ),
    StopReason.INTERRUPTED: ("It was interrupted, and everything was saved.", RESUME),
    StopReason.KILLED: ("It was killed; everything that was counted is saved.", RESUME),
    StopReason.START_UNREACHABLE: (
        "The start page did not respond.",
        "Check the URL in a browser, then try again.",
    ),
    StopReason.SITE_SILENT: ("Many requests in a row got no response.", f"Wait a few hours. {RESUME}"),
    StopReason.REFUSED: (
        "The site refuses requests from this crawler.",
        "Read the site's terms, or ask its owner for permission (--contact tells them who you are).",
    ),
    StopReason.RATE_LIMITED: (
        "The site asked for a longer pause than one run waits.",
        f"Wait a few hours. {RESUME} A longer --delay may help.",
    ),
}

ENGINE_TROUBLE: Final = {
    StopReason.START_UNREACHABLE: StopWords(
        "the search engine gave no usable response",
        "The search engine gave no usable response.",
        "Check its URL and settings, or name another engine with --search.",
    ),
    StopReason.REFUSED: StopWords(
        "the search engine refuses us",
        "The search engine answered that it does not want this query.",
        "Check its key and its settings (a SearXNG server must allow the format json in its settings.yml), or"
        " name another one with --search.",
    ),
    StopReason.RATE_LIMITED: StopWords(
        "the search engine asks for a pause",
        "The search engine asked for a longer pause than one run waits.",
        f"Wait a few hours. {RESUME}",
    ),
}
"""What to say of a search that got nothing from its engine."""


def words_for_search(queries_waiting: int, gave_up_after: int) -> StopWords | None:
    """Return the words for a search that could do more though nothing may be requested; None for all others.

    ``queries_waiting`` and ``gave_up_after`` are those of `coati.discovering.searching.Discovered`.
    """
    if gave_up_after:
        last = format_count(gave_up_after, "request")
        return StopWords(
            f"the last {last} found no repository",
            f"It gave up, because the last {last} found no repository.",
            _larger("--patience"),
        )
    if queries_waiting:
        left = format_count(queries_waiting, "query is", "queries are")
        return StopWords(
            f"{StopReason.FINISHED.value}, and no engine takes more queries",
            f"It sent its search engines as many queries as it may, and {left} left.",
            _larger("--max-queries"),
        )
    return None


def words_for(reason: str) -> StopWords:
    """Return the words for a reason as a log has it; an unknown one stays as it is.

    >>> words_for("budget of requests reached").brief
    'the limit of requests was reached'
    """
    try:
        return StopReason(reason).words
    except ValueError:
        return StopWords(reason, f"It ended: {reason}.", RESUME)
