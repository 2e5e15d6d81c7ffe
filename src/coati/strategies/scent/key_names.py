"""Names for the links that share a key, for people: links have the same name if they have the same key.

A star stands for any number. Three dots stand for any word, for any directory, and for what a long text ends
with. Keys do not tell these apart, nor capital from small letters in texts and extensions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coati.strategies.scent.link_keys import (
    Key,
    any_number,
    any_text,
    any_value,
    any_word,
    extension_of,
    stem_of,
    words_of,
)
from coati.web.urls import path_of, query_of

if TYPE_CHECKING:
    from collections.abc import Sequence


class LinkTexts(NamedTuple):
    """What a link's keys were made of, as far as it is still known; ``anchor`` is None if it is not."""

    url: str
    tail: str = ""
    anchor: str | None = None
    source_url: str = ""


def links_like(column: Key, texts: LinkTexts) -> str:
    """Name the links that share one key with a link.

    >>> link = LinkTexts("http://a.test/news/2024/item-7.html")
    >>> links_like(Key.SECOND, link), links_like(Key.SHAPE, link)
    ('links anywhere under /news/*/', 'links like /news/*/…-*.html')
    """
    names = {
        **_by_address(texts.url),
        **_by_file(texts),
        **_by_place(texts.tail),
        **_by_source(texts.source_url),
    }
    return f"links {names.get(column) or f'with the same {column.name.lower()}'}"


def folder_of(url: str) -> str:
    """Return the folder of a URL."""
    return any_number(path_of(url).rpartition("/")[0]) + "/"


def ending_of(url: str) -> str:
    """Return the extension of a URL, with its dot and its numbers: "7z" and "h5" are extensions."""
    extension = extension_of(_file(url))
    return f".{extension}" if extension else ""


def _by_address(url: str) -> dict[Key, str]:
    directories = folder_of(url).split("/")[1:-1]
    folder, shape = _path(directories), any_word(_file(url)) + any_value(query_of(url))
    # Whatever the first directory is, and whether there is one.
    inner = f"/…{_path(directories[1:])}"
    is_shallow = len(directories) <= 1
    first_word = next(iter(words_of(stem_of(_file(url)))), "").lower()
    worded = f'whose first word is "{first_word}"' if first_word else "whose names have no word"
    return {
        Key.TOP: _below(directories, 1),
        Key.SECOND: _below(directories, 2),
        Key.DIRECTORY: f"directly in {folder}",
        Key.SHAPE: f"like {folder}{shape}",
        Key.FIRST_WORD: f"directly in {folder} {worded}",
        Key.INNER_TOP: "directly in / or /…/" if is_shallow else f"anywhere under /…/{directories[1]}/",
        Key.INNER: "directly in / or /…/" if is_shallow else f"directly in {inner}",
        Key.INNER_SHAPE: f"like /{shape} or /…/{shape}" if is_shallow else f"like {inner}{shape}",
    }


def _by_file(texts: LinkTexts) -> dict[Key, str]:
    url, anchor = texts.url, texts.anchor
    name, parameters = any_number(_file(url)), any_value(query_of(url))
    extension = any_number(ending_of(url))
    if extension:
        kind = f"to {extension} with parameters" if parameters else f"to {extension}"
    else:
        kind = "with parameters and without an extension" if parameters else "without an extension"
    if name:
        whole = f"to names like {name}{parameters}"
    else:
        whole = f"that end with /{parameters}" if parameters else "that end with a slash"
    if anchor is None:
        called = "with the same text"
    else:
        called = f'called "{any_text(anchor)}"' if anchor else "without a text"
    return {
        Key.EXTENSION: kind,
        Key.FILE_NAME: whole,
        Key.DIRECTORY_EXTENSION: f"{kind} directly in {folder_of(url)}",
        Key.DIRECTORY_ANCHOR: f"{kind} directly in {folder_of(url)} {called}",
        Key.ANCHOR: called,
    }


def _by_place(tail: str) -> dict[Key, str]:
    if not tail:
        return dict.fromkeys((Key.ELEMENT, Key.TAIL, Key.TAG_PATH), "at this place of a page")
    return {
        Key.ELEMENT: f"with the element {tail.rpartition(' > ')[2]}",
        Key.TAIL: f"in {tail}",
        Key.TAG_PATH: f"in the same place ({tail})",
    }


def _by_source(url: str) -> dict[Key, str]:
    where = f"directly in {folder_of(url)}" if url else "in the same folder"
    return {
        Key.SOURCE_DIRECTORY: f"found on pages {where}",
        Key.SOURCE: "of the same list on the same page",
    }


def _below(directories: Sequence[str], count: int) -> str:
    """Name what is below the first directories; with fewer of them a key is that of the folder alone."""
    where = "directly in" if len(directories) < count else "anywhere under"
    return f"{where} {_path(directories[:count])}"


def _path(directories: Sequence[str]) -> str:
    return "/" + "".join(f"{directory}/" for directory in directories)


def _file(url: str) -> str:
    return path_of(url).rpartition("/")[2]
