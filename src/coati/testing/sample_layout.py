"""The layout of the sample site: what all its pages share, and the one that its old pages have instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

NAME = "Quillmark Islands Statistics"

Anchor = tuple[str, str]
"""The path and the text of a link."""

_MENU: tuple[Anchor, ...] = (
    ("/topics/", "Topics"),
    ("/data/", "Data catalogue"),
    ("/publications/", "Publications"),
    ("/news/", "News"),
    ("/calendar/", "Release calendar"),
    ("/about/", "About us"),
)

_FOOTER: tuple[Anchor, ...] = (
    ("/about/contact", "Contact"),
    ("/about/imprint", "Imprint"),
    ("/about/accessibility", "Accessibility"),
    ("/faq/", "Questions"),
    ("/glossary/", "Glossary"),
    ("/archive/", "Old website"),
    ("/sitemap", "Site map"),
)

STYLE = """
:root { --ink: #1d2b36; --sea: #0b5c7a; --sand: #f4f1ea; --line: #d8d3c7; }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 Georgia, serif; color: var(--ink); background: #fff; }
a { color: var(--sea); }
header.site { background: var(--sea); color: #fff; padding: 18px 5vw 0; }
header.site .brand { font-size: 1.5rem; font-weight: bold; color: #fff; text-decoration: none; }
nav.main ul { display: flex; flex-wrap: wrap; gap: 6px; list-style: none; margin: 14px 0 0; padding: 0; }
nav.main a { display: block; color: #fff; padding: 8px 14px; text-decoration: none; font-family: sans-serif; }
nav.main a:hover, nav.main a.here { background: #fff; color: var(--sea); }
.breadcrumb { padding: 10px 5vw; font: 14px sans-serif; color: #667; }
.columns { display: flex; gap: 40px; padding: 0 5vw 40px; }
main { flex: 3; min-width: 0; } aside.side { flex: 1; font-size: 15px; }
aside.side section, .box { background: var(--sand); border: 1px solid var(--line); padding: 4px 18px; }
aside.side section { margin: 0 0 20px; }
h1 { font-size: 1.9rem; line-height: 1.2; color: var(--sea); } h2 { font-size: 1.25rem; }
table { border-collapse: collapse; width: 100%; margin: 16px 0; font: 14px sans-serif; }
th, td { border-bottom: 1px solid var(--line); text-align: left; padding: 6px 10px; }
ol.dataset-list { list-style: none; padding: 0; }
li.dataset { border-bottom: 1px solid var(--line); padding: 8px 0; }
.badge { background: var(--sea); color: #fff; border-radius: 3px; padding: 1px 7px; font: 12px sans-serif; }
.meta, time { color: #667; font: 14px sans-serif; }
.pagination ul, nav.turn { display: flex; gap: 8px; list-style: none; padding: 0; }
.pagination a { border: 1px solid var(--line); padding: 3px 10px; text-decoration: none; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(220px, 1fr)); gap: 16px; }
.card { border: 1px solid var(--line); border-top: 4px solid var(--sea); padding: 2px 16px 10px; }
footer.site { background: var(--ink); color: #cdd; padding: 20px 5vw; font: 14px sans-serif; }
footer.site a { color: #cdd; }
footer.site ul { display: flex; flex-wrap: wrap; gap: 18px; list-style: none; padding: 0; }
"""


def page(title: str, content: str, *, trail: Sequence[Anchor] = (), side: str = "", kind: str = "") -> str:
    """Lay out a page: the menu, where one is, the content, what stands beside it, and the footer."""
    here = trail[0][0] if trail else ""
    menu = "".join(
        f'<li><a href="{href}"{" class=here" if href == here else ""}>{text}</a></li>' for href, text in _MENU
    )
    steps = " &gt; ".join(f'<a href="{href}">{escape(text)}</a>' for href, text in (("/", "Home"), *trail))
    beside = f'<aside class="side">{side}</aside>' if side else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} – {NAME}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body class="{kind or "plain"}">
<header class="site"><a class="brand" href="/">{NAME}</a>
<nav class="main" aria-label="Main"><ul>{menu}</ul></nav></header>
<p class="breadcrumb">{steps}</p>
<div class="columns">
<main id="content">
<h1>{escape(title)}</h1>
{content}
</main>
{beside}
</div>
<footer class="site"><ul>{"".join(f'<li><a href="{href}">{text}</a></li>' for href, text in _FOOTER)}</ul>
<p>The Quillmark Islands are made up, and so are all figures and persons on these pages.</p></footer>
</body>
</html>
"""


def old_page(title: str, content: str) -> str:
    """Lay out a page the way the office did it around 2006."""
    return f"""<HTML><HEAD><TITLE>{escape(title)}</TITLE></HEAD>
<BODY BGCOLOR="#ffffcc"><CENTER><FONT SIZE=5>{escape(title)}</FONT></CENTER><HR>
<TABLE WIDTH="100%"><TR><TD WIDTH=150 VALIGN=top><A HREF="/archive/">Old website</A><BR>
<A HREF="/">New website</A>
<TD VALIGN=top>{content}</TABLE><HR><ADDRESS>Webmaster</ADDRESS></BODY></HTML>
"""


def paragraphs(texts: Iterable[str]) -> str:
    """Write paragraphs."""
    return "\n".join(f"<p>{escape(text)}</p>" for text in texts)


def link_list(links: Iterable[Anchor], kind: str) -> str:
    """Write a list of links."""
    entries = "".join(f'<li><a href="{href}">{escape(text)}</a></li>' for href, text in links)
    return f'<ul class="{kind}">{entries}</ul>'


def section(title: str, content: str, kind: str) -> str:
    """Write a section with a heading."""
    return f'<section class="{kind}"><h2>{escape(title)}</h2>{content}</section>'


def pagination(base: str, pages: int, current: int) -> str:
    """Write links to the other pages of a list; the first has no number in its path."""
    links = "".join(
        f'<li><a href="{base}{f"?page={number}" if number > 1 else ""}">{number}</a></li>'
        for number in range(1, pages + 1)
        if number != current
    )
    return f'<nav class="pagination"><ul>{links}</ul></nav>'
