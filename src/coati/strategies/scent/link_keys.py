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
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from coati.web.likely_extensions import PAGE_EXTENSIONS

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
    FILE_LIKE = 29
    NAMED_TYPE = 30  # the anchor, or what stands around it, names a file type: "CSV", "Report (PDF, 2 MB)"
    INNER_TOP = 31  # without the first directory: what versions, languages and years have in common
    INNER = 32
    INNER_SHAPE = 33


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
_WORD = re.compile(r"[^\W\d_]+")
# Everything but letters, as a space.
_LETTERS = b"".join(each if each.isalpha() else b" " for each in map(bytes, zip(range(256))))
_MAX_EXTENSION = 8
_MAX_ANCHOR = 60
_MAX_CONTEXT = 120
_MAX_SHAPE = 12
# Anchors of this many words and more are alike.
_LONG = 5
_MOST_TAILS = 10_000
_DEEP = 16


class Likeness(IntEnum):
    """What an extension says before anything was learnt."""

    UNKNOWN = 0
    FILE = 1
    PAGE = 2


class _Directory(NamedTuple):
    top: int
    second: int
    segment_1: int
    segment_2: int
    inner_top: int
    # Those above are, from the third directory on, the same as of the folder above it.
    whole: int
    inner: int
    name: int
    depth: int


class _Path(NamedTuple):
    element: int
    tail: int
    whole: int


class _Extension(NamedTuple):
    """``shape``, ``suffix`` and ``name`` are what other keys are made of, encoded."""

    key: int
    likeness: int
    shape: bytes
    suffix: bytes
    name: bytes
    # It is too long for an extension, and belongs to the stem.
    none: bool


class _Stem(NamedTuple):
    """``name`` is a key of which only the end is missing: what comes behind the stem."""

    name: int
    first_word: bytes
    word_1: int
    word_2: int
    shape: bytes


class _Anchor(NamedTuple):
    key: int
    encoded: bytes
    length: int
    words: tuple[int, int, int, int]
    named_type: int


class Source(NamedTuple):
    """The page where links were found, made once per page (`LinkKeys.source`)."""

    directory: int
    page: int


class LinkKeys:
    """Describes links; ``likely_extensions`` are those of the wanted files, without dots."""

    def __init__(self, likely_extensions: Collection[str]) -> None:
        self._likely = frozenset(likely_extensions)
        # Described once for many links: a link takes a third of the time that its parts would take.
        self._tails: dict[int, str] = {}
        self._directory = lru_cache(maxsize=1 << 14)(_directory_keys)
        self._source_directory = lru_cache(maxsize=1 << 10)(_source_directory_key)
        self._path = lru_cache(maxsize=1 << 14)(partial(_path_keys, self._tails))
        self._stem = lru_cache(maxsize=1 << 12)(_stem_keys)
        self._anchor = lru_cache(maxsize=1 << 12)(partial(_anchor_keys, self._likely))
        self._extension = lru_cache(maxsize=1 << 10)(partial(_extension_keys, self._likely))

    def source(self, url: str) -> Source:
        """Describe the page where links are found."""
        folder = url.partition("?")[0].rpartition("/")[0]
        # The port is left out: a site that is served on another port is crawled the same way.
        host, _, rest = url.partition("://")[2].partition("/")
        page = crc32(f"{host.partition(':')[0]}/{rest}".encode())
        return Source(self._source_directory(folder), page)

    def row(self, link: Link, source: Source) -> list[int]:
        """Describe a link: `COLUMNS` keys."""
        # This is done for every new link: whatever can be is kept, and nothing is called that can be spared.
        url, tag_path, anchor_text, context, _ = link
        before, _, query = url.partition("?")
        folder, _, raw = before.partition("://")[2].rpartition("/")
        top, second, segment_1, segment_2, inner_top, directory, inner, folder_name, depth = self._directory(
            folder
        )
        element, tail, whole_path = self._path(tag_path)
        dot = raw.rfind(".")
        ending = raw[dot:] if dot >= 0 else ""
        extension, likeness, shape, suffix, name, too_long = self._extension(
            ending + "?" if query else ending
        )
        name_begun, first_word, word_1, word_2, stem_shape = self._stem(
            raw if too_long or dot < 0 else raw[:dot]
        )
        anchor, anchor_bytes, length, anchor_words, named_type = self._anchor(anchor_text[:_MAX_ANCHOR])
        if context and context != anchor_text:
            named_type = _named_type(self._likely, words_of(context[:_MAX_CONTEXT].lower()))
        shape = stem_shape + shape
        parameters_key = _NO_PARAMETERS
        if query:
            parameters = _parameter_names(query)
            shape += parameters
            name += parameters
            parameters_key = _key(_PARAMETERS, parameters)
        folder_extension = crc32(suffix, directory ^ _DIRECTORY_EXTENSION_MARK) or 1
        return [
            top,
            second,
            directory,
            crc32(shape, directory ^ _SHAPE_MARK) or 1,
            extension,
            crc32(first_word, directory ^ _FIRST_WORD_MARK) or 1,
            crc32(name, name_begun) or 1,
            depth,
            parameters_key,
            element,
            tail,
            whole_path,
            source.directory,
            (source.page * _SPREAD + tail) & _32_BITS or 1,
            folder_extension,
            crc32(anchor_bytes, folder_extension ^ _DIRECTORY_ANCHOR_MARK) or 1,
            anchor,
            length,
            *anchor_words,
            word_1,
            word_2,
            crc32(shape, folder_name ^ _FOLDER_FILE_MARK) or 1,
            segment_1,
            segment_2,
            folder_name,
            crc32(suffix, tail ^ _TAIL_EXTENSION_MARK) or 1,
            likeness,
            named_type,
            inner_top,
            inner,
            crc32(shape, inner ^ _INNER_SHAPE_MARK) or 1,
        ]

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
        self._tails.clear()
        self._tails.update(state["key_tails"])
        # A path that was described before brings the words for its tail along only once.
        self._path.cache_clear()


def _directory_keys(folder: str) -> _Directory:
    parent, _, name = folder.rpartition("/")
    depth = parent.count("/")
    if 1 < depth < _DEEP:
        # Where every page has a folder of its own, most is known from the folder above.
        above = _folder_above(parent)
        name_bytes = _fold(name)
        return _Directory(
            above.top,
            above.second,
            above.segment_1,
            above.segment_2,
            above.inner_top,
            crc32(b"/" + name_bytes, above.whole) or 1,
            crc32(b"/" + name_bytes, above.inner) or 1,
            _key(_FOLDER, name_bytes),
            _depth_key(depth + 1),
        )
    whole = _fold(folder)
    host, *inner = whole.split(b"/")
    return _Directory(
        _key(_TOP, host + b"/" + b"/".join(inner[:1])),
        _key(_SECOND, host + b"/" + b"/".join(inner[:2])),
        _key(_SEGMENT, inner[0]) if inner else NOTHING,
        _key(_SEGMENT, inner[1]) if len(inner) > 1 else NOTHING,
        _key(_INNER_TOP, inner[1] if len(inner) > 1 else b""),
        _key(_DIRECTORY, whole),
        _key(_INNER, b"/".join(inner[1:])),
        _key(_FOLDER, inner[-1] if inner else b""),
        _depth_key(len(inner)),
    )


def _path_keys(tails: dict[int, str], tag_path: tuple[str, ...]) -> _Path:
    """Describe a place on a page; the words for its tail go to ``tails``."""
    tokens = [_fold_element(element) for element in tag_path] or [b""]
    tail = _key(_TAIL, b">".join(tokens[-3:]))
    if tail not in tails and len(tails) < _MOST_TAILS:
        tails[tail] = " > ".join(any_number(token) for token in tag_path[-3:])
    return _Path(_key(_ELEMENT, tokens[-1]), tail, _key(_TAG_PATH, b">".join(tokens)))


def _extension_keys(likely: Collection[str], raw: str) -> _Extension:
    """Describe what a name ends with: a dot and an extension, or nothing; ``?`` stands for a query."""
    dotted, query, _ = raw.partition("?")
    folded = _fold(dotted).decode("utf-8", "surrogatepass")
    # The dot does not count.
    too_long = len(folded) > _MAX_EXTENSION + 1
    if too_long:
        dotted = folded = ""
    extension = folded[1:].lower()
    # Not folded: "7z" and "h5" are extensions.
    likeness = _LIKENESSES[_likeness(likely, dotted[1:].lower(), query=bool(query))]
    suffix = _bytes(extension + query)
    return _Extension(
        _key(_EXTENSION, suffix),
        likeness,
        b"." + _bytes(extension),
        suffix,
        _bytes(folded),
        too_long,
    )


def _anchor_keys(likely: frozenset[str], text: str) -> _Anchor:
    lower = text.lower()
    encoded = _fold(lower)
    words = words_of(lower)
    keys = [_word_key(_ANCHOR_WORD, word) for word in words[:4]]
    keys += [NOTHING] * (4 - len(keys))
    return _Anchor(
        _key(_ANCHOR, encoded),
        encoded,
        _LENGTHS[min(len(words), _LONG)],
        (keys[0], keys[1], keys[2], keys[3]),
        _named_type(likely, words),
    )


def _named_type(likely: frozenset[str], words: list[str]) -> int:
    if likely.isdisjoint(words):
        return NOTHING
    return key_of(_NAMED_TYPE, next(word for word in words if word in likely))


# Beyond `_DEEP` folders are described by themselves, however deep an address may be.
_folder_above = lru_cache(maxsize=1 << 10)(_directory_keys)


def _likeness(likely: Collection[str], extension: str, *, query: bool) -> Likeness:
    if extension in likely:
        return Likeness.FILE
    return Likeness.PAGE if extension in PAGE_EXTENSIONS and not query else Likeness.UNKNOWN


def _source_directory_key(folder: str) -> int:
    return _key(_SOURCE_DIRECTORY, _fold(folder))


def _stem_keys(raw: str) -> _Stem:
    encoded = _fold(raw)
    words = [word.lower() for word in words_of(raw)[:2]]
    keys = [_word_key(_URL_WORD, word) for word in words]
    keys += [NOTHING] * (2 - len(keys))
    return _Stem(
        crc32(encoded, _FILE_NAME + 1),
        _bytes(words[0] if words else ""),
        keys[0],
        keys[1],
        _shape(encoded.decode("utf-8", "surrogatepass")),
    )


def words_of(text: str) -> list[str]:
    """Return the words of a text: runs of letters.

    >>> words_of("plot_2d-Tabelle.für"), words_of("a.b7")
    (['plot', 'd', 'Tabelle', 'für'], ['a', 'b'])
    """
    if text.isascii():
        # The same without a search, which is the larger part of describing a link.
        return text.encode().translate(_LETTERS).decode().split()
    return _WORD.findall(text)


def any_number(text: str) -> str:
    """Write a star for each number, for people: `_fold` is for keys."""
    return _DIGITS.sub("*", text)


def any_word(name: str) -> str:
    """Write three dots for each word of a file name but its extension, for people: `_shape` is for keys.

    >>> any_word("annual-report-2020.html"), any_word("minutes"), any_word("a-b-c-d-e-f-g-h.HTML")
    ('…-…-*.html', '…', '…-…-…-…-…-…-….html')
    """
    extension = any_number(extension_of(name))
    shape = _WORD.sub("…", any_number(stem_of(name)))
    if len(shape) >= _MAX_SHAPE:
        shape = shape[:_MAX_SHAPE] + "…"
    return f"{shape}.{extension}" if extension else shape


def any_text(anchor: str) -> str:
    """Write a link's text with a star for each number, for people: `_anchor_keys` is for keys.

    >>> any_text("Bulletin 12"), any_text("x" * 99) == "x" * 60 + "…"
    ('bulletin *', True)
    """
    text = any_number(anchor[:_MAX_ANCHOR].lower())
    return text + "…" if len(anchor) >= _MAX_ANCHOR else text


def any_value(query: str) -> str:
    """Write the names of parameters, for people: `_parameter_names` is for keys.

    >>> any_value("page=3&id=7"), any_value("")
    ('?id&page', '')
    """
    return f"?{any_number(_names(query))}" if query else ""


def extension_of(name: str) -> str:
    """Return the extension of a file name in small letters, where it is none too long to be one.

    >>> [extension_of(name) for name in ("a.CSV", "b", "b.", "page.statistics")]
    ['csv', '', '', '']
    """
    _, _, extension = name.rpartition(".") if "." in name else ("", "", "")
    return "" if len(any_number(extension)) > _MAX_EXTENSION else extension.lower()


def stem_of(name: str) -> str:
    """Return a file name without its extension, and without its last dot where nothing is behind it.

    >>> [stem_of(name) for name in ("a.b.csv", "b", "b.", "page.statistics")]
    ['a.b', 'b', 'b', 'page.statistics']
    """
    stem, dot, extension = name.rpartition(".")
    return stem if dot and len(any_number(extension)) <= _MAX_EXTENSION else name


def _fold(text: str) -> bytes:
    """Encode a text with a 0 for each number."""
    # Most texts have no number, and to see that takes a fifth of a search.
    if text.isascii() and len(encoded := text.encode()) == len(encoded.translate(None, b"0123456789")):
        return encoded
    return _bytes(_DIGITS.sub("0", text))


# The elements of tag paths recur from path to path.
_fold_element = lru_cache(maxsize=1 << 11)(_fold)


def _shape(stem: str) -> bytes:
    # Each word leaves a letter, so that what is beyond this many words is cut off.
    return _bytes(_WORD.sub("a", stem, _MAX_SHAPE)[:_MAX_SHAPE])


def _parameter_names(query: str) -> bytes:
    return b"?" + _fold(_names(query))


def _names(query: str) -> str:
    return "&".join(sorted({part.partition("=")[0] for part in query.replace(";", "&").split("&")}))


def key_of(column: int, text: str) -> int:
    """Return the key for an aspect of one column."""
    return _key(column, _bytes(text))


# Words recur from link to link.
_word_key = lru_cache(maxsize=1 << 14)(key_of)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _key(column: int, encoded: bytes) -> int:
    return crc32(encoded, column + 1) or 1


@lru_cache(maxsize=1 << 6)
def _depth_key(depth: int) -> int:
    return key_of(Key.DEPTH, str(depth + 1))


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
_NO_PARAMETERS = _key(_PARAMETERS, b"")
# Spreads a number over the 32 bits of a key: a source page, to which a place is added, or a column.
_SPREAD, _32_BITS = 0x9E3779B1, 0xFFFFFFFF
# A key of two aspects is a hash of the second that begins with the first one's key, marked by its column.
# Where the second is empty the marked key is the hash, so that the mark must change the low bits, too: they
# are the place in a table (`coati.learners.hashed_table`).
(
    _SHAPE_MARK,
    _FIRST_WORD_MARK,
    _DIRECTORY_EXTENSION_MARK,
    _DIRECTORY_ANCHOR_MARK,
    _FOLDER_FILE_MARK,
    _TAIL_EXTENSION_MARK,
    _INNER_SHAPE_MARK,
) = (
    (column + 1) * _SPREAD & _32_BITS
    for column in (
        Key.SHAPE,
        Key.FIRST_WORD,
        Key.DIRECTORY_EXTENSION,
        Key.DIRECTORY_ANCHOR,
        Key.FOLDER_FILE,
        Key.TAIL_EXTENSION,
        Key.INNER_SHAPE,
    )
)
_LENGTHS = [key_of(Key.ANCHOR_LENGTH, str(length)) for length in range(_LONG + 1)]
_LIKENESSES = {likeness: key_of(Key.FILE_LIKE, likeness.name) for likeness in Likeness}
