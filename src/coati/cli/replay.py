"""``coati replay``: run strategies over an archived site and measure them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from coati.assembly import EARLY_STOPS, REGISTRY, SHORTCUTS
from coati.budget import Budget
from coati.cli.completion import offering
from coati.cli.counted_progress import counted_progress
from coati.cli.output_format import format_option
from coati.cli.replay_watch import watch_callbacks, watch_table
from coati.cli.setting_options import SettingParam
from coati.cli.terminal import print_tables
from coati.errors import ConfigError, UsageError
from coati.jobs.replaying import (
    DEFAULT_STRATEGIES,
    ReplayCallbacks,
    ReplayPlan,
    ReplayResults,
    replay_archive,
)
from coati.jobs.replaying_watches import WatchReplayPlan, are_watches, replay_watches
from coati.replaying.measures import SiteTotals
from coati.settings.setting_types import BYTES, SECONDS, above_zero
from coati.strategies.revisits.relevance import FORMS
from coati.times import parse_moment
from coati.web.invisible_characters import safe
from coati.web.media import PRESETS
from coati.web.rules import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.progress import Progress

    from coati.replaying.comparison import MeasuredRun
    from coati.replaying.site import ReplaySite

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
@click.option("--seeds", default=1, show_default=True, help="How many seeds, counted from --seed.")
@click.option("--seed", default=0, show_default=True, help="The first seed.")
@click.option(
    "--types",
    "types_text",
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
    "start_urls",
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
def replay(  # noqa: PLR0917 - one parameter per option
    archive: Path,
    strategies: str,
    seeds: int,
    seed: int,
    types_text: str | None,
    goal: tuple[str, ...],
    scope: str,
    start_urls: tuple[str, ...],
    shortcuts: str,
    as_of: float | None,
    max_requests: int | None,
    max_bytes: int | None,
    max_time: float | None,
    max_targets: int | None,
    early_stop: str,
    examples: tuple[Path, ...],
    per_cycle: int | None,
    per_site: int | None,
    every: float | None,
    relevant: str,
    cold: bool,
    link_cache: bool,
    out: Path | None,
    form: str,
) -> None:
    """Run strategies over an archived site and measure them.

    Nothing is fetched: responses come from ARCHIVE. The result has one line per run; measures are percentages
    of the site's URLs, compared with CLAIRVOYANT, which knows the site.

    Strategies that watch pages run over the history of ARCHIVE in cycles. They are measured by the share of
    the new links that they find, and by the delay, compared with GREEDY, which knows what is new.
    """
    plan = ReplayPlan(
        strategies=strategies.split(","),
        seeds=seeds,
        seed=seed,
        types=types_text,
        goal=goal,
        scope=scope,
        start_urls=start_urls,
        shortcuts=shortcuts,
        as_of=as_of,
        budget=Budget(max_requests, max_bytes, max_time, max_targets),
        early_stop=early_stop,
        examples=examples,
        link_cache=link_cache,
    )
    if out is not None:
        _make_folder(out)
    messages = Console(stderr=True, highlight=False, markup=False)
    watch = {"per_cycle": per_cycle, "per_site": per_site, "every": every, "relevant": relevant, "cold": cold}
    chosen = {name: value for name, value in watch.items() if value}
    if are_watches(plan.wanted()):
        how = WatchReplayPlan(wanted=plan.wanted(), start_urls=start_urls, **chosen)  # type: ignore[arg-type]
        _replay_watches(archive, how, out, form, messages)
        return
    if chosen:
        raise ConfigError(f"--{next(iter(chosen)).replace('_', '-')} is for strategies that watch pages")
    with counted_progress(messages) as bar:
        results = replay_archive(archive, plan, _callbacks(bar, messages, form))
    _warn(messages, results.remarks)
    if form == "table":
        print_tables(_table(results))
    if out is not None:
        results.write(out)
        messages.print(f"wrote {len(results.runs)} traces, results.jsonl and curves.png to {out}")


def _replay_watches(
    archive: Path, plan: WatchReplayPlan, out: Path | None, form: str, messages: Console
) -> None:
    with counted_progress(messages) as bar:
        results = replay_watches(archive, plan, watch_callbacks(bar, messages, form))
    if form == "table":
        print_tables(watch_table(results))
    if out is not None:
        results.write(out)
        messages.print(f"wrote results.jsonl and coverage.png to {out}")


def _callbacks(bar: Progress, messages: Console, form: str) -> ReplayCallbacks:
    """Show links being extracted and runs as they go; as JSON, each result when it is there."""
    tasks = [bar.add_task("extracting links", total=None)]

    def links(done: int, total: int) -> None:
        bar.update(tasks[0], completed=done, total=total)

    def ready(site: ReplaySite) -> None:
        bar.remove_task(tasks.pop())
        tasks.append(bar.add_task("", total=SiteTotals.of(site.truth).urls))
        starts = " and ".join(site.start_urls)
        messages.print(safe(f"{site.name}: starts at {starts}; targets are {site.definition}"))

    def run(name: str, seed: int | None, requests: int, targets: int) -> None:
        label = name if seed is None else f"{name} seed {seed}"
        bar.update(tasks[0], description=f"{label}: {targets} targets", completed=requests)

    def result(finished: MeasuredRun) -> None:
        if form == "json":
            click.echo(json.dumps(finished.row()))

    return ReplayCallbacks(on_links=links, on_site=ready, on_run=run, on_result=result)


def _warn(messages: Console, remarks: Sequence[str]) -> None:
    """Name pages that the archive no longer gives, or not whole: the measures leave out what they led to."""
    for remark in remarks[:_REMARKS_SHOWN]:
        messages.print(safe(f"warning: {remark}"))
    if len(remarks) > _REMARKS_SHOWN:
        more = len(remarks) - _REMARKS_SHOWN
        messages.print(f"warning: and {more} more pages; `coati archive verify` lists all damaged records")


def _table(results: ReplayResults) -> Table:
    """Show a line per strategy: the median over seeds, and the quartiles where there are seeds enough."""
    totals = results.runs[0].totals
    table = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        title=Text(f"{results.site}: {totals.urls:,} URLs, {totals.targets:,} targets"),
        caption="Medians over seeds (quartiles). 90 %: requests, and bytes of non-targets, until 90 % of"
        " the targets are found, in % of the site. best: clairvoyant. curve: requests to 25, 50, 75 and 90"
        " %.",
    )
    table.add_column("strategy", overflow="fold")
    for name in ("seeds", "requests", "targets", "90 % requests", "90 % volume", "AUC"):
        table.add_column(name, justify="right")
    for name in ("× best", "curve × best", "AUC × best", "gap closed", "CPU s"):
        table.add_column(name, justify="right")
    for strategy in results.strategies():
        seeds = [run.seed for run in results.runs if run.strategy == strategy]
        table.add_row(
            strategy,
            "-" if seeds[0] is None else str(len(seeds)),
            *(_middle(results, strategy, *column) for column in _COLUMNS),
        )
    return table


_COLUMNS = (
    ("requests", "{:,.0f}"),
    ("targets", "{:,.0f}"),
    ("requests_to_90_pct", "{:.1f}"),
    ("volume_to_90_pct", "{:.1f}"),
    ("auc", "{:.3f}"),
    ("clairvoyant_ratio", "{:.2f}"),
    ("curve_ratio", "{:.2f}"),
    ("auc_ratio", "{:.3f}"),
    ("gap_closed", "{:.2f}"),
    ("cpu_seconds", "{:.2f}"),
)
_WITH_QUARTILES = frozenset({"requests_to_90_pct", "volume_to_90_pct"})


def _middle(results: ReplayResults, strategy: str, measure: str, form: str) -> str:
    spread = results.spread(strategy, measure)
    if math.isinf(spread.median):
        return "∞" if measure.endswith("90_pct") else "-"
    text = form.format(spread.median)
    if measure in _WITH_QUARTILES and spread.low is not None and spread.high is not None:
        text += f" ({form.format(spread.low)}-{'∞' if math.isinf(spread.high) else form.format(spread.high)})"
    return text


def _make_folder(folder: Path) -> None:
    """Make the folder for results before the work begins, so that no result is lost because it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {folder}: the folder cannot be created ({error.strerror})") from error
