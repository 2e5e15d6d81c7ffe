"""Tag paths as text that can be read back exactly, each stored once."""

from __future__ import annotations

from sqlite3 import Connection

_BETWEEN = " > "

# How many paths are remembered. A site whose elements carry ids of their own has nearly as many paths as
# links; remembering them all would cost more memory than storing some of them twice costs disk.
_REMEMBERED = 1 << 16


def path_to_text(path: tuple[str, ...]) -> str | None:
    """Write a path; None for the empty one.

    >>> path_to_text(("html", "body", "ul.menu wide", "a"))
    'html > body > ul.menu wide > a'
    """
    if not path:
        return None
    text = _BETWEEN.join(path)
    if text.count(">") == len(path) - 1 and "\\" not in text:
        return text
    return _BETWEEN.join(token.replace("\\", "\\\\").replace(">", "\\}") for token in path)


def path_from_text(text: str | None) -> tuple[str, ...]:
    """Read a path back.

    >>> path_from_text("html > body > a")
    ('html', 'body', 'a')
    """
    if text is None:
        return ()
    tokens = text.split(_BETWEEN)
    if "\\" in text:
        tokens = [_unescape(token) for token in tokens]
    return tuple(tokens)


def _unescape(token: str) -> str:
    parts = token.split("\\\\")
    return "\\".join(part.replace("\\}", ">") for part in parts)


class TagPathTable:
    """Numbers for tag paths in the table ``tag_paths``; a path that was not met for long may get a second."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        # By hash: the paths themselves would take many times the memory, and string hashes are seeded, so
        # that no site can aim at a collision.
        self._numbers: dict[int, int] = {}
        recent = "SELECT path, id FROM tag_paths ORDER BY id DESC LIMIT ?"
        for text, number in connection.execute(recent, (_REMEMBERED // 2,)):
            self._numbers.setdefault(hash(path_from_text(text)), number)

    def number(self, path: tuple[str, ...]) -> int | None:
        """Return the number of a path, None for the empty one; call it within a transaction."""
        key = hash(path)
        number = self._numbers.get(key)
        if number is not None:
            return number
        text = path_to_text(path)
        if text is None:
            return None
        if len(self._numbers) >= _REMEMBERED:
            self._numbers.clear()
        number = self._connection.execute("INSERT INTO tag_paths (path) VALUES (?)", (text,)).lastrowid
        self._numbers[key] = number  # type: ignore[assignment]  # there is one after an INSERT
        return number
