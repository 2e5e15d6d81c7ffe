"""Debian's Chromium without a window, cut off from everything but this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

_SECONDS = 120

# The browser asks its maker for the time and for updates, whatever it is told.
_OWN = re.compile(r"^(?:http://)?[\w.-]+\.(?:google|googleapis|gstatic)\.com[:/]")

_ALONE = (
    "--headless",
    "--no-sandbox",  # tests may run as root, where there is none; the page is our own
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-features=OptimizationHints,MediaRouter,Translate",
    "--force-device-scale-factor=1",
)


def chromium() -> str:
    """Find the browser; without one the test is skipped, in CI it fails."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        missing = "no Chromium is installed; Debian and Ubuntu: sudo apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return found


@contextmanager
def recording_proxy() -> Iterator[tuple[str, list[str]]]:
    """Run a proxy that answers nothing and remembers what it was asked for."""
    asked: list[str] = []

    class Recorder(BaseHTTPRequestHandler):
        def refuse(self) -> None:
            asked.append(self.path)
            self.send_error(502)

        do_GET = do_POST = do_HEAD = do_CONNECT = refuse  # noqa: N815 - the library's names

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(frozen=True)
class Shown:
    """A page that was opened: what the browser printed, and what the page wanted from elsewhere."""

    printed: str
    wanted: list[str]


def open_page(page: Path, *flags: str, query: str = "") -> Shown:
    """Open a page in a profile of its own, which is gone after; nothing leaves this machine."""
    with (
        recording_proxy() as (proxy, asked),
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
    ):
        command = [
            chromium(), *_ALONE, f"--proxy-server={proxy}", f"--user-data-dir={profile}", *flags,
            page.absolute().as_uri() + query,
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True)
        return Shown(done.stdout.decode(), [url for url in asked if not _OWN.search(url)])


def dom_of(page: Path, *flags: str, query: str = "") -> Shown:
    """Return the page as the browser has it after its scripts have run."""
    return open_page(page, "--dump-dom", *flags, query=query)


def picture_of(page: Path, into: Path, width: int, height: int, *flags: str) -> Path:
    """Take a picture of the page as a window of this size shows it."""
    open_page(page, f"--screenshot={into}", f"--window-size={width},{height}", *flags)
    return into
