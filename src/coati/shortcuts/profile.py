"""The contract of a profile: how a software is recognised, what lists its files, and how that is read.

One's own profile is a class with these five members, in a file of one's own (``--profile my_module:MyCms``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coati.readers.listed import Listed
    from coati.shortcuts.api_answer import ApiAnswer
    from coati.shortcuts.seen_page import SeenPage


class ApiEntry(NamedTuple):
    """A URL at which an API lists files; relative ones are of the page.

    ``what`` names the list in tag paths. ``sure`` says that the page shows that the API is there; else it is
    a probe, which is promised less.
    """

    address: str
    what: str
    sure: bool = True


class Profile(Protocol):
    """One kind of software; nothing in it does I/O or keeps state."""

    @property
    def name(self) -> str:
        """The first element of its tag paths, in lower case: ``wordpress``."""

    @property
    def title(self) -> str:
        """What people call it: ``WordPress``."""

    @property
    def written_from(self) -> str:
        """The version and the documentation of the API that the profile was written from."""

    def recognise(self, page: SeenPage) -> Sequence[ApiEntry] | None:
        """Return the URLs of its API, the best first; None where the page is not this software's.

        An empty sequence means that the software has no public list of files.
        """

    def reads(self, url: str) -> bool:
        """Tell whether a URL is one of its API's lists."""

    def read(self, answer: ApiAnswer) -> Iterable[Listed]:
        """Yield what an answer lists: further pages of the API first, then files and their pages."""
