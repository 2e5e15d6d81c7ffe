"""What the tests of this folder draw from: URLs, references and HTML as the web has them."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

_SCHEMES = st.sampled_from(
    [
        *("http://", "https://", "HTTP://", "http:", "http:/", "https:\\\\", "//", "\\\\", "/", "", "ftp://"),
        *("javascript:", "mailto:", "data:", "file:///", "h\nttp://", " http://", "\x01http://"),
    ]
)
_HOSTS = st.sampled_from(
    [
        *(
            "example.org",
            "www.example.org",
            "EXAMPLE.org",
            "example.org:80",
            "example.org:8080",
            "example.org:",
        ),
        *("user:pw@example.org", "bücher.example", "xn--bcher-kva.example", "[::1]", "127.1", "example.org."),
        *("", "ex%41mple.org", "a b", "example.org\\@evil.test", "日本.test"),
    ]
)
_PIECES = st.sampled_from(
    [
        *(
            "a",
            "b.csv",
            ".",
            "..",
            "%2e",
            "%2E%2e",
            ".%2e",
            "/",
            "//",
            "\\",
            "%2f",
            "%2F",
            "%5c",
            "%25",
            "%252e",
        ),
        *(
            "%",
            "%zz",
            "%7E",
            "~",
            " ",
            "\t",
            "\n",
            "é",
            "%C3%A9",
            "%E9",
            "日",
            "\u00a0",
            "\x00",
            "|",
            "[",
            "^",
        ),
        *("{", "`", '"', "<", "'", ":", "@", ";x=1", "+", "*", "\ufeff", "\U0001f600"),
    ]
)
_TAILS = st.sampled_from(
    ["", "?", "?q=1", "?q=a b&q=é", "?/../x", "??", "#", "#top", "?a#b?c", "?%zz", "?'", "?\t", "#%", "?|[]^"]
)


@st.composite
def urls(draw: st.DrawFn) -> str:
    """Draw something that a page may give for an address."""
    path = "".join(draw(st.lists(_PIECES, max_size=12)))
    slash = draw(st.sampled_from(["/", "/", ""]))
    return draw(_SCHEMES) + draw(_HOSTS) + slash + path + draw(_TAILS)


@st.composite
def references(draw: st.DrawFn) -> str:
    """Draw a reference, most often a relative one."""
    if draw(st.booleans()):
        return draw(urls())
    head = draw(st.sampled_from(["", "", "/", "./", "../", "http:", "//example.org", " ", "\t"]))
    return head + "".join(draw(st.lists(_PIECES, max_size=6))) + draw(_TAILS)


TEXT_TAGS = [
    *("a", "a", "a", "a", "area", "iframe", "meta", "base", "div", "span", "p", "b", "i", "font", "ul", "ol"),
    *(
        "li",
        "table",
        "tbody",
        "tr",
        "td",
        "th",
        "section",
        "nav",
        "form",
        "title",
        "textarea",
        "script",
        "style",
    ),
    *("noscript", "h1", "h2", "button", "dl", "dt", "dd"),
]
# These have rules of their own about what may stand in them.
_TAGS = [*TEXT_TAGS, "select", "option", "svg", "g", "math", "template", "object", "frameset", "frame"]
_WORDS = st.sampled_from(["x", "main", "a b", "  two  words ", "", "é", "w-1/2", "#", "long" * 80])


@st.composite
def _attributes(draw: st.DrawFn, tag: str) -> str:
    found = []
    if tag in {"a", "area", "base"} and draw(st.booleans()):
        found.append(("href", draw(references())))
    if tag in {"iframe", "frame"} and draw(st.booleans()):
        found.append(("src", draw(references())))
    if tag == "meta":
        found.append(("http-equiv", "refresh"))
        found.append(("content", "0; url=" + draw(references())))
    others = ("class", "id", "href", "src", "xlink:href")
    found.extend((name, draw(_WORDS)) for name in others if draw(st.integers(0, 5)) == 0)
    return "".join(f' {name}="{value.replace(chr(34), "")}"' for name, value in found)


@st.composite
def soups(draw: st.DrawFn, tags: Sequence[str] = _TAGS) -> str:
    """Draw tags in any order, closed or not."""
    parts = []
    for _ in range(draw(st.integers(0, 30))):
        tag = draw(st.sampled_from(tags))
        form = draw(st.integers(0, 9))
        if form < 6:
            parts.append(f"<{tag}{draw(_attributes(tag))}>")
        elif form < 8:
            parts.append(f"</{tag}>")
        else:
            parts.append(
                draw(st.sampled_from(["text", " ", "&amp;", "<!-- c -->", "<", "\x00", "</", "<!x>", "é"]))
            )
    return "".join(parts)


@st.composite
def trees(draw: st.DrawFn, depth: int = 4) -> str:
    """Draw well-formed markup: everything closed, and nothing where a browser would move it."""
    parts = []
    for _ in range(draw(st.integers(0, 3))):
        form = draw(st.integers(0, 3))
        if form == 0:
            parts.append(
                draw(
                    st.sampled_from(
                        ["some text ", "&lt;", "1 ", "<br>", "<img src='x>y'>", "<!--<a href=/c>-->"]
                    )
                )
            )
        elif form == 1 or not depth:
            parts.append(f"<a{draw(_attributes('a'))}>t</a>")
        else:
            # Blocks in blocks only: no paragraph holds one, and no item stands in an item.
            name = draw(
                st.sampled_from(["div", "section", "nav", "span"] if depth > 1 else ["span", "p", "em"])
            )
            parts.append(f"<{name}{draw(_attributes(name))}>{draw(trees(depth - 1))}</{name}>")
    return "".join(parts)
