import re
import unicodedata
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coati.runs.file_names import MAX_NAME_BYTES, file_name, name_key, numbered

DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\.|\Z)", re.IGNORECASE)
NASTY = st.one_of(
    st.text(max_size=300),
    st.text(alphabet='./\\:%2Ee\u202e\0 "~-', max_size=40),
    st.sampled_from(
        ["..", "../../etc/passwd", "C:\\boot.ini", "con", "NUL.csv", ".bashrc", "a" * 5000, "COM¹.txt"]
    ),
)


@pytest.mark.parametrize(
    ("url", "media_type", "disposition", "name"),
    [
        ("http://e.org/a/Report%202020.PDF?x=1", "application/pdf", "", "Report_2020.PDF"),
        ("http://e.org/get?id=1", "text/csv", "", "get.csv"),
        ("http://e.org/download.aspx?f=3", "application/pdf", "", "download.pdf"),
        ("http://e.org/", "text/csv", "", "e.org.csv"),
        ("http://e.org/data/", "application/json; charset=utf-8", "", "data.json"),
        ("http://e.org/x", "text/csv", 'attachment; filename="Jahr 2020.xls"', "Jahr_2020.xls"),
        ("http://e.org/x", "", "attachment; filename=plain.csv", "plain.csv"),
        ("http://e.org/x", "", "inline; filename*=UTF-8''%e2%82%ac%20rates.csv", "rates.csv"),
        (
            "http://e.org/x",
            "",
            "attachment; filename=\"a.csv\"; filename*=UTF-8''%C3%A9tude.csv",
            "étude.csv",
        ),
        ("http://e.org/x", "", "attachment; filename*=iso-8859-1'en'%A3%20r%E9sum%E9.csv", "résumé.csv"),
        # Raw UTF-8 in a header, which HTTP libraries read as Latin-1; and URL escapes where none belong.
        ("http://e.org/x", "", 'attachment; filename="Ã©tude.csv"', "étude.csv"),
        ("http://e.org/x", "", "attachment; filename=my%20file.csv", "my_file.csv"),
        ("http://e.org/x", "", r'attachment; filename="C:\exports\a.csv"', "a.csv"),
        ("http://e.org/x", "", 'attachment; filename="../../../etc/cron.d/job"', "job"),
        ("http://e.org/..%2f..%2fpasswd", "text/plain", "", "passwd.txt"),
        ("http://e.org/.htaccess", "text/plain", "", "htaccess.txt"),
        ("http://e.org/con.csv", "text/csv", "", "_con.csv"),
        ("http://e.org/-rf.csv", "text/csv", "", "rf.csv"),
        ("http://e.org/a..b...csv", "text/csv", "", "a.b.csv"),
        ("http://e.org/budget.2020", "text/csv", "", "budget.2020.csv"),
        ("http://e.org/v1.draft", "text/csv", "", "v1.draft.csv"),
        ("http://e.org/all.tar.gz", "application/gzip", "", "all.tar.gz"),
        ("http://e.org/notes.R", "text/plain", "", "notes.R"),
        (
            "http://e.org/%E0%A4%B9%E0%A4%BF%E0%A4%A8%E0%A5%8D%E0%A4%A6%E0%A5%80.csv",
            "text/csv",
            "",
            "हिन्दी.csv",
        ),
        ("http://e.org/evil%E2%80%AEvsc.exe", "text/csv", "", "evil_vsc.csv"),
    ],
)
def test_names_are_what_people_expect(url: str, media_type: str, disposition: str, name: str) -> None:
    assert file_name(url, media_type, disposition) == name


@given(NASTY, NASTY, st.sampled_from(["text/csv", "application/pdf", "x/y", ""]))
@example("con", 'attachment; filename="nul. .csv"', "")
def test_no_name_leaves_the_folder_or_surprises_a_file_system(
    path: str, proposed: str, media_type: str
) -> None:
    url = "http://e.org/" + path.replace("?", "%3F").replace("#", "%23")
    for disposition in ("", f'attachment; filename="{proposed}"', f"attachment; filename*=UTF-8''{proposed}"):
        name = file_name(url, media_type, disposition)
        for variant in (name, numbered(name, 123_456)):
            assert PurePosixPath(variant).name == variant == PureWindowsPath(variant).name
            assert 0 < len(variant.encode()) <= MAX_NAME_BYTES + len("-123456")
            assert ".." not in variant
            assert variant[0] not in ".-~ "
            assert variant[-1] not in ". "
            assert not DEVICES.match(variant)
            assert not re.search(r'[\x00-\x1f\x7f<>:"/\\|?*%#]', variant)
            assert unicodedata.normalize("NFC", variant) == variant
            assert not any(
                unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} for char in variant
            )


@given(NASTY)
def test_a_name_stays_the_same_when_it_is_proposed_again(path: str) -> None:
    name = file_name("http://e.org/" + path.replace("?", "").replace("#", ""), "text/csv")
    if name.isascii():
        assert file_name("http://e.org/x", "text/csv", f'attachment; filename="{name}"') == name


def test_numbers_go_before_the_extension() -> None:
    assert numbered("a.tar.gz", 3) == "a-3.tar.gz"
    assert numbered("readme", 2) == "readme-2"


def test_names_that_differ_in_case_or_composition_only_clash() -> None:
    assert name_key("STRASSE.csv") == name_key("straße.csv")
    assert name_key("ﬁle.csv") == name_key("FILE.csv")
    assert name_key("a.csv") != name_key("b.csv")
