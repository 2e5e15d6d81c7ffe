"""What a generated web with data is made of (`coati.testing.data_web`): kinds of sites, and parameters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class SiteKind(IntEnum):
    """What a site is.

    A repository offers files of data. A closed portal has data and offers no files: one requests them, or
    fills in a form; its pages read like those of a repository. Decoys talk about data and have none, hubs
    list sites.
    """

    REPOSITORY = 0
    CLOSED = 1
    DECOY = 2
    ORDINARY = 3
    HUB = 4


@dataclass(frozen=True, slots=True)
class FittedParameters:
    """The numbers that were fitted to the single actions of the paper (`benchmarks.data_web_fit`)."""

    # Of the links to portals, those that lead to closed ones: where portals link, and where others do.
    closed_links: float = 0.23
    closed_listed_links: float = 0.68
    # How much chance there is in the order of related pages.
    related_noise: float = 0.45


FITTED = FittedParameters()


@dataclass(frozen=True, slots=True)
class DataWebParameters:
    """How many sites of each kind there are, and how actions find them.

    ``repositories`` are those of the topic that is searched for, topic 0 of ``topics``. Its share is the same
    among sites of every kind.
    """

    repositories: int = 60
    other_repositories: int = 240
    closed: int = 90
    decoys: int = 600
    ordinary: int = 900
    hubs: int = 50
    topics: int = 13
    # Of the portals about other things, the share that writes of the topic too; of other sites, half of it.
    mentions: float = 0.1
    # How much chance there is in the order of keyword results.
    keyword_noise: float = 0.2
    # How deep below its front page the dataset files of a repository stand: shares of 1, 2 and 3.
    depths: tuple[float, float, float] = (0.3, 0.45, 0.25)
    fitted: FittedParameters = FITTED
