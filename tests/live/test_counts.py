"""What the progress says of groups of links."""

from coati.live.counts import CrawlCounts
from coati.live.progress import ArmYield
from coati.model import NO_LINKS, Deferred, Failure, Method, Outcome, Page, Request, Settlement, Target

PAGE = Page(200, 1, NO_LINKS)


def settle(counts: CrawlCounts, number: int, arm: int, outcome: Outcome, *settled: tuple[int, float]) -> None:
    request = Request(number, Method.GET, f"http://example.org/{number}", arm, 0.5)
    counts.settle(request, outcome, [Settlement(*one) for one in settled])


def best(counts: CrawlCounts) -> ArmYield | None:
    return counts.progress(0, 0, {}, str).best_arm


def test_a_page_whose_reward_is_open_is_neither_a_success_nor_a_failure() -> None:
    counts = CrawlCounts()
    settle(counts, 1, 7, PAGE)
    assert best(counts) is None
    settle(counts, 2, 7, PAGE, (1, 12.0))
    assert best(counts) == ArmYield("7", 1, 12.0)
    settle(counts, 3, 7, Failure(404, 0, "status 404"))
    assert best(counts) == ArmYield("7", 2, 12.0)


def test_open_pages_do_not_make_a_group_look_worse_than_another() -> None:
    counts = CrawlCounts()
    settle(counts, 1, 7, PAGE, (1, 12.0))
    settle(counts, 2, 8, PAGE, (2, 5.0))
    for number in range(3, 30):
        settle(counts, number, 7, PAGE)
    assert best(counts) == ArmYield("7", 1, 12.0)


def test_files_and_outages_are_no_pages() -> None:
    counts = CrawlCounts()
    settle(counts, 1, 7, PAGE, (1, 2.0))
    settle(counts, 2, 7, Target(200, 9, "text/csv"))
    settle(counts, 3, 7, Deferred(503, 0, "status 503", 99.0))
    assert best(counts) == ArmYield("7", 1, 2.0)
