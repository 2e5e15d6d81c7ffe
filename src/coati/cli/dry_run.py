"""``coati crawl --dry-run``: show what would be crawled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from coati.cli.inspect import show_inspection
from coati.cli.terminal import say, say_json
from coati.jobs.crawl_run import NO_LINKS, NO_PAGE, WITHOUT_CERTIFICATE
from coati.jobs.crawling import look_ahead
from coati.jobs.inspecting import Inspection
from coati.jobs.preview import LinkGroup, Preview
from coati.jobs.run_place import RunPlace
from coati.live.failures import FailureReason
from coati.reporting.start_page import why_few_links
from coati.runs.skip_reasons import SkipReason
from coati.stop_reasons import ALLOW_PRIVATE
from coati.units import format_count, format_delay
from coati.web.urls import host_of

_SHOWN_GROUPS = 12
_WIDTH = 100


def dry_run(place: RunPlace) -> int:
    """Print the preview of a crawl, and return the exit code."""
    found = look_ahead(place)
    if isinstance(found, Inspection):
        return show_inspection(found, place.settings.format)
    if place.settings.format == "json":
        say_json(asdict(found))
    else:
        _print(found)
    return found.exit_code


def _print(preview: Preview) -> None:
    lines = [
        ("start page", f"{preview.final_url}: {preview.start_page}"),
        *(("and", f"{url}: {answer}") for url, answer in preview.more_starts.items()),
        ("robots.txt", preview.robots),
        ("scope", f"{preview.scope} of {host_of(preview.start_url)}"),
        ("types", f"{preview.types}, by {preview.strategy}"),
        ("folder", f"{preview.folder}{' (resumes the run there)' if preview.resumes else ''}"),
    ]
    if not preview.start_allowed:
        lines.append(("forbidden", "robots.txt forbids the start page"))
    if preview.crawl_delay is not None:
        lines.append(("crawl delay", f"{format_delay(preview.crawl_delay)}, as robots.txt asks"))
    if preview.sitemaps:
        lines.append(("sitemaps", f"{len(preview.sitemaps)} (--sitemaps uses them)"))
    say(preview.start_url, bold=True)
    for name, text in lines:
        say(f"  {name + ':':<13}{text}")
    step = _next_step(preview)
    if step:
        say(step, err=True)
    if preview.links or preview.start_page.startswith("a page"):
        _print_links(preview)


def _next_step(preview: Preview) -> str:
    """Say what helps where the start page could not be fetched, or is not a page."""
    if preview.start_page == FailureReason.CERTIFICATE:
        return f"Next: {WITHOUT_CERTIFICATE}."
    if SkipReason.PRIVATE_ADDRESS in preview.start_page:
        return f"Next: {ALLOW_PRIVATE}"
    return NO_PAGE if preview.exit_code == NO_LINKS and not preview.start_page.startswith("a page") else ""


def _print_links(preview: Preview) -> None:
    say(
        f"\n{format_count(preview.links, 'link')} on the start page:"
        f" {format_count(preview.admitted)} to follow"
    )
    if preview.unchecked:
        say(f"  {preview.unchecked:>5,} of these are on other hosts, whose robots.txt is not read yet")
    for reason, urls in preview.refused.items():
        say(f"  {urls:>5,} skipped: {reason}")
    _print_groups(preview.groups)
    few_links = why_few_links(preview.admitted, preview.refused, preview.media_type)
    if few_links:
        say(few_links, err=True)


def _print_groups(groups: Sequence[LinkGroup]) -> None:
    if not groups:
        return
    say(f"\n{format_count(len(groups), 'group')} of similar links")
    for group in groups[:_SHOWN_GROUPS]:
        path = group.tag_path
        say(f"  {group.links:>5,} {path if len(path) <= _WIDTH else '… ' + path[-_WIDTH:]}")
        say(f"        {group.examples[0]}")
    if len(groups) > _SHOWN_GROUPS:
        say(f"  and {len(groups) - _SHOWN_GROUPS:,} smaller ones")
