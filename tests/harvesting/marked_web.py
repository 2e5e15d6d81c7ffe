"""A web of small hosts on this machine: some of them mark their pages up, most do not."""

from __future__ import annotations

from coati.testing.server import MakeSite
from coati.testing.site import Response, Site

MARKED = """<div itemscope itemtype="https://schema.org/Dataset"><b itemprop="name">Set {number}</b>
<i itemprop="license">by</i><meta itemprop="keywords" content="a"><u itemprop="creator">C</u></div>
<script type="application/ld+json">
{{"@context": "https://schema.org", "@type": "Dataset", "name": "S{number}"}}</script>"""
PLAIN = '<p>Nothing here</p><meta property="og:title" content="x">'
BROKEN = '<script type="application/ld+json">{"@type": </script>'


def marked_sites(hosts: int, pages: int = 8) -> list[MakeSite]:
    """Make hosts; every third has data on its pages. Each links to the next one, by its number."""
    return [_maker(number, hosts, pages) for number in range(hosts)]


def _maker(number: int, hosts: int, pages: int) -> MakeSite:
    def make(base_url: str) -> Site:
        port = base_url.rpartition(":")[2]
        neighbour = f"http://127.0.0.{(number + 1) % hosts + 1}:{port}/"
        answers: dict[str, Response] = {}
        for page in range(pages):
            links = "".join(f'<a href="/page{other}">{other}</a>' for other in range(pages))
            body = MARKED.format(number=page) if number % 3 == 0 and page else PLAIN
            if page == 1:
                body += BROKEN
            path = f"/page{page}" if page else "/"
            answers[base_url + path] = Response.page(
                f"<html><head><title>{page}</title></head><body>{links}<a href='{neighbour}'>n</a>{body}"
            )
        answers[f"{base_url}/page0"] = Response.redirect(f"{base_url}/")
        return Site(f"{base_url}/", answers)

    return make
