"""From archives to a search index: every page with its text and its links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from coati.archive.archive import Archive
from coati.errors import ConfigError, CorruptRecordError, NotArchivedError
from coati.search.index_file import FILE_NAME, UNFINISHED_NAME, PageText, write_index
from coati.web.links import LinkExtractor
from coati.web.page_text import text_of
from coati.web.urls import host_of

_SUCCESS = range(200, 300)


def write_index_of(
    folders: Sequence[Path],
    out: Path,
    progress: Callable[[int], None] = lambda _: None,
    on_damage: Callable[[str], None] = lambda _: None,
) -> int:
    """Index the pages of archives for `coati.search.local_index`; return how many pages there are.

    An index that is there is replaced when the new one is whole. ``on_damage`` hears of each page that cannot
    be read.
    """
    if not folders:
        raise ConfigError("no archive to index: name one or several")
    if out.exists() and not _is_free(out):
        raise ConfigError(f"{out} holds something that is not a search index; choose a new or empty folder")
    with ExitStack() as stack:
        archives = [stack.enter_context(Archive.open(folder)) for folder in folders]
        pages = (page for archive in archives for page in pages_of(archive, on_damage=on_damage))
        return write_index(out, pages, map(str, folders), progress)


def _is_free(place: Path) -> bool:
    """Tell whether a place holds an index, whole or not, or nothing at all."""
    if not place.is_dir():
        return False
    names = {each.name for each in place.iterdir()}
    return FILE_NAME in names or names <= {UNFINISHED_NAME}


def pages_of(
    archive: Archive,
    most_per_host: int | None = None,
    on_damage: Callable[[str], None] = lambda _: None,
) -> Iterator[PageText]:
    """Go through the HTML pages of an archive, or the first of each host; damaged ones are left out."""
    extractor = LinkExtractor()
    of_host: Counter[str] = Counter()
    for entry in archive.entries():
        if entry.status not in _SUCCESS or "html" not in entry.media_type:
            continue
        of_host[host_of(entry.url)] += 1
        if most_per_host is not None and of_host[host_of(entry.url)] > most_per_host:
            continue
        try:
            body = archive.body(entry.url)
        except CorruptRecordError as error:
            on_damage(str(error))
            continue
        except NotArchivedError:
            continue
        links = extractor.extract(body, entry.url, entry.media_type).links
        urls = tuple(dict.fromkeys(links.urls))
        yield PageText(entry.url, links.title, text_of(body, entry.media_type), urls)
