"""What to run: an experiment as a TOML file. docs/how-to/reproduce-a-table.md explains each key."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from coati.assembly import DISCOVERY, REGISTRY, StrategySettings, strategy_row, unknown_strategy
from coati.budget import Budget
from coati.errors import ConfigError, UsageError, unknown_name
from coati.experiments.early_stops import EarlyStopRule
from coati.experiments.fields import filled, need, refuse_unknown, take, texts
from coati.experiments.measures import check_measure
from coati.experiments.published import Published
from coati.experiments.site_runs import BEST, seeds_for
from coati.experiments.site_specs import (
    GENERATED,
    ArchivedSite,
    ExperimentSite,
    SearchedTopic,
    SitesTogether,
    archived_site,
    by_name,
    parse_site,
)
from coati.experiments.spending import Spending
from coati.units import format_count

_MAX_FILE_BYTES = 1 << 20
_MAX_SEEDS = 1000

FIGURES = {
    "shares": "the share of relevant pages against the pages fetched (webs of many hosts)",
    "curves": "targets against requests, and target bytes against other bytes",
    "areas": "the area under the curve of every row on every site, CLAIRVOYANT's being 1",
    "groups": "the mean reward of the ten best groups",
    "repositories": "repositories found against pages fetched, one panel per topic (searched topics)",
    "watches": "new links per cycle, coverage over time and against k, ages when found (watched histories)",
}

# Run beside every strategy, as is plain crawling: what could be reached at best.
BOUNDS = (BEST, "omniscient")

_KEYS = (
    "table", "title", "source", "measures", "published", "published_by", "seeds", "first_seed", "bounds",
    "figures", "sites", "strategies", "variants", "budget", "early_stops", "joined", "examples",
    "fewer_seeds", "classify", "compared", "halves", "until_all_found",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Variant:
    """A strategy with its settings: one row of a table. ``name`` is empty with the settings of the paper.

    ``spending`` is how a budget is spent over sites that share one.
    """

    strategy: str
    name: str = ""
    settings: StrategySettings = field(default_factory=StrategySettings)
    spending: Spending = field(default_factory=Spending)

    @property
    def changes(self) -> list[str]:
        """The names of the settings that are not the paper's."""
        usual = StrategySettings()
        return [
            each.name
            for each in fields(usual)
            if getattr(self.settings, each.name) != getattr(usual, each.name)
        ]

    @property
    def label(self) -> str:
        """What the row is called."""
        return self.name or self.strategy


@dataclass(frozen=True, slots=True)
class Experiment:
    """One table or figure: every variant on every site with every seed.

    ``examples`` names the archives that give example pages to those that need some, ``fewer_seeds`` how many
    seeds are enough for a strategy that takes long. ``compared`` is the row whose wins and losses against the
    others are listed; ``halves``: the best row of half of the sites is reported on the other half.
    ``until_all_found``: a run ends with the last target of its site, after which nothing is measured. With
    ``classify`` nothing is crawled: this many pages of a web, half of them relevant, are judged and then
    learnt from, one after the other. ``part`` says which part of the file this is; empty for all of it.
    ``published_by`` is the word for who published the numbers beside ours.
    """

    table: str
    title: str
    source: str
    measures: tuple[str, ...]
    sites: tuple[ExperimentSite, ...]
    variants: tuple[Variant, ...]
    seeds: tuple[int, ...]
    published: Published
    budget: Budget = field(default_factory=Budget)
    figures: tuple[str, ...] = ()
    early_stops: tuple[EarlyStopRule, ...] = ()
    bounds: bool = True
    joined: bool = False
    examples: tuple[str, ...] = ()
    fewer_seeds: Mapping[str, int] = field(default_factory=dict)
    classify: int = 0
    compared: str = ""
    halves: bool = False
    until_all_found: bool = False
    published_by: str = "paper"
    part: str = ""

    @property
    def file_stem(self) -> str:
        """How the names of its result files begin: those of a part are not those of the whole."""
        return f"{self.table}-part" if self.part else self.table

    def seeds_of(self, strategy: str) -> tuple[int | None, ...]:
        """List the seeds to run a strategy with: None, once, where a seed changes nothing."""
        seeds = self.seeds[: self.fewer_seeds.get(strategy, len(self.seeds))]
        # The seed makes the web that is searched, and other rows with which a run is compared.
        needed = any(isinstance(site, SearchedTopic | SitesTogether) for site in self.sites)
        return seeds if needed else seeds_for(strategy, seeds)

    def narrowed(
        self,
        sites: frozenset[str],
        seeds: int | None,
        max_requests: int | None,
        strategies: frozenset[str] = frozenset(),
    ) -> Experiment:
        """Return a smaller experiment: some sites and rows, other seeds, fewer requests.

        What is empty or None stays as it is. Among the sites, the name of an archive stands for all of its
        crawls unless a site has that name, and `GENERATED` for all generated ones. A part can do without the
        published numbers, the whole cannot.
        """
        named = by_name(self.sites)
        for name in sites - {GENERATED}:
            if name not in named:
                raise unknown_name("site of this experiment", name, {*named, GENERATED})
        if GENERATED in sites and GENERATED not in named:
            raise ConfigError("this experiment has no generated sites")
        chosen = [site for name in sites for site in named[name]] if sites else self.sites
        labels = [variant.label for variant in self.variants]
        known = {*REGISTRY, *DISCOVERY}
        for label in strategies:
            if label not in labels and ":" not in label and label not in known:
                raise unknown_strategy(label, {*labels, *known}, "strategy of this experiment")
        kept = tuple(site for site in self.sites if site in chosen)
        rows = tuple(variant for variant in self.variants if not strategies or variant.label in strategies)
        # One that the file does not name runs beside the others: yours, by its path, or any by its name.
        rows += tuple(Variant(_strategy(name)) for name in sorted(strategies - set(labels)))
        for row in rows:
            _require_read(row.strategy, row.changes)
        budget = self.budget if max_requests is None else replace(self.budget, max_requests=max_requests)
        numbers = self.seeds if seeds is None else _numbered(self.seeds[0], seeds)
        narrowed = replace(self, sites=kept, variants=rows, seeds=numbers, budget=budget)
        part = _part(self, narrowed)
        if self.published.missing and not part:
            raise ConfigError(f"the published numbers: {self.published.missing}")
        return replace(narrowed, part=part)


def _part(whole: Experiment, narrowed: Experiment) -> str:
    """Say what an experiment has of another; empty if it has all of it. More seeds leave nothing out."""
    rows = len([row for row in narrowed.variants if row in whole.variants])
    others = len(narrowed.variants) - rows
    said = []
    if len(narrowed.sites) < len(whole.sites):
        said.append(f"{len(narrowed.sites)} of {format_count(len(whole.sites), 'site')}")
    if others or rows < len(whole.variants):
        added = f" and {format_count(others, 'other row')}" if others else ""
        said.append(f"{rows} of {format_count(len(whole.variants), 'row')}{added}")
    if len(narrowed.seeds) < len(whole.seeds):
        said.append(f"{len(narrowed.seeds)} of {format_count(len(whole.seeds), 'seed')}")
    if narrowed.budget != whole.budget:
        said.append(f"at most {format_count(narrowed.budget.max_requests or 0, 'request')} per run")
    return ", ".join(said)


def read_experiment(file: Path) -> Experiment:
    """Read an experiment; raises `ConfigError` that says which part of the file makes no sense."""
    try:
        with file.open("rb") as opened:
            table = tomllib.loads(opened.read(_MAX_FILE_BYTES).decode())
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{file} is no TOML file: {error}") from error
    try:
        return parse_experiment(table, file.parent)
    except ConfigError as error:
        raise ConfigError(f"{file.name}: {error}") from error


def parse_experiment(table: Mapping[str, object], folder: Path) -> Experiment:
    """Make an experiment of a parsed file; ``folder`` is where its file of published numbers is sought."""
    where = "the experiment"
    refuse_unknown(table, _KEYS, where)
    rules = tuple(_early_stop(each) for each in _tables(table, "early_stops"))
    measures = texts(table, "measures", where)
    for measure in measures:
        check_measure(measure, [rule.name for rule in rules])
    figures = texts(table, "figures", where)
    for figure in figures:
        if figure not in FIGURES:
            raise unknown_name("figure", figure, FIGURES)
    if not measures and not figures:
        raise ConfigError("an experiment needs measures or figures")
    published = take(table, "published", str, "", where)
    first = take(table, "first_seed", int, 0, where)
    sites = _sites(table)
    return Experiment(
        table=_plain_name(need(table, "table", where)),
        title=need(table, "title", where),
        source=take(table, "source", str, "", where),
        measures=measures,
        sites=sites,
        variants=_variants(table),
        seeds=_numbered(first, take(table, "seeds", int, 15, where)),
        published=Published.read(folder / published) if published else Published({}),
        budget=filled(Budget(), take(table, "budget", dict, {}, where), "budget"),
        figures=figures,
        early_stops=rules,
        bounds=take(table, "bounds", bool, default=True, where=where),
        joined=take(table, "joined", bool, default=False, where=where),
        examples=_examples(table, sites),
        fewer_seeds=_fewer_seeds(table),
        classify=take(table, "classify", int, 0, where),
        compared=_compared(table),
        halves=take(table, "halves", bool, default=False, where=where),
        until_all_found=take(table, "until_all_found", bool, default=False, where=where),
        published_by=take(table, "published_by", str, "paper", where),
    )


def _numbered(first: int, count: int) -> tuple[int, ...]:
    if not 1 <= count <= _MAX_SEEDS:
        raise ConfigError(f"seeds is {count}, and should be from 1 to {_MAX_SEEDS}")
    return tuple(range(first, first + count))


def _plain_name(name: str) -> str:
    # It becomes the name of files.
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise ConfigError(f"table is {name!r}, and should be a plain name such as 'table2'")
    return name


def _tables(table: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
    values = take(table, key, list, [], "the experiment")
    if not all(isinstance(value, Mapping) for value in values):
        raise ConfigError(f"{key} should be a list of tables: [[{key}]]")
    return values


def _sites(table: Mapping[str, object]) -> tuple[ExperimentSite, ...]:
    values = take(table, "sites", list, [], "the experiment")
    sites = [parse_site(value) for value in values]
    if not sites:
        raise ConfigError("an experiment needs sites")
    names = [site.name for site in sites]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"the site {name} is listed twice")
    return tuple(sites)


def _examples(table: Mapping[str, object], sites: Sequence[ExperimentSite]) -> tuple[str, ...]:
    """List the archives with example pages: those of the sites, if the file names no others."""
    if "examples" not in table:
        return tuple(dict.fromkeys(site.folder for site in sites if isinstance(site, ArchivedSite)))
    return tuple(archived_site(name).folder for name in texts(table, "examples", "the experiment"))


def _fewer_seeds(table: Mapping[str, object]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, count in take(table, "fewer_seeds", dict, {}, "the experiment").items():
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise ConfigError(f"fewer_seeds of {name} is {count!r}, and should be a whole number above zero")
        found[_strategy(name)] = count
    return found


def _variants(table: Mapping[str, object]) -> tuple[Variant, ...]:
    found = [Variant(_strategy(name)) for name in texts(table, "strategies", "the experiment")]
    for each in _tables(table, "variants"):
        where = "a variant"
        refuse_unknown(each, ("strategy", "name", "settings", "spending"), where)
        changes = take(each, "settings", dict, {}, where)
        settings = filled(StrategySettings(), changes, "settings")
        spending = filled(Spending(), take(each, "spending", dict, {}, where), "spending")
        spending.check()
        strategy, name = _strategy(need(each, "strategy", where)), need(each, "name", where)
        if ":" not in strategy:
            _require_read(strategy, changes)
        found.append(Variant(strategy, name, settings, spending))
    if not found:
        raise ConfigError("an experiment needs strategies or variants")
    labels = [variant.label for variant in found]
    for label in labels:
        if labels.count(label) > 1:
            raise ConfigError(f"two rows are called {label!r}")
    return tuple(found)


def _require_read(strategy: str, settings: Iterable[str]) -> None:
    """Raise `ConfigError` for settings that the strategy never looks at: such a row would be no variant."""
    read = strategy_row(strategy).settings
    for name in settings:
        if name not in read:
            known = f"it reads {', '.join(read)}" if read else "it reads no settings"
            raise ConfigError(f"{strategy} does not read the setting {name}; {known}")


def _compared(table: Mapping[str, object]) -> str:
    label = take(table, "compared", str, "", "the experiment")
    labels = [variant.label for variant in _variants(table)]
    if label and label not in labels:
        raise unknown_name("row to compare", label, labels)
    return label


def _strategy(name: str) -> str:
    # Yours, by its path, is looked for where it is run: a part of a file needs no other.
    if ":" not in name:
        strategy_row(name)
    return name


def _early_stop(table: Mapping[str, object]) -> EarlyStopRule:
    where = "an early stop"
    name, rule = need(table, "name", where), need(table, "rule", where)
    return EarlyStopRule.checked(name, rule, {k: v for k, v in table.items() if k not in {"name", "rule"}})
