"""What is known about one setting beside its value, and how it is declared: as a field of a dataclass."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, TypeVar

from coati.settings.setting_types import SettingType

T = TypeVar("T")


class Section(StrEnum):
    """Under which heading a setting is explained."""

    WHAT = "What to collect"
    DISCOVER = "How to search for repositories"
    WHERE = "Where to look"
    HOW_MUCH = "How much to spend"
    HOW = "How to make requests"
    KEEP = "What to keep and show"

    def setting(
        self, default: T, kind: SettingType, about: str, *, decides: bool = False, of_run: bool = True
    ) -> T:
        """Declare a setting of this section as a field; `Setting` explains the arguments."""
        metadata = {"group": self, "kind": kind, "about": about, "decides": decides, "of_run": of_run}
        made: T = field(default=default, metadata=metadata)
        return made


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known about one setting beside its value.

    ``decides``: a run that is resumed with another value would be another run. ``of_run``: it belongs to the
    run and is written into its ``run.toml``; the others only say how one command is carried out.
    """

    name: str
    default: object
    group: Section
    kind: SettingType
    about: str
    decides: bool
    of_run: bool

    @property
    def option(self) -> str:
        """How it is written on a command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """The environment variable that stands in for the option."""
        return f"COATI_{self.name.upper()}"

    def read(self, value: object) -> object:
        """Bring a value to its form; the error names the setting."""
        return self.kind.read_as(self.name, value)


def settings_of(declared: type[Any]) -> dict[str, Setting]:
    """Return the settings that a dataclass declares, by name and in order."""
    return {each.name: Setting(each.name, each.default, **each.metadata) for each in fields(declared)}
