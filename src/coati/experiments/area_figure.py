"""How near each row comes to CLAIRVOYANT, by the area under its curve: all sites in one picture."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from coati.assembly import strategy_row
from coati.experiments.summaries import Spread, value_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coati.experiments.runner import Study
    from coati.experiments.spec import Variant

_MEASURE = "auc_ratio"
_MARKS = "os^vDPX*<>"
_BOUND_COLOUR = "black"


def area_figure(study: Study) -> Figure:
    """Draw a line per site with the median of each row; the site whose best row is the worst stands below."""
    # Imported here: it takes long, and only this needs it.
    from matplotlib.figure import Figure

    rows = study.experiment.variants
    areas = {site.name: [_median(study, site.name, row) for row in rows] for site in study.sites}
    sites = sorted(areas, key=lambda name: max((area for area in areas[name] if area is not None), default=0))
    figure = Figure(figsize=(8, 0.36 * len(sites) + 1.4), layout="constrained")
    axes = figure.subplots()
    axes.axvline(1, color=_BOUND_COLOUR, linestyle="--", linewidth=1)
    for column, (row, mark) in enumerate(zip(rows, cycle(_MARKS), strict=False)):
        found = [(area, line) for line, name in enumerate(sites) if (area := areas[name][column]) is not None]
        colour = _BOUND_COLOUR if strategy_row(row.strategy).bound else None
        axes.scatter(
            [area for area, _ in found], [line for _, line in found],
            marker=mark, color=colour, label=row.label, zorder=3,
        )  # fmt: skip
    axes.set_yticks(range(len(sites)), sites)
    axes.set(xlabel="area under the curve, CLAIRVOYANT = 1")
    axes.grid(axis="x", color="gainsboro")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(frameon=False, loc="outside upper center", ncols=4)
    return figure


def _median(study: Study, site: str, row: Variant) -> float | None:
    return Spread.of([value_of(study, result, _MEASURE) for result in study.of(site, row)]).median
