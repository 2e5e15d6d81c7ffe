"""Tables in the paper's shape: a row per strategy, a column per site, the published number beside ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from coati.assembly import Need, strategy_row
from coati.experiments.measures import in_words, measure
from coati.experiments.runner import Study
from coati.experiments.site_specs import GeneratedSite, GeneratedWeb, SearchedTopic
from coati.experiments.sites import SiteFacts
from coati.experiments.spec import Experiment
from coati.experiments.summaries import GENERATED, REPLICAS, Spread, TableEntry, entries, shown_rows
from coati.replaying.example_pages import MOST_PAGES

_CLOSE = 1e-9
_NO_SPREAD = asdict(Spread(1, None, None, None, None, None))


@dataclass(frozen=True, slots=True)
class Table:
    """Cells of text under a header; the first column names the rows."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]

    def markdown(self) -> str:
        """Write the table as Markdown."""
        lines = [f"## {self.title}", "", _line(self.header), _line(("---",) * len(self.header))]
        lines += [_line(row) for row in self.rows]
        return "\n".join([*lines, "", *(f"- {note}" for note in self.notes), ""])


def result_table(study: Study) -> Table:
    """Set the measures of an experiment out as a table."""
    experiment = study.experiment
    found = {(entry.variant.label, entry.measure, entry.site): entry for entry in entries(study)}
    columns = [site.name for site in study.sites]
    columns += [name for name in (REPLICAS, GENERATED) if any(key[2] == name for key in found)]
    rows: list[tuple[str, ...]] = []
    for variant in shown_rows(experiment):
        groups = [experiment.measures] if experiment.joined else [(each,) for each in experiment.measures]
        for measures in groups:
            label = variant.label
            if len(groups) > 1:
                label = f"{label}: {measures[0]}"
            cells = [
                " \\| ".join(
                    _cell(found[variant.label, each, column], experiment.published_by) for each in measures
                )
                for column in columns
            ]
            rows.append((label, *cells))
    title = f"{experiment.table}: {experiment.title}"
    published = any(entry.published is not None for entry in found.values())
    return Table(title, ("", *columns), tuple(rows), tuple(_notes(study, published=published)))


def site_table(sites: Sequence[SiteFacts]) -> Table:
    """Describe the sites as the paper's Table 1 does, with the digests of their archives."""
    header = (
        "site", "start URL", "URLs", "available", "targets", "pages with targets, %", "target MB",
        "target depth", "archive digest",
    )  # fmt: skip
    rows = [
        (
            site.name + (f" ({site.scale})" if site.scale else ""),
            site.start_url,
            f"{site.totals.urls:,}",
            f"{site.available:,}",
            f"{site.totals.targets:,}",
            in_words(site.pages_with_targets_pct, 1),
            _plus_minus(site.target_mb_mean, site.target_mb_sd),
            _plus_minus(site.target_depth_mean, site.target_depth_sd),
            site.digest[:16],
        )
        for site in sites
    ]
    notes = ("available: without errors and redirects. MB and depth: mean ± standard deviation.",)
    return Table("Sites", header, tuple(rows), notes)


def group_table(study: Study) -> Table:
    """List the best groups of each site with pages that they led to, of the first seed."""
    rows = []
    for variant in study.experiment.variants:
        for site in study.sites:
            for place, group in enumerate(study.of(site.name, variant)[0].groups, start=1):
                examples = "; ".join(f"{each['url']} ({each['reward']:g})" for each in group["examples"])
                rows.append(
                    (
                        f"{site.name}, {variant.label}",
                        str(place),
                        f"{group['mean_reward']:,.1f}",
                        f"{group['pages']:,}",
                        _tail(str(group["label"])),
                        examples,
                    )
                )
    header = ("site", "rank", "mean reward", "pages", "tag path (its end)", "best pages (their rewards)")
    notes = ("the first seed's run. A page's reward is the number of new targets that it led to.",)
    return Table("The ten best groups", header, tuple(rows), notes)


def objects(study: Study) -> list[dict[str, Any]]:
    """Return every number as one flat object: each run by its seed, then the summary over seeds."""
    found: list[dict[str, Any]] = []
    for entry in entries(study):
        head = {
            "table": study.experiment.table,
            "site": entry.site,
            "strategy": entry.variant.strategy,
            "variant": entry.variant.name or None,
            "measure": entry.measure,
        }
        # A mean over sites is not a run.
        for seed, value in () if entry.site in {REPLICAS, GENERATED} else entry.values:
            said = {**_said(value), **_by_name(entry, value), **_NO_SPREAD, **_published(entry)}
            found.append({**head, "kind": "run", "seed": seed, **said})
        found.append({**head, "kind": "summary", "seed": None, **_summary(entry)})
    return found


def _by_name(entry: TableEntry, value: float | None) -> dict[str, Any]:
    """Say the measure of experiments over many hosts under its own name, too."""
    return {entry.measure: value} if entry.measure == "relevant_share" else {}


def _summary(entry: TableEntry) -> dict[str, Any]:
    median = entry.spread.median
    spread = {name: _finite(value) for name, value in asdict(entry.spread).items()}
    return {**_said(median), **_by_name(entry, median), **spread, **_published(entry)}


def _published(entry: TableEntry) -> dict[str, Any]:
    """Say what was published; JSON has no infinity, so that it is said apart."""
    value, high = entry.published or (None, None)
    never = value is not None and math.isinf(value)
    return {
        "published": _finite(value),
        "published_high": _finite(high),
        "published_state": "not reached" if never else None,
    }


def _said(value: float | None) -> dict[str, Any]:
    if value is None:
        return {"value": None, "state": "not defined"}
    return {"value": _finite(value), "state": "not reached" if math.isinf(value) else "ok"}


def _finite(value: float | None) -> float | None:
    return None if value is None or math.isinf(value) else value


def _cell(entry: TableEntry, published_by: str) -> str:
    decimals = measure(entry.measure).decimals
    text = _with_spread(entry.spread, decimals)
    if entry.published is not None:
        numbers = "–".join(in_words(each, decimals) for each in entry.published if each is not None)
        text += f" ({published_by} {numbers})"
    return text


def _with_spread(spread: Spread, decimals: int) -> str:
    text = in_words(spread.median, decimals)
    if spread.low is None or spread.high is None or spread.runs < 2:  # noqa: PLR2004 - one run has no spread
        return text
    if spread.high == spread.low or abs(spread.high - spread.low) < _CLOSE:
        return text
    return f"{text} [{in_words(spread.low, decimals)}–{in_words(spread.high, decimals)}]"


def _notes(study: Study, *, published: bool) -> list[str]:
    experiment = study.experiment
    notes = [f"A part of the experiment: {experiment.part}."] if experiment.part else []
    notes += [f"{name}: {measure(name).meaning}." for name in experiment.measures]
    count = len(experiment.seeds)
    spread = "least to most" if count < 4 else "quartiles"  # noqa: PLR2004 - fewer have no quartiles
    if count > 1:
        seeds = f"{count} seeds ({experiment.seeds[0]} to {experiment.seeds[-1]})"
        notes.append(f"Medians over {seeds} [{spread}].")
    for strategy, fewer in experiment.fewer_seeds.items():
        if fewer < count and any(variant.strategy == strategy for variant in experiment.variants):
            notes.append(f"{strategy}: {fewer} seeds only, as it takes long.")
    notes.append("∞: never reached. The mean over sites leaves out sites where a number is not defined.")
    if experiment.published.missing:
        notes.append(f"No published numbers: {experiment.published.missing}.")
    if published:
        notes.append(f"{experiment.published_by}: {experiment.source or 'published'}.")
    notes += _example_notes(experiment)
    notes_of = {variant.strategy: strategy_row(variant.strategy).note for variant in experiment.variants}
    notes += [f"{strategy}: {note}" for strategy, note in sorted(notes_of.items()) if note]
    if any(isinstance(site, GeneratedWeb | SearchedTopic) for site in experiment.sites):
        notes.append("-like: a generated web with some figures of the paper's data; each seed makes another.")
    elif any(isinstance(site, GeneratedSite) for site in experiment.sites):
        notes.append(
            "-like: a generated site with some figures of the paper's site of that name, not that site."
        )
    return notes


def _example_notes(experiment: Experiment) -> list[str]:
    """Say who was given example pages: no other crawler has these advantages."""
    strategies = {
        variant.strategy
        for variant in experiment.variants
        if Need.EXAMPLES in strategy_row(variant.strategy).needs
    }
    if not strategies:
        return []
    given = (
        f"{' and '.join(sorted(strategies))}: told which links are pages, and trained on example pages: up to"
        f" {MOST_PAGES} with links to targets, and as many without, of each other archive among"
        f" {', '.join(experiment.examples)}."
    )
    return [given]


def _plus_minus(mean: float | None, sd: float | None) -> str:
    if mean is None or sd is None:
        return "not defined"
    return f"{mean:,.2f} ± {sd:,.2f}"


def _tail(label: str, length: int = 90) -> str:
    return label if len(label) <= length else "… " + label[-length:]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
