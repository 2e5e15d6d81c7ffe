"""Of which syntaxes extruct can find a statement on a page at all.

extruct reads RDFa and Microformats of some ten pages per second, and most pages hold neither. What its
readers need for a single statement follows from their sources (extruct 0.18, pyRdfa3 3.6, mf2py 2.0), and is
looked for in a tree of the parser that they use themselves (libxml2), so that entities, broken tags and odd
quotes are read alike:

- Microdata: an element with ``itemscope``. JSON-LD: a script of its type. Open Graph: a ``meta`` with
  ``property``.
- Microformats: a class that is one of mf2py's roots, since every item begins at one. Where all of them are
  heights of a style sheet, `coati.markup.item_statements` leaves out all that is found.
- RDFa: pyRdfa3 adds statements for ``typeof``, ``vocab`` and ``role``, and for the names in ``property``,
  ``rel`` and ``rev``. A name is an address, has a prefix, or is one of its terms; no other name means
  anything without ``vocab``. ``role`` and all terms but ``license`` and ``describedby`` lead into the
  vocabulary of XHTML, and the prefixes of cards lead to Open Graph and its like, none of which is data
  (decision 23). A page that binds the prefix of a card to something else may hold anything.

Whatever is in doubt is possible. `benchmarks.markup_agreement` reads a random sample of what is skipped by
this all the same.
"""

from __future__ import annotations

import re
from itertools import pairwise

import lxml.etree
import lxml.html
from mf2py import backcompat, mf2_classes

from coati.web.charset import decode_page
from coati.web.links import MAX_PAGE_BYTES
from coati.web.markup.detector import SYNTAXES

_HEIGHTS = frozenset({"h-auto", "h-fit", "h-full", "h-max", "h-min", "h-px", "h-screen"})
_CARDS = frozenset(
    {"og", "fb", "article", "book", "books", "profile", "music", "video", "product", "twitter", "al"}
)
_CARD_ADDRESSES = (
    "http://ogp.me/",
    "https://ogp.me/",
    "http://opengraphprotocol.org/",
    "http://www.facebook.com/2008/",
    "https://dev.twitter.com/cards#",
)
_TERMS = frozenset({"license", "describedby"})
_SIMPLE = {
    "microdata": "boolean(//*[@itemscope])",
    "json-ld": 'boolean(//script[@type="application/ld+json"])',
    "opengraph": "boolean(//meta[@property])",
}
_ALWAYS_RDFA = "boolean(//*[@typeof or @vocab or @inlist])"
_WORD = re.compile(r"\S+")


def possible_syntaxes(body: bytes, content_type: str = "text/html; charset=utf-8") -> set[str]:
    """Return the syntaxes of which extruct may find a statement; of all others it finds none.

    >>> sorted(possible_syntaxes(b'<p class="vcard"><a rel="license nofollow" href="x">Terms</a>'))
    ['microformats', 'rdfa']
    >>> possible_syntaxes(b'<p class="card h-full"><a rel="nofollow" role="button" href="x">Terms</a>')
    set()
    """
    text, _ = decode_page(body[:MAX_PAGE_BYTES], content_type)
    try:
        tree = lxml.html.fromstring(text, parser=lxml.html.HTMLParser(encoding="UTF-8"))
    except (ValueError, lxml.etree.LxmlError):
        # Texts that the parser refuses: what its readers make of them is theirs to say.
        return set(SYNTAXES)
    found = {syntax for syntax, path in _SIMPLE.items() if tree.xpath(path)}
    if any(map(_has_root, set(tree.xpath("//@class")))):
        found.add("microformats")
    if tree.xpath(_ALWAYS_RDFA) or _has_names(tree) or _rebinds_cards(tree):
        found.add("rdfa")
    return found


def _has_root(classes: str) -> bool:
    names = [name for name in _WORD.findall(classes) if name not in _HEIGHTS]
    return bool(mf2_classes.root(names, ()) or backcompat.root(names))


def _has_names(tree: lxml.html.HtmlElement) -> bool:
    names = {name for value in tree.xpath("//@property | //@rel | //@rev") for name in value.split()}
    return any(
        name.partition(":")[0] not in _CARDS if ":" in name else name.lower() in _TERMS for name in names
    )


def _rebinds_cards(tree: lxml.html.HtmlElement) -> bool:
    """Tell whether a page says what the prefix of a card stands for, and that it is not a card."""
    words = [word for value in tree.xpath("//@prefix") for word in value.split()]
    bound = [(word[:-1], address) for word, address in pairwise(words) if word.endswith(":")]
    for element in tree.xpath("//*[@*[starts-with(name(), 'xmlns:')]]"):
        bound += [
            (name[6:], address) for name, address in element.attrib.items() if name.startswith("xmlns:")
        ]
    return any(name.lower() in _CARDS and not address.startswith(_CARD_ADDRESSES) for name, address in bound)
