"""Titles that tell files apart: where several files have one title, each has its name behind it.

A button "CSV" and a button "Excel" below one heading both have the heading for a title. Which titles several
files have is known when all are there, so the log keeps the title, and whoever lists files uses this one.
"""

from __future__ import annotations

from typing import Final

SHARED_TITLES: Final = """
WITH shared_titles AS (
    SELECT title FROM targets WHERE title <> '' GROUP BY title HAVING count(DISTINCT file) > 1
)
"""
"""What a query begins with that has `TELLING_TITLE` among its columns."""

TELLING_TITLE: Final = """
CASE WHEN targets.title IN (SELECT title FROM shared_titles) AND instr(targets.title, targets.file) = 0
     THEN targets.title || ' (' || targets.file || ')' ELSE targets.title END
"""
