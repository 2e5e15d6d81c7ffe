"""The bundled sample website: the statistics office of islands that do not exist.

It is built like the sites of real offices: most pages are news, people, explanations and lists; data files
hang on catalogue entries and reports, in places of their own; some links are dead, some addresses moved, some
files have no extension or a second address, and an old website is still there. Nothing on it knows of
crawlers. The same seed gives the same bytes.
"""

from __future__ import annotations

from random import Random
from xml.sax.saxutils import escape

from coati.testing.sample_layout import STYLE, page
from coati.testing.sample_sections import (
    Office,
    write_calendar,
    write_catalogue,
    write_explanations,
    write_home,
    write_news,
    write_old_website,
    write_people,
    write_reports,
    write_topics,
)
from coati.testing.site import Response, Site

DEFAULT_BASE_URL = "http://quillmark.test"

_SECTIONS = (
    write_home,
    write_topics,
    write_catalogue,
    write_reports,
    write_news,
    write_people,
    write_calendar,
    write_explanations,
    write_old_website,
)


def sample_site(base_url: str = DEFAULT_BASE_URL, seed: int = 0) -> Site:
    """Build the sample site for an origin.

    >>> site = sample_site()
    >>> site.start_url, site.get(site.start_url).status, len(site) > 300
    ('http://quillmark.test/', 200, True)
    """
    base_url = base_url.rstrip("/")
    office = Office(Random(seed))
    for write in _SECTIONS:
        write(office)
    _move_pages(office)
    _close_off(office)
    _tell_machines(office, base_url)
    return Site(f"{base_url}/", {base_url + path: response for path, response in office.responses.items()})


def _move_pages(office: Office) -> None:
    """Leave addresses behind that lead elsewhere, one in two hops and one in a circle."""
    for number, entry in enumerate(office.datasets, start=1):
        office.responses[f"/dataset/{number}"] = Response.redirect(entry.path)
    newest = next(report for report in reversed(office.publications) if report.files)
    office.responses["/latest"] = Response.redirect(newest.path, 302)
    office.responses["/archive/maps/m1.html"] = Response.redirect("/archive/maps/")
    office.responses["/archive/maps/"] = Response.redirect("/topics/environment/")
    office.responses["/archive/mirror/"] = Response.redirect("/archive/mirror/index.html")
    office.responses["/archive/mirror/index.html"] = Response.redirect("/archive/mirror/")


def _close_off(office: Office) -> None:
    """Add what robots.txt asks crawlers to leave alone."""
    office.add_page("/search?q=population", page("Search", "<p>Nothing found. Try another word.</p>"))
    minutes = '<p><a href="/internal/minutes-2024.csv">Minutes as a table</a></p>'
    office.add_page("/internal/minutes", page("Minutes of the council", minutes))
    office.responses["/internal/minutes-2024.csv"] = Response.file("text/csv", b"day,topic\n1,budget\n")


def _tell_machines(office: Office, base_url: str) -> None:
    """Write the style sheet, the pictures, robots.txt and the site map for search engines."""
    paths = [path for path, response in office.responses.items() if response.status == 200]  # noqa: PLR2004
    office.responses["/style.css"] = Response.file("text/css", STYLE.encode())
    for path in [path for path in paths if path.startswith("/topics/") and not path.endswith("/")]:
        name = path.rpartition("/")[2]
        office.responses[f"/media/{name}.svg"] = Response.file("image/svg+xml", _chart(name))
    rules = f"User-agent: *\nDisallow: /internal/\nDisallow: /search\n\nSitemap: {base_url}/sitemap.xml\n"
    office.responses["/robots.txt"] = Response.file("text/plain; charset=utf-8", rules.encode())
    public = [path for path in paths if not path.startswith(("/internal/", "/search"))]
    pages = [path for path in public if "html" in office.responses[path].media_type]
    entries = "".join(f"<url><loc>{escape(base_url + path)}</loc></url>" for path in pages)
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    office.responses["/sitemap.xml"] = Response.file("application/xml", sitemap.encode())


def _chart(name: str) -> bytes:
    """Draw a chart of bars whose heights nobody measured."""
    rng = Random(name)
    bars = "".join(
        f'<rect x="{20 + 30 * i}" y="{180 - height}" width="22" height="{height}" fill="#0b5c7a"/>'
        for i, height in enumerate(rng.choices(range(30, 160), k=12))
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 200">{bars}</svg>'.encode()
