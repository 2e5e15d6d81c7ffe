"""WordPress: its REST API lists all media, a hundred per page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.shortcuts.api_answer import address_at, entries_at, text_at
from coati.shortcuts.listed_file import listed_file
from coati.shortcuts.paging import next_by_page
from coati.shortcuts.profile import ApiEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage

_RELATION = "https://api.w.org/"
_LIST = "wp/v2/media"
# Pictures, films and sound are never wanted, and only one kind of media can be requested at a time:
# "application" holds documents, tables and archives. Text files are few; the second list has them.
_QUERY = "media_type={kind}&per_page=100&page=1&_fields=source_url,mime_type,title,modified_gmt"


class WordPress:
    """Media of the kinds "application" and "text"; another site's pictures do not make a page WordPress."""

    name = "wordpress"
    title = "WordPress"
    written_from = "REST API v2 of WordPress 6.7: developer.wordpress.org/rest-api/reference/media"

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Recognise it by the link to the API that each page has, else by what the page loads."""
        root = page.linked(_RELATION)
        if root:
            return [ApiEntry(_under(root, kind), kind) for kind in ("application", "text")]
        if "wordpress" in page.generator.split() or page.loads("/wp-includes/"):
            return [ApiEntry(page.at(_under("/wp-json/", "application")), "application", sure=False)]
        return None

    def reads(self, url: str) -> bool:
        """Recognise the route, which is in the path or in a parameter."""
        return "/wp-json/wp/v2/media" in url or "rest_route=/wp/v2/media" in url

    def read(self, answer: ApiAnswer) -> Iterator[Listed]:
        """Yield the media; ``X-WP-TotalPages`` says how many pages there are."""
        entries = list(entries_at({"media": answer.json}, "media"))
        kind = "text" if "media_type=text" in answer.url else "application"
        pages = answer.number("x-wp-totalpages")
        yield from next_by_page(answer.url, (self.name, kind), ("page", "per_page"), len(entries), pages)
        for entry in entries:
            yield listed_file(
                address_at(entry, "source_url"),
                (self.name, "media", "source_url"),
                text_at(entry, "title"),
                modified=text_at(entry, "modified_gmt"),
                form=text_at(entry, "mime_type"),
            )


def _under(root: str, kind: str) -> str:
    query = _QUERY.format(kind=kind)
    if "rest_route=" in root:
        return f"{root.rstrip('/')}/{_LIST}&{query}"
    return f"{root.rstrip('/')}/{_LIST}?{query}"
