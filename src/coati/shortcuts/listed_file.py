"""One file of an API's list, with all that the list says of it, as a link."""

from __future__ import annotations

from coati.readers.dates import seconds_of
from coati.readers.listed import Listed, TagPath

_MILLISECONDS = 10**11


def listed_file(  # noqa: PLR0913 - each by name
    reference: str,
    tag_path: TagPath,
    title: str,
    *,
    modified: str = "",
    form: str = "",
    licence: str = "",
    heading: str = "",
) -> Listed:
    """Make the link of a file; its format is in the text around it, where strategies look for it.

    >>> listed_file("/a?id=7", ("ckan", "resource", "url"), "Taxes", form="CSV").context
    'Taxes (CSV)'
    """
    named = title or heading
    context = f"{named} ({form})" if form else named
    return Listed(reference, tag_path, named, moment_of(modified), context, heading, licence)


def moment_of(text: str) -> float | None:
    """Read a date as APIs write it: ISO, RFC 822, or seconds or milliseconds since the epoch.

    >>> moment_of("86400"), moment_of("1970-01-02T00:00:00Z"), moment_of("86400000000000")
    (86400.0, 86400.0, 86400000000.0)
    """
    if text.isascii() and text.isdigit() and 4 < len(text) <= 15:  # noqa: PLR2004 - shorter ones are years
        seconds = int(text)
        return float(seconds // 1000 if seconds >= _MILLISECONDS else seconds)
    return seconds_of(text)
