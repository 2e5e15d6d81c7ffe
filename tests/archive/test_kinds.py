import pytest

from coati.archive.kinds import kind_of
from coati.archive.record import Entry
from coati.model import Kind
from coati.web.media import PRESETS, TargetTypes

DATA = PRESETS["data"]
URL = "http://example.test/x"


@pytest.mark.parametrize(
    ("entry", "types", "expected"),
    [
        (Entry(URL, 200, "text/html; charset=x", 1), DATA, Kind.PAGE),
        (Entry(URL, 200, "text/csv", 1), DATA, Kind.TARGET),
        (Entry(URL, 203, "text/csv", 1), DATA, Kind.TARGET),
        (Entry(URL, 200, "image/png", 1), DATA, Kind.OTHER),
        (Entry(URL, 200, "", 1), DATA, Kind.OTHER),
        (Entry(URL, 404, "text/html", 1), DATA, Kind.BROKEN),
        (Entry(URL, 0, "", 0), DATA, Kind.BROKEN),
        (Entry(URL, 301, "", 0, location=URL), DATA, Kind.REDIRECT),
        (Entry(URL, 301, "", 0), DATA, Kind.BROKEN),
        (Entry(URL, 200, "text/csv", 1), None, Kind.OTHER),
        (Entry(URL, 200, "text/html", 1), None, Kind.PAGE),
        (Entry(URL, 200, "text/csv", 1, Kind.OTHER), None, Kind.OTHER),
        (Entry(URL, 200, "text/csv", 1, Kind.OTHER), DATA, Kind.TARGET),
        (Entry(URL, 200, "text/csv", 1, Kind.BROKEN), DATA, Kind.BROKEN),
    ],
)
def test_the_label_decides_unless_types_are_given(
    entry: Entry, types: TargetTypes | None, expected: Kind
) -> None:
    assert kind_of(entry, types) is expected
