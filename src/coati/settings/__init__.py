"""The settings of a crawl: what there is to set, how it is written, and what it means to the live driver."""

from coati.settings.run_file import read_run_file, to_toml_values, with_values
from coati.settings.run_settings import SETTINGS, RunSettings, Setting

__all__ = ["SETTINGS", "RunSettings", "Setting", "read_run_file", "to_toml_values", "with_values"]
