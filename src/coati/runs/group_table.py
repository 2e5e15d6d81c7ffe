"""The table ``groups``: what each arm led to, with example links."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

_SUMS = """
SELECT arm, count(*), count(reward), avg(reward), total(reward),
       sum(new_target), sum(kind IS 'broken')
FROM requests WHERE arm IS NOT NULL AND kind IS NOT 'deferred' AND strategy NOT LIKE 'retry %' GROUP BY arm
"""
_EXAMPLES = """
SELECT arm, url, anchor, reward FROM (
    SELECT requests.arm, requests.url, links.anchor, requests.reward, row_number() OVER (
        PARTITION BY requests.arm ORDER BY coalesce(requests.reward, -1) DESC, requests.id
    ) AS place
    FROM requests LEFT JOIN links ON links.id = requests.link
    WHERE requests.arm IS NOT NULL AND requests.strategy NOT LIKE 'retry %'
) WHERE place <= 5 ORDER BY arm, place
"""


def write_groups(connection: Connection, label: Callable[[int], str]) -> None:
    """Work the table out again, within a transaction of the caller; ``label`` describes an arm in words."""
    examples: dict[int, list[dict[str, object]]] = defaultdict(list)
    for arm, url, anchor, reward in connection.execute(_EXAMPLES):
        examples[arm].append({"url": url, "anchor": anchor, "reward": reward})
    rows = [
        (arm, label(arm), *sums, json.dumps(examples[arm], ensure_ascii=False))
        for arm, *sums in connection.execute(_SUMS)
    ]
    connection.execute("DELETE FROM groups")
    connection.executemany("INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
