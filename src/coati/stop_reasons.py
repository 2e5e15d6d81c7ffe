"""Why a crawl ended: a closed set, with the exit code of each, in words, and what to do next."""

from __future__ import annotations

import shlex
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
    def text(self) -> StopText:
        """What to say to people about it."""
        return StopText(self.value, *_SENTENCES[self])

    @classmethod
    def of_limit(cls, limit: Limit) -> StopReason:
        """Return the reason for a spent budget."""
        return cls(limit.value)


class StopText(NamedTuple):
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
    StopReason.START_UNREACHABLE: StopText(
        "the search engine gave no usable response",
        "The search engine gave no usable response.",
        "Check its URL and settings, or name another engine with --search.",
    ),
    StopReason.REFUSED: StopText(
        "the search engine refuses us",
        "The search engine answered that it does not want this query.",
        "Check its key and its settings (a SearXNG server must allow the format json in its settings.yml), or"
        " name another one with --search.",
    ),
    StopReason.RATE_LIMITED: StopText(
        "the search engine asks for a pause",
        "The search engine asked for a longer pause than one run waits.",
        f"Wait a few hours. {RESUME}",
    ),
}
"""What to say of a search that got nothing from its engine."""


RUNNING: Final = StopText(
    "it is still running",
    "The run is still running; this report shows its state when the report was written.",
)
NOT_RECORDED: Final = StopText(
    "no reason was recorded",
    "It ended without a recorded reason; everything that was counted is saved.",
    RESUME,
)
CYCLE_FINISHED: Final = StopText(
    "the last cycle was finished",
    "The last cycle was finished.",
    "The next cycle visits pages again: run the same command, or use --every.",
)
SEARCH_FINISHED: Final = StopText(
    StopReason.FINISHED.value,
    "Every query and every page that it wanted to check was requested.",
)

# What to say of a run that got nothing from its start page.
FORBIDDEN_START: Final = StopText(
    "robots.txt forbids the start page",
    "The site's robots.txt does not allow crawlers to request the start page.",
    "--dry-run shows the rules. Ask the site's owner for permission (--contact tells them who you are).",
)
ALLOW_PRIVATE: Final = "To allow it, add --limits allow_private=true."
PRIVATE_START: Final = StopText(
    "the start URL is in a private network",
    "The host of the start URL is in a private network, which Coati does not request by default.",
    ALLOW_PRIVATE,
)
NO_ROBOTS_TXT: Final = StopText(
    "the site's robots.txt could not be read",
    "The server failed or did not respond to the request for robots.txt, and without it nothing may be"
    " requested. This is an outage, not a ban.",
    "Wait a few hours, then run the same command.",
)
LOGIN_REQUIRED: Final = StopText(
    "the site requires a login",
    "The site requires a login (401) for the start page.",
    "If you have access, use --user NAME with --password-file FILE, --header 'Authorization: ...' or"
    " --cookies.",
)
START_REFUSED: Final = StopText(
    StopReason.REFUSED.value,
    "The server forbids the start page (403).",
    "If it opens in your browser, try --cookies or --header with what the browser sends. Otherwise ask the"
    " site's owner for permission (--contact tells them who you are).",
)


def redirected_start(url: str) -> StopText:
    """Return the text for a start page that redirects to another site."""
    return StopText(
        "the start page redirects to another site",
        f"The start page redirects to another site: {url}.",
        f"Start there: coati crawl {shlex.quote(url)}",
    )


def strategy_left_site(url: str) -> StopText:
    """Return the text for a strategy that requested another site, which no strategy of ours does."""
    return StopText(
        "the strategy requested another site",
        f"The strategy requested {url}, which is outside the site or the chosen part of it. It got nothing"
        " else.",
        "A strategy may request the start URLs, links of the pages that it observes, and where these redirect"
        " to. If it should leave the site, use --scope any.",
    )


def text_for_search(queries_waiting: int, gave_up_after: int) -> StopText | None:
    """Return the text for a search that could do more though nothing may be requested; None for all others.

    ``queries_waiting`` and ``gave_up_after`` are those of `coati.discovering.searching.Discovered`.
    """
    if gave_up_after:
        last = format_count(gave_up_after, "request")
        return StopText(
            f"the last {last} found no repository",
            f"It gave up, because the last {last} found no repository.",
            _larger("--patience"),
        )
    if queries_waiting:
        left = format_count(queries_waiting, "query is", "queries are")
        return StopText(
            f"{StopReason.FINISHED.value}, and no engine takes more queries",
            f"It sent its search engines as many queries as it may, and {left} left.",
            _larger("--max-queries"),
        )
    return None


def text_for(reason: str) -> StopText:
    """Return the text for a reason as a log has it; an unknown one stays as it is.

    >>> text_for("budget of requests reached").brief
    'the limit of requests was reached'
    """
    try:
        return StopReason(reason).text
    except ValueError:
        return StopText(reason, f"It ended: {reason}.", RESUME)
