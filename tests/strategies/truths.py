"""The truth about a site that is a value, as a replay would find it in an archive."""

from __future__ import annotations

import numpy as np

from coati.model import Failure, Kind, Method, Other, Page, Redirect, Refused, Request, Target
from coati.strategies.truth import SiteTruth
from coati.testing.responder import Responder
from coati.testing.site import Site

KINDS = {
    Page: Kind.PAGE,
    Target: Kind.TARGET,
    Redirect: Kind.REDIRECT,
    Other: Kind.OTHER,
    Failure: Kind.BROKEN,
    Refused: Kind.BROKEN,
}


def truth_of(site: Site) -> SiteTruth:
    """Explore a site breadth-first in document order."""
    responder = Responder(site)
    urls, parent = [site.start_url], [-1]
    number_of = {site.start_url: 0}
    kinds, children = [], []
    for number, url in enumerate(urls):
        outcome = responder.outcome(Request(0, Method.GET, url))
        kinds.append(KINDS[type(outcome)])
        found = []
        if isinstance(outcome, Page):
            found = list(dict.fromkeys(outcome.links.urls))
        elif isinstance(outcome, Redirect):
            found = [outcome.location]
        for child in found:
            if child not in number_of:
                number_of[child] = len(urls)
                urls.append(child)
                parent.append(number)
        children.append(np.array([number_of[child] for child in found], np.int32))
    sizes = np.ones(len(urls), np.int64)
    return SiteTruth(urls, kinds, sizes, children, np.array(parent, np.int32), number_of)


class Truths:
    """Truths of sites that are asked for again and again."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Site, SiteTruth]] = {}

    def of(self, site: Site) -> SiteTruth:
        if id(site) not in self._found:
            # The site is kept, so that no other gets its identity.
            self._found[id(site)] = (site, truth_of(site))
        return self._found[id(site)][1]
