"""Does the cheap detector of structured data say what extruct says, and how quickly?

    python -m benchmarks.markup_agreement ARCHIVE... [--most 2000] [--record FILE] [--format json]

Every page of the archives is labelled by `coati.web.markup.detector` and read in full by extruct. For each
syntax the two are compared on presence (at least one statement) and on at least five statements. extruct
takes a tenth of a second for RDFa and Microformats, so a page is given to it for the syntaxes of which it can
find anything (`benchmarks.markup_possible`); every 100th page (``--every``, drawn by its address) is read for
all of them, to show that nothing is missed by that. The pages of ``tests/web/markup_pages.py`` come along.
Also printed: how many pages of each archive were compared, what both cost in CPU time, and that of the
detector per page of 40 KB, beyond that of parsing it.

With ``--record`` each page is written to a file as soon as it was compared, and not compared again by the
next call with the same code: so all pages of large archives can be compared in parts.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click
from selectolax.lexbor import LexborHTMLParser

from benchmarks.markup_possible import possible_syntaxes
from benchmarks.reporting import format_option, report
from coati.archive.archive import Archive
from coati.experiments.deciding_code import modules_digest
from coati.markup.extraction import extract_statements
from coati.web.charset import decode_page
from coati.web.heavy_pages import balanced, is_heavy
from coati.web.markup.detector import SYNTAXES, has_signs, markup_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MANY = 5
_CODE = ("coati.web.markup.detector", "coati.markup.extraction", "benchmarks.markup_possible")


@dataclass(frozen=True, slots=True)
class _Compared:
    """What both said of one page: statements by syntax. ``read``: what extruct looked for."""

    archive: str
    url: str
    ours: dict[str, int]
    theirs: dict[str, int]
    possible: list[str]
    read: list[str]
    failed: list[str]
    detector_seconds: float
    extruct_seconds: float

    @property
    def read_for_all(self) -> bool:
        return len(self.read) == len(SYNTAXES)

    def differences(self) -> Iterator[str]:
        for syntax in SYNTAXES:
            mine, full = self.ours.get(syntax, 0), self.theirs.get(syntax, 0)
            for name, least in (("present", 1), ("five", _MANY)):
                if (mine >= least) != (full >= least):
                    yield f"{syntax} {name}: ours {mine}, extruct {full}: {self.archive} {self.url}"


@dataclass(slots=True)
class _Record:
    """The pages that were compared, in memory and in a file if there is one."""

    file: Path | None = None
    pages: dict[tuple[str, str], _Compared] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take what earlier calls with the same code compared."""
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file and self.file.exists() else []
        # A call that was killed may have left half a line.
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if row.pop("code") == modules_digest(_CODE):
                self.pages[row["archive"], row["url"]] = _Compared(**row)

    def add(self, page: _Compared) -> None:
        self.pages[page.archive, page.url] = page
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"code": modules_digest(_CODE), **asdict(page)}) + "\n")


def _agreement(pages: Iterable[_Compared]) -> Iterator[dict[str, object]]:
    """Count pages by what each of the two says."""
    pages = list(pages)
    for syntax in SYNTAXES:
        for question, least in (("at least one", 1), ("at least five", _MANY)):
            said = Counter(
                (page.ours.get(syntax, 0) >= least, page.theirs.get(syntax, 0) >= least) for page in pages
            )
            both, differ = said[True, True], said[True, False] + said[False, True]
            yield {
                "syntax": syntax,
                "question": question,
                "pages": len(pages),
                "read by extruct": sum(syntax in page.read for page in pages),
                "extruct": both + said[False, True],
                "ours": both + said[True, False],
                "differ": differ,
                "agreement %": 100 * (len(pages) - differ) / max(1, len(pages)),
                "of those with it %": 100 * both / (both + differ) if both + differ else None,
            }


def _skipped(pages: Iterable[_Compared]) -> Iterator[dict[str, object]]:
    """Count what extruct found on pages on which it could find nothing, as far as it looked for it."""
    pages = list(pages)
    for syntax in SYNTAXES:
        without = [page for page in pages if syntax not in page.possible]
        looked_at = [page for page in without if syntax in page.read]
        yield {
            "syntax": syntax,
            "pages where it is impossible": len(without),
            "of these read all the same": len(looked_at),
            "with a statement": sum(page.theirs.get(syntax, 0) > 0 for page in looked_at),
        }


def _summary(name: str, pages: list[_Compared], there: int) -> dict[str, object]:
    compared = max(1, len(pages))
    return {
        "archive": name,
        "pages": there,
        "compared": len(pages),
        "nothing is possible": sum(not page.possible for page in pages),
        "read by extruct for all syntaxes": sum(page.read_for_all for page in pages),
        "extruct failed": sum(bool(page.failed) for page in pages),
        "detector, ms": 1000 * sum(page.detector_seconds for page in pages) / compared,
        "extruct, ms": 1000 * sum(page.extruct_seconds for page in pages) / compared,
    }


def _count(folder: Path) -> int:
    with Archive.open(folder) as archive:
        return sum("html" in (entry.media_type or "") for entry in archive.entries())


def _pages(folder: Path, most: int | None, known: Iterable[str] = ()) -> Iterator[tuple[str, bytes, str]]:
    with Archive.open(folder) as archive:
        pages = [entry for entry in archive.entries() if "html" in (entry.media_type or "")]
        step = max(1, len(pages) // most) if most else 1
        for entry in pages[::step]:
            if entry.url not in known:
                yield entry.url, archive.body(entry.url), entry.media_type or ""


def _test_pages() -> Iterator[tuple[str, bytes, str]]:
    from tests.web.markup_pages import PAGES

    for number, page in enumerate(PAGES):
        yield f"https://pages.test/{number}", page.html.encode(), "text/html; charset=utf-8"


def _compare(name: str, page: tuple[str, bytes, str], every: int) -> _Compared:
    url, body, content_type = page
    begun = time.process_time()
    label = markup_of(body, content_type)
    labelled = time.process_time()
    ours: dict[str, int] = label["statements"]  # type: ignore[assignment]
    possible = possible_syntaxes(body, content_type)
    drawn = int.from_bytes(hashlib.sha256(url.encode()).digest()[:8]) % every == 0
    read = [syntax for syntax in SYNTAXES if drawn or syntax in possible]
    full = extract_statements(body, url, content_type, read)
    return _Compared(
        name,
        url,
        ours,
        dict(Counter(statement.syntax for statement in full.statements)),
        sorted(possible),
        read,
        list(full.failed),
        labelled - begun,
        time.process_time() - labelled,
    )


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
@click.option("--every", default=100, show_default=True, help="Read one of this many pages for all syntaxes.")
@click.option(
    "--record", type=click.Path(path_type=Path), help="Keep what was compared, and go on from there."
)
@click.option(
    "--differing", type=click.Path(path_type=Path), help="Write the pages that differ to this file."
)
@format_option
def main(
    archives: tuple[Path, ...],
    most: int | None,
    every: int,
    record: Path | None,
    differing: Path | None,
    form: str,
) -> None:
    """Compare the detector with extruct on the pages of archives."""
    own = [_compare("tests", page, 1) for page in _test_pages()]
    report("Pages written for the tests", list(_agreement(own)), form)
    compared = _Record(record)
    summaries = []
    for folder in archives:
        known = {url for name, url in compared.pages if name == folder.name}
        for page in _pages(folder, most, known):
            compared.add(_compare(folder.name, page, every))
        pages = [page for page in compared.pages.values() if page.archive == folder.name]
        summaries.append(_summary(folder.name, pages, _count(folder)))
        differences = sum(bool(list(page.differences())) for page in pages)
        click.echo(f"{folder.name}: {len(pages)} pages, {differences} differ", err=True)
    if archives:
        report("Pages of the archives", list(_agreement(compared.pages.values())), form)
        report("What was not read", list(_skipped(compared.pages.values())), form)
        report("Pages that were compared, CPU time of each", summaries, form)
        sample = [page for folder in archives for page in _pages(folder, 100)]
        report("Speed of the detector", [_speed(sample)], form)
    if differing is not None:
        lines = [line for page in [*own, *compared.pages.values()] for line in page.differences()]
        differing.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
