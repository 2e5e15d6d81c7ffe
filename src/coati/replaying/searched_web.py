"""A web with a search engine over it, as a search for repositories sees it (`coati.testing.data_web`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coati.model import Outcome, Request


class SearchedWeb(Protocol):
    """Answers queries and requests, and knows what each site holds; a site is named by its host."""

    @property
    def topic_words(self) -> str:
        """What is searched for."""

    @property
    def engine(self) -> str:
        """The name of its search engine, which takes keywords and knows related pages and back-links."""

    @property
    def hosts(self) -> int:
        """How many sites there are."""

    @property
    def repositories(self) -> int:
        """How many of them are repositories of the topic."""

    def respond(self, request: Request) -> Outcome:
        """Return the outcome of a request, with all out-links."""

    def front_page(self, host: str) -> str:
        """Return the URL of a site."""

    def is_repository(self, host: str) -> bool:
        """Tell whether a site holds data."""

    def on_topic(self, host: str) -> bool:
        """Tell whether a site is about what is searched for."""

    def dataset_pages_of(self, host: str) -> int:
        """Count the pages of a site that link to files."""

    def examples(self) -> Sequence[tuple[Mapping[str, int], bool]]:
        """Return labelled pages of other topics, what a classifier begins with."""
