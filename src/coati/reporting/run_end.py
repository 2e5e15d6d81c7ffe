"""How a run ended, or that it did not, in whole sentences, and what can be done about it."""

from __future__ import annotations

from coati.reporting.facts import RunFacts, Stage
from coati.stop_reasons import ENGINE_TROUBLE, RESUME, StopReason, StopWords, words_for

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
    if facts.stage is Stage.GOING:
        return _RUNNING
    if facts.stage is Stage.CUT_OFF:
        return StopReason.KILLED.words
    if reason is None:
        return _UNSAID
    return _said_at_start(facts, reason) or words_for(reason)


def _said_at_start(facts: RunFacts, reason: str) -> StopWords | None:
    """Say what kept a run from beginning: its search engine, or its start page; None where nothing did."""
    if facts.words and not facts.sites_checked:
        return next((words for trouble, words in ENGINE_TROUBLE.items() if trouble == reason), None)
    return facts.failed_start
