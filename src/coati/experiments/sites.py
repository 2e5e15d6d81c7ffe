"""The sites of an experiment: found or generated once, and described as the paper's Table 1 does."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np

from coati.archive.archive import Archive
from coati.errors import UsageError
from coati.experiments.deciding_code import modules_digest
from coati.experiments.site_specs import (
    GENERATED,
    ExperimentSite,
    GeneratedSite,
    GeneratedWeb,
    SearchedTopic,
    SitesTogether,
    WatchedHistory,
)
from coati.model import Kind
from coati.replaying.driver import ReplaySource
from coati.replaying.measures import SiteTotals
from coati.replaying.site import ReplaySite
from coati.web.media import parse_types

if TYPE_CHECKING:
    from coati.experiments.workers import WorkerCache
    from coati.replaying.searched_web import SearchedWeb
    from coati.replaying.web import Web
    from coati.strategies.truth import SiteTruth

MakeSite = Callable[[GeneratedSite, Path], None]
"""Writes a generated site as an archive into a folder that does not exist yet."""

OpenWeb = Callable[[GeneratedWeb, int], "Web"]
"""Makes a web of many hosts from its figures and a seed."""

OpenTopic = Callable[[SearchedTopic, int], "SearchedWeb"]
"""Makes the web that a topic is searched for in, from a seed."""

OpenHistory = Callable[[int], "History"]
"""Makes a history of pages from a seed."""


class MemberSite(ReplaySource, Protocol):
    """A generated site: what answers, where it begins, and how many URLs it has."""

    start_url: str
    urls: int


OpenMemberSite = Callable[[SitesTogether, int, int], MemberSite]
"""Makes one of the generated sites that share a budget, from a seed and its number."""

_ARCHIVE_FILE = "archive.toml"
_GENERATOR = ("coati.testing.generator", "coati.testing.paper_sites")


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """A site as the paper's Table 1 describes one, and its digest. Sizes are in millions of bytes.

    What only a single site has is None for a history, a web of many hosts, a searched topic, several sites.
    """

    name: str
    archive: Path
    digest: str
    start_url: str
    totals: SiteTotals
    available: int
    pages_with_targets_pct: float | None = None
    target_mb_mean: float | None = None
    target_mb_sd: float | None = None
    target_depth_mean: float | None = None
    target_depth_sd: float | None = None
    generated: bool = False
    scale: str = ""
    types: str = ""

    @classmethod
    def without_archive(
        cls,
        site: GeneratedWeb | SearchedTopic | SitesTogether,
        made_by: tuple[str, ...],
        counts: tuple[int, int],
        scale: str,
        *,
        start_url: str = "",
        generated: bool = True,
    ) -> Self:
        """Sum up what no single archive holds, by its URLs and targets; the modules ``made_by`` decide it."""
        digest = hashlib.sha256(f"{site!r} {modules_digest(made_by)}".encode()).hexdigest()
        totals = SiteTotals(*counts, 0, 0)
        return cls(site.name, Path(), digest, start_url, totals, counts[0], generated=generated, scale=scale)


class History(NamedTuple):
    """A history to be watched: what answers, which pages are watched, and when each cycle begins."""

    site: ReplaySource
    pages: tuple[str, ...]
    moments: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Generators:
    """What makes all that is generated; other processes call them, too."""

    write_site: MakeSite
    open_web: OpenWeb
    open_history: OpenHistory
    open_topic: OpenTopic
    open_member_site: OpenMemberSite


class Places:
    """Knows where the archives of an experiment are, and makes those that are generated."""

    def __init__(self, archives: Path | None, cache: Path, generators: Generators) -> None:
        self._archives = archives
        self._cache = cache
        self.generators = generators

    def holds(self, name: str) -> bool:
        """Tell whether there is an archive of this name."""
        return self._archives is not None and (self._archives / name / _ARCHIVE_FILE).is_file()

    def missing(self, names: Iterable[str]) -> tuple[str, ...]:
        """List the archives that are not there."""
        return tuple(name for name in names if not self.holds(name))

    @property
    def where(self) -> str:
        """Where archives are looked for, in words."""
        if self._archives is None:
            return "say with --archives where they are"
        return f"--archives is {self._archives}"

    def find(self, site: ExperimentSite) -> Path:
        """Return the archive of a site; raises `UsageError` where there is none."""
        if isinstance(site, GeneratedWeb | SearchedTopic | SitesTogether) or (
            isinstance(site, WatchedHistory) and site.folder == GENERATED
        ):
            raise TypeError(f"{site.name} is made when it is needed")
        if isinstance(site, GeneratedSite):
            return self._generated(site)
        if self._archives is None:
            raise UsageError(f"the site {site.name} is an archive: say with --archives where it is")
        folder = self._archives / site.folder
        if not self.holds(site.folder):
            there = sorted(path.parent.name for path in self._archives.glob(f"*/{_ARCHIVE_FILE}"))
            raise UsageError(
                f"there is no archive {site.folder} in {self._archives}, only:"
                f" {', '.join(there) or 'nothing'}; --sites runs a part of an experiment"
            )
        return folder

    def _generated(self, site: GeneratedSite) -> Path:
        # Another version of the generator makes another site.
        name = f"{site.name}-{site.pages}-{site.seed}-{modules_digest(_GENERATOR)[:8]}"
        folder = self._cache / name
        if not folder.exists():
            draft = self._cache / f"{name}.new"
            if draft.exists():
                shutil.rmtree(draft)
            self._cache.mkdir(parents=True, exist_ok=True)
            self.generators.write_site(site, draft)
            draft.rename(folder)
        return folder


def open_site(cache: WorkerCache, folder: Path, types: str = "") -> ReplaySite:
    """Open an archive for replay, or take it from the cache, which holds one: they are large."""
    if cache.get("folder") != (folder, types):
        if "archive" in cache:
            cache["archive"].close()
        cache.clear()
        archive = Archive.open(folder)
        site = ReplaySite(archive, types=parse_types(types) if types else None)
        cache.update(folder=(folder, types), archive=archive, digest=archive.digest(), site=site)
    site = cache["site"]
    assert isinstance(site, ReplaySite)  # noqa: S101 - for the reader and for mypy: nobody else puts one there
    return site


def describe(cache: WorkerCache, place: tuple[str, Path, str]) -> SiteFacts:
    """Sum a site up, and leave its links extracted for all who come later."""
    name, folder, types = place
    site = open_site(cache, folder, types)
    truth = site.truth
    targets = np.flatnonzero([kind is Kind.TARGET for kind in truth.kinds])
    megabytes = truth.sizes[targets] / 1e6
    depth = _depths(truth)[targets]
    return SiteFacts(
        name=name,
        archive=folder,
        types=types,
        digest=cache["digest"],
        start_url=site.start_url,
        totals=SiteTotals.of(truth),
        available=sum(kind not in {Kind.BROKEN, Kind.REDIRECT} for kind in truth.kinds),
        pages_with_targets_pct=_pages_with_targets(truth, frozenset(targets.tolist())),
        target_mb_mean=float(megabytes.mean()) if len(targets) else None,
        target_mb_sd=float(megabytes.std()) if len(targets) else None,
        target_depth_mean=float(depth.mean()) if len(targets) else None,
        target_depth_sd=float(depth.std()) if len(targets) else None,
    )


def _depths(truth: SiteTruth) -> np.ndarray:
    depth = np.zeros(len(truth.urls), np.int64)
    for number, parent in enumerate(truth.parent.tolist()):
        if parent >= 0:
            depth[number] = depth[parent] + 1
    return depth


def _pages_with_targets(truth: SiteTruth, targets: frozenset[int]) -> float | None:
    pages = [number for number, kind in enumerate(truth.kinds) if kind is Kind.PAGE]
    if not pages:
        return None
    return 100 * sum(not targets.isdisjoint(truth.children[page].tolist()) for page in pages) / len(pages)
