"""Fifty generated sites of which ten are rich, recorded as `recording` records real ones."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from coati.assembly import build_strategy
from coati.testing.generator import generate_site
from coati.testing.respond import Responder
from coati.testing.site_parameters import SiteParameters
from experiments.many_sites.recording import RecordedSite, crawled

if TYPE_CHECKING:
    from pathlib import Path

SITES = 50
RICH = 10

_PAGES = (200, 800)
_RICH_SHARES = (0.3, 0.6)
_POOR_SHARES = (0.005, 0.05)


def record_made(seed: int, number: int, strategy: str, keep: Path) -> RecordedSite:
    """Crawl one generated site to its end; a record that is there is read."""
    file = keep / f"made{seed}-{number}--{strategy}.npz"
    if not file.exists():
        keep.mkdir(parents=True, exist_ok=True)
        site = generate_site(parameters(seed, number), seed=1000 * seed + number)
        urls = len(site)
        made = build_strategy(strategy, [site.start_url], seed)
        expected, gained = crawled(Responder(site).outcome, made, 4 * urls)
        np.savez_compressed(file, urls=urls, expected=expected, gained=gained)
    with np.load(file) as held:
        return RecordedSite(f"made {number}", int(held["urls"]), held["expected"], held["gained"])


def parameters(seed: int, number: int) -> SiteParameters:
    """Draw the shape of one of the sites; the first ten are rich."""
    draw = random.Random(f"{seed} {number}")
    low, high = _RICH_SHARES if number < RICH else _POOR_SHARES
    share = draw.uniform(low, high)
    return SiteParameters(
        pages=draw.randint(*_PAGES),
        target_share=share,
        pages_with_targets=draw.uniform(0.05, 0.3) if number < RICH else share / 2,
        target_depth=draw.uniform(3, 7),
        rich_last=draw.uniform(-1, 1),
        reward_spread=draw.uniform(0.5, 3),
        error_share=draw.uniform(0.0, 0.15),
        extensionless_share=draw.uniform(0.0, 0.6),
    )
