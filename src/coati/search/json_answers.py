"""Responses of search engines in JSON, which may be anything."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from coati.readers.hits import Hit


def read_json(body: bytes, content_type: str, hint: str = "") -> dict[str, Any]:
    """Read an object; raise `ValueError` that says what came instead.

    >>> read_json(b'{"results": []}', "application/json")
    {'results': []}
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        what = "HTML" if "html" in content_type else content_type or "something else"
        raise ValueError(  # noqa: TRY004 - of what came over the network
            f"the engine answered {what} instead of JSON" + (f"; {hint}" if hint else "")
        )
    return answer


def list_in(answer: dict[str, Any], *names: str) -> list[Any]:
    """Return the list at these keys; raise `ValueError` where there is none.

    >>> list_in({"web": {"results": [1]}}, "web", "results")
    [1]
    """
    found: Any = answer
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    if not isinstance(found, list):
        raise ValueError("no results in the answer")  # noqa: TRY004 - of what came over the network
    return found


def hits_in(results: Iterable[object], *names: str) -> Iterator[Hit]:
    """Read each result's URL, title and text from these fields; empty where one is missing or not a text.

    >>> [(hit.url, hit.title) for hit in hits_in([{"link": "http://a.org/", "title": 3}], "link", "title")]
    [('http://a.org/', '')]
    """
    for found in results:
        fields = found if isinstance(found, dict) else {}
        yield Hit(*(value if isinstance(value := fields.get(name), str) else "" for name in names))
