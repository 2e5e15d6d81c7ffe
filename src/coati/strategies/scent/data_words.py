"""Words by which people name places that hold data, and places that do not, in a dozen languages.

They are general knowledge and no site's: what an archivist would type into a site's search box. They decide
nothing; they only tell which of two untried kinds of link is tried first, and a few visits outweigh them.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Meaning(Enum):
    """What the words of a link promise."""

    NONE = 0
    DATA = 1
    CHORE = 2


# Beginnings of words. Long enough that none begins a common word of another meaning.
_DATA = (
    # English, and what other languages share with it
    "data", "dataset", "download", "statisti", "archive", "publication", "report", "resource", "document",
    "file", "table", "indicator", "catalog", "repositor", "librar", "paper", "release", "export", "csv",
    "excel", "xls", "pdf", "zip", "appendi", "supplement", "survey", "census", "bulletin", "yearbook",
    # German, Dutch, Scandinavian languages
    "daten", "herunterlad", "veröffentlich", "bericht", "dokument", "tabelle", "archiv", "gegevens",
    "publicatie", "bestand", "tabell", "rapport", "publikation", "publikasjon",
    # French, Spanish, Portuguese, Italian, Catalan, Romanian
    "donnée", "donnees", "télécharg", "telecharg", "fichier", "tableau", "datos", "descarga", "documento",
    "publicaci", "informe", "estadístic", "estadistic", "dados", "baixar", "relatório", "relatorio",
    "publicaç", "publicac", "estatístic", "estatistic", "dati", "scarica", "pubblicazion",
    "rapporto", "dades", "descàrre", "descărc",
    # Polish, Czech, Russian, Ukrainian, Turkish, Greek
    "pobierz", "statysty", "publikacj", "soubor", "stáhn", "stahn", "данн", "скача", "статист",
    "публикац", "завантаж", "indir", "yayin", "istatisti", "δεδομέν", "λήψη",
    # Arabic, Chinese, Japanese, Korean
    "بيانات", "تحميل", "数据", "下载", "统计", "データ", "ダウンロード", "統計", "자료", "통계", "다운로드",
)  # fmt: skip
_CHORE = (
    "login", "logout", "signin", "signup", "password", "account", "contact", "privacy", "cookie",
    "imprint", "impressum", "datenschutz", "kontakt", "terms", "accessib", "share", "print", "tweet",
    "facebook", "twitter", "linkedin", "subscrib", "newsletter", "cart", "checkout", "comment", "reply",
    "feedback", "sitemap", "genindex", "mention", "contacto", "contato", "contatti", "connexion", "anmelden",
    "warenkorb",
)  # fmt: skip

# What a page's URL ends with; the empty one is a directory's or a plain name's.
PAGE_EXTENSIONS = frozenset({"", "html", "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "do", "cfm"})

_WORD = re.compile(r"[^\W\d_]+")
# Everything but letters, as a space.
_LETTERS = b"".join(each if each.isalpha() else b" " for each in map(bytes, zip(range(256))))
_NONE, _GOOD, _BAD = Meaning.NONE, Meaning.DATA, Meaning.CHORE


def words_of(text: str) -> list[str]:
    """Return the words of a text: runs of letters.

    >>> words_of("plot_2d-Tabelle.für"), words_of("a.b7")
    (['plot', 'd', 'Tabelle', 'für'], ['a', 'b'])
    """
    if text.isascii():
        # The same without a search, which is the larger part of describing a link.
        return text.encode().translate(_LETTERS).decode().split()
    return _WORD.findall(text)


def meaning_of(anchor_words: Iterable[str], path: str) -> Meaning:
    """Tell what the lower-case words of an anchor, or else the URL's path, promise.

    >>> meaning_of(["statistik", "herunterladen"], "/x"), meaning_of([], "/privacy.html")
    (<Meaning.DATA: 1>, <Meaning.CHORE: 2>)
    """
    found = _NONE
    for word in anchor_words:
        meaning = _meaning_of_word(word)
        if meaning is _BAD:
            return meaning
        if meaning is _GOOD:
            found = meaning
    if found is _NONE and path:
        for word in words_of(path.rstrip("/").rpartition("/")[2].lower()):
            meaning = _meaning_of_word(word)
            if meaning is not _NONE:
                return meaning
    return found


@lru_cache(maxsize=1 << 14)
def _meaning_of_word(word: str) -> Meaning:
    if word.startswith(_CHORE):
        return _BAD
    return _GOOD if word.startswith(_DATA) else _NONE
