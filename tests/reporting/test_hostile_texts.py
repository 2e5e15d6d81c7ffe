"""What the web wrote stays text: no link, name or type can act in the report."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from coati.reporting import write_report
from coati.reporting.safe_html import element, file_link, shortened, web_link
from coati.testing import Response, Site
from tests.reporting.made_runs import MadeRun
from tests.reporting.test_report import Checked

SCRIPT = "<script>alert(1)</script>"
PAYLOADS = (
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "'onmouseover='alert(1)",
    "</style></title><svg onload=alert(1)>",
)


def hostile_site() -> Site:
    """Build a site whose texts, names, types and addresses all try to become part of the report."""
    start = "http://a.test/"
    responses = {}
    links = ""
    for number, payload in enumerate(PAYLOADS):
        escaped = payload.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
        links += f'<p class="{escaped}"><a href="/f{number}" id="{escaped}">{escaped}</a></p>'
        responses[f"{start}f{number}"] = Response(
            200,
            (
                ("Content-Type", "text/csv"),
                ("Content-Disposition", f"attachment; filename*=UTF-8''{payload}"),
            ),
            f"a,{number}\n".encode(),
        )
    long = "x" * 100_000
    links += f'<a href="/long">{long}</a><a href="javascript:alert(1)">bad</a><a href="/q?{SCRIPT}">q</a>'
    links += f'<a href="http://b.test/{SCRIPT}">elsewhere</a><a href="/gone{SCRIPT}">gone</a>'
    responses[f"{start}long"] = Response.file("text/csv", b"1\n", name="\u202egnp.exe" + long)
    responses[start] = Response.page(links)
    return Site(start, responses)


def test_nothing_from_the_web_becomes_part_of_the_page(tmp_path: Path) -> None:
    run = MadeRun(tmp_path / "run", hostile_site(), settings={"contact": SCRIPT})
    run.steps()
    source = write_report(run.finish()).read_text(encoding="utf-8")
    page = Checked(source)
    # Our script, and the list of files that it reads.
    assert source.count("<script") == 2
    assert source.count("</script") == 2
    assert {each.get("type") for tag, each in page.elements if tag == "script"} == {None, "application/json"}
    assert not [tag for tag, _ in page.elements if tag in {"img", "iframe", "object"}]
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")]
    schemes = {link.partition(":")[0] for link in page.links if ":" in link}
    assert schemes <= {"http", "https"}
    assert "alert(1)" in page.text
    assert "x" * 1000 not in source
    assert "\u202e" not in source


def test_links_lead_to_the_web_or_nowhere() -> None:
    for url in (
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//b.test",
        "",
    ):
        assert "href" not in web_link(url)
    assert 'href="https://a.test/?a=1&amp;b=&quot;"' in web_link('https://a.test/?a=1&b="')


@given(st.text())
def test_any_text_stays_text(text: str) -> None:
    page = Checked(element("p", text, title=text))
    assert [tag for tag, _ in page.elements] == ["p"]


@given(st.text(min_size=1).filter(lambda name: name.isprintable()))
def test_a_file_link_leads_to_exactly_that_file(name: str) -> None:
    (link,) = Checked(file_link(name)).links
    folder, _, rest = link.partition("/")
    assert folder == "files"
    assert not set(rest) & set("?#:\\ ")
    # A slash leads downwards, never up or to the root.
    assert "/" not in rest or {"", ".", ".."}.isdisjoint(rest.split("/"))
    assert unquote(rest) == name


@given(st.text(), st.integers(10, 50))
def test_shortened_text_fits_on_one_line(text: str, limit: int) -> None:
    short = shortened(text, limit)
    assert len(short) <= limit
    assert not set(short) & set("\n\r\x1b\u202e\u2028")
