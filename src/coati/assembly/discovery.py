"""The strategies that `coati discover` searches with; no crawl of a given site is made of these.

They are imported when they are built: few crawls need them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name

from coati.assembly.rows import Need, StrategyInputs, StrategyRow
from coati.strategies.discovery.actions import Action
from coati.strategies.discovery.settings import DsddVariant
from coati.strategies.strategy import Strategy

# What a user may say each time that a search is resumed.
_SAID_AGAIN = ("wishes", "patience")


def _row(
    summary: str,
    place: str,
    *,
    own: tuple[str, ...] = (),
    shortcuts: bool = False,
    **options: DsddVariant,
) -> StrategyRow:
    """Make the row of a class; ``place`` is its module and its name.

    ``own`` are the settings that this class alone is given, ``options`` what it is given by this row.
    """
    path = f"coati.strategies.discovery.{place}"

    def build(given: StrategyInputs) -> Strategy:
        settings = given.settings
        kind: Callable[..., Strategy] = resolve_name(path)
        known = settings.discovery, settings.start_model
        own_settings = {name: getattr(settings, name) for name in own}
        return kind(given.start_urls, *known, wishes=settings.wishes, **own_settings, **options)

    settings_read = ("discovery", "start_model", "wishes", *own)
    return StrategyRow(
        summary,
        build,
        (path.partition(":")[0],),
        settings_read,
        frozenset({Need.OUT_LINKS}),
        seeded=False,
        extractors=("words", "dataset_markup"),
        shortcuts=shortcuts,
        changeable=tuple(name for name in settings_read if name in _SAID_AGAIN),
    )


def _only(action: Action) -> DsddVariant:
    return DsddVariant((action,))


_DSDD = "dsdd:Dsdd"

DISCOVERY: Mapping[str, StrategyRow] = {
    "prospect": _row(
        "our own: dsdd's loop, rewarded by verified repositories per request",
        "prospect:Prospect",
        own=("prospect", "patience"),
        shortcuts=True,
    ),
    "dsdd": _row("a bandit over four actions, a classifier that learns (CIKM 2021, BD+OL)", _DSDD),
    "bd": _row("dsdd whose classifier does not learn (BD)", _DSDD, variant=DsddVariant(learns=False)),
    "dsdd-kw": _row("dsdd with keyword search alone (KW+OL)", _DSDD, variant=_only(Action.KEYWORDS)),
    "dsdd-rl": _row("dsdd with related pages alone (RL+OL)", _DSDD, variant=_only(Action.RELATED)),
    "dsdd-bl": _row("dsdd with backward links alone (BL+OL)", _DSDD, variant=_only(Action.BACKLINKS)),
    "dsdd-fw": _row("dsdd with forward links alone (FW+OL)", _DSDD, variant=_only(Action.FORWARD)),
    "search-engine": _row(
        "two queries, and every result is checked (SEARCH ENGINE)", "search_engine:SearchEngineOnly"
    ),
    "ache": _row(
        "follows links by what pages and links look like, from the first finds on (ACHE)", "ache:Ache"
    ),
    "disco": _row(
        "a bandit that ranks by likeness to the first finds, without verifying (DISCO)", "disco:Disco"
    ),
}
