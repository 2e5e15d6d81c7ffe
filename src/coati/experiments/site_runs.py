"""Run a strategy on a site: what every table, figure and comparison is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from coati.assembly import Need, StrategySettings, build_strategy, strategy_row
from coati.budget import Budget
from coati.errors import ConfigError
from coati.model import NO_LINKS, Method, Page, Request
from coati.replaying.comparison import MeasuredRun
from coati.replaying.driver import Replay, ReplayOptions, replay
from coati.replaying.measures import Comparison, Measures, SiteTotals
from coati.strategies.revisits.watch import Watch

if TYPE_CHECKING:
    from coati.model import PageLinks
    from coati.replaying.site import ReplaySite
    from coati.strategies.stopping.early_stop import EarlyStop
    from coati.strategies.strategy import Strategy
    from coati.strategies.tres.tres import TresExamples

# What every run is measured against: what could be reached at best, and what plain crawling reaches.
BEST, PLAIN = "clairvoyant", "bfs"

OnRun = Callable[[str, int | None, int, int], None]
"""Called with the strategy, its seed, and how many requests and targets there are so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRunOptions:
    """How a strategy is run; everything may be left out."""

    settings: StrategySettings = field(default_factory=StrategySettings)
    budget: Budget = field(default_factory=Budget)
    early_stop: Callable[[], EarlyStop | None] = lambda: None
    examples: TresExamples | None = None
    on_run: OnRun | None = None


def seeds_for(strategy: str, seeds: Sequence[int]) -> tuple[int | None, ...]:
    """List the seeds to run a strategy with: None, once, where a seed changes nothing.

    >>> seeds_for("bfs", [0, 1]), seeds_for("scent", [0, 1])
    ((None,), (0, 1))
    """
    return tuple(seeds) if strategy_row(strategy).seeded else (None,)


def page_links(site: ReplaySite, url: str) -> PageLinks:
    """Return the links of a page as a crawl of the site sees them; none of what is no page."""
    outcome = site.respond(Request(0, Method.GET, url))
    return outcome.links if isinstance(outcome, Page) else NO_LINKS


def built_for(site: ReplaySite, strategy: str, seed: int | None, options: SiteRunOptions) -> Strategy:
    """Build a strategy as it stands before its first choice on a site."""
    built = build_strategy(
        strategy, site.start_urls, seed or 0, site.truth, options.settings, options.examples,
        links_of=partial(page_links, site),
    )  # fmt: skip
    if isinstance(built, Watch):
        raise ConfigError(
            f"{strategy} watches pages, which never ends on a site without a history; declare it as a"
            " StrategyRow that needs Need.HISTORY to replay it over one"
        )
    return built


def run_on_site(
    site: ReplaySite, strategy: str, seed: int | None, options: SiteRunOptions, built: Strategy | None = None
) -> Replay:
    """Run a strategy over a site; ``built`` is one that was built before."""

    def tell(requests: int, targets: int) -> None:
        if options.on_run is not None:
            options.on_run(strategy, seed, requests, targets)

    row = strategy_row(strategy)
    how = ReplayOptions(out_links=Need.OUT_LINKS in row.needs, listed_links=Need.LISTED_LINKS in row.needs)
    built = built or built_for(site, strategy, seed, options)
    # Who knows the truth knows what an API lists.
    shortcuts = row.shortcuts or row.replay_only
    shown = site.under(row.traps, shortcuts=shortcuts)
    return replay(shown, built, options.budget, options.early_stop(), tell, how)


def compare_on_site(
    site: ReplaySite, wanted: Iterable[tuple[str, int | None]], options: SiteRunOptions
) -> Iterator[MeasuredRun]:
    """Run strategies with their seeds, in order; the references are run without budget, once."""
    totals = SiteTotals.of(site.truth, site.relevant_pages())
    best, plain = (_reference(site, name, totals, options.settings) for name in (BEST, PLAIN))
    for strategy, seed in wanted:
        run = run_on_site(site, strategy, seed, options)
        measures = Measures.of(run.trace, totals)
        comparison = Comparison.of(measures, best, plain)
        bound = strategy_row(strategy).bound
        yield MeasuredRun(site.name, strategy, seed, totals, measures, comparison, run, bound)


def _reference(site: ReplaySite, strategy: str, totals: SiteTotals, settings: StrategySettings) -> Measures:
    run = run_on_site(site, strategy, None, SiteRunOptions(settings=settings))
    return Measures.of(run.trace, totals)
