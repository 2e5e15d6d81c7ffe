"""Which harvest is meant, and its folder: a new one, or one that is resumed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from coati.budget import Budget
from coati.errors import ConfigError, UsageError
from coati.harvesting.files_harvest import FilesHarvest
from coati.harvesting.folder import HarvestLayout
from coati.harvesting.pages_harvest import PagesHarvest, usual_settings
from coati.harvesting.seeds import Seeds, list_text, read_seeds, seeds_in, seeds_of_discovery
from coati.harvesting.sites import read_hosts
from coati.jobs.arguments import PathText, count_of, path_of, texts_of
from coati.jobs.own_code import require_usable
from coati.runs.layout import Layout, holds_run
from coati.runs.settings_file import read_settings, require_start_urls
from coati.settings.run_file import read_values, with_values
from coati.settings.run_settings import SETTINGS, RunSettings


class HarvestSource(NamedTuple):
    """Where the addresses come from, one of the two: a list (or the folder of a harvest), or a discovery."""

    source: Path | Sequence[str] | None
    discovery: Path | None = None

    @classmethod
    def named(
        cls, source: PathText | Iterable[str] | None, discovery: PathText | None = None
    ) -> HarvestSource:
        """Take what a caller of the library gives: a single text names a file or a folder."""
        found = None if discovery is None else path_of("discovery", discovery)
        if isinstance(source, str) and "://" in source:
            raise UsageError(
                f"{source} is a URL, and a single text names a file with URLs: give a list, [{source!r}]; to"
                " crawl one site, use coati.crawl"
            )
        if isinstance(source, str | PathLike):
            return cls(Path(source), found)
        return cls(None if source is None else texts_of("source", source), found)


class HarvestChoices(NamedTuple):
    """The options of a harvest beside the settings of a crawl; None means as in the harvest to resume."""

    sites_at_once: int | None = None
    fair: bool = False
    exclude_hosts: frozenset[str] | None = None
    extract: bool = True

    @classmethod
    def named(
        cls,
        sites_at_once: int | None,
        exclude_hosts: str | Path | Iterable[str] | None,
        *,
        fair: bool,
        extract: bool = True,
    ) -> HarvestChoices:
        """Take what a caller of the library gives; a path is that of a file with host names."""
        hosts = None
        if isinstance(exclude_hosts, Path):
            hosts = _hosts_in(exclude_hosts)
        elif exclude_hosts is not None:
            hosts = read_hosts(texts_of("exclude_hosts", exclude_hosts))
        at_once = None if sites_at_once is None else count_of("sites_at_once", sites_at_once)
        return cls(at_once, fair, hosts, extract)


def _hosts_in(file: Path) -> frozenset[str]:
    try:
        return read_hosts(list_text(file.read_bytes()).splitlines())
    except OSError as error:
        raise ConfigError(f"exclude-hosts: {file} cannot be read: {error.strerror}") from None


class FoundHarvest(NamedTuple):
    """A harvest that is ready to be carried out, and the addresses that it was made of."""

    plan: FilesHarvest | PagesHarvest
    seeds: Seeds


def find_harvest(where: HarvestSource, given: Mapping[str, object], choices: HarvestChoices) -> FoundHarvest:
    """Find the harvest that is meant; ``given`` are settings of a crawl. Raises `CoatiError` if none is."""
    found = _found(where, given, choices)
    _require_usable(found.plan.settings, found.seeds)
    return found


def _require_usable(settings: RunSettings, seeds: Seeds) -> None:
    """Raise `CoatiError` for settings that the crawl of a site cannot be made of."""
    require_usable(with_values(settings, {"urls": seeds.urls[:1]}))


def _found(where: HarvestSource, given: Mapping[str, object], choices: HarvestChoices) -> FoundHarvest:
    source = where.source
    if isinstance(source, Path) and holds_run(source):
        return _resumed_pages(source, given, choices)
    out, seeds, begun = _place(where, given)
    given = seeds.with_headers(given)
    if given.get("goal"):
        fresh = usual_settings(seeds.urls, given, choices.exclude_hosts or frozenset())
        return FoundHarvest(PagesHarvest(settings=fresh, out=out, extract=choices.extract), seeds)
    settings = with_values(RunSettings(), {**_settings_in(begun), **given})
    excluded = choices.exclude_hosts
    plan = FilesHarvest(
        urls=seeds.urls,
        out=out,
        settings=settings,
        at_once=choices.sites_at_once or begun.get("sites_at_once") or None,
        per_site=Budget(max_requests=settings.host_budget),
        fair=choices.fair or begun.get("fair", False),
        exclude_hosts=frozenset(begun.get("exclude_hosts", ())) if excluded is None else excluded,
    )
    return FoundHarvest(plan, seeds)


# Sites of a list that are crawled side by side; each gets no more requests per second than alone.
_SIDE_BY_SIDE = 100


def find_crawls(where: HarvestSource, given: Mapping[str, object]) -> tuple[FilesHarvest, Seeds]:
    """Find the crawls of a list: each has the whole budget for itself, and none waits for another."""
    seeds = _seeds(where)
    settings = with_values(RunSettings(), {**seeds.with_headers(given), "urls": seeds.urls})
    if not settings.out and not isinstance(where.source, Path):
        raise UsageError("crawls of a list need a folder: give `out`")
    out = Path(settings.out or Path(seeds.source).with_suffix("").name + "-crawls")
    plain = replace(settings, max_requests=None, max_bytes=None, max_time=None, max_targets=None)
    own = settings.budget
    _require_usable(settings, seeds)
    plan = FilesHarvest(urls=seeds.urls, out=out, settings=plain, at_once=_SIDE_BY_SIDE, per_site=own)
    return plan, seeds


def _place(where: HarvestSource, given: Mapping[str, object]) -> tuple[Path, Seeds, dict[str, Any]]:
    """Find the folder, the addresses, and what a harvest in that folder was begun with."""
    source = where.source
    if isinstance(source, Path) and source.is_dir() and where.discovery is None:
        path = HarvestLayout(source).settings
        if not path.is_file():
            raise ConfigError(f"there is no harvest in {source} to resume; give a file with URLs")
        begun = read_settings(path)
        require_start_urls(path, begun)
        return source, Seeds(str(source), tuple(begun["urls"])), begun
    seeds = _seeds(where)
    if ("types" in given) == bool(given.get("goal")):
        raise UsageError(
            "say what to harvest: --goal structured-data collects pages with data inside,"
            " --types data takes data files; one of the two"
        )
    if not given.get("out") and not isinstance(source, Path) and where.discovery is None:
        raise UsageError("a harvest needs a folder: give `out`")
    return (
        Path(str(given.get("out") or Path(seeds.source).with_suffix("").name + "-harvest")),
        seeds,
        {},
    )


def _seeds(where: HarvestSource) -> Seeds:
    source, discovery = where
    if source is not None and discovery is not None:
        raise UsageError("give a list of addresses or --from with the folder of a discovery, not both")
    if discovery is not None:
        return seeds_of_discovery(discovery)
    if source is None:
        raise UsageError("nothing to harvest: give a file with one address per line, or --from DIR")
    if isinstance(source, Path) and str(source).startswith(("http:/", "https:/")):
        raise UsageError(
            f"{source} is a URL, and a harvest takes a file with one URL per line; to crawl one site, use"
            " coati crawl"
        )
    return read_seeds(source) if isinstance(source, Path) else seeds_in(source)


def _resumed_pages(folder: Path, given: Mapping[str, object], choices: HarvestChoices) -> FoundHarvest:
    stored = read_settings(Layout(folder).settings)
    if not stored.get("goal"):
        raise ConfigError(f"{folder} holds the run of a crawl without a goal; resume it by `coati crawl`")
    known = {name: value for name, value in stored.items() if name in SETTINGS}
    excluded = choices.exclude_hosts
    more = {} if excluded is None else {"exclude_host": tuple(sorted(excluded))}
    settings = with_values(RunSettings(), {**read_values(known), **given, **more})
    plan = PagesHarvest(settings=settings, out=folder, extract=choices.extract)
    return FoundHarvest(plan, Seeds(str(folder), settings.urls))


def _settings_in(stored: Mapping[str, object]) -> dict[str, object]:
    known = {name: value for name, value in stored.items() if name in SETTINGS and name != "urls"}
    if not known.get("host_budget"):
        known.pop("host_budget", None)
    return read_values(known)
