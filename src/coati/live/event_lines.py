"""The events of a crawl as lines of text: what ``--verbose`` prints and ``--log-file`` stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.live.progress import Event, EventKind
from coati.units import format_bytes, format_count, format_delay, format_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coati.live.event_loop import Stalls
    from coati.live.plan import CrawlResult


def event_line(event: Event) -> str:
    """Say in a line what happened; empty for what says nothing by itself.

    >>> answer = {"url": "http://example.org/a.csv", "kind": "target", "status": 200, "size_bytes": 2048}
    >>> event_line(Event(0.0, EventKind.OBSERVED, answer))
    'target, 200, 2.0 kB: http://example.org/a.csv'
    """
    data = event.data
    match event.what:
        case EventKind.OBSERVED:
            return f"{', '.join(_answer(data))}: {data['url']}"
        case EventKind.ROBOTS:
            return f"{', '.join(_answer({'kind': 'robots.txt', **data}))}: {data['url']}"
        case EventKind.RETRIED:
            return f"again: {data['url']}"
        case EventKind.WAITING:
            return f"waiting {format_seconds(_number(data, 'seconds'))} for {data['host']} ({data['why']})"
        case EventKind.STOPPING:
            return f"stopping: {data['reason']}"
    return ""


def end_lines(result: CrawlResult) -> list[str]:
    """Say how a crawl ended."""
    progress = result.progress
    counts = f"{format_count(progress.requests, 'request')}, {format_count(progress.targets, 'target')}"
    notes = [f"note: {message}" for message in result.messages]
    return [*notes, *filter(None, [stalls_line(progress.stalls)]), f"ended: {result.stop.value}; {counts}"]


def stalls_line(stalls: Stalls) -> str:
    """Say how often the crawl stalled; empty if it never did.

    >>> from coati.live.event_loop import Stalls
    >>> stalls_line(Stalls(2, 1.5))
    'The crawl stalled 2 times for more than a second, 1.5 s at the longest.'
    """
    if not stalls.times:
        return ""
    return (
        f"The crawl stalled {format_count(stalls.times, 'time')} for more than a second,"
        f" {format_delay(stalls.longest_seconds)} at the longest."
    )


def _answer(data: Mapping[str, object]) -> list[str]:
    parts = [str(data["kind"])]
    if data.get("status"):
        parts.append(str(data["status"]))
    if data.get("size_bytes"):
        parts.append(format_bytes(int(_number(data, "size_bytes"))))
    if "links" in data:
        parts.append(format_count(int(_number(data, "links")), "link"))
    if data.get("reason"):
        parts.append(str(data["reason"]))
    if data.get("location"):
        parts.append(f"to {data['location']}")
    return parts


def _number(data: Mapping[str, object], name: str) -> float:
    value = data[name]
    return float(value) if isinstance(value, int | float) else 0.0
