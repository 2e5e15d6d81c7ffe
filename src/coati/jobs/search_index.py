"""A search index of one's own over archives: build it, and query it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from coati.archive.folder_of_archives import archives_in
from coati.discovering.indexing import write_index_of
from coati.errors import UsageError
from coati.jobs.arguments import PathText, checked_arguments, count_of, path_of, texts_of
from coati.jobs.notebook_tables import pairs_table
from coati.jobs.progress_bar import progress_of_count
from coati.readers.hits import Hits
from coati.search.engines import Engines
from coati.search.local_index import LocalIndex
from coati.web.queries import Ability, Query


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """The folder of an index, as ``coati.discover(search=["local=FOLDER"])`` uses it."""

    folder: PathText

    def __post_init__(self) -> None:
        """Refuse what is not a folder."""
        path_of("folder", self.folder)

    @checked_arguments
    def search(self, text: str, *, related: bool = False, backlinks: bool = False, page: int = 1) -> Hits:
        """Return one page of results, the best first.

        ``text`` is what to look for, or a URL: then ``related`` finds pages like it on other sites, and
        ``backlinks`` pages of other sites that link to it.
        """
        if related and backlinks:
            raise UsageError("search for related pages or for backlinks, not for both at once")
        page = count_of("page", page)
        ability = Ability.RELATED if related else Ability.BACKLINKS if backlinks else Ability.KEYWORDS
        with closing(LocalIndex(Path(self.folder))) as engine:
            # Raises where a search could not use the index.
            Engines([engine])
            return engine.search(Query(engine.name, text, ability, page))


@dataclass(frozen=True, slots=True)
class IndexedArchives:
    """What `coati.index_archives` returns: the index, and how much it holds.

    ``damaged`` says of each page that could not be read where it is and why.
    """

    index: SearchIndex
    archives: int
    pages: int
    damaged: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can say it."""
        counts = {"archives": self.archives, "pages": self.pages, "damaged": len(self.damaged)}
        return {"index": str(self.index.folder), **counts}

    def _repr_html_(self) -> str:
        return pairs_table("An index of archives", self.as_json().items())


@checked_arguments
def index_archives(
    archives: PathText | Iterable[PathText],
    out: str | Path,
    *,
    on_progress: Callable[[int], None] | None = None,
    show_progress: bool | None = None,
) -> IndexedArchives:
    """Index the pages of archives, or of folders with archives in them, for searches without a network.

    An existing index is replaced when the new one is complete. ``on_progress`` gets the number of pages.
    """
    folders = [folder for place in texts_of("archives", archives) for folder in archives_in(Path(place))]
    damaged: list[str] = []
    with progress_of_count("pages indexed", show_progress, on_progress) as report_progress:
        pages = write_index_of(folders, Path(out), report_progress, damaged.append)
    return IndexedArchives(SearchIndex(Path(out)), len(folders), pages, tuple(damaged))
