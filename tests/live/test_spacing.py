from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st

from coati.live.spacing import RequestSpacing


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60))
def test_a_crowd_is_pulled_apart_and_nobody_waits_longer_than_that_takes(gaps: list[int]) -> None:
    request_spacing = RequestSpacing(spacing_seconds=4)
    coming = list(accumulate(gaps))
    leaving = [at + request_spacing.seconds_to_wait(at) for at in coming]
    assert leaving[0] == coming[0]
    for (before, left), came in zip(pairwise(leaving), coming[1:], strict=True):
        assert left == max(came, before + 4)


def test_crawls_of_one_delay_that_were_due_together_are_apart_from_the_next_round_on() -> None:
    request_spacing = RequestSpacing(spacing_seconds=0.25)
    due = [0.0] * 8
    for _ in range(2):
        waits = [request_spacing.seconds_to_wait(at) for at in due]
        due = [at + wait + 10.0 for at, wait in zip(due, waits, strict=True)]
    assert waits == [0.0] * 8
