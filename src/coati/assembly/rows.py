"""What is known of a strategy by name, and what one is built from.

Results of a user's own row are kept until something changes that it imports
(`coati.experiments.deciding_code`), and it imports this module: no strategy is imported here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, is_dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from coati.errors import UsageError
from coati.strategies.hosts.known_labels import KnownLabels, TruthLabels
from coati.web.rules import TrapRule

if TYPE_CHECKING:
    from coati.assembly.strategy_settings import StrategySettings
    from coati.model import PageLinks
    from coati.strategies.revisits.truth import PageTruth
    from coati.strategies.strategy import Strategy
    from coati.strategies.tres.tres import TresExamples
    from coati.strategies.truth import SiteTruth

    LinksOf = Callable[[str], PageLinks]

_ONLY_IN_REPLAY = "this strategy must know the site beforehand: it works only in replay"


class Need(StrEnum):
    """What a strategy gets beyond the new links of pages; only what is needed is found out and logged."""

    TRUTH = "the truth about the site"
    EXAMPLES = "example pages of other sites"
    OUT_LINKS = "all out-links of a page"
    LISTED_LINKS = "out-links of a page that an API listed before"
    LABELS = "which pages of all hosts are relevant"
    HISTORY = "pages that are visited again"


@dataclass(frozen=True, slots=True)
class StrategyRow:
    """What is known of a strategy by name: everything about one is read from its row.

    ``build`` makes it as it is before its first choice, ``modules`` are the ones that decide, and
    ``settings`` the fields of `StrategySettings` that it reads: a change of anything else voids none of its
    snapshots and results. Those of them that are ``changeable`` may be others when a run is resumed: they
    change no choice that was made, and so void results, but no snapshots. ``seeded`` says whether a seed
    changes what it does, ``extractors`` name the facts about pages that it reads (`coati.web.facts`),
    ``shortcuts`` that a live crawl offers it those of a site (`coati.shortcuts`) unless the user says
    otherwise. ``traps`` says which URLs it is not shown since they look like traps: strategies of the paper
    that published a rule keep to that one. ``predicts`` says that the order of its requests shows what it
    takes links for (`coati.experiments.recording`), ``bound`` that others are measured against it and it is
    not a crawler; ``note`` is a remark for each table with it.
    """

    summary: str
    build: Callable[[StrategyInputs], Strategy]
    modules: tuple[str, ...]
    settings: tuple[str, ...] = ()
    needs: frozenset[Need] = frozenset()
    seeded: bool = True
    extractors: tuple[str, ...] = ()
    shortcuts: bool = False
    traps: TrapRule = TrapRule.OURS
    predicts: bool = False
    bound: bool = False
    note: str = ""
    changeable: tuple[str, ...] = ()

    def settings_read(self, settings: StrategySettings) -> dict[str, Any]:
        """Return the settings that it reads, as plain values."""
        return {name: _plain(getattr(settings, name)) for name in self.settings}

    def settings_kept(self, settings: StrategySettings) -> dict[str, Any]:
        """Return those that cannot be others when a run is resumed, as plain values."""
        return {k: v for k, v in self.settings_read(settings).items() if k not in self.changeable}

    @property
    def replay_only(self) -> bool:
        """Whether it knows what no crawler can know."""
        return bool(self.needs & {Need.TRUTH, Need.LABELS})


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a setting holds
    if is_dataclass(value) and not isinstance(value, type):
        return {key: _plain(item) for key, item in asdict(value).items()}
    # A set has another order in each process.
    return sorted(value) if isinstance(value, frozenset) else value


@dataclass(frozen=True, slots=True)
class StrategyInputs:
    """What a strategy is built from; ``truth``, ``examples`` and ``labels`` are for those that need them.

    ``links_of`` belongs to the truth: it lists the links of any page, by its URL. ``page_truth`` is the truth
    for those that watch pages.
    """

    start_urls: tuple[str, ...]
    seed: int
    settings: StrategySettings
    truth: SiteTruth | None = None
    examples: TresExamples | None = None
    page_truth: PageTruth | None = None
    labels: KnownLabels | None = None
    links_of: LinksOf | None = None

    @property
    def known_labels(self) -> KnownLabels:
        """The labels of all pages, which only a replay has."""
        return TruthLabels(self.known_truth) if self.labels is None else self.labels

    @property
    def known_truth(self) -> SiteTruth:
        """The truth, which only a replay has."""
        if self.truth is None:
            raise UsageError(_ONLY_IN_REPLAY)
        return self.truth

    @property
    def known_links(self) -> LinksOf:
        """The links of every page, which only a replay has."""
        if self.links_of is None:
            raise UsageError(_ONLY_IN_REPLAY)
        return self.links_of
