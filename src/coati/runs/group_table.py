"""The table ``groups``: what each arm led to, with example links."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from sqlite3 import Connection

# What a request led to: its reward, or while some links of its page wait, the files that the others were.
_BROUGHT = """
WITH held AS (SELECT found_by, count(DISTINCT url) AS files FROM targets GROUP BY found_by),
brought AS (
    SELECT requests.*, coalesce(reward, files, CASE kind WHEN 'page' THEN 0.0 END) AS led_to
    FROM requests LEFT JOIN held ON held.found_by = requests.id
    WHERE arm IS NOT NULL AND strategy NOT LIKE 'retry %'
)
"""
_SUMS = f"""
{_BROUGHT}
SELECT arm, count(*), count(reward), avg(led_to), total(led_to), sum(new_target), sum(kind IS 'failure')
FROM brought WHERE kind IS NOT 'deferred' GROUP BY arm
"""  # noqa: S608 - our own words
_EXAMPLES = f"""
{_BROUGHT}
SELECT arm, url, anchor, led_to FROM (
    SELECT brought.arm, brought.url, links.anchor, brought.led_to, row_number() OVER (
        PARTITION BY brought.arm ORDER BY coalesce(brought.led_to, -1) DESC, brought.id
    ) AS place
    FROM brought LEFT JOIN links ON links.id = brought.link
) WHERE place <= 5 ORDER BY arm, place
"""  # noqa: S608 - our own words


def write_groups(connection: Connection, label: Callable[[int], str]) -> None:
    """Work the table out again, within a transaction of the caller; ``label`` describes an arm in words."""
    examples: dict[int, list[dict[str, object]]] = defaultdict(list)
    for arm, url, anchor, led_to in connection.execute(_EXAMPLES):
        examples[arm].append({"url": url, "anchor": anchor, "reward": led_to})
    rows = [
        (arm, label(arm), *sums, json.dumps(examples[arm], ensure_ascii=False))
        for arm, *sums in connection.execute(_SUMS)
    ]
    connection.execute("DELETE FROM groups")
    connection.executemany("INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
