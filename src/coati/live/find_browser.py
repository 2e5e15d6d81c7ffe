"""Check that pages can be rendered here, before anything is fetched: the extra, and a browser."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from coati.errors import ConfigError

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
_APPLICATIONS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
# Where `playwright install chromium` puts it.
_PLAYWRIGHT_PLACES = ("~/.cache/ms-playwright", "~/Library/Caches/ms-playwright")
_PLAYWRIGHT_FILES = ("chromium-*/chrome-linux*/chrome", "chromium-*/chrome-mac*/*.app/Contents/MacOS/*")


def find_browser(path: str = "") -> str:
    """Return the path of a Chromium; raises `ConfigError` that says what to install.

    ``path`` is one that the user names; without it, it is one of the system's, or Playwright's own.
    """
    if find_spec("playwright") is None:
        raise ConfigError("rendering needs Playwright: pip install 'coati[render]'")
    if path:
        found = shutil.which(path)
        if found is None:
            raise ConfigError(f"the browser {path} does not exist or cannot be run")
        return found
    for name in (*_NAMES, *_APPLICATIONS):
        found = shutil.which(name)
        if found is not None:
            return found
    places = (os.environ.get("PLAYWRIGHT_BROWSERS_PATH", ""), *_PLAYWRIGHT_PLACES)
    for place in filter(None, places):
        for pattern in _PLAYWRIGHT_FILES:
            for file in sorted(Path(place).expanduser().glob(pattern), reverse=True):
                return str(file)
    raise ConfigError(
        "rendering needs a browser: install Chromium (apt install chromium, or playwright install"
        " chromium), or set its path with --limits browser=PATH"
    )
