"""Whether there is a browser for tests, and pages for it whose links are made by scripts."""

from __future__ import annotations

import json

import pytest

from coati.errors import ConfigError
from coati.live.find_browser import find_browser
from tests.live.scripted import Route


def _missing() -> str:
    try:
        find_browser()
    except ConfigError as error:
        return str(error)
    return ""


needs_browser = pytest.mark.skipif(bool(_missing()), reason=_missing() or "there is a browser")


def made_by_script(*scripts: str, body: str = "") -> Route:
    """Answer with a page that is empty but for its scripts."""
    tags = "".join(f'<script src="{script}"></script>' for script in scripts)
    return lambda exchange: exchange.answer(body=f"<title>Data</title><div id=app></div>{body}{tags}")


def script(text: str) -> Route:
    return lambda exchange: exchange.answer(body=text, media_type="text/javascript")


def data(*links: str) -> Route:
    return lambda exchange: exchange.answer(body=json.dumps(links), media_type="application/json")


# Fetches a list, and makes links of it.
LISTS_FILES = """
fetch("/list.json").then(answer => answer.json()).then(links => {
  for (const link of links) {
    const a = document.createElement("a");
    a.href = a.textContent = link;
    document.getElementById("app").append(a);
  }
});
"""
