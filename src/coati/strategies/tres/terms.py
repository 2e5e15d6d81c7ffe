"""The words that TRES looks for: those with which its authors' adaptation to target files was run.

Keywords are single words, keyphrases several in a row. Both are compared as words, not as parts of words:
``data`` is not in ``update``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coati.learners.word_logistic import words_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

KEYWORDS = frozenset(
    {
        *("pdf", "xls", "csv", "tar", "zip", "rar", "rdf", "json", "doc", "xml"),
        *("yaml", "txt", "tsv", "ppt", "ods", "dta", "7z", "ttl", "file", "document"),
        *(
            "report",
            "publication",
            "dataset",
            "data",
            "download",
            "archive",
            "spreadsheet",
            "table",
            "list",
            "resource",
        ),
        *(
            "annex",
            "supplement",
            "attachment",
            "proceedings",
            "survey",
            "material",
            "output",
            "content",
            "statistics",
            "article",
        ),
        *("paper", "metadata", "fact"),
    }
)

KEYPHRASES = (
    "download file",
    "download document",
    "available for download",
    "access data",
    "view report",
    "get dataset",
    "data file",
    "read more",
    "resource list",
    "get document",
    "download pulication",  # sic, as it was published
    "document archive",
    "supporting materials",
    "export data",
    "download CSV",
    "download PDF",
    "download XLS",
    "dataset download",
    "attached document",
    "official documents",
    "browse files",
    "download statistics",
    "download article",
    "annual report",
    "white paper",
    "technical documentation",
    "technical report",
    "raw data",
    "metadata file",
    "open data",
    "fact sheet",
)

_PHRASES = tuple(f" {' '.join(words_of(phrase))} " for phrase in KEYPHRASES)


def has_keyword(words: Sequence[str], keywords: Collection[str] = KEYWORDS) -> bool:
    """Tell whether one of these words is a keyword.

    >>> has_keyword(["update", "csv"]), has_keyword(["update"])
    (True, False)
    """
    return any(word in keywords for word in words)


def has_keyphrase(words: Sequence[str]) -> bool:
    """Tell whether these words hold a keyphrase.

    >>> has_keyphrase(["the", "annual", "report"]), has_keyphrase(["annual", "reports"])
    (True, False)
    """
    text = f" {' '.join(words)} "
    return any(phrase in text for phrase in _PHRASES)
