"""The browser alone: what bounds a page, and what happens when it dies."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from coati.live.browser import Browser, PageLimits, PageRequest, PageResponse, Rendered, RenderError
from coati.live.find_browser import find_browser
from tests.live.browsers import needs_browser
from tests.live.scripted import scripted

URL = "http://site.test/"
LIMITS = PageLimits(seconds=300.0, memory_bytes=1 << 30, characters=10_000)
HTML = (("Content-Type", "text/html; charset=utf-8"),)


async def _nothing(_: PageRequest) -> PageResponse | None:
    return None


@contextmanager
def _loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


async def _render(browser: Browser, markup: str, limits: PageLimits = LIMITS) -> Rendered:
    return await browser.render(URL, PageResponse(200, HTML, markup.encode()), _nothing, "Coati/test", limits)


async def _refused(browser: Browser, markup: str, limits: PageLimits = LIMITS) -> str:
    with pytest.raises(RenderError) as caught:
        await _render(browser, markup, limits)
    return str(caught.value)


LATE = "<script>setTimeout(() => document.body.append('late: ' + navigator.userAgent), 5000)</script>"
ENDLESS = "<script>for (;;) {}</script>"
HUGE = "<script>const all = []; for (;;) all.push(new Uint8Array(1 << 24).fill(1))</script>"
ASKING = """<p>seen</p><script>
const ask = () => fetch("/data?" + Math.random()).catch(() => 0).finally(ask)
for (let number = 0; number < 50; number++) ask()
</script>"""
LONG = "<p></p><script>document.body.append('x'.repeat(50000))</script>"


async def _bounds() -> None:
    browser = Browser(find_browser())
    try:
        assert "late: Coati/test" in (await _render(browser, LATE)).markup
        assert (
            await _refused(browser, ENDLESS, PageLimits(0.5, 1 << 30, 9)) == "its scripts did not end in time"
        )
        # Its clock stands still while it waits for what it asked for; not for ever, however often it asks.
        asking = _render(browser, ASKING, PageLimits(0.5, 1 << 30, 99))
        assert "seen" in (await asyncio.wait_for(asking, 120)).markup
        assert "memory" in await _refused(browser, HUGE, PageLimits(300.0, 400 << 20, 9))
        assert len((await _render(browser, LONG)).markup) == 10_000
        await browser.kill()
        assert "late" in (await _render(browser, LATE)).markup, "it was started again"
    finally:
        await browser.close()


@needs_browser
def test_a_page_is_bounded_and_a_browser_that_died_is_started_again() -> None:
    with _loop() as runner:
        runner.run(_bounds())


REACHES_OUT = """
<img src="{base}/picture"><link rel=stylesheet href="{base}/style"><iframe src="{base}/frame"></iframe>
<script>
new WebSocket("{base}/socket".replace("http", "ws"));
fetch("{base}/fetch", {{mode: "no-cors"}}).catch(() => 0);
new Worker(URL.createObjectURL(new Blob(["fetch('{base}/worker', {{mode: 'no-cors'}})"])));
const peer = new RTCPeerConnection({{iceServers: [{{urls: "stun:127.0.0.1:{port}"}}]}});
peer.createDataChannel("x");
peer.createOffer().then(offer => peer.setLocalDescription(offer));
</script>
"""


async def _reach_out(base: str) -> list[str]:
    asked: list[str] = []

    async def note(request: PageRequest) -> PageResponse | None:
        asked.append(request.url)
        return None

    browser = Browser(find_browser())
    try:
        markup = REACHES_OUT.format(base=base, port=base.rpartition(":")[2])
        await browser.render(URL, PageResponse(200, HTML, markup.encode()), note, "Coati/test", LIMITS)
    finally:
        await browser.close()
    return asked


@needs_browser
def test_it_has_no_network_of_its_own() -> None:
    with scripted({}) as server, _loop() as runner:
        asked = runner.run(_reach_out(server.base))
        assert server.asked == []
    assert server.base + "/fetch" in asked


def test_a_browser_that_does_not_start_is_told() -> None:
    pytest.importorskip("playwright")

    async def run() -> str:
        browser = Browser("/bin/false")
        try:
            return await _refused(browser, "")
        finally:
            await browser.close()

    with _loop() as runner:
        assert runner.run(run()).startswith("the browser does not start: ")
