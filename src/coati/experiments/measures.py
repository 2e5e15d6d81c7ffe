"""What a table can show of a run: the measures by name, with the words that explain them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from coati.errors import unknown_name
from coati.experiments.confusion import CONFUSIONS, PREDICTED_CLASSES, TRUE_CLASSES
from coati.replaying.searches import CURVE_PERCENT, QUARTERS
from coati.strategies.discovery.actions import DISCOVERY_ACTIONS

TOP_GROUPS = 10
# The shares of the targets to which requests are counted.
SHARES_PCT = (25, 50, 75, 90, 95)


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: what it says, and with how many decimals it is worth printing."""

    meaning: str
    decimals: int = 1


_MEASURES = {
    **{
        f"requests_to_{share}_pct": Measure(
            f"requests until {share} % of the targets are in, % of the site's URLs"
        )
        for share in SHARES_PCT
    },
    "volume_to_90_pct": Measure("other bytes until 90 % of the target bytes are in, % of all other bytes"),
    "bytes_to_90_pct": Measure("all bytes until 90 % of the targets are in, % of the site's bytes"),
    "auc": Measure("mean share of the targets that is in, over the crawl", 3),
    "clairvoyant_ratio": Measure("requests_to_90_pct divided by CLAIRVOYANT's", 2),
    "curve_ratio": Measure(
        "requests divided by CLAIRVOYANT's, geometric mean at 25, 50, 75 and 90 % of the targets", 2
    ),
    "auc_ratio": Measure("auc divided by CLAIRVOYANT's", 3),
    "gap_closed": Measure("share of the way from breadth-first to CLAIRVOYANT, in requests_to_90_pct", 2),
    "requests": Measure("requests made", 0),
    "targets": Measure("targets found", 0),
    "cpu_seconds": Measure("processor time of a run, seconds", 2),
    "cpu_ms_per_request": Measure("processor time of a request, milliseconds", 2),
    "late_cost_ratio": Measure("processor time of a request in the last fifth over that in the first", 2),
    "relevant_share": Measure("relevant pages among those fetched", 3),
    "coverage": Measure("new links found, of those that visiting every page in every cycle finds", 3),
    "watch_gap_closed": Measure(
        "share of the way from the better of rr and od-win to greedy, in coverage", 2
    ),
    "mean_age_hours": Measure("mean age of new links when found, hours"),
    "within_1h": Measure("share of the links found that were found within an hour", 3),
    "within_4h": Measure("share of the links found that were found within four hours", 3),
    "new_links_total": Measure("new links that visiting every page in every cycle finds", 0),
    "repositories": Measure("repositories found, of any topic", 0),
    "on_topic": Measure("repositories found that are on the topic", 0),
    "dataset_pages": Measure("pages with links to files, of all repositories found", 0),
    "on_topic_dataset_pages": Measure("pages with links to files, of repositories on the topic", 0),
    "dataset_pages_to_kw": Measure("dataset_pages divided by those of dsdd-kw on the same web", 2),
    "on_topic_dataset_pages_to_kw": Measure(
        "on_topic_dataset_pages divided by those of dsdd-kw on the same web", 2
    ),
    "repositories_to_dsdd": Measure("repositories divided by those of dsdd on the same web", 2),
    "targets_to_knowing": Measure(
        "targets found divided by those of the choice that knows each site's curve beforehand", 3
    ),
    "targets_to_equal_split": Measure("targets found divided by those of an equal split of the budget", 2),
    "repositories_per_1000_pages": Measure("repositories found per 1,000 pages fetched", 1),
    "on_topic_per_1000_pages": Measure("repositories on the topic per 1,000 pages fetched", 1),
    "repositories_per_1000_check_pages": Measure(
        "repositories found per 1,000 pages fetched in checks, which are those that the paper counts", 1
    ),
    "pages_in_checks": Measure("pages fetched in checks", 0),
    "queries": Measure("queries sent", 0),
    **{
        f"repositories_at_{share}_pct": Measure(
            f"repositories found when {share} % of the budget was spent", 0
        )
        for share in CURVE_PERCENT
    },
    "intersection": Measure(
        "of the repositories on the topic that all rows together found, the share that this one and another"
        " found",
        3,
    ),
    "complement": Measure("the share of these that this row alone found", 3),
    **{
        f"specificity_{quarter}_pct": Measure(
            f"share on the topic among the best {quarter} % of the verified repositories", 2
        )
        for quarter in QUARTERS
    },
    "precision_first_half": Measure(
        "of the pages that looked relevant, the share that are of repositories: first half of the search", 2
    ),
    "precision_last_half": Measure("the same in the last half", 2),
    **{
        f"pages_from_{action.name.lower()}": Measure(f"pages found by the action “{action.label}”", 0)
        for action in DISCOVERY_ACTIONS
    },
    "choice_ms": Measure("processor time of a choice, milliseconds", 3),
    "accuracy": Measure("pages that were judged right before they were learnt from, share", 4),
    "reward_mean": Measure("mean reward of the pages that brought any"),
    "reward_sd": Measure("standard deviation of these rewards"),
    "rewarded_pages": Measure("pages that brought a reward", 0),
    "groups": Measure("groups of links that were followed", 0),
    "misclassification_pct": Measure("pages taken for targets and targets for pages, % of both", 2),
}

_PER_CENT = "_pct"
_WORDS = {"html": "pages", "target": "targets", "neither": "links that are neither"}
_MEASURES |= {
    f"{true}_as_{taken}{_PER_CENT}": Measure(f"{_WORDS[true]} taken for {_WORDS[taken]}, % of predictions", 2)
    for true in TRUE_CLASSES
    for taken in PREDICTED_CLASSES
}

# Measures of a family, and what stands behind the colon.
_GROUP_REWARD, _SAVED, _LOST = "group_reward", "saved_pct", "lost_pct"
_FAMILIES = {
    _GROUP_REWARD: Measure("mean reward of the best group, of the second, and so on"),
    _SAVED: Measure("requests saved by stopping early, %"),
    _LOST: Measure("targets lost by stopping early, %"),
}


def measure(name: str) -> Measure:
    """Return a measure by its name."""
    return _MEASURES.get(name) or _FAMILIES[name.partition(":")[0]]


def confusion_of(name: str) -> str | None:
    """Return the cell of the confusion matrix that a measure is about; None where it is about something else.

    >>> confusion_of("target_as_html_pct"), confusion_of("auc")
    ('target_as_html', None)
    """
    cell = name.removesuffix(_PER_CENT)
    return cell if cell in CONFUSIONS else None


def check_measure(name: str, early_stops: Iterable[str]) -> None:
    """Raise for a measure that there is not; ``early_stops`` are the rules that the experiment names."""
    groups = [f"{_GROUP_REWARD}:{place}" for place in range(1, TOP_GROUPS + 1)]
    stops = [f"{family}:{rule}" for rule in early_stops for family in (_SAVED, _LOST)]
    known = [*_MEASURES, *groups, *stops]
    if name not in known:
        raise unknown_name("measure", name, known)


def in_words(value: float | None, decimals: int) -> str:
    """Print a value: infinity where it was never reached, and the words where it is not defined.

    >>> in_words(12.345, 1), in_words(math.inf, 1), in_words(None, 1)
    ('12.3', '∞', 'not defined')
    """
    if value is None:
        return "not defined"
    return "∞" if math.isinf(value) else f"{value:,.{decimals}f}"
