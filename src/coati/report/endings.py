"""Why a run stopped, in whole sentences, and what can be done about it."""

from __future__ import annotations

from typing import NamedTuple

from coati.report.facts import RunFacts, Stage


class Ending(NamedTuple):
    """What is said about a stop reason: briefly, in a sentence, and what to do next."""

    brief: str
    sentence: str
    next_step: str = ""


_GO_ON = "Run the same command with a larger budget and the same folder: it goes on where it stopped."
_AGAIN = "Run the same command with the same folder: it goes on where it stopped."

# By the words of `coati.live.StopReason` and of the sessions of a run.
ENDINGS = {
    "nothing left to ask for": Ending(
        "nothing was left", "It ended by itself: no known address was left that it may ask for."
    ),
    "budget of requests reached": Ending(
        "the requests were spent", "It made as many requests as it was allowed.", _GO_ON
    ),
    "budget of bytes reached": Ending(
        "the volume was spent", "It received as many bytes as it was allowed.", _GO_ON
    ),
    "budget of time reached": Ending("the time was over", "It ran for as long as it was allowed.", _GO_ON),
    "budget of targets reached": Ending(
        "enough was found", "It found as many files as it was asked for.", _GO_ON
    ),
    "stopped early: too little was still coming": Ending(
        "too little was still coming",
        "It stopped by itself: going on would have cost many requests for few further files.",
        "If you need every last file, run the same command with --no-stop-when-dry.",
    ),
    "interrupted": Ending("somebody stopped it", "It was stopped by hand, and everything was saved.", _AGAIN),
    "killed": Ending("it was cut off", "It was cut off; everything that was counted is saved.", _AGAIN),
    "the start page could not be reached": Ending(
        "the start page could not be reached",
        "No answer came from the start page.",
        "Check the address in a browser, then try again in a new folder.",
    ),
    "the site stopped answering": Ending(
        "the site stopped answering", "Many requests in a row got no answer.", f"Wait some hours. {_AGAIN}"
    ),
    "the site refuses us": Ending(
        "the site refuses us",
        "The site answered that it does not want this visit.",
        "Read the site's terms, or ask its owner; --contact tells them who you are.",
    ),
    "the site asks for a longer wait than we may make": Ending(
        "the site asks for a pause",
        "The site asked for a longer pause than one run waits.",
        f"Wait some hours. {_AGAIN}",
    ),
}

_GOING = Ending(
    "it is still going", "The run is still going; this report shows it as it was when it was written."
)
_UNSAID = Ending(
    "it does not say", "It ended without saying why; everything that was counted is saved.", _AGAIN
)


def ending_of(facts: RunFacts) -> Ending:
    """Say how a run ended, or that it did not."""
    if facts.stage is Stage.GOING:
        return _GOING
    if facts.stage is Stage.CUT_OFF:
        return ENDINGS["killed"]
    if facts.stop_reason is None:
        return _UNSAID
    if facts.failed_start is not None:
        return Ending(*facts.failed_start)
    return ENDINGS.get(
        facts.stop_reason, Ending(facts.stop_reason, f"It ended: {facts.stop_reason}.", _AGAIN)
    )
