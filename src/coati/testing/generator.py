"""Random websites with the features that decide how well a crawler does.

A site is a graph in a few arrays (`coati.testing.site_graph`); a page is rendered when it is requested. So a
site of a million URLs is generated in seconds and takes some tens of megabytes. The same parameters,
seed and base URL always give the same site.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random

from coati.errors import UsageError
from coati.strategies.chance import draw
from coati.testing.page_renderer import Renderer, log_normal
from coati.testing.section_families import FAMILIES
from coati.testing.site import Response, Site
from coati.testing.site_graph import build_graph
from coati.testing.site_parameters import SiteParameters
from coati.testing.site_traps import Traps
from coati.testing.site_urls import Addresses, Found, Node
from coati.web.urls import normalise, path_of, query_of

DEFAULT_BASE_URL = "http://generated.test"


def generate_site(parameters: SiteParameters, seed: int, base_url: str = DEFAULT_BASE_URL) -> Site:
    """Generate a site that starts at ``base_url``, an origin without a path.

    >>> site = generate_site(SiteParameters(pages=40), seed=1)
    >>> site.start_url, site.get(site.start_url).status, len(site) > 57
    ('http://generated.test/', 200, True)
    """
    start_url = base_url.rstrip("/") + "/"
    if normalise(start_url) != start_url or path_of(start_url) != "/" or query_of(start_url):
        raise UsageError(f"a site's base URL is an origin such as {DEFAULT_BASE_URL}, not {base_url}")
    return Site(start_url, GeneratedPages(parameters, seed, start_url.rstrip("/")))


class GeneratedPages(Mapping[str, Response]):
    """The responses of a generated site, rendered when they are requested."""

    def __init__(self, parameters: SiteParameters, seed: int, base_url: str) -> None:
        self._base_url = base_url
        self._seed = seed
        self._parameters = parameters
        rich = [family.rich for family in FAMILIES[: parameters.templates]]
        self._graph = build_graph(parameters, rich, Random(seed))
        self._addresses = Addresses(self._graph, seed, parameters.extensionless_share)
        self._traps = Traps(parameters, seed)
        self._renderer = Renderer(parameters, self._graph, self._addresses, self._traps, seed)

    def __len__(self) -> int:
        """Count the URLs, traps and pictures included."""
        graph = self._graph
        attached = len(graph.targets) + len(graph.errors) + len(graph.redirects) + len(graph.others)
        return len(graph) + attached + len(self._addresses.pictures) + len(self._traps)

    def __iter__(self) -> Iterator[str]:
        """List the URLs: pages breadth-first, then what hangs on them, then traps."""
        graph, addresses, base = self._graph, self._addresses, self._base_url
        yield from (base + addresses.page(page) for page in range(len(graph)))
        yield from (base + addresses.target(number) for number in range(len(graph.targets)))
        yield from (base + addresses.error(number) for number in range(len(graph.errors)))
        yield from (base + addresses.redirect(number) for number in range(len(graph.redirects)))
        yield from (base + addresses.other(number) for number in range(len(graph.others)))
        yield from (base + addresses.picture(number) for number in addresses.pictures)
        yield from (base + path for path in self._traps.paths())

    def __getitem__(self, url: str) -> Response:
        """Render what a URL answers."""
        if not url.startswith(self._base_url + "/"):
            raise KeyError(url)
        path = url[len(self._base_url) :]
        found = self._addresses.find(path)
        if found is not None:
            return self._respond(found)
        response = self._traps.get(path)
        if response is None:
            raise KeyError(url)
        return response

    def _respond(self, found: Found) -> Response:
        node, number = found
        if node is Node.PAGE:
            return Response.page(self._renderer.page(number))
        if node is Node.TARGET:
            size = log_normal(
                self._parameters.target_bytes, self._parameters.target_bytes_sd, self._seed, number
            )
            return Response.file(self._addresses.target_type(number)[1], size_bytes=size)
        if node is Node.ERROR:
            return Response.page("<!doctype html><h1>Sorry</h1>", _error_status(self._seed, number))
        if node is Node.REDIRECT:
            status = (301, 302, 303, 307, 308)[draw(self._seed, number, 5)]
            return Response.redirect(self._renderer.destination(number), status)
        if node is Node.OTHER:
            return Response.file(self._addresses.other_type(number)[1], size_bytes=2_000)
        return Response.file("image/jpeg", size_bytes=20_000)


def _error_status(seed: int, number: int) -> int:
    return (404, 404, 404, 404, 404, 404, 410, 403, 403, 500)[draw(seed, number, 10)]
