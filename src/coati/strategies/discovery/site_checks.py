"""Verification: is a site that looks like a repository one? Its pages are looked at until enough files show.

A site is crawled breadth-first from the pages that were found on it, three links deep at most. It is verified
as soon as its pages link to enough different files of data, and rejected when nothing is left to look at.
Several pages of one site are one repository, with one check.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from coati.web.urls import url_hash

if TYPE_CHECKING:
    from collections.abc import Iterator


class CheckState(StrEnum):
    """The state of a check."""

    OPEN = "open"
    VERIFIED = "verified"
    REJECTED = "rejected"


@dataclass(slots=True)
class SiteCheck:
    """The check of one site.

    ``pages`` are numbers of analysed pages, ``files`` hashes of the files that the site was seen to link to.
    ``fetched`` counts the pages that were looked at for the check, ``requested`` those that were queued for
    it, and ``waiting`` those of them without an answer. ``by_user``: the user has decided.
    """

    number: int
    site: str
    arm: int
    pages: list[int] = field(default_factory=list)
    files: set[int] = field(default_factory=set)
    fetched: int = 0
    requested: int = 0
    waiting: int = 0
    dataset_pages: int = 0
    state: CheckState = CheckState.OPEN
    by_user: bool = False
    decided_at: int = 0

    def count_files(self, urls: list[str]) -> int:
        """Count the files that one page links to; return how many are new to the site."""
        before = len(self.files)
        self.files.update(map(url_hash, urls))
        self.dataset_pages += bool(urls)
        return len(self.files) - before


class SiteChecks:
    """The checks by site, in the order of their beginning."""

    def __init__(self) -> None:
        self._checks: list[SiteCheck] = []
        self._by_site: dict[str, SiteCheck] = {}

    def __iter__(self) -> Iterator[SiteCheck]:
        return iter(self._checks)

    def __len__(self) -> int:
        """Count the checks."""
        return len(self._checks)

    def __getitem__(self, number: int) -> SiteCheck:
        return self._checks[number]

    def of_site(self, site: str) -> SiteCheck | None:
        """Return the check of a site; None where there is none."""
        return self._by_site.get(site)

    def begin(self, site: str, arm: int) -> SiteCheck:
        """Return the check of a site, a new one where there is none."""
        check = self._by_site.get(site)
        if check is None:
            check = SiteCheck(len(self._checks), site, arm)
            self._checks.append(check)
            self._by_site[site] = check
        return check

    def in_state(self, state: CheckState) -> list[SiteCheck]:
        """Return the checks in this state."""
        return [check for check in self._checks if check.state is state]

    def save(self) -> list[list[Any]]:
        """Return the checks as lists: their fields in order, except the number."""
        return [[_plain(getattr(check, name)) for name in _SAVED] for check in self._checks]

    def load(self, saved: list[list[Any]]) -> None:
        self._checks = []
        for number, (site, arm, pages, files, *counts, state, by_user, decided_at) in enumerate(saved):
            known = site, arm, list(pages), set(files), *counts, CheckState(state), by_user, decided_at
            self._checks.append(SiteCheck(number, *known))
        self._by_site = {check.site: check for check in self._checks}


_SAVED = tuple(name for name in SiteCheck.__slots__ if name != "number")


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, set) else value
