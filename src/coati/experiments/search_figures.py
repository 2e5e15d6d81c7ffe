"""Figure 2 of the CIKM 2021 paper: repositories found against pages fetched, one panel per topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coati.experiments.summaries import shown_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from coati.experiments.runner import Study

_COLUMNS = 3
_POINTS = 101
_STYLES = ("-", "--", "-.", ":")
# As many as matplotlib has before it begins again.
_COLOURS = 10


def repositories_figure(study: Study) -> Figure:
    """Draw the mean over seeds of each row."""
    # Imported here: it takes longer than a small experiment, and only this needs it.
    from matplotlib.figure import Figure

    columns = min(_COLUMNS, len(study.sites))
    rows = -(-len(study.sites) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.2 * rows + 0.6), layout="constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes, site in zip(panels, study.sites, strict=False):
        _draw(axes, study, site.name)
    for axes in panels[len(study.sites) :]:
        axes.set_visible(False)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _draw(axes: Axes, study: Study, site: str) -> None:
    pages = np.linspace(0, study.experiment.budget.max_requests or 0, _POINTS)
    for place, variant in enumerate(shown_rows(study.experiment)):
        found = [np.searchsorted(np.sort(each.found()), pages, "right") for each in study.of(site, variant)]
        style = _STYLES[place // _COLOURS % len(_STYLES)]
        axes.plot(pages, np.mean(found, axis=0), label=variant.label, linestyle=style, linewidth=1.4)
    axes.set(title=site, xlabel="pages fetched", ylabel="repositories found")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
