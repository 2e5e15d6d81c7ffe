"""All out-links of a page, for strategies that need them (`coati.model.Page.out_links`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coati.web.urls import url_hash

if TYPE_CHECKING:
    from coati.model import Page


def with_out_links(page: Page) -> Page:
    """Return a page with the hashes of all its links, which must be all that the rules admit.

    >>> from coati.model import Link, LinkList, Page
    >>> links = LinkList([Link("http://example.org/", ("a",)), Link("http://example.org/", ("b",))])
    >>> with_out_links(Page(200, 9, links)).out_links
    [2689016738534627648]
    """
    return replace(page, out_links=sorted(set(map(url_hash, page.links.urls))))
