"""Session ids in URLs: the same page under another URL for each visitor.

Only values that look like an id count: a survey may well be ``?sid=12``. What is left without the id is never
requested, since some servers then return another page; it only says which URLs are the same.
"""

from __future__ import annotations

import re

# Names that mean nothing else, and may hold any value of some length.
_SURE = r"(?:jsessionid|phpsessid|aspsessionid[a-z]*|asp\.net_sessionid|cftoken|sess(?:ion)?_?id|sessid)"
# Names that may mean something else (a section, a survey), so that the value has to be long and mixed.
_LIKELY = r"(?:sid|session|oscsid|zenid|s)"
_ANY_VALUE = r"[0-9A-Za-z!.,_~%-]{6,}"
_OPAQUE_VALUE = r"(?=[A-Za-z,_-]*[0-9])[0-9A-Za-z,_-]{20,}"

# Most URLs hold none of these, which costs less to find out than to take a query apart.
_HINT = re.compile(r"sid=|sess|cftoken|zenid|/\(s\(|[?&;]s=", re.IGNORECASE)
_PARAMETER = re.compile(rf"(?:{_SURE}={_ANY_VALUE}|{_LIKELY}={_OPAQUE_VALUE})\Z", re.IGNORECASE)
_COLDFUSION_PAIR = re.compile(r"cfid=[0-9A-Za-z-]+\Z", re.IGNORECASE)
_PATH_PARAMETER = re.compile(
    rf";(?:{_SURE}={_ANY_VALUE}|{_LIKELY}={_OPAQUE_VALUE})(?=[/;]|\Z)", re.IGNORECASE
)
# ASP.NET without cookies: http://example.org/(S(lit3py55t21z5v55vlm25s55))/list.aspx
_PATH_FOLDER = re.compile(r"/\(s\([0-9a-z]{16,}\)\)(?=/|\Z)", re.IGNORECASE)


def session_free(url: str) -> str:
    """Return a URL without its session ids; the very same text if it has none.

    >>> session_free("http://example.org/list;jsessionid=7F3A9C21?year=2020&PHPSESSID=f00ba4")
    'http://example.org/list?year=2020'
    >>> session_free("http://example.org/survey?sid=12")
    'http://example.org/survey?sid=12'
    """
    if not _HINT.search(url):
        return url
    head, mark, query = url.partition("?")
    start = head.index("/", 8)
    path = _PATH_FOLDER.sub("", _PATH_PARAMETER.sub("", head[start:])) or "/"
    parts = query.split("&")
    kept = [part for part in parts if not _PARAMETER.match(part)]
    if len(kept) < len(parts):
        kept = [part for part in kept if not _COLDFUSION_PAIR.match(part)]
    query = "&".join(kept)
    # A lone question mark stays where it was; one that only led to an id goes with it.
    return head[:start] + path + (mark if kept else "") + query
