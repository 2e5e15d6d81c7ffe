"""Webs like those that the six topics of the DSDD paper (CIKM 2021) were searched for in, in any size.

The numbers of repositories, in all and on the topic, are those of the registry of data portals; the other
sites grow with them. A topic has 12 repositories at least, so that the small ones are larger than their scale
says.
"""

from __future__ import annotations

from coati.errors import unknown_name
from coati.testing.data_web import DataWeb
from coati.testing.data_web_kinds import DataWebParameters

# Portals in the registry.
_PORTALS = 19_569
# Keyword hits in the registry of portals, by topic of the paper.
PAPER_TOPICS = {
    "covid": 146,
    "ethiopia": 20,
    "conflict": 69,
    "climate": 1217,
    "education": 2081,
    "economics": 2573,
}
_LEAST = 12


def topic_parameters(topic: str, scale: float) -> DataWebParameters:
    """Return what the web of a topic is like."""
    if topic not in PAPER_TOPICS:
        raise unknown_name("topic", topic, PAPER_TOPICS)
    everything = round(_PORTALS * scale)
    repositories = max(_LEAST, round(PAPER_TOPICS[topic] * scale))
    return DataWebParameters(
        repositories=repositories,
        other_repositories=max(_LEAST, everything - repositories),
        closed=round(0.2 * everything),
        decoys=2 * everything,
        ordinary=3 * everything,
        hubs=everything // 6,
    )


def topic_seed(topic: str, seed: int) -> int:
    """Return the seed of a topic's web: the same seed makes another one for each topic."""
    return seed * len(PAPER_TOPICS) + list(PAPER_TOPICS).index(topic)


def topic_web(topic: str, scale: float, seed: int) -> DataWeb:
    """Generate the web of a topic."""
    return DataWeb(topic_parameters(topic, scale), topic_seed(topic, seed))
