"""The crawl of a Scrapy project of one's own, from the project's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from scrapy.utils.misc import load_object

from coati.errors import ConfigError
from coati.live.plan import CrawlPlan
from coati.live.settings import LiveSettings
from coati.web.likely_extensions import likely_extensions
from coati.web.media import parse_types
from coati.web.rules import Rules, Scope, TrapRule
from coati.web.urls import normalise

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from coati.strategies.strategy import Strategy


def plan_of_project(spider: Spider, crawler: Crawler) -> CrawlPlan:
    """Read a crawl from the settings of a Scrapy project; see docs/how-to/use-in-scrapy.md."""
    settings = crawler.settings
    start_urls = [url for named in spider.start_urls if (url := normalise(named)) is not None]
    if not start_urls:
        raise ConfigError(f"the spider {spider.name} needs a start URL: a strategy begins there")
    wanted = settings.get("COATI_STRATEGY")
    if not wanted:
        raise ConfigError("COATI_STRATEGY names no strategy")
    scope = Scope(settings.get("COATI_SCOPE", "domain"))
    types = parse_types(settings.get("COATI_TYPES", "data"))
    return CrawlPlan(
        new_strategy=_strategy_factory(wanted, start_urls, settings.getint("COATI_SEED")),
        rules=Rules(
            start_urls[0],
            scope,
            traps=_trap_rule(wanted),
            wanted_extensions=frozenset(likely_extensions(types)),
            more_start_urls=tuple(start_urls[1:]),
        ),
        one_site=scope is not Scope.ANY,
        types=types,
        settings=LiveSettings(max_redirects=settings.getint("REDIRECT_MAX_TIMES")),
        # Scrapy's own retries come before, and a project has its own ideas of them.
        defers=False,
    )


def _is_name(wanted: object) -> TypeGuard[str]:
    return isinstance(wanted, str) and "." not in wanted


def _trap_rule(wanted: object) -> TrapRule:
    rule: TrapRule = TrapRule.OURS
    if _is_name(wanted):
        rule = load_object("coati.assembly.strategy_row")(wanted).traps
    return rule


def _strategy_factory(wanted: object, start_urls: Sequence[str], seed: int) -> Callable[[], Strategy]:
    """Find a strategy: by its name, by the path of a function of the start URLs, or as such a function."""
    if _is_name(wanted):
        # By path, as a Scrapy project names all its components: this package knows no strategy.
        build = load_object("coati.assembly.build_strategy")
        return lambda: build(wanted, start_urls, seed)
    made = load_object(wanted)  # type: ignore[arg-type]  # a path, or the function itself
    return lambda: made(start_urls)
