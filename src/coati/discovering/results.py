"""What a search for repositories leaves in its run folder: tables and files that other tools open.

Everything is computed from the log and from the strategy as it is at the end, so that it can be written
again at any time; a kill in between loses nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import NamedTuple

from coati.discovering.catalogue_software import CatalogueSoftware, software_of
from coati.learners.bm25 import bm25
from coati.runs.csv_pieces import csv_pieces
from coati.runs.durable import write_json_lines, write_whole
from coati.strategies.discovery.actions import Action
from coati.strategies.discovery.findings import Finding
from coati.strategies.discovery.site_checks import CheckState
from coati.web.dataset_files import file_format, is_dataset_file, named_format
from coati.web.page_words import words_in, words_of_facts
from coati.web.queries import Ability, parse_query
from coati.web.urls import is_query

REPOSITORIES_LINES = "repositories.jsonl"
REPOSITORIES_TABLE = "repositories.csv"
DATASET_PAGES_TABLE = "dataset_pages.csv"

_MAX_STEPS = 30
_MAX_DATASET_PAGES = 20_000

_TABLES = """
DROP TABLE IF EXISTS repositories;
DROP TABLE IF EXISTS dataset_pages;
DROP TABLE IF EXISTS search_end;
CREATE TABLE repositories (
    rank INTEGER,
    site TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    state TEXT NOT NULL,
    by_user INTEGER NOT NULL,
    action TEXT NOT NULL,
    query TEXT NOT NULL,
    trail TEXT NOT NULL,
    topic REAL NOT NULL,
    score REAL NOT NULL,
    margin REAL NOT NULL,
    files INTEGER NOT NULL,
    dataset_pages INTEGER NOT NULL,
    pages_fetched INTEGER NOT NULL,
    pages_found INTEGER NOT NULL,
    formats TEXT NOT NULL,
    marked_pages INTEGER NOT NULL,
    software TEXT NOT NULL,
    api TEXT NOT NULL,
    terms TEXT NOT NULL,
    decided_at INTEGER NOT NULL
);
CREATE TABLE dataset_pages (
    rank INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    site TEXT NOT NULL,
    title TEXT NOT NULL,
    files INTEGER NOT NULL,
    score REAL NOT NULL,
    marked INTEGER NOT NULL
);
CREATE TABLE search_end (
    queries_waiting INTEGER NOT NULL,
    gave_up_after INTEGER NOT NULL
);
"""
_FOUND_BY = """
SELECT requests.redirected_from, links.page, links.anchor FROM requests
LEFT JOIN links ON links.id = requests.link WHERE requests.url = ? ORDER BY requests.chosen_event LIMIT 1
"""
_URL_OF = "SELECT url FROM requests WHERE id = ?"
_LINKS_OF_SITE = """
SELECT links.page, links.url, coalesce(links.context, '') FROM links JOIN requests ON requests.id = links.page
WHERE requests.host IN (?, ?)
"""
_MARKED = """
SELECT count(*) FROM pages JOIN requests ON requests.id = pages.request
WHERE requests.host IN (?, ?) AND json_array_length(facts, '$.dataset_markup') > 0
"""
_PAGE = "SELECT url, title, facts FROM pages WHERE request = ?"


@dataclass(frozen=True, slots=True)
class Repository:
    """A site that was checked, with the evidence.

    ``rank`` counts the verified ones from 1, and is None for the others. ``trail`` leads from the query to
    ``url``, each step a URL. ``topic`` is how much the site speaks of the topic, from 0 to 1, and
    ``score`` how well its best page fits it (BM25). ``software`` and ``api`` name the catalogue, where one
    was recognised.
    """

    rank: int | None
    site: str
    url: str
    title: str
    state: str
    by_user: bool
    action: str
    query: str
    trail: tuple[str, ...]
    topic: float
    score: float
    margin: float
    files: int
    dataset_pages: int
    pages_fetched: int
    pages_found: int
    formats: dict[str, int]
    marked_pages: int
    software: str
    api: str
    terms: tuple[str, ...]
    decided_at: int

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can hold it."""
        return {**asdict(self), "trail": list(self.trail), "terms": list(self.terms)}


@dataclass(frozen=True, slots=True)
class DatasetPage:
    """A page of a verified repository that links to files of data; ``score`` is for the topic (BM25)."""

    url: str
    site: str
    title: str
    files: int
    score: float
    marked: bool


class SearchEnd(NamedTuple):
    """What a search left: queries that wait, and the requests after which it gave up (0: it did not)."""

    queries_waiting: int
    gave_up_after: int


def read_repositories(
    folder: Path, connection: sqlite3.Connection, findings: Sequence[Finding]
) -> list[Repository]:
    """Put together what the strategy found and what the log knows of it."""
    verified = 0
    found = []
    for finding in findings:
        is_verified = finding.state is CheckState.VERIFIED
        verified += is_verified
        software = software_of(folder, connection, finding.site)
        found.append(_repository(connection, finding, verified if is_verified else None, software))
    return found


def _repository(
    connection: sqlite3.Connection, finding: Finding, rank: int | None, software: CatalogueSoftware
) -> Repository:
    trail = tuple(_trail(connection, finding.url))
    hosts = (finding.site, f"www.{finding.site}")
    links = connection.execute(_LINKS_OF_SITE, hosts)
    named = (file_format(url) if is_dataset_file(url) else named_format(context) for _, url, context in links)
    formats = Counter(name for name in named if name)
    (marked,) = connection.execute(_MARKED, hosts).fetchone()
    return Repository(
        rank=rank,
        site=finding.site,
        url=finding.url,
        title=finding.title,
        state=finding.state.value,
        by_user=finding.by_user,
        action=Action(finding.arm).label,
        query=next((query_words(step) for step in trail if is_query(step)), ""),
        trail=trail,
        topic=round(finding.topic, 2),
        score=round(finding.score, 4),
        margin=round(finding.margin, 4),
        files=finding.files,
        dataset_pages=finding.dataset_pages,
        pages_fetched=finding.fetched,
        pages_found=finding.pages_found,
        formats=dict(formats.most_common()),
        marked_pages=marked,
        software=software.title,
        api=software.api,
        terms=finding.terms,
        decided_at=finding.decided_at,
    )


def query_words(address: str) -> str:
    """Say in words what a query searches.

    >>> query_words("search://local/?backlinks=http://a.test/")
    'links to http://a.test/'
    """
    query = parse_query(address)
    if query.ability is Ability.KEYWORDS:
        return query.text
    return f"{'like' if query.ability is Ability.RELATED else 'links to'} {query.text}"


def _trail(connection: sqlite3.Connection, url: str) -> Iterator[str]:
    """Lead from where a search began to a URL, the beginning first."""
    steps = [url]
    while len(steps) < _MAX_STEPS:
        row = connection.execute(_FOUND_BY, (steps[-1],)).fetchone()
        parent = None if row is None else row[0] or row[1]
        if parent is None:
            break
        (parent_url,) = connection.execute(_URL_OF, (parent,)).fetchone()
        if parent_url in steps:
            break
        steps.append(parent_url)
    return reversed(steps)


def read_dataset_pages(
    connection: sqlite3.Connection, repositories: Sequence[Repository], words: str
) -> list[DatasetPage]:
    """Return the pages of verified repositories that link to files, the best for the topic first."""
    pages: list[DatasetPage] = []
    texts: list[dict[str, int]] = []
    for repository in repositories:
        if repository.rank is None or len(pages) >= _MAX_DATASET_PAGES:
            continue
        hosts = (repository.site, f"www.{repository.site}")
        files: Counter[int] = Counter()
        for page, url, _ in connection.execute(_LINKS_OF_SITE, hosts):
            files[page] += is_dataset_file(url)
        for page, count in files.items():
            row = connection.execute(_PAGE, (page,)).fetchone() if count else None
            if row is None:
                continue
            url, title, facts = row
            page_facts = json.loads(facts) if facts else {}
            texts.append(words_of_facts(page_facts)["words"])
            marked = bool(page_facts.get("dataset_markup"))
            pages.append(DatasetPage(url, repository.site, title or "", count, 0.0, marked))
    scores = bm25(texts, [*words_in(words), "data"])
    ranked = sorted(zip(scores, pages, strict=True), key=lambda pair: -pair[0])
    return [replace(page, score=round(score, 4)) for score, page in ranked]


def write_results(
    folder: Path,
    connection: sqlite3.Connection,
    found: Sequence[Repository],
    pages: Sequence[DatasetPage],
    end: SearchEnd,
) -> None:
    """Write the tables into the run's database and the files beside it; what was there is replaced."""
    connection.executescript(f"BEGIN;{_TABLES}")
    columns = [field.name for field in fields(Repository)]
    places = ", ".join("?" * len(columns))
    connection.executemany(
        f"INSERT INTO repositories ({', '.join(columns)}) VALUES ({places})",  # noqa: S608 - our own names
        ([_plain(value) for value in asdict(repository).values()] for repository in found),
    )
    connection.executemany(
        "INSERT INTO dataset_pages VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (rank, page.url, page.site, page.title, page.files, page.score, page.marked)
            for rank, page in enumerate(pages, 1)
        ),
    )
    connection.execute("INSERT INTO search_end VALUES (?, ?)", end)
    connection.execute("COMMIT")
    verified = [repository for repository in found if repository.rank is not None]
    write_json_lines(folder / REPOSITORIES_LINES, (repository.as_json() for repository in verified))
    rows = ([_plain(value) for value in asdict(repository).values()] for repository in found)
    write_whole(folder / REPOSITORIES_TABLE, csv_pieces(columns, rows, "\r\n", marked=False))
    names = [field.name for field in fields(DatasetPage)]
    found_pages = ([*asdict(page).values()] for page in pages)
    write_whole(folder / DATASET_PAGES_TABLE, csv_pieces(names, found_pages, "\r\n", marked=False))


def _plain(value: object) -> object:
    """Return a value as a column holds it: lists and counts as text that people and programs read."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    if isinstance(value, tuple | list):
        return "\n".join(map(str, value)) if any("://" in str(item) for item in value) else " ".join(value)
    return value
