"""Whether a page calls itself a dataset in its markup: counted and reported, and never a proof.

Of the marked pages that the DSDD paper looked at, 61 % did not describe a dataset.
"""

from __future__ import annotations

import re

from coati.web.links import MAX_PAGE_BYTES

_JSON_LD = re.compile(
    rb"""["']@type["']\s*:\s*(?:\[[^\]]{0,200}?)?["'](?:https?://schema\.org/|schema:|dcat:)?Dataset["']"""
)
_MICRODATA = re.compile(rb"""itemtype\s*=\s*["']?https?://schema\.org/Dataset\b""", re.IGNORECASE)
_RDFA = re.compile(
    rb"""typeof\s*=\s*["'][^"']{0,200}?(?:(?:schema|dcat):Dataset\b|https?://(?:schema\.org/|www\.w3\.org/ns/dcat#)Dataset\b)""",
    re.IGNORECASE,
)
# RDFa may name its vocabulary apart from the type.
_VOCABULARY = re.compile(rb"""vocab\s*=\s*["']https?://(?:schema\.org|www\.w3\.org/ns/dcat)""", re.IGNORECASE)
_PLAIN_TYPE = re.compile(rb"""typeof\s*=\s*["']?Dataset\b""", re.IGNORECASE)


def dataset_markup(body: bytes, _content_type: str = "") -> list[str]:
    """Name the syntaxes in which a page says that it is a schema.org or DCAT dataset.

    >>> dataset_markup(b'<script type="application/ld+json">{"@type": "Dataset"}</script>', "text/html")
    ['json-ld']
    """
    body = body[:MAX_PAGE_BYTES]
    found = []
    if b"application/ld+json" in body and _JSON_LD.search(body):
        found.append("json-ld")
    if _MICRODATA.search(body):
        found.append("microdata")
    if _RDFA.search(body) or (_VOCABULARY.search(body) and _PLAIN_TYPE.search(body)):
        found.append("rdfa")
    return found
