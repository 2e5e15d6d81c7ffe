"""The settings of a crawl: what there is to set, how it is written, and what it means to the live driver."""

from typing import TYPE_CHECKING

from coati.lazy_names import names_from

if TYPE_CHECKING:
    from coati.settings.run_file import read_run_file, to_toml_values, with_values
    from coati.settings.run_settings import SETTINGS, RunSettings
    from coati.settings.setting import Setting

__all__ = [
    "SETTINGS",
    "RunSettings",
    "Setting",
    "read_run_file",
    "to_toml_values",
    "with_values",
]

# Imported on first use: some commands only need the units.
_PLACES = {
    "coati.settings.run_file": ["read_run_file", "to_toml_values", "with_values"],
    "coati.settings.run_settings": ["RunSettings", "SETTINGS"],
    "coati.settings.setting": ["Setting"],
}

__getattr__ = names_from(__name__, _PLACES)
