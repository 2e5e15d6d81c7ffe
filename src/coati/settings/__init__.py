"""The settings of a crawl: what there is to set, how it is written, and what it means to the live driver."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coati.settings.run_file import (
        read_run_file,
        to_toml_values,
        with_values,
    )
    from coati.settings.run_settings import (
        SETTINGS,
        RunSettings,
        Setting,
    )

__all__ = [
    "SETTINGS",
    "RunSettings",
    "Setting",
    "read_run_file",
    "to_toml_values",
    "with_values",
]

# Imported when they are asked for: some commands only need the units.
_PLACES = {
    "read_run_file": "coati.settings.run_file",
    "to_toml_values": "coati.settings.run_file",
    "with_values": "coati.settings.run_file",
    "RunSettings": "coati.settings.run_settings",
    "SETTINGS": "coati.settings.run_settings",
    "Setting": "coati.settings.run_settings",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value
