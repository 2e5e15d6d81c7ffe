"""What names a link to people: row, heading, title of the page; and which of the texts is the best title."""

from __future__ import annotations

import pytest

from coati.model import NearbyText, PageLinks
from coati.web.links import LinkExtractor
from coati.web.titles import best_title, is_generic


def links_of(html: str) -> PageLinks:
    return LinkExtractor().extract(html.encode(), "http://a.test/").links


def test_a_row_of_a_table_names_each_of_its_links() -> None:
    links = links_of(
        "<title>Office</title><h1>Labour</h1><h2>Tables</h2><table>"
        "<tr><td>Unemployment</td><td>2020</td><td><a href=a.csv>Download</a></td></tr>"
        "<tr><td>Wages</td><td>2021</td>"
        "<td><ul><li><a href=b.csv>CSV</a><li><a href=b.xls>XLS</a></ul></td></tr></table>"
    )
    assert links.title == "Office"
    assert [links.nearby_text(place) for place in range(3)] == [
        NearbyText("Unemployment | 2020 | Download", "Tables"),
        # The list of formats is not a row that says anything: the one around it is.
        NearbyText("Wages | 2021 | CSV XLS", "Tables"),
        NearbyText("Wages | 2021 | CSV XLS", "Tables"),
    ]


def test_list_items_and_definitions_name_their_links() -> None:
    links = links_of(
        "<a href=0>No heading yet</a><h3>Prices <small>monthly</small></h3>"
        "<ul><li><span>Rents</span><a href=1>PDF</a></li></ul>"
        "<dl><dt>Fuel</dt><dd><a href=2>csv</a></dd></dl><p>Milk: <a href=3>here</a></p>"
    )
    assert [links.nearby_text(place) for place in range(4)] == [
        NearbyText("", ""),
        NearbyText("Rents PDF", "Prices monthly"),
        NearbyText("Fuel | csv", "Prices monthly"),
        NearbyText("", "Prices monthly"),
    ]


def test_a_page_of_one_endless_row_is_bounded() -> None:
    cells = "".join(f"<td>{'word ' * 500}<a href={n}>Download</a></td>" for n in range(300))
    links = links_of(f"<title>{'t ' * 9999}</title><h1>{'h ' * 9999}</h1><table><tr>{cells}</tr></table>")
    row, heading, *_ = links.nearby_text(299)
    assert len(row) <= 300
    assert len(heading) <= 300
    assert len(links.title) <= 300


@pytest.mark.parametrize(
    "text",
    [
        "Download", "PDF", "here", "Télécharger", "Cliquez ici", "Herunterladen (PDF, 2 MB)",
        "Descargar aquí", "Scarica", "Baixar", "Downloaden", "Pobierz plik", "Stáhnout", "Ladda ner", "Lataa",
        "Preview", "Explore", "More information", "Go to resource", "Vorschau", "Aperçu", "Pré-visualizar",
        "Скачать", "Завантажити", "下载", "ダウンロード", "다운로드", "تحميل", "[XLSX]", "→", "", "1.2 MB",
    ],
)  # fmt: skip
def test_words_of_downloading_name_nothing(text: str) -> None:
    assert is_generic(text)


@pytest.mark.parametrize("text", ["Budget 2020", "2020", "Here are the rents", "Q1", "Rapport annuel"])
def test_other_words_do(text: str) -> None:
    assert not is_generic(text)


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        (("Budget", "row", "heading", "page", "own"), "Budget"),
        (("Download", "Budget 2020 | CSV, 3 kB | Download", "heading", "page", "own"), "Budget 2020"),
        (("PDF", "Rents in towns (PDF)", "heading", "page", "own"), "Rents in towns"),
        (("Download", "CSV | Download", "Rents", "page", "own"), "Rents"),
        (("CSV", "CSV Preview", "Rents", "page", "own"), "Rents"),
        (("Download", "", "Downloads", "Office of statistics", "own"), "Office of statistics"),
        (("Download", "", "", "", "Yearbook"), "Yearbook"),
        (("Download", "x" * 290, "Rents", "", ""), "Rents"),
        (("Download", "", "", "", ""), "Download"),
        (("tab-7.csv", "tab-7.csv | 3 kB", "Downloads", "Job seekers", ""), "Job seekers (tab-7.csv)"),
        (("a.csv", "Rents in towns | a.csv | a.json", "Data", "page", ""), "Rents in towns (a.csv)"),
        (("a.csv", "a.csv | a.json", "Rents", "page", ""), "Rents (a.csv)"),
        (("a.csv", "", "", "", ""), "a.csv"),
        (("Rents, 2nd ed.", "row", "heading", "page", "own"), "Rents, 2nd ed."),
        (("", "", "", "", ""), ""),
    ],
)
def test_the_first_text_that_names_something_is_the_title(
    texts: tuple[str, str, str, str, str], title: str
) -> None:
    assert best_title(*texts) == title
