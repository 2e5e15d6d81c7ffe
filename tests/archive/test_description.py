from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coati.archive.description import FILE_NAME, read_description, write_description
from coati.archive.record import ArchiveMeta
from coati.errors import ArchiveError
from coati.web.media import PRESETS, TargetTypes
from tests.archive.samples import META

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
sets = st.frozensets(texts, max_size=4)
types = st.none() | st.builds(TargetTypes, texts, sets, sets, st.booleans())
metas = st.builds(ArchiveMeta, texts, texts, types, texts, texts, sets)


@given(metas)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_back(tmp_path: Path, meta: ArchiveMeta) -> None:
    write_description(tmp_path, meta)
    assert read_description(tmp_path) == meta


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("format = 2", "format = 3", "its format is 3, and this version of Coati reads 2"),
        ("start_url", "start-url", "unknown key 'start-url'"),
        ('name = "example"', "name = 3", "3 should be a string"),
        ("[types]", "[typen]", "unknown key 'typen'"),
        ("extensions = []", "extensions = 'x'", "should be a list"),
        ("format = 2", "format = ", "Invalid value"),
        ("format = 2\n", "", "format"),
    ],
)
def test_a_bad_description_says_what_is_wrong(tmp_path: Path, old: str, new: str, said: str) -> None:
    write_description(tmp_path, META)
    path = tmp_path / FILE_NAME
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ArchiveError, match=r"archive\.toml cannot be read") as caught:
        read_description(tmp_path)
    assert said in str(caught.value)


def test_octets_that_are_not_text_are_an_error(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ArchiveError, match="cannot be read"):
        read_description(tmp_path)


def test_a_missing_folder_and_a_folder_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="there is no archive at"):
        read_description(tmp_path / "nowhere")
    with pytest.raises(ArchiveError, match="is not an archive"):
        read_description(tmp_path)


def test_labels_need_no_types(tmp_path: Path) -> None:
    write_description(tmp_path, ArchiveMeta("a", "http://a.test/", None))
    assert read_description(tmp_path).types is None
    write_description(tmp_path, ArchiveMeta("a", "http://a.test/", PRESETS["all-files"]))
    assert read_description(tmp_path).types == PRESETS["all-files"]
