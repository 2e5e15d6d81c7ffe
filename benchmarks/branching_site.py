"""A site without end for load tests: pages of 40 KB with 100 links, five of them new, made when requested."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from coati.testing.server import serve
from coati.testing.site import Response, Site

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from coati.testing.server import Latency

PAGE_BYTES = 40_000
LINKS, NEW_LINKS = 100, 5
# Once per this many pages the last new link is a file.
FILE_EVERY = 20

_FILLER = "<p>Figures of the region, by year and district, with notes on method and sources.</p>\n" * 500


class BranchingPages(Mapping[str, Response]):
    """Page n links to pages 5n+1 ... 5n+5, and like a menu to the first 95."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    def __getitem__(self, url: str) -> Response:
        name = url.removeprefix(self._base_url + "/")
        if name.endswith(".csv"):
            return Response.file("text/csv", f"year,value\n2024,{name}\n".encode())
        if name and not (name.startswith("page-") and name.endswith(".html")):
            raise KeyError(url)
        number = int(name[5:-5]) if name else 0
        first = NEW_LINKS * number + 1
        items = [_item(n) for n in range(first, first + NEW_LINKS)]
        # Hosts that gave equal pages would be taken for mirrors of one another, and left alone.
        title = f"<title>Page {number} of {self._base_url}</title>"
        top = f"<!doctype html>{title}<body>{_MENU}<ul class=items>{''.join(items)}</ul>"
        return Response.page(top + _FILLER[: PAGE_BYTES - len(top)])

    def __iter__(self) -> Iterator[str]:
        raise TypeError("the site has no end")

    def __len__(self) -> int:
        raise TypeError("the site has no end")


def _item(number: int) -> str:
    ending = "csv" if number % FILE_EVERY == 0 else "html"
    return f'<li class=item><a href="/page-{number}.{ending}">Item {number}</a></li>'


_MENU = f"<ul class=menu>{''.join(map(_item, range(1, LINKS - NEW_LINKS + 1)))}</ul>"


def _make(base_url: str) -> Site:
    return Site(base_url + "/", BranchingPages(base_url))


def _serve(count: int, latency: Latency, pipe: Connection) -> None:
    with serve(*[_make] * count, latency=latency) as server:
        pipe.send([site.start_url for site in server.sites])
        pipe.poll(None)


@contextmanager
def served(count: int, slow_seconds: float = 0.0) -> Iterator[list[str]]:
    """Serve this many sites from a process of their own, the first one slow; return their start URLs."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    latency = partial(_first_is_slow, slow_seconds) if slow_seconds else 0.0
    server = context.Process(target=_serve, args=(count, latency, theirs))
    server.start()
    theirs.close()
    try:
        yield ours.recv()
    finally:
        ours.close()
        server.join(5)
        if server.is_alive():
            server.terminate()


def _first_is_slow(seconds: float, url: str) -> float:
    return seconds if url.startswith("http://127.0.0.1:") else 0.0
