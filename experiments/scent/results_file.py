"""The study's results as text: one function a section of results.md, and the files beside it."""

from __future__ import annotations

import csv
import json
import math
import statistics
from typing import TYPE_CHECKING

from experiments.scent.summary import best_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from experiments.scent.summary import Results, Row

_MAIN = ("bfs", "dfs", "random", "focused", "sb-classifier", "scent", "clairvoyant")
_BASELINES = ("bfs", "dfs", "random", "focused", "sb-classifier")
# What a site's best simple strategy is chosen from.
_SIMPLE = ("sb-classifier", "bfs", "dfs")
_AIMS = ("scent", "scent-bytes", "scent-volume")
# A difference of less than this share of the requests is neither won nor lost.
_EQUAL = 0.005
# The bars of the study.
_MOST_OF_SIMPLE, _WIDEST_QUARTILES = 1.05, 2.0
_LEAST_GAP, _MOST_RATIO, _LEAST_AUC, _LEAST_GAP_OF_HALVES = 0.90, 1.15, 0.97, 0.85

_ONE_TYPE = (
    "The same sites for somebody who wants one media type: every other file is of no use. These crawls were"
    " looked at when parts were chosen (see the README)."
)
_GENERATED = "Sites with figures of the EDBT 2026 paper's Table 1. No parameter was chosen on them."
_MEASURES = (
    "urls", "targets_total", "requests", "targets", "requests_to_90_pct", "bytes_to_90_pct",
    "volume_to_90_pct", "auc", "cpu_us_a_request",
)  # fmt: skip


def write_files(
    out: Path, rows: Sequence[Row], facts: Mapping[str, object], sections: Iterable[list[str]]
) -> None:
    """Write results.md, cells.csv and facts.json."""
    with (out / "cells.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["site", "variant", "seed", *_MEASURES])
        for row in rows:
            writer.writerow([row.site, row.variant, row.seed, *[row.measures[name] for name in _MEASURES]])
    (out / "facts.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    made = (
        f"Commit {facts['commit']}, Python {facts['python']}, {facts['machine']}. Made by `python -m"
        " experiments.scent.study`, which says what each variant is; [cells.csv](cells.csv) has every run,"
        " [facts.json](facts.json) the archives' digests and the parameters."
    )
    head = ["# Scent: results", "", made]
    text = "\n\n".join("\n".join(section) for section in [head, *sections])
    (out / "results.md").write_text(text + "\n", encoding="utf-8")


def replica_sections(
    results: Results, parts: Iterable[str], choices: Sequence[str] | Mapping[str, object]
) -> list[list[str]]:
    """Give everything about real sites."""
    if not results.sites:
        return []
    return [
        ["## Requests to 90 % of the targets", "", *_requests(results), "", *_means(results, asked=True)],
        ["![curves of every site](curves.png)"],
        ["## Wins and losses", "", *_wins(results)],
        ["## The worst cases", "", *_worst(results)],
        ["## Parameters chosen on the other half of the sites", "", *_halves(results, list(choices))],
        ["## Without each part", "", *_gaps(results, "variant", ["scent", *parts])],
        ["## Where bytes are scarce", "", *_bytes(results)],
        ["## What a request costs", "", *_cpu(results)],
    ]


def one_type_sections(results: Results) -> list[list[str]]:
    """Give what is told of crawls for one type of file."""
    if not results.sites:
        return []
    return [_overview("One type of file alone", _ONE_TYPE, results)]


def made_sections(results: Results) -> list[list[str]]:
    """Give what is told of generated sites."""
    if not results.sites:
        return []
    return [
        _overview("Generated sites", _GENERATED, results),
        ["![curves of generated sites](curves-generated.png)"],
        ["### Wins and losses", "", *_wins(results)],
        ["### Where bytes are scarce", "", *_bytes(results)],
    ]


# --- sections -----------------------------------------------------------------------------------


def _overview(title: str, about: str, results: Results) -> list[str]:
    return [f"## {title}", "", about, "", *_requests(results), "", *_means(results)]


def _requests(results: Results) -> list[str]:
    columns = [variant for variant in _MAIN if any(results.runs(site, variant) for site in results.sites)]
    rows = [
        [
            site,
            *(_with_quartiles(results, site, variant) for variant in columns),
            f"{results.gap_closed(site, 'scent'):.2f}",
            f"{results.auc_ratio(site, 'scent'):.3f}",
        ]
        for site in results.sites
    ]
    seeds = max(len(results.runs(site, "scent")) for site in results.sites)
    meaning = f"In % of the site's URLs: medians over {seeds} seeds, in brackets the quartiles."
    return [
        meaning,
        "",
        *_table(["site", *columns, "gap closed by scent", "AUC ratio"], rows),
    ]


def _means(results: Results, *, asked: bool = False) -> list[str]:
    """Give the means over sites, and what was asked for, where it was."""
    rows = [
        [
            variant,
            f"{results.mean_gap(variant):.3f}",
            f"{results.mean_ratio(variant):.3f}",
            f"{results.mean_auc_ratio(variant):.3f}",
        ]
        for variant in (*_BASELINES, "scent")
        if results.has(variant)
    ]
    bars = [
        "asked of scent",
        f"at least {_LEAST_GAP:.2f}",
        f"at most {_MOST_RATIO:.2f}",
        f"at least {_LEAST_AUC:.2f}",
    ]
    head = ["over all sites", "mean gap closed", "ratio to CLAIRVOYANT", "AUC ratio"]
    return _table(head, [*rows, bars] if asked else rows)


def _wins(results: Results) -> list[str]:
    rows = []
    for other in _BASELINES:
        if not results.has(other) or not results.has("scent"):
            continue
        ratios = {site: results.ratio(site, "scent", other) for site in results.sites}
        worst = max(ratios, key=lambda site: ratios[site])
        won = sum(ratio < 1 - _EQUAL for ratio in ratios.values())
        lost = [site for site, ratio in ratios.items() if ratio > 1 + _EQUAL]
        rows.append(
            [
                other,
                str(won),
                str(len(ratios) - won - len(lost)),
                f"{len(lost)}{' (' + ', '.join(lost) + ')' if lost else ''}",
                f"{statistics.geometric_mean(ratios.values()):.2f}",
                f"{ratios[worst]:.2f} ({worst})",
            ]
        )
    return [
        f"Scent's median requests over each baseline's, by site; within {_EQUAL:.1%} is even.",
        "",
        *_table(["against", "won", "even", "lost", "mean ratio", "worst ratio"], rows),
    ]


def _worst(results: Results) -> list[str]:
    rows = []
    for site in results.sites:
        simple = best_of(results, site, _SIMPLE)
        low, high = results.quartiles(site, "scent")
        ratio = results.ratio(site, "scent", simple)
        rows.append(
            [
                site,
                f"{results.median(site, simple):.1f} ({simple})",
                f"{results.median(site, 'scent'):.1f}",
                _marked(ratio, f"{ratio:.3f}", ratio <= _MOST_OF_SIMPLE),
                _marked(high - low, f"{high - low:.2f}", high - low <= _WIDEST_QUARTILES),
            ]
        )
    gap = min(results.sites, key=lambda site: results.gap_closed(site, "scent"))
    far = max(results.sites, key=lambda site: results.ratio(site, "scent", "clairvoyant"))
    asked = (
        f"Asked: at most {_MOST_OF_SIMPLE} times the best simple strategy, and quartiles at most"
        f" {_WIDEST_QUARTILES:g} points apart. What misses is bold."
    )
    named = (
        f"The least of the gap is closed on {gap} ({results.gap_closed(gap, 'scent'):.2f}); the furthest from"
        f" CLAIRVOYANT is {far} ({results.ratio(far, 'scent', 'clairvoyant'):.2f} times its requests)."
    )
    return [
        asked,
        "",
        *_table(["site", "best simple", "scent", "ratio", "quartile range"], rows),
        "",
        named,
    ]


def _halves(results: Results, choices: Sequence[str]) -> list[str]:
    """Choose on one half, report on the other; the halves are every other site by name."""
    choices = [choice for choice in choices if results.has(choice)]
    halves = results.sites[::2], results.sites[1::2]
    if not choices or not all(halves):
        return ["Not run."]
    lines = []
    gaps: list[float] = []
    for chosen_on, reported_on in (halves, halves[::-1]):
        best = _best_choice(results, choices, chosen_on)
        own = [results.gap_closed(site, best) for site in reported_on]
        gaps += own
        lines.append(
            f"- chosen on {', '.join(chosen_on)}: {best}"
            f" (mean gap closed there {results.mean_gap(best, chosen_on):.3f});"
            f" on {', '.join(reported_on)}: {statistics.fmean(own):.3f}"
        )
    mean = statistics.fmean(gaps)
    told = _marked(mean, f"{mean:.3f}", mean >= _LEAST_GAP_OF_HALVES)
    return [
        *lines,
        "",
        f"Mean gap closed with parameters from the other half: {told} (asked: {_LEAST_GAP_OF_HALVES}).",
        "",
        *_gaps(results, "parameters", choices),
    ]


def _best_choice(results: Results, choices: Sequence[str], sites: Sequence[str]) -> str:
    return max(choices, key=lambda choice: results.mean_gap(choice, sites))


def _gaps(results: Results, head: str, variants: Iterable[str]) -> list[str]:
    variants = [variant for variant in variants if results.has(variant)]
    rows = [
        [
            variant,
            str(min(len(results.runs(site, variant)) for site in results.sites)),
            f"{results.mean_gap(variant):.3f}",
            f"{results.mean_ratio(variant):.3f}",
            *(f"{results.gap_closed(site, variant):.2f}" for site in results.sites),
        ]
        for variant in variants
    ]
    return [
        "Gap closed, by the median over seeds.",
        "",
        *_table([head, "seeds", "mean", "ratio to CLAIRVOYANT", *results.sites], rows),
    ]


def _bytes(results: Results) -> list[str]:
    aims = [aim for aim in _AIMS if results.has(aim)]
    columns = ["sb-classifier", *aims] if results.has("sb-classifier") else aims
    meaning = (
        "All bytes fetched until 90 % of the targets were in, in % of the site's; then bytes that are no"
        " target, until 90 % of the bytes of targets were in, in % of the site's such bytes."
    )
    rows = []
    for site in results.sites:
        cells = [
            _best_bold([results.median(site, variant, measure) for variant in columns])
            for measure in ("bytes_to_90_pct", "volume_to_90_pct")
        ]
        rows.append([site, *cells[0], *cells[1]])
    heads = [f"{name}, {what}" for what in ("bytes", "volume") for name in columns]
    return [meaning, "", *_table(["site", *heads], rows)]


def _cpu(results: Results) -> list[str]:
    rows = []
    for site in results.sites:
        ours, theirs = (
            results.median(site, variant, "cpu_us_a_request") for variant in ("scent", "sb-classifier")
        )
        rows.append([site, f"{ours:.0f}", f"{theirs:.0f}", f"{ours / theirs:.2f}"])
    meaning = (
        "Microseconds of processor a request, with links that are kept ready, whatever else ran on the"
        " machine; `python -m benchmarks.scent_cost` measures it with care."
    )
    return [
        meaning,
        "",
        *_table(["site", "scent", "sb-classifier", "ratio"], rows),
    ]


# --- text ---------------------------------------------------------------------------------------


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def _with_quartiles(results: Results, site: str, variant: str) -> str:
    runs = results.values(site, variant)
    if not runs:
        return "-"
    middle = _number(statistics.median(runs))
    if len(runs) == 1:
        return middle
    low, high = results.quartiles(site, variant)
    return f"{middle} ({_number(low)} to {_number(high)})"


def _best_bold(values: Sequence[float]) -> list[str]:
    least = min((value for value in values if math.isfinite(value)), default=math.nan)
    return [f"**{_number(value)}**" if value == least else _number(value) for value in values]


def _number(value: float) -> str:
    if math.isnan(value):
        return "-"
    return "never" if math.isinf(value) else f"{value:.1f}"


def _marked(value: float, text: str, fine: bool) -> str:  # noqa: FBT001 - a predicate's answer
    return text if fine or math.isnan(value) else f"**{text}**"
