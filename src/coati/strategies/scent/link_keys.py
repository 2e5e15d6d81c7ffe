"""What a strategy can know of a link before it is followed, as a row of hashed keys.

Each column of a row is one aspect of the link: its directory, the shape of its file name, the end of its tag
path, the words of its anchor, the page where it was found. A key is 32 bits and stands for the aspect with
its column, so that one table of statistics serves all columns. Digits are folded: ``/2019/table-12.html`` and
``/2021/table-7.html`` are links of one kind.

Links repeat their tag paths, their directories and their source pages, so that these parts are kept. Nothing
of Python's own `hash` is used, since it differs between processes and a crawl may be resumed in another one.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from coati.strategies.scent.data_words import PAGE_EXTENSIONS, Meaning, meaning_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy.typing as npt

    from coati.model import Link

    Row = npt.NDArray[np.uint32]


class Key(IntEnum):
    """The aspects; the order of a row."""

    TOP = 0  # host and first directory
    SECOND = 1
    DIRECTORY = 2
    SHAPE = 3  # directory, shape of the file name, names of the parameters
    EXTENSION = 4
    FIRST_WORD = 5  # directory and first word of the file name
    FILE_NAME = 6
    DEPTH = 7
    PARAMETERS = 8
    ELEMENT = 9  # last element of the tag path
    TAIL = 10  # last three
    TAG_PATH = 11
    SOURCE_DIRECTORY = 12
    SOURCE = 13  # source page and tail of the tag path
    DIRECTORY_EXTENSION = 14
    DIRECTORY_ANCHOR = 15  # with the extension
    ANCHOR = 16
    ANCHOR_LENGTH = 17
    ANCHOR_WORD_1 = 18
    ANCHOR_WORD_2 = 19
    ANCHOR_WORD_3 = 20
    ANCHOR_WORD_4 = 21
    URL_WORD_1 = 22
    URL_WORD_2 = 23
    FOLDER_FILE = 24  # the name of the last directory, wherever it is, and the shape of the file name
    SEGMENT_1 = 25
    SEGMENT_2 = 26
    FOLDER = 27  # the name of the last directory, wherever it is
    TAIL_EXTENSION = 28
    MEANING = 29
    FILE_LIKE = 30
    NAMED_TYPE = 31  # the anchor, or what stands around it, names a file type: "CSV", "Report (PDF, 2 MB)"
    INNER_TOP = 32  # without the first directory: what versions, languages and years have in common
    INNER = 33
    INNER_SHAPE = 34


COLUMNS = len(Key)

# Columns in which nearly every link has a key of its own, alone or together with another column; a crawl with
# very many links does without them.
SPECIFIC = np.array([
    Key.FILE_NAME, Key.FIRST_WORD, Key.SOURCE, Key.SOURCE_DIRECTORY, Key.TAG_PATH,
    Key.DIRECTORY_ANCHOR, Key.ANCHOR, Key.ANCHOR_LENGTH, Key.ANCHOR_WORD_1,
    Key.ANCHOR_WORD_2, Key.ANCHOR_WORD_3, Key.ANCHOR_WORD_4, Key.URL_WORD_1, Key.URL_WORD_2,
])  # fmt: skip

# A key that stands for nothing: the last word of an anchor that has fewer.
NOTHING = 0

_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W\d_]+")
_MAX_EXTENSION = 8
_MAX_ANCHOR = 60
_MAX_CONTEXT = 120
_MAX_SHAPE = 12
# Anchors of this many words and more are alike.
_LONG = 5
_MOST_TAILS = 10_000


class Likeness(IntEnum):
    """What an extension says before anything was learnt."""

    UNKNOWN = 0
    FILE = 1
    PAGE = 2


class _Directory(NamedTuple):
    top: int
    second: int
    whole: int
    segments: tuple[int, int, int]
    depth: int
    inner_top: int
    inner: int


class _Path(NamedTuple):
    element: int
    tail: int
    whole: int
    tail_text: str


class Source(NamedTuple):
    """The page where links were found, made once per page (`LinkKeys.source`)."""

    directory: int
    page: int


class LinkKeys:
    """Describes links; ``likely_extensions`` are those of the wanted files, without dots."""

    def __init__(self, likely_extensions: Collection[str]) -> None:
        self._likely = frozenset(likely_extensions)
        self._directory = lru_cache(maxsize=1 << 14)(_directory_keys)
        self._path = lru_cache(maxsize=1 << 14)(_path_keys)
        self._tails: dict[int, str] = {}

    def source(self, url: str) -> Source:
        """Describe the page where links are found."""
        path = url.partition("?")[0]
        # A port is no property of a page: a site that is served on another one is crawled the same way.
        host, _, rest = url.partition("://")[2].partition("/")
        page = crc32(f"{host.partition(':')[0]}/{rest}".encode())
        return Source(key_of(_SOURCE_DIRECTORY, _fold(path.rpartition("/")[0])), page)

    def row(self, link: Link, source: Source) -> list[int]:
        """Describe a link: `COLUMNS` keys."""
        before, _, query = link.url.partition("?")
        folder, _, raw = before.partition("://")[2].rpartition("/")
        directory = self._directory(folder)
        name = _fold(raw)
        stem, dot, extension = name.rpartition(".")
        if not dot or len(extension) > _MAX_EXTENSION:
            stem, extension = name, ""
        extension = extension.lower()
        # Not folded: "7z" and "h5" are extensions.
        ending = raw.rpartition(".")[2].lower() if extension else ""
        parameters = _parameter_names(query) if query else ""
        words = _WORDS.findall(stem)[:2]
        path = self._path(link.tag_path)
        if path.tail not in self._tails and len(self._tails) < _MOST_TAILS:
            self._tails[path.tail] = path.tail_text
        anchor = _fold(link.anchor[:_MAX_ANCHOR].lower())
        anchor_words = _WORDS.findall(anchor)
        folder_key = directory.whole
        # What several keys are made of is encoded once: this is done for every new link.
        anchor_bytes = _bytes(anchor)
        kind = _bytes(extension + "?" if query else extension)
        shape = _bytes(_shape(stem) + "." + extension + parameters)
        folder_extension = _also(_DIRECTORY_EXTENSION, folder_key, kind)
        row = [
            directory.top,
            directory.second,
            folder_key,
            _also(_SHAPE, folder_key, shape),
            _key(_EXTENSION, kind),
            _also(_FIRST_WORD, folder_key, _bytes(words[0].lower() if words else "")),
            key_of(_FILE_NAME, name + parameters),
            directory.depth,
            key_of(_PARAMETERS, parameters),
            path.element,
            path.tail,
            path.whole,
            source.directory,
            _mix(source.page, path.tail),
            folder_extension,
            _also(_DIRECTORY_ANCHOR, folder_extension, anchor_bytes),
            _key(_ANCHOR, anchor_bytes),
            _LENGTHS[min(len(anchor_words), _LONG)],
            NOTHING, NOTHING, NOTHING, NOTHING,
            NOTHING, NOTHING,
            _also(_FOLDER_FILE, directory.segments[2], shape),
            *directory.segments,
            _also(_TAIL_EXTENSION, path.tail, kind),
            _MEANINGS[meaning_of(anchor_words, before)],
            _LIKENESSES[self._likeness(ending, query)],
            NOTHING,
            directory.inner_top,
            directory.inner,
            _also(_INNER_SHAPE, directory.inner, shape),
        ]  # fmt: skip
        for column, word in enumerate(anchor_words[:4], _ANCHOR_WORD):
            row[column] = _word_key(_ANCHOR_WORD, word)
        for column, word in enumerate(words, _URL_WORD):
            row[column] = _word_key(_URL_WORD, word.lower())
        for word in anchor_words if link.context in {"", link.anchor} else _around(link):
            if word in self._likely:
                row[_NAMED_TYPE] = key_of(_NAMED_TYPE, word)
                break
        return row

    def tail_text(self, key: int) -> str:
        """Return the end of a tag path in words; empty if it is not known."""
        return self._tails.get(key, "")

    def label(self, url: str, tail: int) -> str:
        """Name the links that are like this one: directory, extension, place on the page."""
        folder, _, name = url.partition("?")[0].partition("://")[2].rpartition("/")
        extension = name.rpartition(".")[2] if "." in name else ""
        path = "/" + any_number(folder).partition("/")[2]
        wild = f"*.{extension}" if extension else "*"
        return f"{path.rstrip('/')}/{wild} in {self.tail_text(tail) or 'any place'}"

    def save(self) -> dict[str, Any]:
        """Return the words for ends of tag paths; everything else is made again."""
        return {"key_tails": [[key, text] for key, text in self._tails.items()]}

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over the words."""
        self._tails = dict(state["key_tails"])

    def _likeness(self, extension: str, query: str) -> Likeness:
        if extension in self._likely:
            return Likeness.FILE
        return Likeness.PAGE if extension in PAGE_EXTENSIONS and not query else Likeness.UNKNOWN


def _directory_keys(folder: str) -> _Directory:
    segments = _fold(folder).split("/")
    host, inner = segments[0], segments[1:]
    places = [key_of(_SEGMENT, segment) for segment in inner[:2]]
    places += [NOTHING] * (2 - len(places))
    places.append(key_of(_FOLDER, segments[-1] if inner else ""))
    return _Directory(
        key_of(_TOP, host + "/" + "/".join(inner[:1])),
        key_of(_SECOND, host + "/" + "/".join(inner[:2])),
        key_of(_DIRECTORY, "/".join(segments)),
        (places[0], places[1], places[2]),
        key_of(_DEPTH, str(len(segments))),
        key_of(_INNER_TOP, inner[1] if len(inner) > 1 else ""),
        key_of(_INNER, "/".join(inner[1:])),
    )


def _path_keys(tag_path: tuple[str, ...]) -> _Path:
    tokens = _fold("\0".join(tag_path)).split("\0")
    return _Path(
        key_of(_ELEMENT, tokens[-1]),
        key_of(_TAIL, ">".join(tokens[-3:])),
        key_of(_TAG_PATH, ">".join(tokens)),
        " > ".join(any_number(token) for token in tag_path[-3:]),
    )


def _around(link: Link) -> list[str]:
    """Return the words of a link's anchor and of what stands around it."""
    return _WORDS.findall(link.context[:_MAX_CONTEXT].lower())


def any_number(text: str) -> str:
    """Write a star for each number, for people: `_fold` is for keys."""
    return _DIGITS.sub("*", text)


def _fold(text: str) -> str:
    return _DIGITS.sub("0", text)


def _shape(stem: str) -> str:
    return _WORDS.sub("a", stem)[:_MAX_SHAPE]


def _parameter_names(query: str) -> str:
    names = {part.partition("=")[0] for part in query.replace(";", "&").split("&")}
    return "?" + _fold("&".join(sorted(names)))


def key_of(column: int, text: str) -> int:
    """Return the key for an aspect of one column."""
    return _key(column, _bytes(text))


# Words recur from link to link.
_word_key = lru_cache(maxsize=1 << 14)(key_of)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _key(column: int, encoded: bytes) -> int:
    return crc32(encoded, column + 1) or 1


def _also(column: int, key: int, encoded: bytes) -> int:
    return crc32(encoded, key ^ (column << 24)) or 1


def _mix(first: int, second: int) -> int:
    return (first * 0x9E3779B1 + second) & 0xFFFFFFFF or 1


# What is looked up for each link: to ask an enumeration for a member takes as long as a hash.
_TOP, _SECOND, _DIRECTORY, _DEPTH = int(Key.TOP), int(Key.SECOND), int(Key.DIRECTORY), int(Key.DEPTH)
_SEGMENT, _FOLDER = int(Key.SEGMENT_1), int(Key.FOLDER)
_INNER_TOP, _INNER = int(Key.INNER_TOP), int(Key.INNER)
_ELEMENT, _TAIL, _TAG_PATH = int(Key.ELEMENT), int(Key.TAIL), int(Key.TAG_PATH)
_SOURCE_DIRECTORY = int(Key.SOURCE_DIRECTORY)
_SHAPE, _EXTENSION, _FIRST_WORD = int(Key.SHAPE), int(Key.EXTENSION), int(Key.FIRST_WORD)
_FILE_NAME, _PARAMETERS = int(Key.FILE_NAME), int(Key.PARAMETERS)
_DIRECTORY_EXTENSION, _DIRECTORY_ANCHOR = int(Key.DIRECTORY_EXTENSION), int(Key.DIRECTORY_ANCHOR)
_ANCHOR, _ANCHOR_WORD, _URL_WORD = (
    int(Key.ANCHOR),
    int(Key.ANCHOR_WORD_1),
    int(Key.URL_WORD_1),
)
_FOLDER_FILE, _TAIL_EXTENSION = int(Key.FOLDER_FILE), int(Key.TAIL_EXTENSION)
_NAMED_TYPE, _INNER_SHAPE = int(Key.NAMED_TYPE), int(Key.INNER_SHAPE)
_LENGTHS = [key_of(Key.ANCHOR_LENGTH, str(length)) for length in range(_LONG + 1)]
_MEANINGS = {meaning: key_of(Key.MEANING, meaning.name) for meaning in Meaning}
_LIKENESSES = {likeness: key_of(Key.FILE_LIKE, likeness.name) for likeness in Likeness}
