"""All out-links of a page: as differences in the log, and as few of them as there is room for in memory."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

from coati.model import NO_LINKS, Method, Page, Request
from coati.runs.fetched import Fetched
from coati.runs.layout import Layout
from coati.runs.out_links import OutLinks
from tests.runs.synthetic import new_store


def test_what_is_forgotten_is_read_from_the_log_again(tmp_path: Path) -> None:
    rng = random.Random(5)
    urls = [f"http://site.example/{number}" for number in range(6)]
    visits = []
    with new_store(tmp_path) as store, closing(sqlite3.connect(Layout(tmp_path).database)) as log:
        small = OutLinks(log, kept_hashes=25)
        for number in range(60):
            request = Request(number, Method.GET, rng.choice(urls))
            out_links = sorted(rng.sample(range(1, 2**64, 2**60), rng.randrange(16)))
            difference = small.difference(request.url, number, out_links)
            store.chosen(request, number)
            page = Page(200, 9, NO_LINKS, out_links=out_links)
            store.record(Fetched(request, page, number, number))
            visits.append((request.url, number, difference, out_links))
        assert list(log.execute("SELECT request, out_links FROM pages ORDER BY request")) == [
            (number, difference) for _, number, difference, _ in visits
        ]
        lookups = []
        for room in (1, 25, 10_000):
            asked: list[str] = []
            log.set_trace_callback(asked.append)
            read = OutLinks(log, kept_hashes=room)
            for url, number, difference, out_links in visits:
                assert read.restored(url, number, difference) == out_links
            lookups.append(len(asked))
    # Where there is room, each page is looked up once.
    assert lookups[0] > lookups[1] > lookups[2] == len(urls)
