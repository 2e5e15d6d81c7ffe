"""Why a crawl ended: a closed set, with the exit code of each, in words, and what to do next."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from coati.budget import Limit


class StopReason(StrEnum):
    """What ended a crawl. The values stand in the logs of runs, so they stay as they are."""

    FINISHED = "nothing left to ask for"
    BUDGET_REQUESTS = Limit.REQUESTS.value
    BUDGET_BYTES = Limit.BYTES.value
    BUDGET_SECONDS = Limit.SECONDS.value
    BUDGET_TARGETS = Limit.TARGETS.value
    STOPPED_EARLY = "stopped early: too little was still coming"
    INTERRUPTED = "interrupted"
    KILLED = "killed"
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
        """Whether it makes sense to resume the run: something was left that could be asked for."""
        return self not in {StopReason.FINISHED, StopReason.START_UNREACHABLE, StopReason.REFUSED}

    @property
    def words(self) -> StopWords:
        """What people are told about it."""
        return _WORDS[self]

    @classmethod
    def of_limit(cls, limit: Limit) -> StopReason:
        """Return the reason for a spent budget."""
        return cls(limit.value)


class StopWords(NamedTuple):
    """What people are told about the end of a run: briefly, in a sentence, and what to do next."""

    brief: str
    sentence: str
    next_step: str = ""


STOPPED_AT_START: Final = frozenset({StopReason.REFUSED, StopReason.START_UNREACHABLE})
"""The reasons of runs that got nothing."""

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


_WORDS: Final = {
    StopReason.FINISHED: StopWords(
        "nothing was left to request", "All known URLs that it may request were requested."
    ),
    StopReason.BUDGET_REQUESTS: StopWords(
        "the limit of requests was reached", "It reached the limit of requests.", _larger("--max-requests")
    ),
    StopReason.BUDGET_BYTES: StopWords(
        "the limit of bytes was reached", "It reached the limit of bytes.", _larger("--max-bytes")
    ),
    StopReason.BUDGET_SECONDS: StopWords(
        "the time limit was reached", "It reached the time limit.", _larger("--max-time")
    ),
    StopReason.BUDGET_TARGETS: StopWords(
        "the limit of files was reached", "It reached the limit of files.", _larger("--max-targets")
    ),
    StopReason.STOPPED_EARLY: StopWords(
        "few files were left to find",
        "It stopped because many further requests would have found only a few more files.",
        "If you need every last file, resume with --stop-when-dry off.",
    ),
    StopReason.INTERRUPTED: StopWords(
        "it was interrupted", "It was interrupted, and everything was saved.", RESUME
    ),
    StopReason.KILLED: StopWords(
        "it was killed", "It was killed; everything that was counted is saved.", RESUME
    ),
    StopReason.START_UNREACHABLE: StopWords(
        "the start page could not be reached",
        "The start page did not respond.",
        "Check the URL in a browser, then try again.",
    ),
    StopReason.SITE_SILENT: StopWords(
        "the site stopped responding",
        "Many requests in a row got no response.",
        f"Wait a few hours. {RESUME}",
    ),
    StopReason.REFUSED: StopWords(
        "the site refuses us",
        "The site refuses requests from this crawler.",
        "Read the site's terms, or ask its owner for permission (--contact tells them who you are).",
    ),
    StopReason.RATE_LIMITED: StopWords(
        "the site asks for a pause",
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
"""What people are told of a search that got nothing from its engine."""


def words_for(reason: str) -> StopWords:
    """Return the words for a reason as a log holds it; one that another version wrote is told as it stands.

    >>> words_for("budget of requests reached").brief
    'the limit of requests was reached'
    """
    try:
        return StopReason(reason).words
    except ValueError:
        return StopWords(reason, f"It ended: {reason}.", RESUME)
