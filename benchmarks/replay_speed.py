"""What a request costs in replay: reading, parsing and deciding, against parsing alone.

    python -m benchmarks.replay_speed --archives DIR

"parsing alone" is a plain selectolax pass in the same run: parse, select the links, and walk up from each to
write its tag path. "remembered" is the same pass with the paths of ancestors kept, the best that a simple
program does.
"""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from selectolax.lexbor import LexborHTMLParser

from benchmarks.reporting import format_option, report
from coati.archive.archive import Archive
from coati.archive.link_cache import is_page
from coati.assembly import build_strategy
from coati.budget import Budget
from coati.replaying.driver import replay
from coati.replaying.site import ReplaySite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from selectolax.lexbor import LexborNode

_LINKS = "a[href], area[href], iframe[src], frame[src]"
_SAMPLE_PAGES = 400


def _token(node: LexborNode) -> str:
    attributes = node.attributes
    token = node.tag or ""
    if attributes.get("class"):
        token += "." + " ".join((attributes["class"] or "").split())
    return token + (f"#{attributes['id']}" if attributes.get("id") else "")


def plain_pass(body: bytes) -> int:
    """Parse a page and write every link's tag path, walking up from each."""
    count = 0
    for link in LexborHTMLParser(body).css(_LINKS):
        path: list[str] = []
        node: LexborNode | None = link
        while node is not None and node.tag is not None and node.tag[0] != "-":
            path.append(_token(node))
            node = node.parent
        count += len(path[::-1]) > 0
    return count


def remembered_pass(body: bytes) -> int:
    """Parse a page and write every link's tag path, keeping those of the ancestors."""
    paths: dict[int, tuple[str, ...]] = {}

    def path_of(node: LexborNode | None) -> tuple[str, ...]:
        if node is None or node.tag is None or node.tag[0] == "-":
            return ()
        found = paths.get(node.mem_id)
        if found is None:
            found = paths[node.mem_id] = (*path_of(node.parent), _token(node))
        return found

    return sum(len(path_of(link)) > 0 for link in LexborHTMLParser(body).css(_LINKS))


def _rate(work: Callable[[bytes], int], bodies: Sequence[bytes]) -> float:
    begun = time.process_time()
    for body in bodies:
        work(body)
    return len(bodies) / (time.process_time() - begun)


@click.command()
@click.option("--archives", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--site", "sites", multiple=True, default=["nilearn", "networkx"], show_default=True)
@click.option("--strategy", default="sb-classifier", show_default=True)
@click.option("--max-requests", default=4000, show_default=True, help="Of the run that parses every page.")
@format_option
def main(archives: Path, sites: Sequence[str], strategy: str, max_requests: int, form: str) -> None:
    """Measure requests per CPU-second with and without the link cache."""
    rows = []
    for name in sites:
        with Archive.open(archives / name) as archive:
            site = ReplaySite(archive, use_link_cache=False)
            pages = [entry.url for entry in archive.entries() if is_page(entry)]
            bodies = [archive.body(url) for url in pages[:: max(1, len(pages) // _SAMPLE_PAGES)]]
            alone, remembered = _rate(plain_pass, bodies), _rate(remembered_pass, bodies)
            # What was measured before is not to be freed at the expense of a replay.
            gc.collect()
            run = replay(site, build_strategy(strategy, [site.start_url]), Budget(max_requests=max_requests))
            fetched = sum(step.kind == "page" and step.method == "GET" for step in run.trace.steps())
            cached = ReplaySite(archive)
            gc.collect()
            fast = replay(cached, build_strategy(strategy, [site.start_url]), Budget())
            rows.append(
                {
                    "site": name,
                    "KB per page": sum(map(len, bodies)) / len(bodies) / 1000,
                    "parsing alone, pages/s": alone,
                    "remembered, pages/s": remembered,
                    "replay, requests/s": len(run.trace) / run.cpu_seconds,
                    "replay, pages/s": fetched / run.cpu_seconds,
                    "share of parsing alone": fetched / run.cpu_seconds / alone,
                    "share of remembered": fetched / run.cpu_seconds / remembered,
                    "cached links, requests/s": len(fast.trace) / fast.cpu_seconds,
                }
            )
    report(f"replay speed of {strategy}, per CPU-second", rows, form)


if __name__ == "__main__":
    main()
