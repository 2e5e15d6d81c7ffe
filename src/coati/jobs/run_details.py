"""What a run did, in lists: its groups of links, types, failures, skipped URLs and what is left to try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from coati.jobs.notebook_tables import rows_table
from coati.reporting.long_pauses import long_pause
from coati.reporting.sections.groups import best_groups
from coati.reporting.skip_meanings import meaning_of
from coati.reporting.start_page import failed_start
from coati.runs.found_by import FoundBy, found_by
from coati.runs.reader import RunReader
from coati.stop_reasons import STOPPED_AT_START

_TYPES = "SELECT media_type, count(*), sum(size_bytes) FROM targets GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?"
_FAILURES = """
SELECT coalesce(reason, 'status ' || status), count(*) FROM requests WHERE kind = 'failure'
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?
"""
_UNREACHED = "SELECT url, reason, deferred_until FROM deferred LIMIT ?"
_GONE = "SELECT url, archived, last_seen, known FROM gone ORDER BY url LIMIT ?"


class GroupYield(NamedTuple):
    """A group of similar links; ``reward`` counts the targets that its pages led to."""

    label: str
    pulls: int
    targets: int
    reward: float
    failures: int


class TypeCount(NamedTuple):
    """How many targets have a media type, and how many bytes."""

    media_type: str
    targets: int
    bytes: int


class FailureCount(NamedTuple):
    """How many requests failed for a reason."""

    reason: str
    requests: int


class UnreachedUrl(NamedTuple):
    """A URL that could not be reached, and from when on it is to be retried."""

    url: str
    reason: str
    until: str | None


class GoneUrl(NamedTuple):
    """A URL that is gone from the site, and where a web archive has it."""

    url: str
    archived: str
    last_seen: str | None
    known: str | None


class SkipCount(NamedTuple):
    """How many URLs a rule skipped."""

    reason: str
    urls: int

    @property
    def meaning(self) -> str:
        """What the rule is about, in words; empty if there is no more to say."""
        return meaning_of(self.reason)


@dataclass(frozen=True, slots=True)
class RunDetails:
    """What `Run.details` returns: the first rows of each list, those that count most first.

    ``end`` says why the run ended, and where its start was refused, by whom; None while it runs, or after
    a kill. ``pause`` says until when a host wants no requests.
    """

    end: str | None
    pause: str | None
    groups: tuple[GroupYield, ...]
    found_by: tuple[FoundBy, ...]
    media_types: tuple[TypeCount, ...]
    failure_reasons: tuple[FailureCount, ...]
    unreached_addresses: tuple[UnreachedUrl, ...]
    gone: tuple[GoneUrl, ...]
    skip_reasons: tuple[SkipCount, ...]

    @classmethod
    def read(cls, run: RunReader, limit: int) -> RunDetails:
        """Read the details of a run, at most ``limit`` rows of each list."""
        log = run.connection
        return cls(
            end=_end(run),
            pause=long_pause(log),
            groups=tuple(
                GroupYield(row["label"], row["pulls"], row["targets"], row["total_reward"], row["failures"])
                for row in best_groups(log, limit)
            ),
            found_by=tuple(found_by(log)),
            media_types=tuple(TypeCount(*row) for row in log.execute(_TYPES, (limit,))),
            failure_reasons=tuple(FailureCount(*row) for row in log.execute(_FAILURES, (limit,))),
            unreached_addresses=tuple(UnreachedUrl(*row) for row in log.execute(_UNREACHED, (limit,))),
            gone=tuple(GoneUrl(*row) for row in log.execute(_GONE, (limit,))),
            skip_reasons=tuple(SkipCount(*each) for each in list(run.skip_counts().items())[:limit]),
        )

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it."""
        lists = {name: [row._asdict() for row in rows] for name, rows in self._lists().items()}
        return {"end": self.end, "pause": self.pause, **lists}

    def _lists(self) -> dict[str, tuple[NamedTuple, ...]]:
        names = ("groups", "found_by", "media_types", "failure_reasons", "unreached_addresses", "gone")
        return {name: getattr(self, name) for name in (*names, "skip_reasons")}

    def _repr_html_(self) -> str:
        shown = {name.replace("_", " "): rows for name, rows in self._lists().items() if rows}
        return "".join(rows_table(name, [row._asdict() for row in rows]) for name, rows in shown.items())


def _end(run: RunReader) -> str | None:
    sessions = run.sessions()
    reason = sessions[-1].stop_reason if sessions else None
    refused = failed_start(run.connection) if reason in STOPPED_AT_START else None
    return reason if refused is None else refused.brief
