"""How much other sites say about a site's links, beside how much the site itself says.

    python -m benchmarks.links_across_sites --archives DIR [--out FILE] [--alike NAME,NAME ...]

Two questions about a link that scent must answer before it has learnt anything: is it of no use (dead, or
neither a page nor a wanted file), and if it is a page, is it one of the tenth of the site's pages that are
worth most (`benchmarks.link_orders.worth_of`)? A logistic model sees what scent sees of a link, but for what
names the site: extension, parameters, place on the page, words. It is trained on all other sites, those
apart that are ``--alike`` (made by the same software), with the aspects that at least three of them have; and
on the site itself, in five folds. Reported is the area under the ROC curve: 0.5 says nothing, 1 all.

Needs the extra ``experiments``. Results and what follows from them: experiments/scent/what_links_tell.md.
"""

from __future__ import annotations

import statistics
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np

from benchmarks.link_orders import FOLDS, Crawled, LinkRows, worth_of
from benchmarks.reporting import circumstances
from coati.archive.archive import Archive
from coati.experiments.site_runs import page_links
from coati.model import Kind
from coati.replaying.site import ReplaySite
from coati.strategies.scent.link_keys import NOTHING, Key

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy.typing as npt

    from benchmarks.link_orders import Floats, Numbers

# What can be the same on two sites: no directory as a whole, no page, no name of a file.
GENERIC = [
    Key.EXTENSION, Key.DEPTH, Key.PARAMETERS, Key.ELEMENT, Key.TAIL, Key.ANCHOR, Key.ANCHOR_LENGTH,
    Key.ANCHOR_WORD_1, Key.ANCHOR_WORD_2, Key.ANCHOR_WORD_3, Key.ANCHOR_WORD_4, Key.URL_WORD_1,
    Key.URL_WORD_2, Key.SEGMENT_1, Key.SEGMENT_2, Key.FOLDER, Key.TAIL_EXTENSION,
    Key.FILE_LIKE, Key.NAMED_TYPE,
]  # fmt: skip
QUESTIONS = ("of no use", "worth most")
_FEWEST_SITES = 3
_BEST_SHARE = 0.1
# Weaker shrinking fits words that sites share by chance.
_PENALTY = 10.0
# Every site weighs as much as this many links.
_WEIGHT = 400.0
_MOST_ROWS = 4000


class Question(NamedTuple):
    """Links of one site by their aspects, and the answer for each."""

    rows: Numbers
    answers: Floats


def questions_of(site: ReplaySite, seed: int = 0) -> dict[str, Question]:
    """Describe the links of a site, each kind of link once, at most some thousands of them."""
    truth = site.truth
    crawled = Crawled(list(range(len(truth.urls))), truth.parent.tolist())
    is_target = np.array([kind is Kind.TARGET for kind in truth.kinds], bool)
    worth = worth_of(crawled, is_target)
    ratios = worth.targets / worth.requests
    rows = LinkRows(truth, partial(page_links, site)).of(crawled)[:, GENERIC]
    linked = rows.any(axis=1)
    is_page = np.array([kind is Kind.PAGE for kind in truth.kinds], bool) & linked
    is_redirect = np.array([kind is Kind.REDIRECT for kind in truth.kinds], bool)
    eligible = linked & ~is_target & ~is_redirect
    least = np.quantile(ratios[is_page], 1 - _BEST_SHARE) if is_page.any() else 0.0
    best = ratios >= max(least, 1e-9)
    draw = np.random.default_rng(seed)
    return {
        QUESTIONS[0]: _distinct(rows[eligible], ~is_page[eligible], draw),
        QUESTIONS[1]: _distinct(rows[is_page], best[is_page], draw),
    }


def _distinct(rows: Numbers, answers: npt.NDArray[np.bool_], draw: np.random.Generator) -> Question:
    """Take each kind of link once, with its mean answer."""
    kinds, which = np.unique(rows, axis=0, return_inverse=True)
    counts = np.bincount(which, minlength=len(kinds))
    means = np.bincount(which, answers, minlength=len(kinds)) / np.maximum(counts, 1)
    taken = draw.permutation(len(kinds))[:_MOST_ROWS]
    return Question(kinds[taken], means[taken])


def across(known: Sequence[Question], rows_to_predict: Numbers) -> Floats:
    """Predict the answers for a site's links by what other sites say."""
    sites_with = Counter(key for site in known for key in np.unique(site.rows).tolist())
    fewest = min(_FEWEST_SITES, len(known))
    shared = [key for key, sites in sites_with.items() if sites >= fewest]
    weights = np.concatenate([np.full(len(site.rows), _WEIGHT / len(site.rows)) for site in known])
    rows, answers = (np.concatenate(parts) for parts in zip(*known, strict=True))
    return _learnt(np.where(np.isin(rows, shared), rows, NOTHING), answers, weights, rows_to_predict)


def within(site: Question, seed: int = 0) -> Floats:
    """Predict the answers for a site's links by what its other links say, in folds."""
    fold = np.random.default_rng(seed).permutation(len(site.rows)) % FOLDS
    found = np.zeros(len(site.rows))
    for number in range(FOLDS):
        held_out, rest = fold == number, fold != number
        found[held_out] = _learnt(
            site.rows[rest], site.answers[rest], np.ones(rest.sum()), site.rows[held_out]
        )
    return found


def _learnt(rows: Numbers, answers: Floats, weights: Floats, rows_to_predict: Numbers) -> Floats:
    """Return the log-odds for these links."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder
    from threadpoolctl import threadpool_limits

    # A kind of link with links of both sorts counts for both.
    both = np.concatenate([weights * answers, weights * (1 - answers)])
    is_one = np.arange(len(both)) < len(rows)
    kept = both > 0
    if not len(rows_to_predict) or is_one[kept].all() or not is_one[kept].any():
        return np.zeros(len(rows_to_predict))
    aspects = OneHotEncoder(handle_unknown="ignore")
    model = LogisticRegression(C=1 / _PENALTY, max_iter=300)
    with threadpool_limits(1):
        model.fit(aspects.fit_transform(np.concatenate([rows, rows])[kept]), is_one[kept], both[kept])
        return np.asarray(model.decision_function(aspects.transform(rows_to_predict)), np.float64)


def area(scores: Floats, answers: Floats) -> float | None:
    """Return the area under the ROC curve; None where all links have the same answer."""
    from sklearn.metrics import roc_auc_score

    weights = np.concatenate([answers, 1 - answers])
    sorts = np.concatenate([np.ones(len(scores)), np.zeros(len(scores))])
    if not (answers.any() and (1 - answers).any()):
        return None
    return float(roc_auc_score(sorts, np.concatenate([scores, scores]), sample_weight=weights))


def areas_of(
    sites: Mapping[str, Mapping[str, Question]], alike: Sequence[Collection[str]]
) -> dict[str, dict[str, tuple[float | None, float | None]]]:
    """Return by site and question the area by other sites, and by the site itself."""
    found: dict[str, dict[str, tuple[float | None, float | None]]] = {}
    for name, questions in sites.items():
        family = {name}.union(*(group for group in alike if name in group))
        others = [questions for other, questions in sites.items() if other not in family]
        found[name] = {}
        for question, own in questions.items():
            known = [each[question] for each in others if len(each[question].rows)]
            from_others = area(across(known, own.rows), own.answers) if known else None
            found[name][question] = from_others, area(within(own), own.answers)
    return found


def table_of(areas: Mapping[str, Mapping[str, tuple[float | None, float | None]]]) -> str:
    """Write the areas as Markdown: a line per site, and their means."""
    heads = [f"{question}, by {teller}" for question in QUESTIONS for teller in ("other sites", "itself")]
    rows = {
        site: [value for question in QUESTIONS for value in of_site[question]]
        for site, of_site in sorted(areas.items())
    }
    known = [[value for value in column if value is not None] for column in zip(*rows.values(), strict=True)]
    rows["**mean**"] = [statistics.fmean(column) if column else None for column in known]
    lines = [["site", *heads], ["---"] * (len(heads) + 1)]
    lines += [[site, *("" if value is None else f"{value:.2f}" for value in rows[site])] for site in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


@click.command()
@click.option("--archives", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Also write the table there.")
@click.option("--alike", multiple=True, metavar="NAME,NAME", help="Sites that say nothing of each other.")
def main(archives: Path, out: Path | None, alike: Sequence[str]) -> None:
    """Measure what links say across all archives of a folder."""
    sites = {}
    for folder in sorted(file.parent for file in archives.glob("*/archive.toml")):
        with Archive.open(folder) as archive:
            sites[folder.name] = questions_of(ReplaySite(archive))
    table = table_of(areas_of(sites, [frozenset(names.split(",")) for names in alike]))
    click.echo(table)
    if out is not None:
        made = ", ".join(f"{name} {value}" for name, value in circumstances().items())
        head = (
            "# What other sites say about a site's links\n\n"
            "Area under the ROC curve (`python -m benchmarks.links_across_sites`).\n"
            f"{made}. Alike: {'; '.join(alike) or 'none'}.\n\n"
        )
        out.write_text(head + table, encoding="utf-8")


if __name__ == "__main__":
    main()
