"""What an archived URL is, by its label or under a definition of targets."""

from __future__ import annotations

from coati.archive.record import Entry
from coati.model import Kind
from coati.web.media import TargetTypes, essence
from coati.web.urls import is_query


def kind_of(entry: Entry, types: TargetTypes | None) -> Kind:
    """Tell the kind of an entry; ``types`` of None leaves it to the label that came with the data.

    >>> kind_of(Entry("http://example.org/", 200, "text/html; charset=utf-8", 512), None).value
    'html'
    """
    labelled = entry.kind
    if labelled is not None and (types is None or labelled in {Kind.BROKEN, Kind.REDIRECT}):
        return labelled
    if 300 <= entry.status < 400 and entry.location:  # noqa: PLR2004 -- HTTP redirection
        return Kind.REDIRECT
    if not 200 <= entry.status < 300:  # noqa: PLR2004 -- HTTP success
        return Kind.BROKEN
    if types is not None:
        return types.kind(entry.media_type, entry.url)
    return Kind.PAGE if "html" in essence(entry.media_type) or is_query(entry.url) else Kind.OTHER
