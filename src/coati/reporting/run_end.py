"""How a run ended, or that it did not, in whole sentences, and what can be done about it."""

from __future__ import annotations

from coati.reporting.facts import RunFacts, Stage
from coati.stop_reasons import RESUME, StopReason, StopWords, words_for

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
    if facts.failed_start is not None:
        return facts.failed_start
    return words_for(reason)
