"""``coati discover``: from a few keywords to data repositories."""

from __future__ import annotations

import json

import click

from coati.cli.setting_options import SettingsCommand, given_settings, setting_option
from coati.cli.terminal import say
from coati.discovering.results import Repository
from coati.jobs.discovering import DiscoveryRun, carry_out_search
from coati.jobs.run_place import RunPlace, find_search_place
from coati.jobs.search_progress import SearchView, search_progress_shown
from coati.search.registry import ENGINES
from coati.settings.discovery import DEFAULT_SEARCH
from coati.settings.run_settings import SETTINGS
from coati.stop_reasons import StopReason, text_for_search
from coati.strategies.discovery.topic import ON_TOPIC
from coati.units import format_count

_SHOWN = 20

_HINTS = {
    "no usable response from the search engine": " A SearXNG server must allow the format json in its"
    " settings.yml.",
    "the search engine redirects to another address": " Give --search the address that it redirects"
    " to, such as https:// instead of http://.",
    "private address": " A search within your own network needs --limits allow_private=true.",
}

# What a search for repositories has no use for.
_NOT_OFFERED = frozenset(
    {"urls", "topic", "scope", "sitemaps", "stop_when_dry", "max_targets", "dry_run", "folders", "types"}
    | {"exec", "exec_timeout", "goal", "hints"}
)
# Where a search has another default than a crawl.
_DEFAULTS = {"strategy": DEFAULT_SEARCH}

_ABOUT = """Find data repositories on a topic with search engines and links.

TOPIC is a few words, or the folder of a discovery to resume. At least one search engine is needed (--search).
Pages that look like a data repository are checked; a repository is verified when enough data files are found
on it. `coati harvest --from FOLDER --types data` then collects the files.
"""


def _parameters() -> list[click.Parameter]:
    # Not named after the setting: it may also be a folder.
    start = click.Argument(["start"], nargs=-1, metavar="[TOPIC]...", type=str)
    return [
        start,
        *(
            setting_option(setting, _DEFAULTS.get(name))
            for name, setting in SETTINGS.items()
            if name not in _NOT_OFFERED
        ),
    ]


@click.command(cls=SettingsCommand, params=_parameters(), help=_ABOUT)
@click.pass_context
def discover(ctx: click.Context, /, start: tuple[str, ...], **_: object) -> int:
    """Read the options, carry the search out, and return the exit code."""
    place = find_search_place(start, given_settings(ctx))
    settings = place.settings
    if not settings.quiet:
        _say_what_begins(place)
    view = SearchView(settings.budget)
    with search_progress_shown(view, quiet=settings.quiet) as on_progress:
        run = carry_out_search(place, on_progress)
    _show(run)
    return run.exit_code


def _say_what_begins(place: RunPlace) -> None:
    settings = place.settings
    what = f"Resuming the search in {place.folder}" if place.resumed else f"Searching into {place.folder}"
    click.echo(
        f"{what}: “{settings.topic}” by {settings.strategy}, with {', '.join(settings.search)}.", err=True
    )
    for text in settings.search:
        row = ENGINES.get(text.partition("=")[0])
        if row is not None and row.price:
            click.echo(f"  {text}: {_most_queries(settings.max_queries)}; {row.price}", err=True)
    if settings.offline:
        click.echo(f"Offline: all responses come from the archive {settings.archive}.", err=True)


def _most_queries(most: int | None) -> str:
    if most is None:
        return "any number of queries (--max-queries sets a limit)"
    return f"at most {format_count(most, 'query', 'queries')}"


def _show(run: DiscoveryRun) -> None:
    found = run.found
    for message in found.result.messages:
        say(f"Note: {message}", err=True)
    if run.place.settings.format == "json":
        for repository in found.repositories:
            say(json.dumps({"what": "repository", **repository.as_json()}, ensure_ascii=False))
        say(json.dumps({"what": "search", **run.as_json()}, ensure_ascii=False))
    else:
        _print(run)
    for action in found.asleep:
        say(f"Note: not used, because no engine offers it: {action}.", err=True)
    failure = found.result.first_failure
    if failure and not found.sites:
        say(f"First error: {failure}.{_HINTS.get(failure, '')}", err=True)
    for sentence in _next_steps(run):
        say(f"Next: {sentence}", err=True)


def _print(run: DiscoveryRun) -> None:
    found = run.found
    say(f"Stopped: {_why_it_stopped(run)}.")
    requests = format_count(found.result.progress.requests, "request")
    say(
        f"  {format_count(len(found.repositories), 'repository', 'repositories')} verified of"
        f" {format_count(len(found.sites), 'site')} checked, {requests},"
        f" {format_count(len(found.dataset_pages), 'page')} with links to data files"
    )
    if found.repositories:
        say()
        say(f"  {'':>3} {'site':<36} {'topic':>5} {'files':>6} {'pages':>6}  formats, and how it was found")
        for repository in found.repositories[:_SHOWN]:
            say(_line(repository))
        if len(found.repositories) > _SHOWN:
            say(f"      … and {len(found.repositories) - _SHOWN} more")
        say()
    say(f"  {'repositories:':<14}{run.folder / 'repositories.csv'}, repositories.jsonl")
    if run.report is not None:
        say(f"  {'report:':<14}{run.report}")


def _why_it_stopped(run: DiscoveryRun) -> str:
    found = run.found
    more = text_for_search(found.queries_waiting, found.gave_up_after)
    if run.stop is StopReason.FINISHED and more is not None:
        return more.brief
    return (run.engine_trouble or run.stop.text).brief


def _line(repository: Repository) -> str:
    formats = " ".join(list(repository.formats)[:4]) or "-"
    how = "accepted by you" if repository.by_user else f"{repository.action}: {repository.query}"
    return (
        f"  {repository.rank or '':>3} {repository.site[:36]:<36} {repository.topic:>5.0%}"
        f" {repository.files:>6} {repository.pages_fetched:>6}  {formats}; {how[:80]}"
    )


def _next_steps(run: DiscoveryRun) -> list[str]:
    found, stop = run.found, run.stop
    steps = []
    if found.gave_up_after:
        steps.append(
            f"the last {format_count(found.gave_up_after, 'request')} found no repository: `coati discover"
            f" {run.folder} --patience N` continues the search"
        )
    elif found.queries_waiting and stop is StopReason.FINISHED:
        steps.append(
            f"{format_count(found.queries_waiting, 'query', 'queries')} left: continue with a larger"
            f" --max-queries (coati discover {run.folder} --max-queries N)"
        )
    elif stop.resumable and run.engine_trouble is None:
        budget = "" if stop is StopReason.INTERRUPTED else ", with a larger budget"
        steps.append(f"`coati discover {run.folder}` continues{budget}")
    if run.engine_trouble is not None:
        steps.append(run.engine_trouble.next_step)
    elif not found.sites:
        steps.append(
            "no page looked like a data repository: try other words, another engine, or --accept URL with"
            " a repository that you know"
        )
    elif not found.repositories:
        steps.append(
            f"no site was verified: `coati explain {found.sites[0].site} --run {run.folder}` says why not;"
            " try other words, or --accept URL with a repository that you know"
        )
    else:
        if all(repository.topic < ON_TOPIC for repository in found.repositories):
            steps.append(
                "none of these repositories speaks much of the topic: try other words or another engine"
            )
        steps.append(f"`coati harvest --from {run.folder} --types data` collects the files")
    return steps
