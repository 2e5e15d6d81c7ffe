"""The settings of prospect alone: a module of its own, so that a new field voids no results of the others."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class OffTopic(StrEnum):
    """How sites are treated that look like repositories and do not speak of the topic."""

    LATER = "later"
    NEVER = "never"
    EQUAL = "equal"


@dataclass(frozen=True, slots=True)
class ProspectSettings:
    """The parameters of prospect beside those of all discovery (`DiscoverySettings`)."""

    off_topic: OffTopic = OffTopic.LATER


OUR_PROSPECT = ProspectSettings()
