from __future__ import annotations

import sqlite3
from pathlib import Path

from coati.discovering.catalogue_software import CatalogueSoftware, software_of
from coati.model import LinkList, Method, Page, Request
from coati.runs.fetched import Fetched
from coati.runs.layout import Layout
from coati.runs.store import RunStore

CKAN = b'<html><head><meta name="generator" content="ckan 2.10.4"></head><body>Data</body></html>'


def test_the_software_of_a_site_is_told_from_the_pages_that_were_kept(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "run", {}, 0.0) as store:
        for number, (url, body) in enumerate(
            [("http://www.data.test/", CKAN), ("http://plain.test/", b"<p>Nothing")]
        ):
            request = Request(number, Method.GET, url)
            store.chosen(request, float(number))
            store.record(
                Fetched(
                    request=request,
                    outcome=Page(200, len(body), LinkList()),
                    started_at=float(number),
                    finished_at=float(number),
                    charged=1,
                    headers=(("Content-Type", "text/html"),),
                    body=body,
                )
            )
    with sqlite3.connect(Layout(tmp_path / "run").database) as connection:
        found = software_of(tmp_path / "run", connection, "data.test")
        assert "CKAN" in found.title
        assert found.api.startswith("http://www.data.test/")
        assert software_of(tmp_path / "run", connection, "plain.test") == CatalogueSoftware()
        assert software_of(tmp_path / "run", connection, "nobody.test") == CatalogueSoftware()
