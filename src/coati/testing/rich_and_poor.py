"""Sites of which few are rich in files and most are poor, for choices among sites."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from coati.testing.generator import generate_site
from coati.testing.responder import Responder
from coati.testing.site_parameters import SiteParameters

if TYPE_CHECKING:
    from coati.model import Outcome, Request

_PAGES = (200, 800)
_RICH_SHARES = (0.3, 0.6)
_POOR_SHARES = (0.005, 0.05)


class RichOrPoorSite:
    """A generated site that answers the requests of a replay; ``urls`` is how many it has."""

    def __init__(self, seed: int, number: int, *, rich: bool) -> None:
        site = generate_site(_parameters(seed, number, rich=rich), seed=1000 * seed + number)
        self.name = f"made {number}"
        self.start_url = site.start_url
        self.urls = len(site)
        self._responder = Responder(site)

    def span(self) -> None:
        """Have no time span: the site does not change."""

    def respond(
        self, request: Request, now: float | None = None, observed: dict[str, float] | None = None
    ) -> Outcome:
        """Answer a request."""
        del now, observed
        return self._responder.outcome(request)


def _parameters(seed: int, number: int, *, rich: bool) -> SiteParameters:
    """Draw the shape of a site."""
    draw = random.Random(f"{seed} {number}")
    low, high = _RICH_SHARES if rich else _POOR_SHARES
    share = draw.uniform(low, high)
    return SiteParameters(
        pages=draw.randint(*_PAGES),
        target_share=share,
        pages_with_targets=draw.uniform(0.05, 0.3) if rich else share / 2,
        target_depth=draw.uniform(3, 7),
        rich_last=draw.uniform(-1, 1),
        reward_spread=draw.uniform(0.5, 3),
        error_share=draw.uniform(0.0, 0.15),
        extensionless_share=draw.uniform(0.0, 0.6),
    )
