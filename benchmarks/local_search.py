"""The local search engine: what indexing and querying costs, beside tantivy where that is installed.

    python -m benchmarks.local_search --pages 100000

tantivy is not a dependency; to compare, install it into a throw-away environment beside Coati.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from random import Random
from resource import RUSAGE_SELF, getrusage
from statistics import quantiles

import click

from benchmarks.reporting import circumstances, format_option, report
from coati.search.index_file import FILE_NAME, PageText, write_index
from coati.search.local_index import LocalIndex
from coati.web.queries import Query

_VOCABULARY = 40_000
_WORDS_PER_PAGE = 250


def pages(count: int, seed: int) -> Iterator[PageText]:
    """Make pages whose words are distributed as those of a language: few are frequent, most are rare."""
    rng = Random(seed)
    for number in range(count):
        text = " ".join(_word(rng) for _ in range(_WORDS_PER_PAGE))
        yield PageText(f"http://site{number % 997}.test/{number}", text[:40], text)


def queries(count: int, seed: int) -> list[str]:
    """Make queries of three words."""
    rng = Random(seed)
    return [" ".join(_word(rng) for _ in range(3)) for _ in range(count)]


def _word(rng: Random) -> str:
    number = int(_VOCABULARY ** rng.random())
    return "w" + "".join(chr(ord("a") + int(digit)) for digit in str(number))


@click.command()
@click.option("--pages", "page_count", default=20_000, show_default=True)
@click.option("--queries", "query_count", default=200, show_default=True)
@click.option("--seed", default=1, show_default=True)
@format_option
def main(page_count: int, query_count: int, seed: int, form: str) -> None:
    """Measure indexing and querying in CPU time, and the most memory that each engine's process took."""
    began = time.process_time()
    deque(pages(page_count, seed), maxlen=0)
    making = time.process_time() - began
    engines = ["SQLite FTS5", *(["tantivy"] if find_spec("tantivy") is not None else [])]
    rows = []
    for name in engines:
        # Each in a fresh process: memory that was freed before would hide what the next one takes.
        with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
            texts = queries(query_count, seed + 1)
            measured = fresh.submit(_measure, name, page_count, texts, seed).result()
        indexing = round(float(str(measured.pop("indexing_cpu_s"))) - making, 1)
        rows.append({"engine": name, "indexing_cpu_s": indexing, **measured, **circumstances()})
    report("local search", rows, form)


def _measure(name: str, count: int, texts: list[str], seed: int) -> dict[str, object]:
    folder = Path(tempfile.mkdtemp(prefix="coati-search-"))
    try:
        began = time.process_time()
        search = _ENGINES[name](folder, count, seed)
        indexed = time.process_time() - began
        indexed_mb = getrusage(RUSAGE_SELF).ru_maxrss / 1024
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        spent, found = [], 0
        for words in texts:
            began = time.process_time()
            found += search(words)
            spent.append(1000 * (time.process_time() - began))
    finally:
        shutil.rmtree(folder)
    twentieths = quantiles(spent, n=20)
    return {
        "pages": count,
        "indexing_cpu_s": indexed,
        "index_mb": round(size / 1e6, 1),
        "query_ms_p50": round(twentieths[9], 2),
        "query_ms_p95": round(twentieths[18], 2),
        "memory_mb": round(indexed_mb),
        "hits_per_query": round(found / len(texts), 1),
    }


def _fts5(folder: Path, count: int, seed: int) -> Callable[[str], int]:
    write_index(folder, pages(count, seed), ["made"], lambda _: None)
    index = LocalIndex(folder / FILE_NAME)
    return lambda words: len(index.search(Query("local", words)).hits)


def _tantivy(folder: Path, count: int, seed: int) -> Callable[[str], int]:
    import tantivy  # type: ignore[import-not-found]

    builder = tantivy.SchemaBuilder()
    for name in ("url", "title"):
        builder.add_text_field(name, stored=True)
    builder.add_text_field("text")
    index = tantivy.Index(builder.build(), path=str(folder))
    writer = index.writer()
    for page in pages(count, seed):
        writer.add_document(tantivy.Document(url=page.url, title=page.title, text=page.text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    return lambda words: len(searcher.search(index.parse_query(words, ["title", "text"]), 50).hits)


_ENGINES: dict[str, Callable[[Path, int, int], Callable[[str], int]]] = {
    "SQLite FTS5": _fts5,
    "tantivy": _tantivy,
}


if __name__ == "__main__":
    main()
