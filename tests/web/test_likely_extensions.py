from __future__ import annotations

import pytest

from coati.web.likely_extensions import DATA_EXTENSIONS, likely_extensions
from coati.web.media import BLOCKED_EXTENSIONS, PRESETS, parse_types


@pytest.mark.parametrize("name", ["data", "data-extended", "all-files"])
def test_a_definition_that_takes_any_file_leaves_the_extension_open(name: str) -> None:
    assert set(likely_extensions(PRESETS[name])) == DATA_EXTENSIONS


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ("text/csv", ("csv",)),
        ("application/vnd.ms-excel,.ODS", ("ods", "xls")),
        ("application/x-unheard-of", ()),
        ("archives", ("7z", "bz2", "gz", "rar", "tar", "tgz", "xz", "zip", "zst")),
    ],
)
def test_a_narrow_definition_names_its_extensions_in_order(types: str, expected: tuple[str, ...]) -> None:
    assert likely_extensions(parse_types(types)) == expected


def test_what_is_given_by_extension_stays_beside_what_is_left_open() -> None:
    assert set(likely_extensions(parse_types("all-files,.xyz"))) == DATA_EXTENSIONS | {"xyz"}


@pytest.mark.parametrize("name", PRESETS)
def test_every_extension_of_a_preset_is_likely_and_none_is_blocked(name: str) -> None:
    likely = set(likely_extensions(PRESETS[name]))
    assert likely >= PRESETS[name].extensions
    assert likely.isdisjoint(BLOCKED_EXTENSIONS)


@pytest.mark.parametrize("media_type", sorted(PRESETS["data-extended"].media_types))
def test_every_media_type_of_a_preset_has_an_extension(media_type: str) -> None:
    assert likely_extensions(parse_types(media_type))
