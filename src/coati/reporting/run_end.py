"""How a run ended, or that it has not, in whole sentences, and what to do next."""

from __future__ import annotations

from coati.reporting.run_facts import RunFacts, RunStage
from coati.stop_reasons import (
    CYCLE_FINISHED,
    ENGINE_TROUBLE,
    NOT_RECORDED,
    RUNNING,
    SEARCH_FINISHED,
    StopReason,
    StopText,
    text_for,
    text_for_search,
)


def end_of(facts: RunFacts) -> StopText:
    """Say how a run ended; a reason that another version wrote is told as it stands."""
    reason = facts.stop_reason
    if facts.stage is RunStage.RUNNING:
        return RUNNING
    if facts.stage is RunStage.CUT_OFF:
        return StopReason.KILLED.text
    if reason is None:
        return NOT_RECORDED
    return _said_at_start(facts, reason) or _finished(facts, reason) or text_for(reason)


def _said_at_start(facts: RunFacts, reason: str) -> StopText | None:
    """Say what kept a run from beginning: its search engine, or its start page; None where nothing did."""
    if facts.is_search and not facts.sites_checked:
        return next((words for trouble, words in ENGINE_TROUBLE.items() if trouble == reason), None)
    return facts.failed_start


def _finished(facts: RunFacts, reason: str) -> StopText | None:
    """Say what being finished means for a watch and for a search; None for a crawl."""
    # What one session left says nothing of a later one that was cut short.
    if reason != StopReason.FINISHED:
        return None
    if facts.watches:
        return CYCLE_FINISHED
    if facts.is_search:
        return text_for_search(facts.queries_waiting, facts.gave_up_after) or SEARCH_FINISHED
    return None
