"""The kinds of sites that an experiment can name, and how its file writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from coati.errors import ConfigError
from coati.experiments.fields import need, refuse_unknown, take, texts
from coati.strategies.discovery.settings import DiscoverySettings
from coati.strategies.revisits.relevance import parse_relevance
from coati.web.media import parse_types

# Among the names of sites: every site that needs no archive.
GENERATED = "generated"


@dataclass(frozen=True, slots=True)
class ArchivedSite:
    """A site in a folder below the folder of archives; ``types`` replace its own definition of a target."""

    folder: str
    types: str = ""

    @property
    def name(self) -> str:
        """What it is called in results."""
        # Without commas, which part the names of sites on the command line.
        return f"{self.folder}:{' '.join(self.types.split(','))}" if self.types else self.folder

    @property
    def model(self) -> str:
        """The site of the paper whose published numbers belong beside ours."""
        return self.folder


@dataclass(frozen=True, slots=True)
class GeneratedSite:
    """A made-up site with the figures of one of the paper's, ``pages`` of HTML large."""

    model: str
    pages: int
    seed: int = 0

    @property
    def name(self) -> str:
        """What it is called in results: nobody should take it for the real site."""
        return f"{self.model}-like"


@dataclass(frozen=True, slots=True)
class GeneratedWeb:
    """A made-up web of many hosts with the figures of a paper's, ``scale`` times as large.

    The seed of a run makes the web, too: runs with the same seed meet the same one.
    """

    model: str
    scale: float
    goal: str = "classic"

    @property
    def name(self) -> str:
        """What it is called in results."""
        return f"{self.model}-like"


@dataclass(frozen=True, slots=True)
class WatchedHistory:
    """A history that is watched, ``per_cycle`` pages at a time; ``relevant`` says which new links count.

    ``folder`` is an archive, or `GENERATED`: then ``seed`` makes it.
    """

    folder: str
    per_cycle: int
    relevant: str = ""
    seed: int = 1

    @property
    def setting(self) -> str:
        """What it is called where only the number of pages differs."""
        kind = self.relevant.partition("=")[2] or self.relevant or "all links"
        # Without commas, which part the names of sites on the command line.
        return f"{self.folder} {kind.replace(',', ' ')}"

    @property
    def name(self) -> str:
        """What it is called in results."""
        return f"{self.setting} k={self.per_cycle}"

    @property
    def model(self) -> str:
        """The domain of the paper whose published numbers belong beside ours."""
        return self.folder


@dataclass(frozen=True, slots=True)
class SearchedTopic:
    """A made-up web with a search engine, in which a topic of the CIKM 2021 paper is searched for.

    Repositories and other sites are ``scale`` times as many as the registry of portals says. ``batch`` is how
    many seeds and terms a pull takes. The seed of a run makes the web.
    """

    topic: str
    scale: float
    batch: int

    @property
    def name(self) -> str:
        """What it is called in results."""
        return f"{self.topic}-like"

    @property
    def model(self) -> str:
        """The topic of the paper whose published numbers belong beside ours."""
        return self.topic


@dataclass(frozen=True, slots=True)
class SitesTogether:
    """Sites that share one budget, ``budget_pct`` percent of all their URLs: archives, or generated ones.

    Of the ``made`` ones, the first ``rich`` are rich in files; the seed of a run makes them. A crawl of a
    single site ends after ``most`` requests.
    """

    folders: tuple[str, ...]
    budget_pct: float
    made: int = 0
    rich: int = 0
    most: int = 40_000

    @property
    def members(self) -> tuple[object, ...]:
        """What is the same for all budgets."""
        return self.folders, self.made, self.rich, self.most

    @property
    def name(self) -> str:
        """What it is called in results."""
        sites = f"{len(self.folders)} archives" if self.folders else f"{self.made} generated"
        return f"{sites} at {self.budget_pct:g} %"

    @property
    def model(self) -> str:
        """No paper has published anything of such sites."""
        return ""


ExperimentSite = ArchivedSite | GeneratedSite | GeneratedWeb | WatchedHistory | SearchedTopic | SitesTogether


def by_name(sites: Iterable[ExperimentSite]) -> dict[str, list[ExperimentSite]]:
    """List what each name chooses: a site, or all crawls of an archive, or all sites that need none.

    >>> both = [ArchivedSite("nilearn", "text/plain"), ArchivedSite("nilearn", "application/zip")]
    >>> {name: len(chosen) for name, chosen in by_name(both).items()}
    {'nilearn': 2, 'nilearn:text/plain': 1, 'nilearn:application/zip': 1}
    """
    listed = list(sites)
    chosen: dict[str, list[ExperimentSite]] = {}
    for site in listed:
        if is_made_up(site):
            chosen.setdefault(GENERATED, []).append(site)
        elif isinstance(site, ArchivedSite | WatchedHistory):
            chosen.setdefault(site.folder, []).append(site)
    # A site of just that name is chosen alone: else nothing could choose it without the others.
    return chosen | {site.name: [site] for site in listed}


def is_made_up(site: ExperimentSite) -> bool:
    """Tell whether a site needs no archive."""
    if isinstance(site, WatchedHistory):
        return site.folder == GENERATED
    if isinstance(site, SitesTogether):
        return not site.folders
    return not isinstance(site, ArchivedSite)


def parse_site(value: object) -> ExperimentSite:
    """Make a site of what a file says of it; raises `ConfigError` where that makes no sense."""
    if isinstance(value, str):
        return archived_site(value)
    if not isinstance(value, Mapping):
        form = (
            "a folder's name, or a table such as { generated }, { archive, types }, { web, scale },"
            " { history, per_cycle }, { topic, scale } or { together, budget_pct }"
        )
        raise ConfigError(f"the site {value!r} should be {form}")
    for key, read in _KINDS.items():
        if key in value:
            return read(value)
    if "archive" in value:
        where = "an archived site"
        refuse_unknown(value, ("archive", "types"), where)
        types = take(value, "types", str, "", where)
        parse_types(types or "data")
        return replace(archived_site(need(value, "archive", where)), types=types)
    where = "a generated site"
    refuse_unknown(value, ("generated", "pages", "seed"), where)
    pages = take(value, "pages", int, 0, where)
    if pages < 1:
        raise ConfigError(f"{where} has no pages: say how many, so that its scale is known")
    return GeneratedSite(need(value, "generated", where), pages, take(value, "seed", int, 0, where))


def _web(value: Mapping[str, object]) -> GeneratedWeb:
    where = "a generated web"
    refuse_unknown(value, ("web", "scale", "goal"), where)
    goal = take(value, "goal", str, "classic", where)
    return GeneratedWeb(need(value, "web", where), _scale(value, where), goal)


def _scale(value: Mapping[str, object], where: str) -> float:
    scale = take(value, "scale", float, 0.0, where)
    if not 0 < scale <= 1:
        raise ConfigError(f"{where}: scale is {scale}, and should be above 0 and at most 1")
    return scale


def _topic(value: Mapping[str, object]) -> SearchedTopic:
    where = "a searched topic"
    refuse_unknown(value, ("topic", "scale", "batch"), where)
    batch = take(value, "batch", int, DiscoverySettings().seeds_per_pull, where)
    if batch < 1:
        raise ConfigError(f"{where}: batch is {batch}, and should be at least 1")
    return SearchedTopic(need(value, "topic", where), _scale(value, where), batch)


def _history(value: Mapping[str, object]) -> WatchedHistory:
    where = "a watched history"
    refuse_unknown(value, ("history", "per_cycle", "relevant", "seed"), where)
    per_cycle = take(value, "per_cycle", int, 0, where)
    if per_cycle < 1:
        raise ConfigError(f"{where} needs per_cycle: how many pages a cycle visits")
    relevant = take(value, "relevant", str, "", where)
    parse_relevance(relevant, ())
    folder = archived_site(need(value, "history", where)).folder
    return WatchedHistory(folder, per_cycle, relevant, take(value, "seed", int, 1, where))


def _together(value: Mapping[str, object]) -> SitesTogether:
    where = "sites that share a budget"
    refuse_unknown(value, ("together", "budget_pct", "sites", "rich", "most"), where)
    percent = take(value, "budget_pct", float, 0.0, where)
    if not 0 < percent <= 100:  # noqa: PLR2004 - percent
        raise ConfigError(f"{where}: budget_pct is {percent:g}, and should be above 0 and at most 100")
    most = take(value, "most", int, 40_000, where)
    if value["together"] != GENERATED:
        refuse_unknown(value, ("together", "budget_pct", "most"), where)
        folders = tuple(archived_site(name).folder for name in texts(value, "together", where))
        if not folders:
            raise ConfigError(f"{where}: together names no archive")
        return SitesTogether(folders, percent, most=most)
    made, rich = take(value, "sites", int, 0, where), take(value, "rich", int, 0, where)
    if not 0 <= rich <= made or not made:
        raise ConfigError(f"{where}: say how many sites there are, and how many of them are rich")
    return SitesTogether((), percent, made, rich, most)


_KINDS: Mapping[str, Callable[[Mapping[str, object]], ExperimentSite]] = {
    "web": _web,
    "history": _history,
    "topic": _topic,
    "together": _together,
}


def archived_site(name: str) -> ArchivedSite:
    """Make the site of an archive by the name of its folder."""
    if not name or "/" in name or "\\" in name or name.startswith("."):
        raise ConfigError(f"the site {name!r} should be the name of a folder below the archives")
    return ArchivedSite(name)
