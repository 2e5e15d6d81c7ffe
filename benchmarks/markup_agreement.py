"""Does the cheap detector of structured data say what extruct says, and how quickly?

    python -m benchmarks.markup_agreement ARCHIVE... [--most 2000] [--format json]

Every page of the archives is labelled by `coati.web.markup.detector` and read in full by extruct. For each
syntax the two are compared on presence (at least one statement) and on at least five statements. extruct
takes a tenth of a second for RDFa and Microformats, so pages without any sign of a syntax in their bytes are
given to it for every 20th page only (``--every``). The pages of ``tests/web/markup_pages.py`` come along.
Also printed: how many pages of each archive were compared, what both cost in CPU time, and that of the
detector per page of 40 KB, beyond that of parsing it.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
from selectolax.lexbor import LexborHTMLParser

from benchmarks.reporting import format_option, report
from coati.archive.archive import Archive
from coati.markup.extraction import extract_statements
from coati.web.charset import decode_page
from coati.web.heavy_pages import balanced, is_heavy
from coati.web.markup.detector import SYNTAXES, has_signs, markup_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_MANY = 5


class _Agreement:
    """Counts of pages by what each of the two says."""

    def __init__(self) -> None:
        self.pages = 0
        self.cells: Counter[tuple[str, str, bool, bool]] = Counter()
        self.differing: list[str] = []

    def add(self, url: str, ours: dict[str, int], theirs: dict[str, int], skipped: set[str]) -> None:
        self.pages += 1
        for syntax in SYNTAXES:
            if syntax in skipped:
                theirs = {**theirs, syntax: 0}
            mine, full = ours.get(syntax, 0), theirs.get(syntax, 0)
            for name, least in (("present", 1), ("five", _MANY)):
                self.cells[syntax, name, mine >= least, full >= least] += 1
                if (mine >= least) != (full >= least):
                    self.differing.append(f"{syntax} {name}: ours {mine}, extruct {full}: {url}")

    def rows(self) -> Iterator[dict[str, object]]:
        for syntax in SYNTAXES:
            for name in ("present", "five"):
                cell = {
                    (mine, full): self.cells[syntax, name, mine, full]
                    for mine in (False, True)
                    for full in (False, True)
                }
                both, neither = cell[True, True], cell[False, False]
                differ = cell[True, False] + cell[False, True]
                yield {
                    "syntax": syntax,
                    "question": "at least one" if name == "present" else "at least five",
                    "pages": self.pages,
                    "extruct": both + cell[False, True],
                    "ours": both + cell[True, False],
                    "differ": differ,
                    "agreement %": 100 * (both + neither) / max(1, self.pages),
                    "of those with it %": 100 * both / (both + differ) if both + differ else None,
                }


class _Compared:
    """How many pages of an archive were compared, by how much of them extruct read, and what it cost."""

    def __init__(self) -> None:
        self.pages = self.without_signs = self.read_for_all = 0
        self.detector_seconds = self.extruct_seconds = 0.0

    def row(self, name: str, pages: int) -> dict[str, object]:
        compared = max(1, self.pages)
        return {
            "archive": name,
            "pages": pages,
            "compared": self.pages,
            "without any sign": self.without_signs,
            "read by extruct for all syntaxes": self.read_for_all,
            "detector, ms": 1000 * self.detector_seconds / compared,
            "extruct, ms": 1000 * self.extruct_seconds / compared,
        }


def _count(folder: Path) -> int:
    with Archive.open(folder) as archive:
        return sum("html" in (entry.media_type or "") for entry in archive.entries())


def _pages(folder: Path, most: int | None) -> Iterator[tuple[str, bytes, str]]:
    with Archive.open(folder) as archive:
        pages = [entry for entry in archive.entries() if "html" in (entry.media_type or "")]
        step = max(1, len(pages) // most) if most else 1
        for entry in pages[::step]:
            yield entry.url, archive.body(entry.url), entry.media_type or ""


def _test_pages() -> Iterator[tuple[str, bytes, str]]:
    from tests.web.markup_pages import PAGES

    for number, page in enumerate(PAGES):
        yield f"https://pages.test/{number}", page.html.encode(), "text/html; charset=utf-8"


def _compare(pages: Iterator[tuple[str, bytes, str]], every: int, agreement: _Agreement) -> _Compared:
    compared = _Compared()
    for number, (url, body, content_type) in enumerate(pages):
        begun = time.process_time()
        label = markup_of(body, content_type)
        labelled = time.process_time()
        ours: dict[str, int] = label["statements"]  # type: ignore[assignment]
        shown = has_signs(body)
        signs = set(SYNTAXES) if number % every == 0 else shown
        full = extract_statements(body, url, content_type, [name for name in SYNTAXES if name in signs])
        compared.pages += 1
        compared.without_signs += not shown
        compared.read_for_all += number % every == 0
        compared.detector_seconds += labelled - begun
        compared.extruct_seconds += time.process_time() - labelled
        theirs = Counter(statement.syntax for statement in full.statements)
        agreement.add(url, ours, theirs, set(SYNTAXES) - signs)
    return compared


def _speed(pages: list[tuple[str, bytes, str]]) -> dict[str, object]:
    """Time the detector and the parsing that it cannot do without, in CPU seconds."""
    size = sum(len(body) for _, body, _ in pages)
    begun = time.process_time()
    for _, body, content_type in pages:
        markup_of(body, content_type)
    whole = time.process_time() - begun
    begun = time.process_time()
    for _, body, content_type in pages:
        if has_signs(body):
            text, _ = decode_page(body, content_type)
            LexborHTMLParser(balanced(text)[0] if is_heavy(text) else text)
    parsing = time.process_time() - begun
    per_page = 40_000 / size
    return {
        "pages": len(pages),
        "mean KB": size / len(pages) / 1000,
        "pages of 40 KB per CPU second, beyond parsing": 1 / max(1e-9, (whole - parsing) * per_page),
        "with parsing": 1 / (whole * per_page),
    }


@click.command()
@click.argument("archives", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--most", type=int, help="Pages of one archive, spread evenly; all unless given.")
@click.option("--every", default=20, show_default=True, help="Pages without signs that extruct reads, too.")
@click.option(
    "--differing", type=click.Path(path_type=Path), help="Write the pages that differ to this file."
)
@format_option
def main(archives: tuple[Path, ...], most: int | None, every: int, differing: Path | None, form: str) -> None:
    """Compare the detector with extruct on the pages of archives."""
    own = _Agreement()
    _compare(_test_pages(), 1, own)
    report("Pages written for the tests", list(own.rows()), form)
    agreement = _Agreement()
    compared = []
    for folder in archives:
        compared.append(_compare(_pages(folder, most), every, agreement).row(folder.name, _count(folder)))
        click.echo(
            f"{folder.name}: {agreement.pages} pages, {len(agreement.differing)} differences", err=True
        )
    if archives:
        report("Pages of the archives", list(agreement.rows()), form)
        report("Pages that were compared, CPU time of each", compared, form)
        sample = [page for folder in archives for page in _pages(folder, 100)]
        report("Speed of the detector", [_speed(sample)], form)
    if differing is not None:
        differing.write_text("\n".join([*own.differing, *agreement.differing]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
