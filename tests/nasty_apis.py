"""APIs at their worst: what the software behind a site answers where its files should be listed.

Each has a home page of its own in the nasty server, ``/apis/NAME/``, which shows WordPress as real ones do,
and links to a good file. The docstring of its function says what its API does wrong.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.nasty_server import Exchange

Api = Callable[["Exchange"], Awaitable[None]]

APIS: dict[str, Api] = {}
JSON = "application/json; charset=UTF-8"
PRIVATE = "http://127.0.0.1:9/private.csv"


def api(function: Api) -> Api:
    APIS[function.__name__.replace("_", "-")] = function
    return function


def media(*urls: object) -> bytes:
    return json.dumps([{"source_url": url, "mime_type": "text/csv"} for url in urls]).encode()


def number_of(exchange: Exchange) -> int:
    page = exchange.query("page", "1")
    return int(page) if page.isdigit() else 1


@api
async def honest(exchange: Exchange) -> None:
    """List one file, which no page links to."""
    await exchange.answer(media("/apis/honest/listed.csv"), JSON)


@api
async def endless(exchange: Exchange) -> None:
    """List a hundred other files on each of pages without end; none of them exists."""
    first = 100 * number_of(exchange)
    await exchange.answer(media(*(f"/nothing/{number}.csv" for number in range(first, first + 100))), JSON)


@api
async def repeating(exchange: Exchange) -> None:
    """List the same files on each page, and say that there are a million pages."""
    await exchange.answer(media("/good.csv"), JSON, extra=[("X-WP-TotalPages", "1000000")])


@api
async def wrong_total(exchange: Exchange) -> None:
    """Say that there are pages without number, and answer each but the first with nothing."""
    listed = media("/apis/wrong-total/listed.csv") if number_of(exchange) == 1 else b"[]"
    await exchange.answer(listed, JSON, extra=[("X-WP-TotalPages", "9" * 400)])


@api
async def negative_total(exchange: Exchange) -> None:
    """Say that there are fewer pages than none."""
    await exchange.answer(media("/apis/negative-total/listed.csv"), JSON, extra=[("X-WP-TotalPages", "-1")])


@api
async def huge(exchange: Exchange) -> None:
    """Send 100 MB of JSON."""
    block = media(*(f"/nothing/{number}.csv" for number in range(20_000)))[1:-1] + b","
    blocks = 100_000_000 // len(block)
    size = blocks * len(block) + 1
    await exchange.begin(("Content-Type", JSON), ("Content-Length", str(size)))
    await exchange.write(b"[")
    for _ in range(blocks):
        await exchange.write(block)


@api
async def never_ending(exchange: Exchange) -> None:
    """Send a list that never ends, as fast as it is read."""
    await exchange.begin(("Content-Type", JSON))
    await exchange.write(b"[")
    while True:
        await exchange.write(media("/nothing/1.csv")[1:-1] * 100 + b",")


@api
async def deep(exchange: Exchange) -> None:
    """Nest a million lists."""
    await exchange.answer(b"[" * 1_000_000 + b"]" * 1_000_000, JSON)


@api
async def one_long_string(exchange: Exchange) -> None:
    """Answer with an address of ten million characters."""
    await exchange.answer(media("/" + "a" * 10_000_000), JSON)


@api
async def huge_numbers(exchange: Exchange) -> None:
    """Answer with numbers of a hundred thousand digits where addresses should be."""
    await exchange.answer(b'[{"source_url": ' + b"9" * 100_000 + b"}]", JSON)


@api
async def html(exchange: Exchange) -> None:
    """Answer with a page to log in, in HTML, and call it a success."""
    await exchange.answer(b"<html><body>Log in <a href='/good.html'>here</a></body></html>")


@api
async def html_called_json(exchange: Exchange) -> None:
    """Answer with HTML, and call it JSON."""
    await exchange.answer(b"<html><body>Log in</body></html>", JSON)


@api
async def cut_off(exchange: Exchange) -> None:
    """Break off within an entry."""
    await exchange.answer(media("/apis/cut-off/listed.csv")[:-9], JSON)


@api
async def dropped(exchange: Exchange) -> None:
    """Announce more than is sent, and close."""
    await exchange.begin(("Content-Type", JSON), ("Content-Length", "100000"))
    await exchange.write(media("/apis/dropped/listed.csv"))


@api
async def wrong_kinds(exchange: Exchange) -> None:
    """Answer with numbers, lists and nothing where addresses and entries should be."""
    entries: list[object] = [
        None,
        7,
        "text",
        [],
        {"source_url": None},
        {"source_url": ["/a.csv"]},
        {"source_url": 7},
    ]
    await exchange.answer(json.dumps(entries).encode(), JSON)


@api
async def garbage(exchange: Exchange) -> None:
    """Send bytes that are no text."""
    await exchange.answer(bytes(range(256)) * 40, JSON)


@api
async def elsewhere(exchange: Exchange) -> None:
    """List what is on other hosts, on this machine's other ports, and what is not an address of the web."""
    hosts = ("http://elsewhere.test/a.csv", "//elsewhere.test/b.csv", "http://[::1", PRIVATE)
    schemes = ("javascript:alert(1)", "file:///etc/passwd", "search://wayback/?q=a", "data:text/csv,1")
    await exchange.answer(media(*hosts, *schemes), JSON)


@api
async def moved_elsewhere(exchange: Exchange) -> None:
    """Redirect to another host."""
    await exchange.redirect("http://elsewhere.test/wp-json/wp/v2/media")


@api
async def moved_to_itself(exchange: Exchange) -> None:
    """Redirect to another address of itself, each time."""
    await exchange.redirect(f"/apis/moved-to-itself/wp-json/wp/v2/media?page={number_of(exchange) + 1}")


@api
async def busy(exchange: Exchange) -> None:
    """Answer 429 each time."""
    await exchange.answer(b"", JSON, "429 Too Many Requests", [("Retry-After", "0")])


@api
async def failing(exchange: Exchange) -> None:
    """Answer 500 each time, with a list."""
    await exchange.answer(media("/apis/failing/listed.csv"), JSON, "500 Internal Server Error")


@api
async def closed(exchange: Exchange) -> None:
    """Answer 401, as sites do that show their API to editors only."""
    await exchange.answer(b'{"code": "rest_forbidden"}', JSON, "401 Unauthorized")


@api
async def silent(_exchange: Exchange) -> None:
    """Take the request and never answer."""
    await asyncio.Event().wait()


async def answer(exchange: Exchange) -> None:
    """Answer for everything below ``/apis/``."""
    name, _, rest = exchange.path.removeprefix("/apis/").partition("/")
    if rest.startswith("wp-json/") and name in APIS:
        await APIS[name](exchange)
    elif rest == "listed.csv":
        await exchange.answer(b"a,b\n1,2\n", "text/csv")
    elif name in APIS:
        shown = f'<link rel="https://api.w.org/" href="/apis/{name}/wp-json/">'
        await exchange.answer(f'<head>{shown}</head><a href="/good.csv">File</a>'.encode())
    else:
        homes = "".join(f'<a href="/apis/{known}/">{known}</a>' for known in APIS)
        await exchange.answer(homes.encode())
