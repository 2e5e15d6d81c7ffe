"""Whether strategies still decide on real sites as they did: a digest of everything that each requests.

    python -m benchmarks.decision_digests --archives DIR [--out FILE] [--against FILE]

DIR holds one imported archive per site (`coati archive import`). Each strategy replays each of them to its
end, with the link cache and one seed. TRES is given example pages of all other archives of DIR, also of those
that --site leaves out; its neural form is not replayed, since the sums of PyTorch differ between machines.

`benchmarks/decision_digests.json` is what the fifteen replicas gave. --against it names what decides
otherwise now, and ends with exit code 1. Where a change is meant, store the digests again with --out and say
why. `coati replay --out` of two checkouts shows the first request that differs.

Only digests of the same kind of processor compare: numpy's exponentials and logarithms differ in the last bit
between instruction sets, which on some sites is enough for scent to take one of two equals before the other
(three of six replicas with and without AVX-512; no other strategy, and no generated site).

`tests/test_decisions.py` does the same on small generated sites, in seconds.
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click
import numpy as np

from benchmarks.reporting import circumstances
from coati.archive.archive import Archive
from coati.assembly import REGISTRY, SITE_STRATEGIES, Need
from coati.experiments.site_runs import SiteRunOptions, run_on_site
from coati.model import Kind, OutcomeKind
from coati.replaying.example_pages import example_pages, join_examples
from coati.replaying.site import ReplaySite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.replaying.trace import Trace
    from coati.strategies.tres.tres import TresExamples

NAMES = [name for name in SITE_STRATEGIES if name != "tres"]
_SEED = 0


class SiteDecisions(TypedDict):
    """What each strategy did on a site, summed up, and the digest of its archive."""

    archive: str
    strategies: dict[str, str]


class Digests(TypedDict):
    """All of it, and what it depends on."""

    made_with: dict[str, str]
    seed: int
    sites: dict[str, SiteDecisions]


# Digests are stored with the labels of archives, which are older than the words of traces.
_LABELS = {OutcomeKind.PAGE.value: Kind.PAGE.value, OutcomeKind.FAILURE.value: Kind.BROKEN.value}


def summed_up(trace: Trace) -> str:
    """Sum up a replay: a digest of method, URL, arm and kind of answer of all requests, and how many."""
    digest = hashlib.sha256()
    for step in trace.steps():
        label = _LABELS.get(step.kind, step.kind)
        digest.update(f"{json.dumps((step.method, step.url, step.arm, label))}\n".encode())
    targets = trace.targets[-1] if trace.targets else 0
    return f"{digest.hexdigest()[:16]}, {len(trace)} requests, {targets} targets"


def _examples(folder: Path) -> tuple[list[str], list[str]]:
    with Archive.open(folder) as archive:
        return example_pages(ReplaySite(archive))


def _decide(folder: Path, names: Sequence[str], examples: TresExamples | None) -> SiteDecisions:
    found: dict[str, str] = {}
    with Archive.open(folder) as archive:
        site = ReplaySite(archive)
        for name in names:
            given = examples if Need.EXAMPLES in REGISTRY[name].needs else None
            run = run_on_site(site, name, _SEED, SiteRunOptions(examples=given))
            found[name] = summed_up(run.trace)
        return {"archive": archive.digest()[:12], "strategies": found}


def decide(archives: Path, sites: Sequence[str], names: Sequence[str], jobs: int) -> dict[str, SiteDecisions]:
    """Replay each of the sites with each of the strategies, the largest sites first."""
    everything = {file.parent.name: file.parent for file in archives.glob("*/archive.toml")}
    for site in sites:
        if site not in everything:
            raise click.UsageError(f"{archives} has no archive {site}")
    sizes = {site: sum(file.stat().st_size for file in everything[site].iterdir()) for site in sites}
    found: dict[str, SiteDecisions] = {}
    # Not forked: what is decided must not depend on what this process has done before.
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        pages = {}
        if any(Need.EXAMPLES in REGISTRY[name].needs for name in names):
            pages = dict(zip(everything, pool.map(_examples, everything.values()), strict=True))
        futures = {}
        for site in sorted(sites, key=lambda site: -sizes[site]):
            others = [each for other, each in sorted(pages.items()) if other != site]
            task = pool.submit(_decide, everything[site], names, join_examples(others) if others else None)
            futures[task] = site
        for done in as_completed(futures):
            found[futures[done]] = done.result()
            click.echo(f"{futures[done]}: {len(found)} of {len(sites)} sites", err=True)
    return {site: found[site] for site in sorted(found)}


def compare(before: Digests, now: Digests) -> Iterator[str]:
    """Name what decides otherwise, one line for each strategy on a site; nothing is said of the rest."""
    for site, new in now["sites"].items():
        old = before["sites"].get(site)
        if old is None:
            yield f"{site}: there are no older digests"
        elif old["archive"] != new["archive"]:
            yield f"{site}: the archive was {old['archive']}, and is {new['archive']}"
        else:
            for name, decisions in new["strategies"].items():
                earlier = old["strategies"].get(name, "no digest")
                if earlier != decisions:
                    yield f"{site}, {name}: was {earlier}; is {decisions}"


def _made_with() -> dict[str, str]:
    libraries = {library: version(library) for library in ("numpy", "selectolax")}
    simd = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    return {**circumstances(), **libraries, "simd": " ".join(simd)}


@click.command()
@click.option("--archives", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--site", "sites", multiple=True, help="Only these.  [default: every archive]")
@click.option("--strategy", default="", help="Only these, separated by commas.  [default: all]")
@click.option("--jobs", default=2, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Write the digests into this file, as JSON.")
@click.option("--against", type=click.Path(exists=True, path_type=Path), help="Compare with this file.")
def main(
    archives: Path, sites: Sequence[str], strategy: str, jobs: int, out: Path | None, against: Path | None
) -> None:
    """Replay every strategy on every archive, and compare what they decide with what they did before."""
    names = strategy.split(",") if strategy else NAMES
    sites = sites or [file.parent.name for file in archives.glob("*/archive.toml")]
    now: Digests = {"made_with": _made_with(), "seed": _SEED, "sites": decide(archives, sites, names, jobs)}
    if out is not None:
        out.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    elif against is None:
        click.echo(json.dumps(now, indent=1))
    if against is None:
        return
    before: Digests = json.loads(against.read_text(encoding="utf-8"))
    changed = list(compare(before, now))
    for line in changed:
        click.echo(line)
    for what, earlier in before["made_with"].items():
        if changed and earlier != now["made_with"][what]:
            click.echo(f"{what} was {earlier}, and is {now['made_with'][what]}")
    left_out = sorted(before["sites"].keys() - now["sites"].keys())
    click.echo(f"compared {len(names)} strategies on {len(now['sites'])} sites: {len(changed)} differences")
    if left_out:
        click.echo(f"not compared: {', '.join(left_out)}")
    if changed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
