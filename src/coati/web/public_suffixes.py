"""Names under which anyone may register: gov.uk is not a site, and www.gov.uk is one.

The list is the one that tldextract ships. It is read from the package, never fetched: a crawl contacts no
server that its user did not name.
"""

from __future__ import annotations

from functools import cache

# Directly under these, every name has an owner. The library takes half a second to import, so most crawls
# do without it.
PLAIN_ENDINGS = frozenset(
    ["org", "com", "net", "edu", "gov", "info", "eu", "de", "ch", "nl", "dk", "cz", "lu", "sk", "si"]
)


@cache
def is_public_suffix(host: str) -> bool:
    """Tell whether a host is a suffix that many sites share.

    >>> is_public_suffix("gov.uk"), is_public_suffix("example.gov.uk"), is_public_suffix("example.org")
    (True, False, False)
    """
    labels = host.split(".")
    if len(labels) == 2 and labels[1] in PLAIN_ENDINGS:  # noqa: PLR2004 - a name and its ending
        return False
    from tldextract import TLDExtract

    found = TLDExtract(suffix_list_urls=(), cache_dir=None)(host)
    return bool(found.suffix) and not found.domain
