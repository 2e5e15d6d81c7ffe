"""The words of generated URLs: sections by what their pages are about, and invented words for the rest."""

from __future__ import annotations

from typing import Final, NamedTuple


class SectionKind(NamedTuple):
    """A sort of pages: the words that name its section, and whether they tell of single things."""

    words: tuple[str, ...]
    of_things: bool


KINDS: Final = (
    SectionKind(("product", "item", "shop", "artikel", "produit"), of_things=True),
    SectionKind(("recipe", "rezept", "recette", "cooking"), of_things=True),
    SectionKind(("event", "events", "termine", "concert"), of_things=True),
    SectionKind(("review", "reviews", "test", "rating"), of_things=True),
    SectionKind(("article", "news", "story", "post", "blog"), of_things=True),
    SectionKind(("profile", "people", "team", "member"), of_things=True),
    SectionKind(("category", "list", "catalog", "rubrik"), of_things=False),
    SectionKind(("tag", "topic", "thema", "label"), of_things=False),
    SectionKind(("forum", "thread", "board", "viewtopic"), of_things=False),
    SectionKind(("about", "contact", "info", "impressum", "help"), of_things=False),
    SectionKind(("gallery", "photo", "bilder", "media"), of_things=False),
    SectionKind(("archive", "archiv", "search", "index"), of_things=False),
)

# What pages end with, and how much likelier than others a host with this ending is to be rich.
ENDINGS: Final = ((".html", 1.0), ("", 1.3), (".php", 0.8), (".aspx", 0.6), (".htm", 0.5), ("/", 1.8))

TOPICS = 25
WORDS_PER_TOPIC = 40
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


def _invented(number: int) -> str:
    """Return a word of three syllables; no two numbers below 343,000 have the same.

    >>> _invented(0), _invented(1000)
    ('bababa', 'bafuka')
    """
    word = ""
    for _ in range(3):
        number, syllable = divmod(number, len(_CONSONANTS) * len(_VOWELS))
        consonant, vowel = divmod(syllable, len(_VOWELS))
        word = _CONSONANTS[consonant] + _VOWELS[vowel] + word
    return word


TOPIC_WORDS: Final = tuple(
    tuple(_invented(77 * (topic * WORDS_PER_TOPIC + place) + 13) for place in range(WORDS_PER_TOPIC))
    for topic in range(TOPICS)
)
