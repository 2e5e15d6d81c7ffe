"""The strategies that crawl given sites or watch pages, by name.

TRES is imported when it is built: few crawls need it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from coati.assembly.rows import Need, StrategyInputs, StrategyRow
from coati.errors import UsageError, unknown_name
from coati.strategies.baselines import breadth_first, depth_first, uniformly_random
from coati.strategies.baselines.clairvoyant import clairvoyant, omniscient
from coati.strategies.focused.focused import focused
from coati.strategies.hosts.anthelion import anthelion, label_oracle, random_host, static_classifier
from coati.strategies.hosts.host_yield import HostYield
from coati.strategies.hosts.shuffled import ShuffledBreadthFirst
from coati.strategies.revisits.relevance import parse_relevance
from coati.strategies.revisits.schedulers import SCHEDULERS, SchedulerInputs, SchedulerRow
from coati.strategies.revisits.watch import Watch
from coati.strategies.sb.hnsw_groups import HnswGroups
from coati.strategies.sb.link_models import LinkModel
from coati.strategies.sb.tag_paths import TagPathStrategy
from coati.strategies.sb.tp_off import TpOffSettings, tp_off
from coati.strategies.sb.url_classes import LearntClasses, OracleClasses, UrlClasses
from coati.strategies.scent.link_scores import Aim
from coati.strategies.scent.scent import Scent
from coati.web.rules import TrapRule

if TYPE_CHECKING:
    from coati.strategies.sb.path_groups import GroupIndex
    from coati.strategies.strategy import Strategy
    from coati.strategies.tres.tres import TresExamples
    from coati.strategies.truth import SiteTruth

GROUP_INDEXES = {"exact": "sparse and exact", "hnsw": "approximate, as published; needs the extra hnsw"}


def _sb_classifier(given: StrategyInputs) -> Strategy:
    settings = given.settings
    model = LinkModel(settings.url_model, settings.url_context)
    return _tag_paths(given, LearntClasses(settings.batch, robust_probes=settings.robust_probes, model=model))


def _tag_paths(given: StrategyInputs, classes: UrlClasses) -> Strategy:
    settings = given.settings
    if settings.group_index not in GROUP_INDEXES:
        raise unknown_name("group index", settings.group_index, GROUP_INDEXES)
    groups: GroupIndex | None = None
    if settings.group_index == "hnsw":
        tag_paths = settings.tag_paths
        groups = HnswGroups(tag_paths.similarity, 1 << tag_paths.log2_dimensions)
    return TagPathStrategy(given.start_urls, classes, given.seed, settings.tag_paths, groups)


def _scent(summary: str, aim: Aim) -> StrategyRow:
    def build(given: StrategyInputs) -> Strategy:
        settings = given.settings
        scent = replace(settings.scent, aim=aim)
        return Scent(given.start_urls, given.seed, scent, settings.likely_extensions)

    modules, own = ("coati.strategies.scent.scent",), ("scent", "likely_extensions")
    return StrategyRow(summary, build, modules, own, frozenset({Need.LISTED_LINKS}), shortcuts=True)


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
        own_settings = {name: getattr(settings, name) for name in row.settings}
        scheduler = row.build(SchedulerInputs(given.seed, given.page_truth, **own_settings))
        return Watch(given.start_urls, scheduler, settings.watch, relevant)

    needs = frozenset({Need.OUT_LINKS, Need.HISTORY}) | (_KNOWS if row.needs_truth else frozenset())
    modules = ("coati.strategies.revisits.watch", *row.modules)
    settings = ("watch", "relevant", "likely_extensions", "start_model", *row.settings)
    return StrategyRow(row.summary, build, modules, settings, needs, seeded=row.seeded, bound=row.bound)


def _bound(summary: str, make: Callable[[SiteTruth], Strategy]) -> StrategyRow:
    modules = ("coati.strategies.baselines.clairvoyant",)
    return StrategyRow(
        summary, lambda given: make(given.known_truth), modules, needs=_KNOWS, seeded=False, bound=True
    )


_LEARNS_FROM_EXAMPLES = _KNOWS | {Need.EXAMPLES}
_BASELINES = ("coati.strategies.baselines.simple_orders",)
_TAG_PATHS = (
    "coati.strategies.sb.tag_paths",
    "coati.strategies.sb.hnsw_groups",
    "coati.strategies.sb.url_classes",
)
_HOSTS = ("coati.strategies.hosts.anthelion",)
_KNOWS_LABELS = frozenset({Need.LABELS})

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
        predicts=True,
    ),
    "scent": _scent(
        "our own and the default: learns from all features of a link which lead to targets",
        Aim.TARGETS_PER_REQUEST,
    ),
    "scent-bytes": _scent(
        "scent that prefers small files: saves bytes on some sites, costs some on others",
        Aim.TARGETS_PER_BYTE,
    ),
    "scent-volume": _scent("scent that prefers large files", Aim.BYTES_PER_BYTE),
    "sb-oracle": StrategyRow(
        "sb-classifier that knows which links are targets",
        lambda given: _tag_paths(given, OracleClasses(given.known_truth)),
        _TAG_PATHS,
        ("tag_paths", "group_index"),
        _KNOWS,
        traps=TrapRule.PUBLISHED,
    ),
    "tp-off": StrategyRow(
        "learns the value of tag paths from 3,000 requests with known results (ACEBot)",
        _tp_off,
        ("coati.strategies.sb.tp_off",),
        ("tag_paths", "warm_up"),
        _KNOWS,
        seeded=False,
        traps=TrapRule.PUBLISHED,
    ),
    "tres-light": StrategyRow(
        "TRES with a light page classifier: knows which links are pages, learns from example pages",
        _tres_light,
        ("coati.strategies.tres.tres",),
        needs=_LEARNS_FROM_EXAMPLES,
        extractors=("text",),
        traps=TrapRule.PUBLISHED,
        note="judges pages by a regression on their words, not by a neural network.",
    ),
    "tres": StrategyRow(
        "TRES with its neural networks (needs the extra tres); the same advantages",
        _tres,
        ("coati.strategies.tres.neural",),
        needs=_LEARNS_FROM_EXAMPLES,
        extractors=("text",),
        traps=TrapRule.PUBLISHED,
        note="its word vectors are trained on the example pages, and on nothing else.",
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
    "omniscient": _bound("requests only the targets: a bound that no crawler reaches", omniscient),
    "clairvoyant": _bound(
        "knows the site, but must walk to its targets: the reference for all others", clairvoyant
    ),
    **{name: _watching(row) for name, row in SCHEDULERS.items()},
}

SITE_STRATEGIES = tuple(name for name, row in REGISTRY.items() if Need.HISTORY not in row.needs)
"""Those that fetch what a site has; the others watch pages."""

LIVE_STRATEGIES = tuple(name for name in SITE_STRATEGIES if not REGISTRY[name].replay_only)
