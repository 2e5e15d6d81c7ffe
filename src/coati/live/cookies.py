"""Scrapy's cookies, without asking anybody which domains are public suffixes.

Scrapy finds out with tldextract whether a cookie's domain is a whole top-level domain. By default that
library fetches the list of suffixes from the web on its first use, past the scope, the delay and the proxy of
the crawl. The list that it ships is good enough.
"""

from __future__ import annotations

from scrapy.downloadermiddlewares import cookies
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from tldextract import TLDExtract

cookies._split_domain = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)  # noqa: SLF001


class OfflineCookiesMiddleware(CookiesMiddleware):
    """Scrapy's middleware; this module has made it work offline."""
