"""Whether a page may need a browser to show its links."""

from __future__ import annotations

from collections.abc import Collection

# A page that is built by a script has a link home, perhaps, and one that says how to switch scripts on.
FEW_LINKS = 5


def may_need_browser(body: bytes, urls: Collection[str]) -> bool:
    """Tell whether a page with these links has next to none, and a script that may make some.

    >>> may_need_browser(b"<div id=app></div><script src=app.js></script>", ["http://a.test/"])
    True
    >>> may_need_browser(b"<p>Nothing here.</p>", [])
    False
    """
    return b"<script" in body.lower() and len(set(urls)) < FEW_LINKS
