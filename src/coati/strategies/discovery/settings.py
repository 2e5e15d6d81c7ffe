"""The settings of a search for repositories; the sizes that the DSDD paper leaves open are DISCO's."""

from __future__ import annotations

from dataclasses import dataclass

from coati.strategies.discovery.actions import DISCOVERY_ACTIONS, Action

# How "data" and "dataset" are said in a query, by language.
_DATA_WORDS = {
    "en": ("data", "dataset"),
    "de": ("Daten", "Datensatz"),
    "es": ("datos", "conjunto de datos"),
    "fr": ("données", "jeu de données"),
    "it": ("dati", "dataset"),
    "nl": ("data", "dataset"),
    "pl": ("dane", "zbiór danych"),
    "pt": ("dados", "conjunto de dados"),
    "ru": ("данные", "набор данных"),
    "uk": ("дані", "набір даних"),
}


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """The parameters that all strategies of discovery share; what one alone reads is in a class of its own.

    ``topic`` is the user's, in words. The engines are names of providers, by the kind of query that they
    answer. ``crawl_after``: after this many requests the search ends, and the verified repositories are
    crawled breadth-first; None leaves that to ``coati harvest``.
    """

    topic: str = ""
    keyword_engines: tuple[str, ...] = ()
    related_engines: tuple[str, ...] = ()
    backlink_engines: tuple[str, ...] = ()
    language: str = "en"
    results_per_query: int = 50
    result_pages: int = 5
    seeds_per_pull: int = 20
    terms_per_pull: int = 20
    links_per_page: int = 10
    files_to_verify: int = 10
    check_depth: int = 3
    check_pages: int = 200
    crawl_after: int | None = None

    @property
    def data_words(self) -> tuple[str, str]:
        """How "data" and "dataset" are said in the user's language; in English where that is not known."""
        return _DATA_WORDS.get(self.language.partition("-")[0].lower(), _DATA_WORDS["en"])


@dataclass(frozen=True, slots=True)
class DsddVariant:
    """Which parts of DSDD are used: its actions, and whether the classifier learns from verification."""

    actions: tuple[Action, ...] = DISCOVERY_ACTIONS
    learns: bool = True


BD_OL = DsddVariant()


@dataclass(frozen=True, slots=True)
class UserJudgements:
    """What a user may say each time that a search is resumed: it changes no choice that was made.

    ``judged`` are URLs that the user accepts or rejects, ``max_queries`` the most queries to each engine.
    """

    judged: tuple[tuple[str, Action], ...] = ()
    max_queries: int | None = None


NO_WISHES = UserJudgements()
