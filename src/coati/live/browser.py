"""A headless Chromium that runs the scripts of pages, without network access of its own.

Whatever a page requests goes to the crawl, which fetches it as it fetches everything: within the scope, by
robots.txt, at the pace of the host, counted, and from no private address. What does not come by that way (a
socket, a worker's request, a look-up of names) ends at a proxy that is not there. The page itself was fetched
before: the browser is handed what came.

Time in a page is virtual: timers fire at once, and time stands still while anything is fetched. So a page is
ready when some seconds of its own time went by, which takes a moment, and always the same. Real time is
bounded beside it, without what the fetches take; so is memory. A page that breaks a bound, or the browser
with it, is given up; a browser that died is started again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import BrowserContext, CDPSession, Page, Playwright, Route

T = TypeVar("T")

# How much of its own time a page has: what it shows later, hardly any visitor waits for.
_PAGE_SECONDS = 10
# Tasks of a page that may run before its clock is made to advance.
_MOST_TASKS = 100_000
_LOOK_SECONDS = 0.1
# The first requests of a page stop its clock; a page that sends them without end must not stop it for ever.
_MOST_PAUSES = 1000
# A page whose time is up is read as it is; it has this long to let us, and a share of its time.
_GRACE_SECONDS, _GRACE_SHARE = 1.0, 0.25
# What Playwright may take for one step that runs no script of the page.
_STEP_SECONDS = 60.0
_START_SECONDS = 90.0
_CLOSE_SECONDS = 5.0
# A browser grows with what it has shown.
_PAGES_PER_BROWSER = 200
_PAGES_AT_ONCE = 2

# A port that nobody listens on takes whatever does not come by us. The system's resolver is not used, either.
_ARGUMENTS: Final = (
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--mute-audio",
)
_READ_PAGE = "most => document.documentElement ? document.documentElement.outerHTML.slice(0, most) : ''"
# Headers that describe the body as it was sent, or that the browser does not need.
_NOT_HANDED_ON = frozenset({"content-encoding", "content-length", "transfer-encoding", "set-cookie"})


class RenderError(Exception):
    """A page could not be rendered; says why."""


@dataclass(frozen=True, slots=True)
class PageLimits:
    """What one page may take: seconds of real time without its fetches, memory, characters of its markup."""

    seconds: float
    memory_bytes: int
    characters: int


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What a page requests on its own; ``kind`` is the browser's word for what it is for."""

    url: str
    method: str
    kind: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PageResponse:
    """What came for a page, or for one of its requests; the body is unpacked."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page after its scripts ran; ``leads_to`` is where one of them wanted to go."""

    markup: str
    leads_to: str = ""


Fetch = Callable[[PageRequest], Awaitable[PageResponse | None]]
"""Fetches what a page requests; None where it gets nothing."""


class Browser:
    """Renders pages; starts when it is needed."""

    def __init__(self, executable: str) -> None:
        self._executable = executable
        self._playwright: Playwright | None = None
        self._browser: PlaywrightBrowser | None = None
        self._processes: CDPSession | None = None
        self._starting = asyncio.Lock()
        self._turns = asyncio.Semaphore(_PAGES_AT_ONCE)
        self._pages = self._open_pages = 0
        self.users = 0

    async def render(
        self, url: str, answer: PageResponse, fetch: Fetch, agent: str, limits: PageLimits
    ) -> Rendered:
        """Run the scripts of a page; raises `RenderError` for one that cannot be rendered."""
        async with self._turns:
            for last in (False, True):
                try:
                    browser = await self._started(limits)
                except RenderError:
                    # A Ctrl-C at the wrong moment is meant for us, and takes its driver along.
                    if last:
                        raise
                    continue
                self._open_pages += 1
                try:
                    return await _BrowserVisit(url, answer, fetch, limits).carry_out(
                        browser, agent, self._memory
                    )
                except RenderError:
                    raise
                except Exception as error:
                    if browser.is_connected():
                        raise RenderError(_brief(error)) from error
                finally:
                    self._open_pages -= 1
                    self._pages += 1
            raise RenderError("the browser died of it, twice")

    async def close(self, seconds: float = _CLOSE_SECONDS) -> None:
        """End the browser; what takes longer ends with this process."""
        browser, self._browser = self._browser, None
        playwright, self._playwright = self._playwright, None
        for end in (
            None if browser is None else browser.close,
            None if playwright is None else playwright.stop,
        ):
            if end is not None:
                with contextlib.suppress(Exception):
                    await asyncio.wait_for(end(), seconds)

    async def _started(self, limits: PageLimits) -> PlaywrightBrowser:
        async with self._starting:
            worn_out = self._pages >= _PAGES_PER_BROWSER and not self._open_pages
            if self._browser is not None and self._browser.is_connected() and not worn_out:
                return self._browser
            await self.close()
            try:
                return await asyncio.wait_for(self._start(limits), _START_SECONDS)
            except Exception as error:
                raise RenderError(f"the browser does not start: {_brief(error)}") from error

    async def _start(self, limits: PageLimits) -> PlaywrightBrowser:
        # Imported here: it is needed only for rendering.
        from playwright.async_api import async_playwright

        self._playwright = await async_playwright().start()
        self._browser = await self._playwright.chromium.launch(
            executable_path=self._executable,
            # As root, Chromium has no sandbox.
            chromium_sandbox=os.name == "posix" and os.geteuid() != 0,
            args=[*_ARGUMENTS, f"--js-flags=--max-old-space-size={max(64, limits.memory_bytes >> 21)}"],
            # Ctrl-C is ours: what is in flight is finished.
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
        self._processes = await self._browser.new_browser_cdp_session()
        self._pages = 0
        return self._browser

    async def _memory(self) -> int:
        """Return the memory of all pages' processes; 0 where the system does not tell."""
        if self._processes is None:
            return 0
        info = await self._processes.send("SystemInfo.getProcessInfo")
        return sum(_resident_bytes(one["id"]) for one in info["processInfo"] if one["type"] == "renderer")

    async def kill(self) -> None:
        """Kill the browser, as may happen at any moment; for tests."""
        if self._processes is not None:
            info = await self._processes.send("SystemInfo.getProcessInfo")
            (process,) = (one["id"] for one in info["processInfo"] if one["type"] == "browser")
            os.kill(process, signal.SIGKILL)


# Without slots: Playwright keeps what it makes of a method in the object.
@dataclass(eq=False)
class _BrowserVisit:
    """One page in the browser."""

    url: str
    answer: PageResponse
    fetch: Fetch
    limits: PageLimits
    requests: int = 0
    fetching: int = 0
    entered: bool = False
    page: Page | None = None
    serving: set[asyncio.Task[None]] = field(default_factory=set)
    leads_to: str = ""
    crashed: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def carry_out(
        self, browser: PlaywrightBrowser, agent: str, memory: Callable[[], Awaitable[int]]
    ) -> Rendered:
        """Open the page and read it when it is ready, unless a bound is broken before."""
        context = await _step(
            browser.new_context(user_agent=agent, accept_downloads=False, service_workers="block")
        )
        reading = asyncio.ensure_future(self._read(context))
        guarding = asyncio.ensure_future(self._guard(memory))
        try:
            await asyncio.wait({reading, guarding}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                raise RenderError(guarding.result())
            return reading.result()
        finally:
            tasks = (reading, guarding, *self.serving)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with contextlib.suppress(Exception):
                await _step(context.close())

    async def _read(self, context: BrowserContext) -> Rendered:
        page = await self._open(context)
        await self.over.wait()
        return Rendered(await page.evaluate(_READ_PAGE, self.limits.characters), self.leads_to)

    async def _guard(self, memory: Callable[[], Awaitable[int]]) -> str:
        """Watch a page until it breaks a bound; return which."""
        spent = 0.0
        while spent < self.limits.seconds + max(_GRACE_SECONDS, _GRACE_SHARE * self.limits.seconds):
            begun = time.monotonic()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.crashed.wait(), _LOOK_SECONDS)
            if self.crashed.is_set():
                return "it crashed, probably out of memory"
            if await memory() > self.limits.memory_bytes:
                return "it uses too much memory"
            if not self.fetching:
                spent += time.monotonic() - begun
            if spent >= self.limits.seconds:
                # What is there by now is read, if the page lets us.
                self.over.set()
        return "its scripts did not end in time"

    async def _open(self, context: BrowserContext) -> Page:
        await _step(context.route("**/*", self._serve))
        await _step(context.route_web_socket("**/*", lambda socket: socket.close()))
        page = self.page = await _step(context.new_page())
        page.on("crash", lambda _: self.crashed.set())
        # A new window does not belong to the page.
        page.on("popup", lambda popup: asyncio.ensure_future(popup.close()))
        session = await _step(context.new_cdp_session(page))
        session.on("Emulation.virtualTimeBudgetExpired", lambda _: self.over.set())
        await page.goto(self.url, wait_until="commit")
        await session.send(
            "Emulation.setVirtualTimePolicy",
            {
                "policy": "pauseIfNetworkFetchesPending",
                "budget": 1000 * _PAGE_SECONDS,
                "maxVirtualTimeTaskStarvationCount": _MOST_TASKS,
            },
        )
        return page

    async def _serve(self, route: Route) -> None:
        """Answer the browser's requests; the page itself is at hand."""
        task = asyncio.current_task()
        if task is not None:
            self.serving.add(task)
            task.add_done_callback(self.serving.discard)
        request = route.request
        # The page may be gone by now, or its browser; whoever waits for it is told.
        with contextlib.suppress(Exception):
            if request.is_navigation_request():
                await self._navigate(route)
                return
            self.requests += 1
            pause = int(self.requests <= _MOST_PAUSES)
            self.fetching += pause
            try:
                headers = await request.all_headers()
                answer = await self.fetch(
                    PageRequest(request.url, request.method, request.resource_type, headers)
                )
            finally:
                self.fetching -= pause
            await (route.abort() if answer is None else _fulfil(route, answer))

    async def _navigate(self, route: Route) -> None:
        """Answer with the page itself, once; where it wants to go is noted, and it stays."""
        if not self.entered:
            self.entered = True
            await _fulfil(route, self.answer)
            return
        if not self.leads_to and route.request.method == "GET" and self._is_own(route):
            self.leads_to = route.request.url
        # Nothing to show: the document stays what it is.
        await route.fulfill(status=204)

    def _is_own(self, route: Route) -> bool:
        """Tell whether the page itself goes somewhere, and not a frame in it or a window beside it."""
        try:
            return self.page is not None and route.request.frame == self.page.main_frame
        except Exception:  # noqa: BLE001 - a window that is just being opened has none
            return False


async def _fulfil(route: Route, answer: PageResponse) -> None:
    headers = {name: value for name, value in answer.headers if name.lower() not in _NOT_HANDED_ON}
    await route.fulfill(status=answer.status, headers=headers, body=answer.body)


async def _step(doing: Awaitable[T]) -> T:
    return await asyncio.wait_for(doing, _STEP_SECONDS)


def _resident_bytes(process: int) -> int:
    """Return the memory of a process; only Linux says it."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _brief(error: BaseException) -> str:
    """Return the first line of an error."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


_SHARED: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Browser]] = WeakKeyDictionary()


def share_browser(executable: str) -> Browser:
    """Return the browser of the running loop, which all its crawls share; each releases it at its end."""
    browsers = _SHARED.setdefault(asyncio.get_running_loop(), {})
    browser = browsers.setdefault(executable, Browser(executable))
    browser.users += 1
    return browser


async def release_browser(browser: Browser, seconds: float = _CLOSE_SECONDS) -> None:
    """End a browser that nobody uses any more, within this time."""
    browser.users -= 1
    if not browser.users:
        await browser.close(seconds)
