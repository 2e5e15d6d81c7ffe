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
_CYCLE_DONE = StopWords(
    "the last cycle was finished",
    "The last cycle was finished.",
    "The next cycle visits pages again: run the same command, or use --every.",
)
_SEARCH_DONE = StopWords(
    StopReason.FINISHED.value,
    "Every query and every page that it wanted to check was requested.",
)


def end_of(facts: RunFacts) -> StopWords:
    """Say how a run ended; a reason that another version wrote is told as it stands."""
    reason = facts.stop_reason
    if facts.stage is RunStage.RUNNING:
        return _RUNNING
    if facts.stage is RunStage.CUT_OFF:
        return StopReason.KILLED.words
    if reason is None:
        return _UNSAID
    return _said_at_start(facts, reason) or _finished(facts, reason) or words_for(reason)


def _said_at_start(facts: RunFacts, reason: str) -> StopWords | None:
    """Say what kept a run from beginning: its search engine, or its start page; None where nothing did."""
    if facts.is_search and not facts.sites_checked:
        return next((words for trouble, words in ENGINE_TROUBLE.items() if trouble == reason), None)
    return facts.failed_start


def _finished(facts: RunFacts, reason: str) -> StopWords | None:
    """Say what being finished means for a watch and for a search; None for a crawl."""
    # What one session left says nothing of a later one that was cut short.
    if reason != StopReason.FINISHED:
        return None
    if facts.watches:
        return _CYCLE_DONE
    if facts.is_search:
        return words_for_search(facts.queries_waiting, facts.gave_up_after) or _SEARCH_DONE
    return None
