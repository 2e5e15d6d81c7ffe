"""Small snapshot tables, as the tests of their import and of watches use them."""

from __future__ import annotations

import gzip
from pathlib import Path

PAGE, OTHER = "http://www.news.test/", "http://www.news.test/politics"


def write_tables(folder: Path, tables: dict[str, list[str]]) -> Path:
    """Write tables, a line each; ``|`` stands for a tab."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in tables.items():
        text = "".join(line.replace("|", "\t") + "\n" for line in lines).encode()
        (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return folder


def write_news(folder: Path) -> Path:
    """Write four hours of two pages; the second fails in the third hour."""
    links = [f"{n}|{n // 2}|{int(n % 2)}|http://www.news.test/{n}.html|Story <{n}>" for n in range(5)]
    return write_tables(
        folder,
        {
            "times.tsv": [f"{hour}|2023-03-01T0{hour}:12:00+00:00" for hour in range(4)],
            "pages.tsv": [f"0|news.test|front|{PAGE}", f"1|news.test|politics|{OTHER}"],
            "links.tsv.gz": links,
            "events.tsv.gz": ["0|0|+0,1|-", "0|1|+1|-", "1|0|+2|-0", "3|1|+3,4|-"],
            "fails.tsv.gz": ["2|1|503"],
        },
    )


def write_feeds(folder: Path) -> Path:
    """Write three days of two feeds; the first has more links than it shows."""
    links = [f"{n}|1|0|http://site-{n}.test/a?b={n}|Story {n}" for n in range(30)]
    return write_tables(
        folder,
        {
            "times.tsv": [f"{day}|2022-04-0{day + 1}" for day in range(3)],
            "pages.tsv": ["0|A feed", "1|Another"],
            "links.tsv.gz": links,
            "new.tsv.gz": [f"1|0|{','.join(map(str, range(25)))}", "2|0|24,25,26", "2|1|27,27"],
        },
    )
