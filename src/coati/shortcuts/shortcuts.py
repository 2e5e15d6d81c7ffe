"""The shortcuts of one crawl: which profiles it uses, what they offer on a page, and how answers are read.

Home pages of hosts and start URLs are looked at: other pages say the same. At most two URLs are
offered by one page, so that a closed API costs two requests; what opens is led on by its own answers. A
profile that raises is named (`Shortcuts.broken`) and left out from then on.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from coati.readers.listed import API_PAGE, API_PROBE, Listed, is_api
from coati.shortcuts.api_answer import MAX_ENTRIES, ApiAnswer
from coati.shortcuts.registry import PROFILES
from coati.shortcuts.seen_page import SeenPage, header_values
from coati.shortcuts.software.schema_org import SchemaOrg
from coati.web.urls import path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coati.shortcuts.profile import ApiEntry, Profile

    Headers = Iterable[tuple[str, str]]

MAX_ENTRIES_OF_PAGE: Final = 2
"""URLs that one page offers, over all profiles: what a crawl risks where everything is closed."""

_MARKUP = SchemaOrg()
# How much of a page is searched for data sets that it describes.
_MARKUP_BYTES = 4 * 1024 * 1024


class ReadAnswer(NamedTuple):
    """What an answer lists; ``truncated`` says that only its beginning was read."""

    listed: Iterator[Listed]
    truncated: bool


class Shortcuts:
    """Profiles in use. ``only``: of pages, nothing but shortcuts is followed.

    ``broken`` says which profiles raised, and how.
    """

    def __init__(self, profiles: Sequence[Profile] = PROFILES, *, only: bool = False) -> None:
        self.only = only
        self.broken: dict[str, str] = {}
        self._profiles = list(profiles)

    def offers(self, url: str, headers: Headers, body: bytes, *, is_start: bool) -> list[Listed]:
        """Return what an HTML page offers: URLs of APIs first, then files that it describes."""
        offered: list[Listed] = []
        if is_start or path_of(url) == "/":
            offered += self._entries(SeenPage.of(url, headers, body))
        if b"ld+json" in body[:_MARKUP_BYTES]:
            text = body[:_MARKUP_BYTES].decode("utf-8", "replace")
            offered += [found for found in _MARKUP.marked_up(text) if found.reference]
        return offered

    def reads(self, url: str) -> bool:
        """Tell whether a URL is a list of one of the profiles."""
        return self._reader_of(url) is not None

    def read(self, url: str, body: bytes, content_type: str, headers: Headers) -> ReadAnswer:
        """Read the response of an API; what is damaged, or not what was requested, lists nothing."""
        profile = self._reader_of(url)
        if profile is None:
            return ReadAnswer(iter(()), truncated=False)
        answer = ApiAnswer.of(url, body, content_type, header_values(headers))
        return ReadAnswer(self._listed(profile, answer), answer.truncated)

    def _entries(self, page: SeenPage) -> list[Listed]:
        found = [
            (profile, entry) for profile in list(self._profiles) for entry in self._entries_of(profile, page)
        ]
        # What is sure goes before what is tried; one URL may be offered twice, as data.json is.
        found.sort(key=lambda offer: not offer[1].sure)
        offered: dict[str, Listed] = {}
        for profile, entry in found:
            address = page.at(entry.address)
            path = (profile.name, entry.what, API_PAGE if entry.sure else API_PROBE)
            offered.setdefault(address, Listed(address, path, profile.title))
        offered.pop("", None)
        return list(offered.values())[:MAX_ENTRIES_OF_PAGE]

    def _entries_of(self, profile: Profile, page: SeenPage) -> Sequence[ApiEntry]:
        try:
            return list(profile.recognise(page) or ())
        except Exception as error:  # noqa: BLE001 - a profile of the user: the crawl is worth more
            self._leave_out(profile, error)
            return ()

    def _reader_of(self, url: str) -> Profile | None:
        for profile in list(self._profiles):
            try:
                if profile.reads(url):
                    return profile
            except Exception as error:  # noqa: BLE001 - as above
                self._leave_out(profile, error)
        return None

    def _listed(self, profile: Profile, answer: ApiAnswer) -> Iterator[Listed]:
        found: list[Listed] = []
        try:
            found.extend(islice((each for each in profile.read(answer) if each.reference), MAX_ENTRIES))
        except Exception as error:  # noqa: BLE001 - as above
            self._leave_out(profile, error)
        # A list without entries has no next page, or there would be no end.
        return iter(found if any(not is_api(each.tag_path) for each in found) else ())

    def _leave_out(self, profile: Profile, error: Exception) -> None:
        name = str(getattr(profile, "name", profile))
        self.broken.setdefault(name, f"{type(error).__name__}: {error}"[:200])
        self._profiles = [other for other in self._profiles if other is not profile]
