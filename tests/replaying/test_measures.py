from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coati.model import NO_LINKS, Kind, Method, Page, Request, Target
from coati.replaying.measures import Comparison, Measures, SiteTotals
from coati.replaying.trace import Trace
from coati.strategies.truth import SiteTruth


def trace_of(steps: Sequence[int]) -> Trace:
    """Make a trace: a positive number is a target of that size, others are pages of that size."""
    trace = Trace()
    for identity, size in enumerate(steps):
        outcome = Target(200, size, "text/csv") if size > 0 else Page(200, -size, NO_LINKS)
        trace.add(Request(identity, Method.GET, f"http://a.test/{identity}"), outcome)
    return trace


def test_a_site_is_summed_up_by_kind() -> None:
    kinds = [Kind.PAGE, Kind.TARGET, Kind.BROKEN, Kind.REDIRECT, Kind.OTHER, Kind.TARGET]
    urls = [f"http://a.test/{n}" for n in range(6)]
    sizes = np.array([10, 20, 0, 1, 5, 2**40], np.int64)
    none = [np.zeros(0, np.int32)] * 6
    truth = SiteTruth(
        urls, kinds, sizes, none, np.full(6, -1, np.int32), {url: n for n, url in enumerate(urls)}
    )
    assert SiteTotals.of(truth) == SiteTotals(urls=6, targets=2, target_bytes=20 + 2**40, other_bytes=16)


def test_a_run_by_hand() -> None:
    # Ten URLs, four targets of 10, 20, 30 and 40 bytes, six others of 100 bytes.
    totals = SiteTotals(urls=10, targets=4, target_bytes=100, other_bytes=600)
    trace = trace_of([-100, 40, -100, 30, 20, -100, 10, -100])
    measures = Measures.of(trace, totals)
    assert measures.requests == 8
    assert measures.targets == 4
    # 90 % of four targets are all four: the seventh request brings the last.
    assert measures.requests_to_90_pct == pytest.approx(70)
    # 90 of 100 bytes are in with the fifth request, after 200 other bytes.
    assert measures.volume_to_90_pct == pytest.approx(100 * 200 / 600)
    # 0 1 1 2 3 3 4 4 and, the last value held, 4 4.
    assert measures.auc == pytest.approx((0 + 1 + 1 + 2 + 3 + 3 + 4 + 4 + 4 + 4) / 40)


@pytest.mark.parametrize(
    ("total", "needed"),
    [(1, 1), (2, 2), (9, 9), (10, 9), (11, 10), (20, 18), (70, 63), (100, 90), (110, 99)],
)
def test_ninety_per_cent_is_the_least_whole_number_that_is_enough(total: int, needed: int) -> None:
    totals = SiteTotals(urls=200, targets=total, target_bytes=total, other_bytes=10)
    reached = Measures.of(trace_of([1] * needed), totals)
    short = Measures.of(trace_of([1] * (needed - 1)), totals)
    assert reached.requests_to_90_pct == pytest.approx(100 * needed / 200)
    assert reached.volume_to_90_pct == 0
    assert short.requests_to_90_pct is None
    assert short.volume_to_90_pct is None


def test_volumes_are_exact_beyond_the_digits_of_a_float() -> None:
    total = 10**17 + 10
    needed = 9 * 10**16 + 9
    totals = SiteTotals(urls=4, targets=2, target_bytes=total, other_bytes=100)
    assert Measures.of(trace_of([-10, needed]), totals).volume_to_90_pct == pytest.approx(10)
    assert Measures.of(trace_of([-10, needed - 1]), totals).volume_to_90_pct is None


def test_what_was_never_reached_is_none_and_the_area_is_what_was_found() -> None:
    totals = SiteTotals(urls=4, targets=2, target_bytes=20, other_bytes=20)
    measures = Measures.of(trace_of([-10, 10]), totals)
    assert measures.requests_to_90_pct is None
    assert measures.volume_to_90_pct is None
    assert measures.auc == pytest.approx((0 + 1 + 1 + 1) / 8)


def test_a_site_without_targets_has_no_measures() -> None:
    measures = Measures.of(
        trace_of([-10, -10]), SiteTotals(urls=2, targets=0, target_bytes=0, other_bytes=20)
    )
    assert measures == Measures(2, 0, None, None, None, None, None, None, None)


def test_targets_without_bytes_or_a_site_of_targets_alone_have_no_volume() -> None:
    empty = Measures.of(trace_of([-10, 1]), SiteTotals(urls=2, targets=1, target_bytes=0, other_bytes=10))
    assert empty.volume_to_90_pct is None
    assert empty.requests_to_90_pct == 100
    alone = Measures.of(trace_of([5]), SiteTotals(urls=1, targets=1, target_bytes=5, other_bytes=0))
    assert alone.volume_to_90_pct is None
    assert alone.auc == 1


def test_a_run_without_requests_found_nothing() -> None:
    measures = Measures.of(Trace(), SiteTotals(urls=3, targets=1, target_bytes=5, other_bytes=5))
    assert measures == Measures(0, 0, None, None, None, None, None, None, 0.0)


def test_requests_beyond_the_number_of_urls_count_for_the_percentage_and_not_for_the_area() -> None:
    # A crawler that also asks with HEAD may need more requests than there are URLs.
    totals = SiteTotals(urls=2, targets=1, target_bytes=5, other_bytes=30)
    measures = Measures.of(trace_of([-10, -10, -10, 5]), totals)
    assert measures.requests_to_90_pct == 200
    assert measures.auc == 0


@given(st.lists(st.integers(-9, 9).filter(bool), max_size=30), st.integers(0, 10), st.integers(0, 40))
def test_measures_agree_with_their_definitions(steps: list[int], more_targets: int, more_urls: int) -> None:
    targets = sum(size > 0 for size in steps) + more_targets
    target_bytes = sum(size for size in steps if size > 0) + more_targets
    other_bytes = sum(-size for size in steps if size < 0) + 7
    totals = SiteTotals(len(steps) + more_targets + more_urls + 1, targets, target_bytes, other_bytes)
    measures = Measures.of(trace_of(steps), totals)
    found = [sum(size > 0 for size in steps[:x]) for x in range(totals.urls + 1)]
    for share in (25, 50, 75, 90, 95):
        needed = math.ceil(share * targets / 100)
        enough = [x for x in range(1, len(steps) + 1) if targets and found[x] >= needed]
        expected = pytest.approx(100 * enough[0] / totals.urls) if enough else None
        assert measures.requests_to(share) == expected
    volume = [
        sum(-size for size in steps[:x] if size < 0)
        for x in range(1, len(steps) + 1)
        if target_bytes and 10 * sum(size for size in steps[:x] if size > 0) >= 9 * target_bytes
    ]
    assert measures.volume_to_90_pct == (pytest.approx(100 * volume[0] / other_bytes) if volume else None)
    area = sum(found[1:]) / targets / totals.urls if targets else None
    assert measures.auc == (None if area is None else pytest.approx(area))


def measured(requests: float | None, auc: float | None) -> Measures:
    return Measures(1, 1, requests, requests, requests, requests, requests, None, auc)


def test_a_run_is_set_beside_the_references() -> None:
    best, bfs = measured(20.0, 0.9), measured(60.0, 0.5)
    own = Comparison.of(measured(30.0, 0.6), best, bfs)
    assert (own.clairvoyant_ratio, own.auc_ratio, own.gap_closed) == pytest.approx((1.5, 2 / 3, 0.75))
    assert own.curve_ratio == pytest.approx(1.5)
    early = replace(measured(30.0, 0.6), requests_to_25_pct=10.0, requests_to_95_pct=None)
    assert Comparison.of(early, best, bfs).curve_ratio == pytest.approx((0.5 * 1.5**3) ** 0.25)
    assert astuple(Comparison.of(best, best, bfs)) == pytest.approx((1, 1, 1, 1))
    plain = Comparison.of(bfs, best, bfs)
    assert (plain.clairvoyant_ratio, plain.auc_ratio, plain.gap_closed) == pytest.approx((3, 5 / 9, 0))
    worse = Comparison.of(measured(80.0, 0.1), best, bfs)
    assert worse.gap_closed == -0.5


def test_what_has_no_counterpart_is_none() -> None:
    best, bfs, nothing = measured(20.0, 0.9), measured(60.0, 0.5), measured(None, None)
    never = Comparison.of(measured(None, 0.45), best, bfs)
    assert never == Comparison(None, None, 0.5, None)
    assert Comparison.of(nothing, nothing, nothing) == Comparison(None, None, None, None)
    assert Comparison.of(measured(20.0, 0.5), best, best).gap_closed is None
    assert Comparison.of(measured(20.0, 0.5), measured(20.0, 0.0), bfs).auc_ratio is None
