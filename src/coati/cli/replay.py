"""``coati replay``: run strategies over an archived site and measure them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from coati.assembly import EARLY_STOPS, REGISTRY, SHORTCUTS
from coati.cli.completion import offering
from coati.cli.output_format import format_option
from coati.cli.replay_watch import watch_table
from coati.cli.setting_options import SettingParam
from coati.cli.terminal import print_tables, say, say_json
from coati.errors import ConfigError
from coati.jobs.replay_results import ReplayResults
from coati.jobs.replaying import DEFAULT_STRATEGIES
from coati.jobs.replaying import replay as run_replay
from coati.replaying.comparison import MeasuredRun
from coati.replaying.measures import Measures
from coati.replaying.watch_replay import WatchRun
from coati.settings.setting_types import BYTES, SECONDS, above_zero
from coati.strategies.revisits.relevance import FORMS
from coati.times import parse_moment
from coati.web.media import PRESETS
from coati.web.rules import Scope

_REMARKS_SHOWN = 5


class _Moment(click.ParamType[float]):
    """A time, or a day, which is taken to its end."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401
        try:
            return parse_moment(str(value), end_of_day=True)
        except ConfigError as error:
            self.fail(str(error), param, ctx)


@click.command()
@click.argument("archive", type=click.Path(path_type=Path))
@click.option(
    "--strategy",
    "--strategies",
    "strategies",
    default=",".join(DEFAULT_STRATEGIES),
    show_default=True,
    shell_complete=offering({name: row.summary for name, row in REGISTRY.items()}),
    help="Strategies to run, separated by commas; `coati strategies` lists them, my_module:MyStrategy is"
    " your own.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many seeds, counted from --seed.",
)
@click.option("--seed", default=0, show_default=True, help="The first seed.")
@click.option(
    "--types",
    shell_complete=offering(PRESETS.keys()),
    help="The file types that count as targets, instead of the archive's.",
)
@click.option(
    "--goal",
    multiple=True,
    help="Collect pages that meet this goal (structured-data, microdata>=5, type=Dataset). If repeated,"
    " all goals must be met.",
)
@click.option(
    "--scope",
    type=click.Choice([scope.value for scope in Scope]),
    default=Scope.DOMAIN.value,
    show_default=True,
    help="Which URLs to follow; an archive of many hosts needs `any`.",
)
@click.option(
    "--start-url",
    multiple=True,
    help="Start from another URL of the archive, such as a sitemap or feed. Can be repeated.",
)
@click.option(
    "--shortcuts",
    type=click.Choice(list(SHORTCUTS)),
    default="off",
    show_default=True,
    help="Use the APIs of the site's software if the archive has their responses: `auto` for strategies"
    " that support them, `only` without following any links.",
)
@click.option("--as-of", type=_Moment(), help="Replay the site as of this time (2024-05-06T12:00).")
@click.option("--max-requests", type=int, help="Stop each run after this many requests.")
@click.option(
    "--max-bytes", type=SettingParam(above_zero(BYTES)), help="Stop each run after this many bytes (5MB)."
)
@click.option(
    "--max-time",
    type=SettingParam(above_zero(SECONDS)),
    help="Stop each run after this much simulated time, at one request per second (90s, 2h).",
)
@click.option("--max-targets", type=int, help="Stop each run after this many targets.")
@click.option(
    "--early-stop",
    type=click.Choice(list(EARLY_STOPS)),
    default="off",
    show_default=True,
    help="Rule for stopping early.",
)
@click.option(
    "--examples",
    type=click.Path(path_type=Path),
    multiple=True,
    help="An archive from which tres and tres-light learn beforehand. Can be repeated.",
)
@click.option(
    "--per-cycle",
    type=click.IntRange(1),
    help="For watching: pages to visit per cycle.  [default: 50]",
)
@click.option("--per-site", type=click.IntRange(1), help="For watching: most pages of one site per cycle.")
@click.option(
    "--every",
    type=SettingParam(above_zero(SECONDS)),
    help="For watching: length of a cycle (1h).  [default: the snapshots of the archive]",
)
@click.option(
    "--relevant",
    default="",
    help=f"For watching: which new links count: {FORMS}.  [default: all of the site]",
)
@click.option("--cold", is_flag=True, help="For watching: start without a first visit to every page.")
@click.option(
    "--link-cache/--no-link-cache",
    default=True,
    help="Use the links that were extracted earlier, or parse every page again.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for traces (CSV), results and curves.")
@format_option
def replay(
    archive: Path,
    strategies: str,
    out: Path | None,
    form: str,
    **options: Any,  # noqa: ANN401 - the other options, each by the name that the library gives it
) -> None:
    """Run strategies over an archived site and measure them.

    Nothing is fetched: responses come from ARCHIVE. The result has one line per run; measures are percentages
    of the site's URLs, compared with CLAIRVOYANT, which knows the site.

    Strategies that watch pages run over the history of ARCHIVE in cycles. They are measured by the share of
    the new links that they find, and by the delay, compared with GREEDY, which knows what is new.
    """

    def result(run: MeasuredRun | WatchRun) -> None:
        if form == "json":
            say_json(run.row())

    results = run_replay(
        archive,
        strategies,
        **options,
        out=out,
        on_ready=lambda words: say(words, err=True),
        on_result=result,
        show_progress=True,
    )
    if isinstance(results, ReplayResults):
        _warn(results.remarks)
        tables = [_table(results), _shares_table(results)]
        written = f"{len(results.runs)} traces, results.jsonl and curves.png"
    else:
        tables, written = [watch_table(results)], "results.jsonl and coverage.png"
    if form == "table":
        print_tables(*tables)
    if out is not None:
        say(f"wrote {written} to {out}", err=True)


def _warn(remarks: Sequence[str]) -> None:
    """Name pages that the archive no longer gives, or not whole: the measures leave out what they led to."""
    for remark in remarks[:_REMARKS_SHOWN]:
        say(f"warning: {remark}", err=True)
    if len(remarks) > _REMARKS_SHOWN:
        more = len(remarks) - _REMARKS_SHOWN
        say(f"warning: and {more} more pages; `coati archive verify` lists all damaged records", err=True)


def _table(results: ReplayResults) -> Table:
    """Show a line per strategy: the median over seeds, and the quartiles where there are seeds enough."""
    totals = results.runs[0].totals
    table = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        title=Text(f"{results.site}: {totals.urls:,} URLs, {totals.targets:,} targets"),
        caption="Medians over seeds (quartiles). 90 %: requests, and bytes of non-targets, until 90 % of"
        " the targets are found, in % of the site. best: clairvoyant.",
    )
    table.add_column("strategy", overflow="fold")
    for name in ("seeds", "requests", "targets", "90 % requests", "90 % volume", "AUC"):
        table.add_column(name, justify="right")
    for name in ("× best", "AUC × best", "gap closed", "CPU s"):
        table.add_column(name, justify="right")
    for strategy in results.strategies():
        seeds = [run.seed for run in results.runs if run.strategy == strategy]
        table.add_row(
            strategy,
            "-" if seeds[0] is None else str(len(seeds)),
            *(_middle(results, strategy, *column) for column in _COLUMNS),
        )
    return table


def _shares_table(results: ReplayResults) -> Table:
    """Show how a crawl went before 90 % and after: one threshold is one point of the curve."""
    table = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        title=Text("Requests until a share of the targets is found, in % of the site's URLs"),
        caption="Medians over seeds (quartiles). curve × best: requests divided by clairvoyant's, the"
        " geometric mean at 25, 50, 75 and 90 %.",
    )
    table.add_column("strategy", overflow="fold")
    for measure in _TO_SHARES:
        table.add_column(f"{measure.split('_')[2]} %", justify="right")
    table.add_column("curve × best", justify="right")
    columns = *((measure, "{:.1f}") for measure in _TO_SHARES), ("curve_ratio", "{:.2f}")
    for strategy in results.strategies():
        table.add_row(strategy, *(_middle(results, strategy, *column) for column in columns))
    return table


_TO_SHARES = tuple(each.name for each in fields(Measures) if each.name.startswith("requests_to_"))
_COLUMNS = (
    ("requests", "{:,.0f}"),
    ("targets", "{:,.0f}"),
    ("requests_to_90_pct", "{:.1f}"),
    ("volume_to_90_pct", "{:.1f}"),
    ("auc", "{:.3f}"),
    ("clairvoyant_ratio", "{:.2f}"),
    ("auc_ratio", "{:.3f}"),
    ("gap_closed", "{:.2f}"),
    ("cpu_seconds", "{:.2f}"),
)
_REACHED = frozenset({*_TO_SHARES, "volume_to_90_pct"})


def _middle(results: ReplayResults, strategy: str, measure: str, form: str) -> str:
    spread = results.spread(strategy, measure)
    if math.isinf(spread.median):
        return "∞" if measure in _REACHED else "-"
    text = form.format(spread.median)
    if measure in _REACHED and spread.low is not None and spread.high is not None:
        text += f" ({form.format(spread.low)}-{'∞' if math.isinf(spread.high) else form.format(spread.high)})"
    return text
