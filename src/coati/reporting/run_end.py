"""How a run ended, or that it has not, in whole sentences, and what to do next."""

from __future__ import annotations

from coati.reporting.run_facts import RunFacts, RunStage
from coati.stop_reasons import ENGINE_TROUBLE, RESUME, StopReason, StopWords, words_for, words_for_search

_RUNNING = StopWords(
    "it is still running",
    "The run is still running; this report shows its state when the report was written.",
)
_UNSAID = StopWords(
    "no reason was recorded",
    "It ended without a recorded reason; everything that was counted is saved.",
    RESUME,
)


def end_of(facts: RunFacts) -> StopWords:
    """Say how a run ended; a reason that another version wrote is told as it stands."""
    reason = facts.stop_reason
    if facts.stage is RunStage.GOING:
        return _RUNNING
    if facts.stage is RunStage.CUT_OFF:
        return StopReason.KILLED.words
    if reason is None:
        return _UNSAID
    return _said_at_start(facts, reason) or _could_do_more(facts, reason) or words_for(reason)


def _said_at_start(facts: RunFacts, reason: str) -> StopWords | None:
    """Say what kept a run from beginning: its search engine, or its start page; None where nothing did."""
    if facts.words and not facts.sites_checked:
        return next((words for trouble, words in ENGINE_TROUBLE.items() if trouble == reason), None)
    return facts.failed_start


def _could_do_more(facts: RunFacts, reason: str) -> StopWords | None:
    """Say what ended a search that had more to ask."""
    # What one session left says nothing of a later one that was cut short.
    if reason != StopReason.FINISHED:
        return None
    return words_for_search(facts.queries_waiting, facts.gave_up_after)
