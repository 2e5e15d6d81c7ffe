"""The links between the sites of a generated web with data (`coati.testing.data_web`).

A few sites are linked to by many. Portals link to portals more often than others do, and hubs and decoys have
many links. Who links to portals does not care whether they are open, and lists name closed ones too: how
often is what the actions that follow links depend on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coati.testing.data_web_kinds import SiteKind
from coati.testing.data_web_rows import Rows

if TYPE_CHECKING:
    from coati.testing.data_web_kinds import FittedParameters
    from coati.testing.data_web_rows import Floats, Numbers

# By kind of site (`SiteKind`): the least and most links to other sites, and of these the shares that lead to
# portals, open and closed, and to decoys. The others lead to any site.
_LEAST_LINKS, _MOST_LINKS = (4, 4, 6, 2, 12), (16, 16, 30, 9, 40)
_TO_PORTALS = (0.45, 0.45, 0.3, 0.03, 0.4)
_TO_DECOYS = (0.3, 0.3, 0.4, 0.1, 0.3)
# Of links to portals and to decoys, those that stay within the topic.
_WITHIN_TOPIC = 0.6


def draw_links(
    fitted: FittedParameters, kind: Numbers, topic: Numbers, fame: Floats, rng: np.random.Generator
) -> Rows:
    """Draw the sites that each site links to."""
    least, most, to_portals, to_decoys = (
        np.array(each)[kind] for each in (_LEAST_LINKS, _MOST_LINKS, _TO_PORTALS, _TO_DECOYS)
    )
    own, listed = fitted.closed_links, fitted.closed_listed_links
    to_closed = np.array([own, own, listed, listed, listed])[kind]
    source = np.repeat(np.arange(len(kind)), rng.integers(least, most, endpoint=True))
    chance = rng.random(len(source))
    wanted = np.full(len(source), -1)
    wanted[chance < (to_portals + to_decoys)[source]] = SiteKind.DECOY
    wanted[chance < to_portals[source]] = SiteKind.REPOSITORY
    wanted[chance < (to_portals * to_closed)[source]] = SiteKind.CLOSED
    within = rng.random(len(source)) < _WITHIN_TOPIC
    target = _famous(np.arange(len(kind)), fame, len(source), rng)
    for aim in (SiteKind.REPOSITORY, SiteKind.CLOSED, SiteKind.DECOY):
        any_topic = np.flatnonzero((wanted == aim) & ~within)
        target[any_topic] = _famous(np.flatnonzero(kind == aim), fame, len(any_topic), rng)
        for number in range(int(topic.max()) + 1):
            of_topic = np.flatnonzero((wanted == aim) & within & (topic[source] == number))
            sites = np.flatnonzero((kind == aim) & (topic == number))
            if len(sites):
                target[of_topic] = _famous(sites, fame, len(of_topic), rng)
    others = target != source
    return Rows.of_draws(source[others], target[others], len(kind))


def _famous(sites: Numbers, fame: Floats, count: int, rng: np.random.Generator) -> Numbers:
    """Draw sites by their fame."""
    shares = np.cumsum(fame[sites])
    places = np.searchsorted(shares / shares[-1], rng.random(count)).clip(max=len(sites) - 1)
    drawn: Numbers = sites[places]
    return drawn
