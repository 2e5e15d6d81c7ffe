"""Discovery on a generated web: repositories and dataset pages found per request, by method.

    python -m experiments.cikm2021.study --seeds 5 --out experiments/cikm2021/RESULTS.md

Each topic of the paper is a web of its own, its number of repositories a tenth of the registry's (at least
12). Every fetched page counts (the paper counts those of verification only; both are printed); queries
count apart. ACHE and DISCO verify nothing after their first query. Nobody knows then which of their finds
are repositories, so each site that they bring (ACHE: one with a relevant page, DISCO: any) is charged what
the check of it would cost, and counts if it would be verified. The column "unverified" counts, without that
charge, the repositories that they met.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.reporting import circumstances
from coati.assembly import StrategySettings, build_strategy
from coati.model import EVERY_HOST, Method, Page, Request
from coati.strategies.discovery.settings import DiscoverySettings
from coati.strategies.discovery.site_checks import CheckState
from coati.strategies.discovery.start_model import model_of_examples
from coati.testing.data_web import DataWeb, DataWebKnobs
from coati.web.urls import host_of, is_query
from experiments.cikm2021.curves import curve_table, draw_curves, sum_of_medians
from experiments.cikm2021.tables import coverage_table, precision_table, specificity_table

# Keyword hits in the registry of portals, by topic of the paper.
TOPICS = {"covid": 146, "ethiopia": 20, "conflict": 69, "climate": 1217, "education": 2081, "economics": 2573}
SINGLE = ("dsdd-fw", "dsdd-bl", "dsdd-rl", "dsdd-kw")
METHODS = ("search-engine", "ache", "disco", *SINGLE, "bd", "dsdd", "prospect")
PUBLISHED = {
    "search-engine": "se", "ache": "ache", "disco": "disco", "dsdd-fw": "fw+ol", "dsdd-bl": "bl+ol",
    "dsdd-rl": "rl+ol", "dsdd-kw": "kw+ol", "bd": "bd", "dsdd": "bd+ol",
}  # fmt: skip
# Table 1 of the paper, dataset pages, added up over its six topics.
TABLE_1 = {
    "search-engine": 8652, "ache": 4693, "disco": 6560, "dsdd-fw": 9644, "dsdd-bl": 7671, "dsdd-rl": 10742,
    "dsdd-kw": 11091, "bd": 11647, "dsdd": 13565,
}  # fmt: skip
_HEAD = (
    "| method | dataset pages | ratio | published | published ratio | repositories on the topic"
    " | all repositories | pages fetched | of these in checks | pulls | queries | ms of CPU per page"
    " | unverified |"
)
_SIZES = DiscoverySettings()
# A curve has this many points, spread evenly over the budget.
STEPS = 40
_COLUMNS = (
    "topic", "method", "seed", "requests", "in_checks", "pulls", "queries", "repositories", "on_topic",
    "dataset_pages", "unverified", "cpu_ms_per_page", "precision", "curve",
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What one method found on one web."""

    topic: str
    method: str
    seed: int
    requests: int
    queries: int
    repositories: int
    on_topic: int
    dataset_pages: int
    curve: tuple[int, ...]
    cpu_ms_per_page: float
    unverified: int
    in_checks: int
    pulls: int
    # The sites of the ranked list, best first, and which of all sites found are on the topic.
    ranked: tuple[str, ...]
    found: frozenset[str]
    topical: frozenset[str]
    # Of pages that looked relevant, the share that were of repositories: of the first and of the last half.
    precision: tuple[float, float]


def knobs_of(topic: str, scale: float) -> DataWebKnobs:
    """Make the knobs of a topic: other sites grow with the repositories."""
    repositories = max(12, round(TOPICS[topic] * scale))
    return DataWebKnobs(
        repositories=repositories,
        other_repositories=repositories,
        decoys=2 * repositories,
        ordinary=max(300, 3 * repositories),
        hubs=max(8, repositories // 6),
    )


def run(topic: str, method: str, seed: int, budget: int, scale: float) -> Outcome:
    """Search one web with one method."""
    web = DataWeb(knobs_of(topic, scale), seed)
    engines = ("web",)
    settings = DiscoverySettings(
        words=web.topic_words, keyword_engines=engines, related_engines=engines, backlink_engines=engines,
        seeds_per_pull=5, terms_per_pull=5,
    )  # fmt: skip
    model = model_of_examples(web.examples())
    strategy = build_strategy(
        method, [], seed, settings=StrategySettings(discovery=settings, start_model=model)
    )
    pages = queries = 0
    spent = 0.0
    found: set[str] = set()
    brought: set[str] = set()
    charged = 0
    points = [budget * step // STEPS for step in range(1, STEPS + 1)]
    curve = dict.fromkeys(points, 0)
    pulls = _counted_pulls(strategy)
    while pages + charged < budget:
        began = time.process_time()
        request = strategy.choose(float(pages + queries), EVERY_HOST)
        spent += time.process_time() - began
        if not isinstance(request, Request):
            break
        outcome = web.respond(request)
        began = time.process_time()
        settled = strategy.observe(request.id, outcome, float(pages + queries + 1))
        spent += time.process_time() - began
        queries += is_query(request.url)
        if not isinstance(outcome, Page) or is_query(request.url):
            continue
        pages += 1
        host = host_of(request.url)
        relevant = method == "disco" or any(settlement.reward > 0 for settlement in settled)
        if _brings_unverified(strategy) and relevant and host not in brought | _checked(strategy):
            brought.add(host)
            cost, verified = check_of(web, host)
            charged += cost
            if verified:
                found.add(host)
        found |= _verified(strategy) if pages % 10 == 0 else set()
        for point in points:
            if pages + charged <= point:
                curve[point] = len(found)
    found |= _verified(strategy)
    for point in points:
        curve[point] = len(found) if pages + charged <= point else curve[point]
    on_topic = frozenset(host for host in found if web.sites[host].topic == 0)
    checks = strategy._checks  # type: ignore[attr-defined]  # noqa: SLF001 - a study looks inside
    ranked = [each.site for each in strategy.findings() if each.state is CheckState.VERIFIED]  # type: ignore[attr-defined]
    return Outcome(
        topic, method, seed, pages + charged, queries, len(found), len(on_topic),
        sum(web.dataset_pages_of(host) for host in on_topic), tuple(curve.values()),
        1000 * spent / max(1, pages), sum(web.sites[host].is_repository for host in brought),
        charged + sum(check.fetched for check in checks), len(pulls), tuple(ranked), frozenset(found),
        on_topic, _precision(strategy, web),
    )  # fmt: skip


def _counted_pulls(strategy: object) -> list[object]:
    """Let the pulls of a strategy be counted: each appends its action."""
    pulls: list[object] = []
    pull = getattr(strategy, "_pull", None)
    if pull is not None:

        def counted(action: object, score: float | None) -> None:
            pulls.append(action)
            pull(action, score)

        strategy._pull = counted  # type: ignore[attr-defined]  # noqa: SLF001 - a study looks inside
    return pulls


def _precision(strategy: object, web: DataWeb) -> tuple[float, float]:
    """Return how often a page that looked relevant was one of a repository: first half and last half."""
    pages = strategy._pages  # type: ignore[attr-defined]  # noqa: SLF001 - a study looks inside
    right = [web.sites[host_of(page.url)].is_repository for page in pages if page.relevant]
    half = len(right) // 2
    return tuple(sum(part) / max(1, len(part)) for part in (right[:half], right[half:]))  # type: ignore[return-value]


def check_of(web: DataWeb, host: str) -> tuple[int, bool]:
    """Return what the check of a site costs beside its first page, and whether it is verified."""
    first = web.sites[host].url
    waiting, seen, cost = [(first, 0)], {first}, -1
    files: set[str] = set()
    while waiting and cost < _SIZES.check_pages and len(files) < _SIZES.files_to_verify:
        url, depth = waiting.pop(0)
        outcome = web.respond(Request(0, Method.GET, url))
        cost += 1
        if not isinstance(outcome, Page):
            continue
        files |= {link for link in outcome.links.urls if link.endswith(".csv")}
        inside = [link for link in outcome.links.urls if host_of(link) == host and link not in seen]
        if depth < _SIZES.check_depth:
            seen.update(inside)
            waiting += [(link, depth + 1) for link in inside if not link.endswith(".csv")]
    return cost, len(files) >= _SIZES.files_to_verify


def _brings_unverified(strategy: object) -> bool:
    """Tell whether a method is past its first query, and verifies nothing any more."""
    return bool(getattr(strategy, "_following", False) or getattr(strategy, "_pulls", 0))


def _checked(strategy: object) -> set[str]:
    checks = strategy._checks  # type: ignore[attr-defined]  # noqa: SLF001 - a study looks inside
    return {check.site for check in checks if check.state is not CheckState.OPEN}


def _verified(strategy: object) -> set[str]:
    checks = strategy._checks  # type: ignore[attr-defined]  # noqa: SLF001 - a study looks inside
    return {check.site for check in checks if check.state is CheckState.VERIFIED}


def main() -> None:
    """Run the study and write its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=int, default=5000, help="pages fetched, for each method and web")
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--topics", default=",".join(TOPICS))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    outcomes = []
    for topic in given.topics.split(","):
        for method in given.methods.split(","):
            for seed in range(given.seeds):
                outcomes.append(run(topic, method, seed, given.budget, given.scale))
                last = outcomes[-1]
                print(  # noqa: T201 - progress
                    f"{topic} {method} seed {seed}: {last.on_topic} repositories on the topic,"
                    f" {last.dataset_pages} dataset pages, {last.requests} pages, {last.queries} queries",
                    file=sys.stderr, flush=True,
                )  # fmt: skip
    text = tables(outcomes, given)
    if given.out is None:
        print(text)  # noqa: T201 - the result
    else:
        given.out.write_text(text, encoding="utf-8")
        with given.out.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(_COLUMNS)
            writer.writerows([getattr(each, name) for name in _COLUMNS] for each in outcomes)
        draw_curves(outcomes, given.budget, given.out.with_suffix(".png"))


def tables(outcomes: list[Outcome], given: argparse.Namespace) -> str:
    """Write the results as Markdown."""
    methods = list(dict.fromkeys(each.method for each in outcomes))
    totals = {method: _total(outcomes, method, "dataset_pages") for method in methods}
    reference = totals.get("dsdd-kw") or next(iter(totals.values()))
    lines = [
        "# Discovery on generated webs, beside CIKM 2021",
        "",
        f"`{_command(given)}`, {', '.join(f'{name} {value}' for name, value in circumstances().items())}.",
        f"Topics: {given.topics}. Medians over seeds, added up over topics. Ratios are to KW+OL.",
        "",
        _HEAD,
        f"|{'---|' * 13}",
    ]
    for method in methods:
        published = TABLE_1.get(method)
        ratio = f"{published / TABLE_1['dsdd-kw']:.2f}" if published else "-"
        cost = statistics.median(each.cpu_ms_per_page for each in outcomes if each.method == method)
        lines.append(
            f"| {method} | {totals[method]:.0f} | {totals[method] / max(1, reference):.2f}"
            f" | {published or '-'} | {ratio} | {_total(outcomes, method, 'on_topic'):.0f}"
            f" | {_total(outcomes, method, 'repositories'):.0f} | {_total(outcomes, method, 'requests'):.0f}"
            f" | {_total(outcomes, method, 'in_checks'):.0f} | {_total(outcomes, method, 'pulls'):.0f}"
            f" | {_total(outcomes, method, 'queries'):.0f} | {cost:.2f}"
            f" | {_total(outcomes, method, 'unverified'):.0f} |"
        )
    lines += ["", *curve_table(outcomes, given.budget), "", *coverage_table(outcomes)]
    lines += ["", *specificity_table(outcomes), "", *precision_table(outcomes)]
    return "\n".join(lines) + "\n"


def _command(given: argparse.Namespace) -> str:
    sizes = f"--seeds {given.seeds} --budget {given.budget} --scale {given.scale}"
    return f"python -m experiments.cikm2021.study {sizes}"


def _total(outcomes: list[Outcome], method: str, name: str) -> float:
    return sum_of_medians(outcomes, method, lambda each: float(getattr(each, name)))


if __name__ == "__main__":
    main()
