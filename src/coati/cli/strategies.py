"""``coati strategies``: list the strategies, or describe some of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from coati.cli.output_format import format_option
from coati.cli.terminal import say, say_json
from coati.jobs.choices import list_strategies

if TYPE_CHECKING:
    from coati.jobs.choices import StrategySummary

_WHERE = {"discover": "coati discover", "watch": "coati watch", "replay": "replay only"}
_WORKS_IN = {
    "crawl": "coati crawl, coati replay and coati experiment",
    "discover": "coati discover",
    "watch": "coati watch, and coati replay over a history",
    "replay": "coati replay and coati experiment, not live",
}
_TRAPS = {
    "ours": "URLs that look like traps, by our rule",
    "published": "URLs that look like traps, by the published rule",
    "off": "none",
}
_LONGEST_VALUE = 70


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@format_option
def strategies(names: tuple[str, ...], form: str) -> None:
    """List the strategies, and which of them work only in replay.

    With names, describe these: what each needs, whether a seed matters, and its settings with their defaults.
    NAME may be the path of your own, my_module:MyStrategy.
    """
    known = list_strategies(names)
    width = max(len(strategy.name) for strategy in known)
    for strategy in known:
        if form == "json":
            say_json(strategy._asdict())
        elif names:
            _describe(strategy)
        else:
            where = f" ({_WHERE[strategy.command]})" if strategy.command in _WHERE else ""
            say(f"{strategy.name:<{width}}  {strategy.summary}{where}")


def _describe(strategy: StrategySummary) -> None:
    say(f"{strategy.name}: {strategy.summary}", bold=True)
    say(f"  works in: {_WORKS_IN[strategy.command]}")
    say(f"  needs: {', '.join(strategy.needs) or 'nothing but new links'}")
    say(f"  seed: {'matters' if strategy.seeded else 'changes nothing'}")
    say(f"  not shown: {_TRAPS[strategy.traps]}")
    say("  settings:" if strategy.settings else "  settings: none")
    for name, value in _flat(strategy.settings):
        written = json.dumps(value)
        say(f"    {name} = {written if len(written) <= _LONGEST_VALUE else f'{written[:_LONGEST_VALUE]}…'}")


def _flat(settings: Mapping[str, object], within: str = "") -> Iterator[tuple[str, object]]:
    """List settings, those inside others as ``scent.caution``."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{within}{name}.")
        else:
            yield within + name, value
