"""``coati inspect``: what software a site runs, what it lists, and which command to use."""

from __future__ import annotations

import click

from coati.cli.setting_options import SettingsCommand, given_settings, setting_option
from coati.cli.terminal import say, say_json
from coati.jobs.inspecting import FEW_REQUESTS, Inspection, ListShown, inspect_site
from coati.model import Failure, Refused
from coati.runs.skip_reasons import SkipReason
from coati.settings.run_file import with_values
from coati.settings.run_settings import SETTINGS, RunSettings
from coati.stop_reasons import ALLOW_PRIVATE
from coati.units import format_count
from coati.web.urls import with_scheme

_OPTIONS = (
    "types", "profile", "max_requests", "delay", "contact", "user_agent", "user", "password_file", "header",
    "proxy", "limits", "format",
)  # fmt: skip
_SHOWN_TYPES = 8

_ABOUT = f"""Show which software a site runs, what it lists, and which command to use.

URL is the site's start page. Requests the start page, robots.txt, some sitemaps and the API of the site's
software: {FEW_REQUESTS} requests at most, unless --max-requests says otherwise. Nothing is
kept.
"""


@click.command(
    cls=SettingsCommand,
    params=[click.Argument(["url"]), *(setting_option(SETTINGS[name]) for name in _OPTIONS)],
    help=_ABOUT,
)
@click.pass_context
def inspect(ctx: click.Context, /, url: str, **_: object) -> int:
    """Inspect a site, print what was found, and return the exit code."""
    settings = with_values(RunSettings(), {**given_settings(ctx), "urls": (with_scheme(url),)})
    return show_inspection(inspect_site(url, settings), settings.format)


def show_inspection(found: Inspection, form: str) -> int:
    """Print what was found out, and return the exit code."""
    if form == "json":
        say_json(found.as_json())
    else:
        _print(found)
    return found.exit_code


def _print(found: Inspection) -> None:
    say(found.final_url, bold=True)
    if isinstance(found.outcome, Refused | Failure):
        say(f"  could not be inspected: {found.outcome.reason}")
        if found.outcome.reason == SkipReason.PRIVATE_ADDRESS:
            say(f"Next: {ALLOW_PRIVATE}", err=True)
        return
    titles = ", ".join(shown.title for shown in found.software)
    say(f"  software:    {titles or 'none that Coati knows'}")
    say(f"  start page:  {format_count(found.links, 'link')}")
    if not found.lists:
        say("  lists:       none: no API, no sitemap")
    for shown in found.lists:
        _print_list(shown)
    for name, error in found.broken.items():
        say(f"the profile {name} was skipped: it raised {error}", err=True)
    say(f"  cost:        {format_count(found.requests, 'request')}")
    say(f"Next: {found.command}")


def _print_list(shown: ListShown) -> None:
    say(f"\n  {shown.name}: {shown.address}")
    if not shown.pages:
        say(f"      {shown.answer}")
        return
    more = ", and more" if shown.more else ""
    listed = format_count(shown.links, "URL")
    pages = format_count(shown.pages, "page")
    say(f"      {listed} on {pages}{more}; {format_count(shown.wanted)} of the wanted types")
    for kind, files in list(shown.types.items())[:_SHOWN_TYPES]:
        say(f"      {files:>7,} {kind}")
    for example in shown.examples[:1]:
        say(f"      for example {example}")
