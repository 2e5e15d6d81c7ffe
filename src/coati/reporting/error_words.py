"""What failed, in words: a status with its name, or why no response came."""

from __future__ import annotations

from http import HTTPStatus


def error_words(status: int, reason: str) -> str:
    """Say what failed.

    >>> error_words(404, "status 404"), error_words(0, "no response in time")
    ('404: Not Found', 'no response in time')
    """
    if not status:
        return reason or "no response"
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "unknown status"
    plain = reason in {"", str(status), f"status {status}"}
    return f"{status}: {phrase}" if plain else f"{status}: {phrase}, {reason}"
