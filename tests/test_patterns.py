"""No pattern takes time out of proportion: whatever a server sends, a search through it stays short.

Each pattern of the package meets beginnings that lead into its parts, then the same few characters over and
over, then something that fits nowhere. A pattern that goes back over what it took, or begins again within it,
would need minutes for one of these texts; a linear one needs milliseconds for each.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from itertools import islice
from types import ModuleType
from typing import NamedTuple

import pytest

import coati

LENGTH = 200_000
# It is searches in vain that take long, and they come after few matches or none.
MATCHES = 100

BEGINNINGS = (
    *("", "1", "/", ";", "<a ", "<meta ", "<b ", "<p class='", "<!--", "<![CDATA[", "<loc>", "<title>"),
    *("charset=", 'filename="', "filename=", "filename*=utf-8'", ";jsessionid=", "?sid=", "/(s(", "sitemap:"),
    *("0;url=", "bytes 0-", "coati-", "cfid=", "http://"),
)
REPEATED = (
    *(
        " ",
        "a",
        "1",
        ".",
        "'",
        '"',
        "<",
        "=",
        "-",
        "_",
        "/",
        ";",
        ":",
        "\n",
        "\\",
        "%",
        "1a",
        "a=",
        " =",
        "/=",
    ),
    *("<a ", "<b ", "<p", "</", "<!--", "-->", "&", "charset", "sitemap ", "filename=", ";s=", "<loc", "-."),
)
ENDING = "\x00<"

# Those that need libraries which are not installed everywhere hold no pattern.
LEFT_OUT = ("coati.strategies.tres.neural", "coati.__main__", "coati.testing.__main__")


class Used(NamedTuple):
    """A pattern, and whether it is looked for anywhere in a text or at its beginning alone."""

    pattern: re.Pattern[str] | re.Pattern[bytes]
    anywhere: bool

    def knows(self, beginning: str) -> bool:
        """Tell whether a beginning can lead into a part of the pattern: one that shares its words does."""
        source = str(self.pattern.pattern).lower()
        return all(word in source for word in re.findall(r"[a-z]{2,}", beginning))

    def meet(self, text: str) -> None:
        subject = text.encode() if isinstance(self.pattern.pattern, bytes) else text
        if self.anywhere:
            for _ in islice(self.pattern.finditer(subject), MATCHES):  # type: ignore[arg-type]
                pass
        else:
            self.pattern.match(subject)  # type: ignore[arg-type]


def is_searched_for(module: ModuleType, name: str) -> bool:
    use = rf"\b{name}(\[\w+\])?\.(search|finditer|findall|sub|split)\("
    return re.search(use, inspect.getsource(module)) is not None


def patterns() -> Iterator[tuple[str, Used]]:
    """Find every compiled pattern that a module of the package holds, also within a dictionary."""
    for found in pkgutil.walk_packages(coati.__path__, "coati."):
        if found.name.startswith(LEFT_OUT):
            continue
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            for one in value.values() if isinstance(value, dict) else (value,):
                if isinstance(one, re.Pattern):
                    used = Used(one, is_searched_for(module, name))
                    yield f"{found.name}.{name} {one.pattern!r:.40}", used


PATTERNS = dict(patterns())


def test_the_patterns_are_found() -> None:
    names = {name.partition(" ")[0] for name in PATTERNS}
    assert {
        "coati.web.links._REFRESH",
        "coati.web.heavy_pages._RAW_TEXT",
        "coati.runs.file_names._DOTS",
    } <= names


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", PATTERNS)
def test_time_grows_with_the_length_alone(name: str) -> None:
    used = PATTERNS[name]
    for beginning in filter(used.knows, BEGINNINGS):
        for piece in REPEATED:
            used.meet(beginning + piece * (LENGTH // len(piece)) + ENDING)
