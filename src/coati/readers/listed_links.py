"""Which links of a page an API listed before (`coati.shortcuts`), for strategies that need them.

A strategy learns nothing from links to known URLs, and no log keeps them. But a page that links to files
which an API listed is no worse for that. So these links are passed on, as hashes
(`coati.model.Page.out_links`), and are logged. A driver passes each outcome through here before the strategy
observes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from coati.model import Outcome, Page, Redirect
from coati.readers.listed import is_api, named_first
from coati.web.urls import url_hash


class ListedLinks:
    """What the APIs of one crawl listed so far; ``apis`` and ``listed`` are of its earlier sessions.

    >>> from coati.model import Link, LinkList
    >>> crawl = ListedLinks(["http://a.test/api"])
    >>> file = Page(200, 9, LinkList([Link("http://a.test/b.csv", ("ckan", "url"))]))
    >>> [crawl.with_listed(url, file).out_links for url in ("http://a.test/api", "http://a.test/")]
    [None, [4840354654523450114]]
    """

    def __init__(self, apis: Iterable[str] = (), listed: Iterable[str] = ()) -> None:
        self._apis = set(apis)
        # Hashes of this process: they are kept nowhere.
        self._listed = set(map(hash, listed))

    def with_listed(self, url: str, outcome: Outcome) -> Outcome:
        """Return an outcome with the hashes of the links that an API listed before."""
        if isinstance(outcome, Redirect) and url in self._apis:
            self._apis.add(outcome.location)
        if not isinstance(outcome, Page):
            return outcome
        urls = outcome.links.urls
        self._apis.update(named_first(outcome.links, is_api))
        if url in self._apis:
            self._listed.update(map(hash, urls))
            return outcome
        there = {link for link in urls if hash(link) in self._listed} if self._listed else ()
        return replace(outcome, out_links=sorted(map(url_hash, there))) if there else outcome
