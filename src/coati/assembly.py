"""From names to ready objects: the only place that knows every strategy.

What few crawls need is imported when it is built: the software behind sites, TRES, discovery.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from coati.errors import ConfigError, UsageError, unknown_name
from coati.named_objects import made_by, object_at, require_members
from coati.strategies.baselines import breadth_first, depth_first, uniformly_random
from coati.strategies.baselines.clairvoyant import clairvoyant, omniscient
from coati.strategies.discovery.actions import DISCOVERY_ACTIONS, Action
from coati.strategies.discovery.settings import DiscoverySettings
from coati.strategies.discovery.start_model import NO_MODEL, StartModel
from coati.strategies.early_stop import PaperEarlyStop
from coati.strategies.focused.focused import focused
from coati.strategies.hosts.anthelion import (
    AnthelionSettings,
    anthelion,
    label_oracle,
    random_host,
    static_classifier,
)
from coati.strategies.hosts.host_yield import HostYield
from coati.strategies.hosts.known_labels import TruthLabels
from coati.strategies.hosts.shuffled import ShuffledBreadthFirst
from coati.strategies.revisits.arrivals import ArrivalsSettings
from coati.strategies.revisits.relevance import parse_relevance
from coati.strategies.revisits.schedulers import SCHEDULERS, SchedulerInputs
from coati.strategies.revisits.watch import Watch, WatchSettings
from coati.strategies.sb.hnsw_groups import HnswGroups
from coati.strategies.sb.link_models import LinkModel
from coati.strategies.sb.tag_paths import TagPathSettings, TagPathStrategy
from coati.strategies.sb.tp_off import TpOffSettings, tp_off
from coati.strategies.sb.url_classes import LearntClasses, OracleClasses
from coati.strategies.scent.link_scores import Aim
from coati.strategies.scent.scent import Scent, ScentSettings
from coati.strategies.stop_when_dry import StopWhenDry, floor_of
from coati.web.facts import EXTRACTORS
from coati.web.likely_extensions import DATA_EXTENSIONS
from coati.web.markup.goals import Goal, parse_goal
from coati.web.rules import TrapRule

if TYPE_CHECKING:
    from coati.model import Facts
    from coati.shortcuts.shortcuts import Shortcuts
    from coati.strategies.discovery.dsdd import UserJudgements
    from coati.strategies.early_stop import EarlyStop
    from coati.strategies.hosts.known_labels import KnownLabels
    from coati.strategies.revisits.schedulers import SchedulerRow
    from coati.strategies.revisits.truth import PageTruth
    from coati.strategies.sb.path_groups import GroupIndex
    from coati.strategies.sb.url_classes import UrlClasses
    from coati.strategies.strategy import Strategy
    from coati.strategies.tres.tres import TresExamples
    from coati.strategies.truth import SiteTruth

GROUP_INDEXES = {"exact": "sparse and exact", "hnsw": "approximate, as published; needs the extra hnsw"}

EARLY_STOPS = {
    "off": "never",
    "dry": "our own rule: when few targets are left to find",
    "paper": "the rule of the EDBT 2026 paper; cannot fire before 15,000 requests",
}


@dataclass(frozen=True, slots=True)
class StrategySettings:
    """The parameters of strategies; the defaults are the papers'.

    ``url_model`` and ``url_context`` name (`coati.strategies.sb.link_models`) how links are classified,
    and by what. ``warm_up`` is how many requests TP-OFF learns from. ``likely_extensions`` are those of the
    wanted files; scent tries them first. ``watch`` says how pages are visited again, ``arrivals`` how our own
    scheduler learns, and ``relevant`` which links count then (`coati.strategies.revisits.relevance`).
    ``hosts`` are Anthelion's; the last five are for discovery.
    """

    tag_paths: TagPathSettings = field(default_factory=TagPathSettings)
    batch: int = 10
    robust_probes: bool = False
    group_index: str = "exact"
    url_model: str = "lr"
    url_context: str = "url"
    warm_up: int = 3000
    scent: ScentSettings = field(default_factory=ScentSettings)
    likely_extensions: tuple[str, ...] = tuple(sorted(DATA_EXTENSIONS))
    hosts: AnthelionSettings = field(default_factory=AnthelionSettings)
    watch: WatchSettings = field(default_factory=WatchSettings)
    arrivals: ArrivalsSettings = field(default_factory=ArrivalsSettings)
    relevant: str = ""
    discovery: DiscoverySettings = field(default_factory=DiscoverySettings)
    start_model: StartModel = NO_MODEL
    judged: tuple[tuple[str, Action], ...] = ()
    max_queries: int | None = None
    patience: int | None = None


class Need(StrEnum):
    """What a strategy is given beyond the new links of pages; only what is needed is found out and logged."""

    TRUTH = "the truth about the site"
    EXAMPLES = "example pages of other sites"
    OUT_LINKS = "all out-links of a page"
    LISTED_LINKS = "out-links of a page that an API listed before"
    LABELS = "which pages of all hosts are relevant"
    HISTORY = "pages that are visited again"


@dataclass(frozen=True, slots=True)
class StrategyRow:
    """What is known of a strategy by name; whoever asks anything about one reads its row.

    ``build`` makes it as it stands before its first choice, ``modules`` are the ones that decide, and
    ``settings`` the fields of `StrategySettings` that it reads: a change of anything else voids none of its
    snapshots and results. ``seeded`` says whether a seed changes what it does, ``extractors`` name the facts
    about pages that it reads (`coati.web.facts`), ``shortcuts`` that a live crawl offers it those of a site
    (`coati.shortcuts`) unless the user says otherwise. ``traps`` tells which URLs it is not shown since they
    look like traps: strategies of the paper that published a rule keep to that one.
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

    def settings_read(self, settings: StrategySettings) -> dict[str, Any]:
        """Return the settings that it reads, as plain values."""
        everything = asdict(settings)
        return {name: everything[name] for name in self.settings}

    @property
    def replay_only(self) -> bool:
        """Whether it knows what no crawler can know."""
        return bool(self.needs & {Need.TRUTH, Need.LABELS})


@dataclass(frozen=True, slots=True)
class StrategyInputs:
    """What a strategy is built from; ``truth``, ``examples`` and ``labels`` are for those that need them.

    ``page_truth`` is the truth for those that watch pages.
    """

    start_urls: tuple[str, ...]
    seed: int
    settings: StrategySettings
    truth: SiteTruth | None = None
    examples: TresExamples | None = None
    page_truth: PageTruth | None = None
    labels: KnownLabels | None = None

    @property
    def known_labels(self) -> KnownLabels:
        """The labels of all pages, which only a replay has."""
        return TruthLabels(self.known_truth) if self.labels is None else self.labels

    @property
    def known_truth(self) -> SiteTruth:
        """The truth, which only a replay has."""
        if self.truth is None:
            raise UsageError("this strategy must know the site beforehand: it works only in replay")
        return self.truth


def _sb_classifier(given: StrategyInputs) -> Strategy:
    settings = given.settings
    model = LinkModel(settings.url_model, settings.url_context)
    return _tag_paths(given, LearntClasses(settings.batch, robust_probes=settings.robust_probes, model=model))


def _sb_oracle(given: StrategyInputs) -> Strategy:
    return _tag_paths(given, OracleClasses(given.known_truth))


def _tag_paths(given: StrategyInputs, classes: UrlClasses) -> Strategy:
    settings = given.settings
    if settings.group_index not in GROUP_INDEXES:
        raise unknown_name("group index", settings.group_index, GROUP_INDEXES)
    groups: GroupIndex | None = None
    if settings.group_index == "hnsw":
        tag_paths = settings.tag_paths
        groups = HnswGroups(tag_paths.similarity, 1 << tag_paths.log2_dimensions)
    return TagPathStrategy(given.start_urls, classes, given.seed, settings.tag_paths, groups)


def _scent(aim: Aim) -> Callable[[StrategyInputs], Strategy]:
    def build(given: StrategyInputs) -> Strategy:
        settings = given.settings
        scent = replace(settings.scent, aim=aim)
        return Scent(given.start_urls, given.seed, scent, settings.likely_extensions)

    return build


def _tp_off(given: StrategyInputs) -> Strategy:
    settings = given.settings
    return tp_off(given.start_urls, given.known_truth, TpOffSettings(settings.warm_up, settings.tag_paths))


def _tres_light(given: StrategyInputs) -> Strategy:
    from coati.strategies.tres.tres import tres_light

    return tres_light(given.start_urls, given.known_truth, _examples(given), given.seed)


def _tres(given: StrategyInputs) -> Strategy:
    from coati.strategies.tres.neural import tres

    return tres(given.start_urls, given.known_truth, _examples(given), given.seed)


def _examples(given: StrategyInputs) -> TresExamples:
    if given.examples is None:
        raise UsageError("TRES needs example pages of other sites: give archives with --examples")
    return given.examples


_KNOWS = frozenset({Need.TRUTH})


def _watching(row: SchedulerRow) -> StrategyRow:
    def build(given: StrategyInputs) -> Strategy:
        settings = given.settings
        relevant = parse_relevance(settings.relevant, settings.likely_extensions, settings.start_model)
        scheduler = row.build(SchedulerInputs(given.seed, given.page_truth, settings.arrivals))
        return Watch(given.start_urls, scheduler, settings.watch, relevant)

    needs = frozenset({Need.OUT_LINKS, Need.HISTORY}) | (_KNOWS if row.needs_truth else frozenset())
    modules = ("coati.strategies.revisits.watch", *row.modules)
    settings = ("watch", "relevant", "likely_extensions", *row.settings)
    return StrategyRow(row.summary, build, modules, settings, needs, seeded=row.seeded)


_LEARNS_FROM_EXAMPLES = _KNOWS | {Need.EXAMPLES}
_BASELINES = ("coati.strategies.baselines.simple_orders",)
_TAG_PATHS = (
    "coati.strategies.sb.tag_paths",
    "coati.strategies.sb.hnsw_groups",
    "coati.strategies.sb.url_classes",
)
_SCENT = ("coati.strategies.scent.scent",)
_SCENT_SETTINGS = ("scent", "likely_extensions")
_LISTED_LINKS = frozenset({Need.LISTED_LINKS})
_HOSTS = ("coati.strategies.hosts.anthelion",)
_KNOWS_LABELS = frozenset({Need.LABELS})
_PLANNED = ("coati.strategies.baselines.clairvoyant",)

REGISTRY: Mapping[str, StrategyRow] = {
    "bfs": StrategyRow(
        "breadth-first: links in the order of discovery",
        lambda given: breadth_first(given.start_urls),
        _BASELINES,
        seeded=False,
    ),
    "dfs": StrategyRow(
        "depth-first: the link found last goes first",
        lambda given: depth_first(given.start_urls),
        _BASELINES,
        seeded=False,
    ),
    "random": StrategyRow(
        "a random known link",
        lambda given: uniformly_random(given.start_urls, given.seed),
        _BASELINES,
    ),
    "focused": StrategyRow(
        "the link that looks most like a target, by its URL, anchor and depth",
        lambda given: focused(given.start_urls),
        ("coati.strategies.focused.focused",),
        seeded=False,
        traps=TrapRule.PUBLISHED,
    ),
    "sb-classifier": StrategyRow(
        "learns which groups of similar tag paths lead to targets (EDBT 2026)",
        _sb_classifier,
        _TAG_PATHS,
        ("tag_paths", "batch", "robust_probes", "group_index", "url_model", "url_context"),
        traps=TrapRule.PUBLISHED,
    ),
    "scent": StrategyRow(
        "our own and the default: learns from all features of a link which lead to targets",
        _scent(Aim.TARGETS_PER_REQUEST),
        _SCENT,
        _SCENT_SETTINGS,
        _LISTED_LINKS,
        shortcuts=True,
    ),
    "scent-bytes": StrategyRow(
        "scent for slow or metered lines: most targets per byte",
        _scent(Aim.TARGETS_PER_BYTE),
        _SCENT,
        _SCENT_SETTINGS,
        _LISTED_LINKS,
        shortcuts=True,
    ),
    "scent-volume": StrategyRow(
        "scent for large files: most bytes of targets per byte",
        _scent(Aim.BYTES_PER_BYTE),
        _SCENT,
        _SCENT_SETTINGS,
        _LISTED_LINKS,
        shortcuts=True,
    ),
    "sb-oracle": StrategyRow(
        "sb-classifier that is told for free which links are targets",
        _sb_oracle,
        _TAG_PATHS,
        ("tag_paths", "group_index"),
        _KNOWS,
        traps=TrapRule.PUBLISHED,
    ),
    "tp-off": StrategyRow(
        "learns the value of tag paths from 3,000 requests whose results it is told (ACEBot)",
        _tp_off,
        ("coati.strategies.sb.tp_off",),
        ("tag_paths", "warm_up"),
        _KNOWS,
        seeded=False,
        traps=TrapRule.PUBLISHED,
    ),
    "tres-light": StrategyRow(
        "TRES with a light page classifier: told which links are pages, learns from example pages",
        _tres_light,
        ("coati.strategies.tres.tres",),
        needs=_LEARNS_FROM_EXAMPLES,
        extractors=("text",),
        traps=TrapRule.PUBLISHED,
    ),
    "tres": StrategyRow(
        "TRES with its neural networks (needs the extra tres); the same advantages",
        _tres,
        ("coati.strategies.tres.neural",),
        needs=_LEARNS_FROM_EXAMPLES,
        extractors=("text",),
        traps=TrapRule.PUBLISHED,
    ),
    "anthelion": StrategyRow(
        "many hosts: the host with the best success rate, there the page that looks best (CIKM 2014)",
        lambda given: anthelion(given.start_urls, given.seed, given.settings.hosts),
        _HOSTS,
        ("hosts",),
    ),
    "host-yield": StrategyRow(
        "our own, many hosts: the host with the most promising next pages",
        lambda given: HostYield(given.start_urls, given.seed),
        ("coati.strategies.hosts.host_yield",),
    ),
    "random-host": StrategyRow(
        "many hosts: any host, then any of its pages (the random crawl of CIKM 2014)",
        lambda given: random_host(given.start_urls, given.seed),
        _HOSTS,
    ),
    "shuffled-bfs": StrategyRow(
        "breadth-first, the links of a page in any order (the BFS of CIKM 2014)",
        lambda given: ShuffledBreadthFirst(given.start_urls, given.seed),
        ("coati.strategies.hosts.shuffled",),
    ),
    "anthelion-static": StrategyRow(
        "many hosts: the best page by a classifier that was trained on random pages beforehand",
        lambda given: static_classifier(
            given.start_urls, given.seed, given.settings.hosts, given.known_labels
        ),
        _HOSTS,
        ("hosts",),
        _KNOWS_LABELS,
    ),
    "label-oracle": StrategyRow(
        "many hosts: knows which of the pages that it found are relevant; the bound for all others",
        lambda given: label_oracle(given.start_urls, given.seed, given.known_labels),
        _HOSTS,
        needs=_KNOWS_LABELS,
    ),
    "omniscient": StrategyRow(
        "requests only the targets: a bound that no crawler reaches",
        lambda given: omniscient(given.known_truth),
        _PLANNED,
        needs=_KNOWS,
        seeded=False,
    ),
    "clairvoyant": StrategyRow(
        "knows the site, but must walk to its targets: the reference for all others",
        lambda given: clairvoyant(given.known_truth),
        _PLANNED,
        needs=_KNOWS,
        seeded=False,
    ),
    **{name: _watching(row) for name, row in SCHEDULERS.items()},
}


def _dsdd_row(
    summary: str, actions: tuple[Action, ...] = DISCOVERY_ACTIONS, *, learns: bool = True
) -> StrategyRow:
    def build(given: StrategyInputs) -> Strategy:
        from coati.strategies.discovery.dsdd import Dsdd, DsddVariant

        settings = given.settings
        variant = DsddVariant(actions, learns)
        return Dsdd(given.start_urls, settings.discovery, settings.start_model, variant, _wishes(settings))

    return _discovery_row(summary, build, "coati.strategies.discovery.dsdd")


def _discovery_row(
    summary: str, build: Callable[[StrategyInputs], Strategy], module: str, *, shortcuts: bool = False
) -> StrategyRow:
    return StrategyRow(
        summary,
        build,
        (module,),
        ("discovery",),
        frozenset({Need.OUT_LINKS}),
        seeded=False,
        extractors=("words", "dataset_markup"),
        shortcuts=shortcuts,
    )


def _wishes(settings: StrategySettings) -> UserJudgements:
    from coati.strategies.discovery.dsdd import UserJudgements

    return UserJudgements(settings.judged, settings.max_queries, settings.patience)


def _prospect(given: StrategyInputs) -> Strategy:
    from coati.strategies.discovery.prospect import Prospect

    return _for_discovery(Prospect, given)


def _search_engine(given: StrategyInputs) -> Strategy:
    from coati.strategies.discovery.search_engine import SearchEngineOnly

    return _for_discovery(SearchEngineOnly, given)


def _ache(given: StrategyInputs) -> Strategy:
    from coati.strategies.discovery.ache import Ache

    return _for_discovery(Ache, given)


def _disco(given: StrategyInputs) -> Strategy:
    from coati.strategies.discovery.disco import Disco

    return _for_discovery(Disco, given)


def _for_discovery(made: Callable[..., Strategy], given: StrategyInputs) -> Strategy:
    settings = given.settings
    return made(given.start_urls, settings.discovery, settings.start_model, wishes=_wishes(settings))


_IN_DISCOVERY = "coati.strategies.discovery."

DISCOVERY: Mapping[str, StrategyRow] = {
    "prospect": _discovery_row(
        "our own: dsdd's loop, rewarded by verified repositories per request",
        _prospect,
        _IN_DISCOVERY + "prospect",
        shortcuts=True,
    ),
    "dsdd": _dsdd_row("a bandit over four actions, a classifier that learns (CIKM 2021, BD+OL)"),
    "bd": _dsdd_row("dsdd whose classifier does not learn (BD)", learns=False),
    "dsdd-kw": _dsdd_row("dsdd with keyword search alone (KW+OL)", (Action.KEYWORDS,)),
    "dsdd-rl": _dsdd_row("dsdd with related pages alone (RL+OL)", (Action.RELATED,)),
    "dsdd-bl": _dsdd_row("dsdd with backward links alone (BL+OL)", (Action.BACKLINKS,)),
    "dsdd-fw": _dsdd_row("dsdd with forward links alone (FW+OL)", (Action.FORWARD,)),
    "search-engine": _discovery_row(
        "two queries, and every result is checked (SEARCH ENGINE)",
        _search_engine,
        _IN_DISCOVERY + "search_engine",
    ),
    "ache": _discovery_row(
        "follows links by what pages and links look like, from the first finds on (ACHE)",
        _ache,
        _IN_DISCOVERY + "ache",
    ),
    "disco": _discovery_row(
        "a bandit that ranks by likeness to the first finds, and verifies nothing else (DISCO)",
        _disco,
        _IN_DISCOVERY + "disco",
    ),
}
"""What `coati discover` searches with; no crawl of a given site is made of these."""

SITE_STRATEGIES = tuple(name for name, row in REGISTRY.items() if Need.HISTORY not in row.needs)
"""Those that fetch what a site has; the others watch pages."""

LIVE_STRATEGIES = tuple(name for name in SITE_STRATEGIES if not REGISTRY[name].replay_only)

_STRATEGY_METHODS = ("choose", "observe", "redo", "save", "load", "arm_label")


def strategy_row(name: str) -> StrategyRow:
    """Look a strategy up by its name, or by its path (``my_module:MyStrategy``).

    Behind a path stands a `StrategyRow`, or whatever makes a strategy of the start addresses and a seed.
    """
    if ":" in name:
        return _row_by_path(name)
    if name in DISCOVERY:
        return DISCOVERY[name]
    if name not in REGISTRY:
        raise unknown_name("strategy", name, {**REGISTRY, **DISCOVERY})
    return REGISTRY[name]


def _row_by_path(path: str) -> StrategyRow:
    made = object_at("strategy", path)
    module_name, _, attribute = path.partition(":")
    if isinstance(made, StrategyRow):
        return made
    if not callable(made):
        raise ConfigError(f"strategy {path!r}: {attribute} must be a class or a function (start_urls, seed)")

    def build(given: StrategyInputs) -> Strategy:
        takes = "the start URLs and a seed"
        strategy: Strategy = made_by(made, "strategy", path, given.start_urls, given.seed, takes=takes)
        require_members(strategy, "strategy", path, _STRATEGY_METHODS)
        return strategy

    return StrategyRow((inspect.getdoc(made) or path).partition("\n")[0], build, (module_name,))


def build_goal(text: str) -> Goal:
    """Build a goal by its name, or by the path of a predicate over a page's facts (``my_module:my_goal``).

    A predicate that reads other facts than ``markup`` names their extractors in its attribute ``extractors``.
    """
    if ":" not in text or "=" in text:
        return parse_goal(text)
    predicate = object_at("goal", text)
    if not callable(predicate):
        raise ConfigError(f"goal {text!r}: it must be a function of a page's facts that tells yes or no")
    extractors = tuple(dict.fromkeys(("markup", *getattr(predicate, "extractors", ()))))
    for name in extractors:
        if name not in EXTRACTORS:
            raise unknown_name(f"extractor of the goal {text!r},", name, EXTRACTORS)

    def holds(facts: Facts) -> bool:
        try:
            return bool(predicate(facts))
        except Exception as error:
            raise ConfigError(f"goal {text!r}: it failed with {type(error).__name__}: {error}") from error

    return Goal(text, holds, extractors)


def build_strategy(  # noqa: PLR0913, PLR0917 - what rows may need
    name: str,
    start_urls: Sequence[str],
    seed: int = 0,
    truth: SiteTruth | None = None,
    settings: StrategySettings | None = None,
    examples: TresExamples | None = None,
    page_truth: PageTruth | None = None,
) -> Strategy:
    """Build a strategy by its name, for a crawl that begins at ``start_urls``, or for a watch of these.

    ``truth``, ``examples`` and ``page_truth`` are for those whose row needs them.
    """
    if isinstance(start_urls, str):
        raise TypeError("start_urls must be a list: write [url]")
    row = strategy_row(name)
    if row.replay_only and truth is None and page_truth is None:
        raise UsageError(f"{name} must know the site beforehand: it works only in replay")
    return row.build(
        StrategyInputs(tuple(start_urls), seed, settings or StrategySettings(), truth, examples, page_truth)
    )


SHORTCUTS = {
    "auto": "if the strategy supports it: scent does, the published strategies do not",
    "off": "none",
    "only": "only what the site's software lists: no other link is followed",
}


def build_shortcuts(mode: str, strategy: str, profiles: Sequence[str] = ()) -> Shortcuts | None:
    """Build the shortcuts of a crawl; None where there are none. ``profiles`` are paths of further ones."""
    if mode not in SHORTCUTS:
        raise unknown_name("way to use shortcuts", mode, SHORTCUTS)
    if not profiles and (mode == "off" or (mode == "auto" and not strategy_row(strategy).shortcuts)):
        return None
    from coati.shortcuts.registry import PROFILES, checked_profile
    from coati.shortcuts.shortcuts import Shortcuts

    own = tuple(checked_profile(object_at("profile", path), path) for path in profiles)
    return None if mode == "off" else Shortcuts((*own, *PROFILES), only=mode == "only")


def build_early_stop(name: str) -> EarlyStop | None:
    """Build an early-stopping rule by its name; None for "off"."""
    if name not in EARLY_STOPS:
        raise unknown_name("early stop", name, EARLY_STOPS)
    if name == "dry":
        return StopWhenDry()
    return PaperEarlyStop() if name == "paper" else None


def stop_rule(level: str) -> StopWhenDry | None:
    """Build the rule that ends a live crawl, by its level; None for "off"."""
    floor = floor_of(level)
    return None if floor is None else StopWhenDry(floor)
