import pytest

from coati.runs.csv_pieces import csv_pieces


@pytest.mark.parametrize("title", ['=HYPERLINK("http://evil.test/")', "+1", "-1+2", "@SUM(A1)"])
def test_the_words_of_a_site_are_not_a_formula_in_a_spreadsheet(title: str) -> None:
    """A title is whatever a site says, and the tables of a search are made to be opened by such programs."""
    written = b"".join(csv_pieces(("title", "files"), [[title, -3]], marked=False)).decode()
    lines = written.splitlines()
    assert lines[0] == "title,files"
    assert lines[1].lstrip('"').startswith("'" + title[0])
    assert lines[1].endswith(",-3")
