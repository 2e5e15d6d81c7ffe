"""One run of an experiment: its inputs, and what is stored of its result.

A run is named by everything that decides its result: the archive's digest, the strategy with all its
settings, the seed, the budget, the example pages and the code. So a result is found again whatever table asks
for it, and one that another version of the code made is not taken for ours.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import zlib
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coati.assembly import StrategySettings, strategy_row
from coati.experiments.confusion import misclassification_pct
from coati.experiments.deciding_code import strategy_digest
from coati.experiments.measures import SHARES_PCT, TOP_GROUPS
from coati.experiments.site_specs import (
    ArchivedSite,
    ExperimentSite,
    SearchedTopic,
    SitesTogether,
    WatchedHistory,
)
from coati.replaying.measures import Measures, SiteTotals
from coati.runs.durable import write_whole
from coati.web.likely_extensions import likely_extensions
from coati.web.media import parse_types

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from coati.budget import Budget
    from coati.experiments.examples import ExampleFile
    from coati.experiments.recording import RecordingStrategy
    from coati.experiments.spec import Variant
    from coati.replaying.driver import Replay
    from coati.strategies.strategy import Strategy

# Raised whenever a result holds something else than before.
_FORMAT = 4

# A curve over volume has this many points, from nothing to all other bytes of the site.
CURVE_POINTS = 401

# The ages of links when a watch found them are counted up to each of these; older ones come last.
AGES_HOURS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 48.0, 96.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """A run to be made on a site; ``seed`` is None where a seed changes nothing."""

    spec: ExperimentSite
    archive: Path
    digest: str
    variant: Variant
    seed: int | None
    budget: Budget
    examples: tuple[ExampleFile, ...] = ()
    classify: int = 0
    records: tuple[Path, ...] = ()

    @property
    def site(self) -> str:
        """What its site is called."""
        return self.spec.name

    @property
    def types(self) -> str:
        """The types that are targets in place of the archive's; empty where those are."""
        return self.spec.types if isinstance(self.spec, ArchivedSite) else ""

    @property
    def settings(self) -> StrategySettings:
        """The settings of its strategy; who wants other types knows their extensions."""
        if not self.types:
            return self.variant.settings
        return replace(self.variant.settings, likely_extensions=likely_extensions(parse_types(self.types)))

    @property
    def label(self) -> str:
        """What its row is called."""
        return self.variant.label

    def __str__(self) -> str:
        seed = "" if self.seed is None else f", seed {self.seed}"
        return f"the run of {self.label} on {self.site}{seed}"

    def key(self) -> str:
        """Name the run by all that decides its result."""
        strategy = self.variant.strategy
        facts = [
            _FORMAT,
            strategy_digest(strategy),
            self.digest,
            strategy,
            strategy_row(strategy).settings_read(self.settings),
            self.seed,
            asdict(self.budget),
            [each.content for each in self.examples],
            self.types,
            *([self.classify] if self.classify else []),
        ]
        if isinstance(self.spec, WatchedHistory | SearchedTopic):
            facts.append(asdict(self.spec))
        elif isinstance(self.spec, SitesTogether):
            # The records are named by what made them.
            facts += [asdict(self.variant.spending), [each.stem for each in self.records]]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What is kept of a run.

    ``values`` holds measures by name: None where one is not defined, infinity where it was never reached.
    ``found_at`` packs the number of the request that brought each target. ``volume_pct`` is the share of the
    target bytes after equal steps of other bytes. ``groups`` are the best ones, with pages as examples. Of a
    watch, ``found_at`` packs cycles, ``came`` counts the links that were new in each cycle, and ``ages``
    those that were found, by their age (`AGES_HOURS`). Of a search for repositories, ``found_at`` packs the
    pages fetched until each was found, and ``repositories`` names those on the topic.
    """

    site: str
    strategy: str
    seed: int | None
    stop: str
    values: dict[str, float | None]
    found_at: str
    volume_pct: list[float] = field(default_factory=list)
    groups: list[dict[str, Any]] = field(default_factory=list)
    confusion: dict[str, int] = field(default_factory=dict)
    came: list[int] = field(default_factory=list)
    ages: list[int] = field(default_factory=list)
    repositories: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, trial: Trial, stop: str, values: dict[str, float | None], found: npt.ArrayLike = ()
    ) -> TrialResult:
        """Keep the result of a trial; ``found`` are the numbers that ``found_at`` packs."""
        numbers = np.asarray(found, np.uint32).tobytes()
        packed = base64.b64encode(zlib.compress(numbers)).decode()
        return cls(trial.site, trial.variant.strategy, trial.seed, stop, values, packed)

    def found(self) -> npt.NDArray[np.int64]:
        """Return the numbers of the requests that brought targets, in order."""
        return np.frombuffer(zlib.decompress(base64.b64decode(self.found_at)), np.uint32).astype(np.int64)

    def measures(self) -> Measures:
        """Return what comparisons with the references are made of."""
        values: dict[str, Any] = {each.name: _reached(self.values[each.name]) for each in fields(Measures)}
        counts = {name: int(values.pop(name) or 0) for name in ("requests", "targets")}
        return Measures(**counts, **values)

    def write(self, file: Path) -> None:
        """Write the result; it is there whole or not at all."""
        facts = asdict(self)
        facts["values"] = {key: "inf" if value == math.inf else value for key, value in self.values.items()}
        write_whole(file, [json.dumps(facts).encode()])

    @classmethod
    def read(cls, file: Path) -> TrialResult | None:
        """Read a result; None where there is none, or none that can be read."""
        try:
            facts = json.loads(file.read_bytes())
            facts["values"] = {
                key: math.inf if value == "inf" else value for key, value in facts["values"].items()
            }
            return cls(**{each.name: facts[each.name] for each in fields(cls) if each.name in facts})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def measured(trial: Trial, run: Replay, watched: RecordingStrategy, totals: SiteTotals) -> TrialResult:
    """Keep of a run what tables and figures are made of."""
    targets = np.frombuffer(run.trace.targets, np.uint32)
    found = np.flatnonzero(np.diff(targets, prepend=np.uint32(0))) + 1
    confusion = watched.confusion if strategy_row(trial.variant.strategy).predicts else {}
    values = {
        **_crawl_values(Measures.of(run.trace, totals), totals),
        "bytes_to_90_pct": _bytes_to_90(run, totals),
        **_cost_values(run, watched),
        **_reward_values(watched),
        "misclassification_pct": misclassification_pct(confusion),
    }
    return replace(
        TrialResult.of(trial, run.stop, values, found),
        volume_pct=_volume_curve(run, totals),
        groups=_best_groups(watched, watched),
        confusion=confusion,
    )


def _reached(value: float | None) -> float | None:
    return None if value is None or math.isinf(value) else value


def _crawl_values(measures: Measures, totals: SiteTotals) -> dict[str, float | None]:
    volume_defined = totals.target_bytes and totals.other_bytes
    return {
        "requests": measures.requests,
        "targets": measures.targets,
        **{
            f"requests_to_{share}_pct": _or_never(measures.requests_to(share), defined=bool(totals.targets))
            for share in SHARES_PCT
        },
        "volume_to_90_pct": _or_never(measures.volume_to_90_pct, defined=bool(volume_defined)),
        "auc": measures.auc,
    }


def _bytes_to_90(run: Replay, totals: SiteTotals) -> float | None:
    """Return all bytes fetched until 90 % of the targets were in, in % of the site's; infinity for never."""
    if not totals.targets:
        return None
    at = int(np.searchsorted(np.frombuffer(run.trace.targets, np.uint32), -(-90 * totals.targets // 100)))
    if at == len(run.trace):
        return math.inf
    fetched = int(np.frombuffer(run.trace.sizes, np.uint64)[: at + 1].sum())
    return 100 * fetched / max(1, totals.target_bytes + totals.other_bytes)


def _or_never(value: float | None, *, defined: bool) -> float | None:
    return math.inf if value is None and defined else value


def _cost_values(run: Replay, watched: RecordingStrategy) -> dict[str, float | None]:
    requests = len(run.trace)
    cost = watched.cost
    late = None
    fifth = len(cost) // 5
    if fifth:
        first, last = _pace(cost[0], cost[fifth]), _pace(cost[-1 - fifth], cost[-1])
        late = last / first if first else None
    return {
        "cpu_seconds": round(run.cpu_seconds, 4),
        "cpu_ms_per_request": 1000 * run.cpu_seconds / requests if requests else None,
        "late_cost_ratio": late,
    }


def _pace(begin: tuple[int, float], end: tuple[int, float]) -> float:
    return (end[1] - begin[1]) / (end[0] - begin[0])


def _reward_values(watched: RecordingStrategy) -> dict[str, float | None]:
    paid = np.array([reward for reward in watched.rewards if reward > 0])
    best = sorted((group.mean for group in watched.groups.values()), reverse=True)[:TOP_GROUPS]
    return {
        "rewarded_pages": len(paid),
        "reward_mean": float(paid.mean()) if len(paid) else None,
        "reward_sd": float(paid.std()) if len(paid) else None,
        "groups": len(watched.groups),
        **{f"group_reward:{place}": mean for place, mean in enumerate(best, start=1)},
    }


def _best_groups(watched: RecordingStrategy, strategy: Strategy) -> list[dict[str, Any]]:
    best = sorted(watched.groups.items(), key=lambda pair: (-pair[1].mean, pair[0]))[:TOP_GROUPS]
    return [
        {
            "arm": arm,
            "label": strategy.arm_label(arm),
            "pages": group.rewards,
            "mean_reward": round(group.mean, 4),
            "examples": [{"url": url, "reward": reward} for reward, url in group.best],
        }
        for arm, group in best
    ]


def _volume_curve(run: Replay, totals: SiteTotals) -> list[float]:
    if not totals.target_bytes:
        return []
    wanted = np.frombuffer(run.trace.target_bytes, np.uint64).astype(np.float64)
    other = np.frombuffer(run.trace.sizes, np.uint64).astype(np.float64).cumsum() - wanted
    grid = np.linspace(0, max(totals.other_bytes, 1), CURVE_POINTS)
    shares = np.concatenate([[0.0], 100 * wanted / totals.target_bytes])
    sampled: list[float] = shares[np.searchsorted(other, grid, side="right")].round(3).tolist()
    return sampled
