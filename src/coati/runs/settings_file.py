"""``run.toml``: every setting of a run as it was used."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coati.runs.durable import write_whole
from coati.runs.errors import RunError
from coati.toml_writer import to_toml

_COMMENT = "The settings of this run."
_MAX_BYTES = 1 << 22
# What keys were called in earlier versions.
_FORMER_NAMES = {"words": "topic"}


def write_settings(path: Path, settings: Mapping[str, object]) -> None:
    """Write the settings in place of the old ones."""
    write_whole(path, (to_toml(settings, _COMMENT).encode(),))


def read_settings(path: Path) -> dict[str, Any]:
    """Read the settings, by their present names; raises `RunError` if they are missing or damaged."""
    try:
        with path.open("rb") as file:
            settings = tomllib.loads(file.read(_MAX_BYTES).decode())
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be read: {error}") from error
    settings = {_FORMER_NAMES.get(name, name): value for name, value in settings.items()}
    # What is read of a run without further checks.
    urls = settings.get("urls", [])
    if not isinstance(urls, list) or not all(isinstance(url, str) for url in urls):
        raise RunError(f"{path} cannot be read: urls is {urls!r}, not a list of URLs")
    if not isinstance(settings.get("seed", 0), int):
        raise RunError(f"{path} cannot be read: seed is {settings['seed']!r}, not a whole number")
    return settings


def require_start_urls(path: Path, settings: Mapping[str, object]) -> None:
    """Raise `RunError` where the settings of a run to resume do not say where it began."""
    if not settings.get("urls"):
        raise RunError(f'{path} is damaged: it names no start URL. Add them as urls = ["https://…"]')
