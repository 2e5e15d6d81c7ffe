"""Webs like those that the six topics of the DSDD paper (CIKM 2021) were searched for in, in any size.

The number of repositories is that of the registry of data portals; the other sites grow with it. A web has
12 repositories at least, so that the small topics are larger than their scale says.
"""

from __future__ import annotations

from coati.errors import unknown_name
from coati.testing.data_web import DataWeb, DataWebKnobs

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


def topic_web(topic: str, scale: float, seed: int) -> DataWeb:
    """Generate the web of a topic; the same seed makes another one for each topic."""
    if topic not in PAPER_TOPICS:
        raise unknown_name("topic", topic, PAPER_TOPICS)
    repositories = max(_LEAST, round(PAPER_TOPICS[topic] * scale))
    knobs = DataWebKnobs(
        repositories=repositories,
        other_repositories=repositories,
        decoys=2 * repositories,
        ordinary=max(300, 3 * repositories),
        hubs=max(8, repositories // 6),
    )
    return DataWeb(knobs, seed * len(PAPER_TOPICS) + list(PAPER_TOPICS).index(topic))
