"""How many pages of archived sites carry Dataset markup, and which of them link to data (CIKM 2021, Table 3).

    python -m benchmarks.markup_share --archives DIR --pages 1000

Generated webs have no markup, so this is counted on real pages, spread evenly over each archive.
"""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.reporting import circumstances, format_option, report
from coati.archive.archive import Archive
from coati.archive.folder_of_archives import archives_in
from coati.web.dataset_files import is_dataset_file
from coati.web.dataset_markup import dataset_markup
from coati.web.links import LinkExtractor


@click.command()
@click.option("--archives", type=click.Path(path_type=Path), required=True)
@click.option("--pages", default=1000, show_default=True, help="At most this many of each archive.")
@format_option
def main(archives: Path, pages: int, form: str) -> None:
    """Count the pages of each archive."""
    rows = [{"site": folder.name, **counted(folder, pages)} for folder in archives_in(archives)]
    report("Dataset markup", [{**row, **circumstances()} for row in rows], form)


def counted(folder: Path, most: int) -> dict[str, object]:
    """Count pages, dataset pages (they link to a data file), and those of either that carry markup."""
    extractor = LinkExtractor()
    with Archive.open(folder) as archive:
        html = [entry for entry in archive.entries() if entry.status == 200 and "html" in entry.media_type]  # noqa: PLR2004
        step = max(1, len(html) // most)
        looked = with_files = marked = marked_with_files = 0
        for entry in html[::step][:most]:
            body = archive.body(entry.url)
            links = extractor.extract(body, entry.url, entry.media_type).links.urls
            files, markup = any(map(is_dataset_file, links)), bool(dataset_markup(body))
            looked += 1
            with_files += files
            marked += markup
            marked_with_files += files and markup
    return {
        "pages": looked,
        "dataset_pages": with_files,
        "marked": marked,
        "marked_dataset_pages": marked_with_files,
    }


if __name__ == "__main__":
    main()
