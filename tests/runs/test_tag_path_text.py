import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from coati.runs.tag_path_text import TagPathTable, path_from_text, path_to_text

PATHS = st.lists(st.text(alphabet="ab >\\}.#", max_size=6), max_size=6).map(tuple)


@given(PATHS)
def test_a_path_is_read_back_exactly(path: tuple[str, ...]) -> None:
    assert path_from_text(path_to_text(path)) == path


def test_a_path_is_stored_once_also_after_reopening() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE tag_paths (id INTEGER PRIMARY KEY, path TEXT)")
    table = TagPathTable(connection)
    first, second = table.number(("html", "a")), table.number(("html", "b"))
    assert first != second
    assert table.number(()) is None
    assert TagPathTable(connection).number(("html", "a")) == first == table.number(("html", "a"))
    assert connection.execute("SELECT count(*) FROM tag_paths").fetchone() == (2,)
