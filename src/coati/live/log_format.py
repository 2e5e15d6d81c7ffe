"""Keeps Scrapy from logging a line for each response; events report them instead."""

from __future__ import annotations

from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.logformatter import LogFormatter, LogFormatterResult


class NoResponseLines(LogFormatter):
    """Makes no line of a response that came."""

    def crawled(self, request: Request, response: Response, spider: Spider) -> LogFormatterResult:
        """Say nothing: Scrapy takes None for that."""
        return None  # type: ignore[return-value]
