"""The tables of ``run.sqlite``, made to be read by people: docs/reference/run-folder.md explains each column.

``requests`` is the log. A choice is a row with ``chosen_event``; what came of it fills in ``observed_event``
and the rest. Both count from one counter, so that ordering by them gives back what happened, in order.
``links`` holds the URLs that were new to the run, in the order of meeting; its ids rise with the events.

One log may hold the choices of several strategies: ``strategy`` names who chose a request, ``strategy_id``
is that strategy's own number for it, and ``id`` is the run's. A sole strategy has no name, and its numbers
are the run's.
"""

from __future__ import annotations

import re
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path

from coati.runs.durable import write_whole
from coati.runs.errors import RunError, RunVersionError
from coati.times import to_iso
from coati.version import __version__

# Raised whenever this version's log could not be followed by an older one.
VERSION = 4

# "Coat" in ASCII: lets `file` and us tell a run from any other SQLite file.
APPLICATION_ID = 0x436F6174

# What is read of all requests at once (events, kinds, counts) stands before the long texts: SQLite reads
# a row from its beginning.
_TABLES = """
CREATE TABLE about (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    stop_reason TEXT,
    coati TEXT NOT NULL
);
CREATE TABLE requests (
    id INTEGER PRIMARY KEY,
    chosen_event INTEGER NOT NULL,
    observed_event INTEGER,
    strategy TEXT NOT NULL,
    strategy_id INTEGER NOT NULL,
    purpose TEXT NOT NULL,
    method TEXT NOT NULL,
    kind TEXT,
    status INTEGER,
    charged INTEGER NOT NULL DEFAULT 0,
    new_target INTEGER NOT NULL DEFAULT 0,
    size_bytes INTEGER,
    arm INTEGER,
    score REAL,
    reward REAL,
    host TEXT NOT NULL,
    url TEXT NOT NULL,
    media_type TEXT,
    location TEXT,
    reason TEXT,
    deferred_until TEXT,
    etag TEXT,
    last_modified TEXT,
    link INTEGER REFERENCES links (id),
    redirected_from INTEGER REFERENCES requests (id),
    chosen_at TEXT NOT NULL,
    started_at TEXT,
    finished_at TEXT
);
CREATE INDEX requests_by_url ON requests (url);
CREATE INDEX requests_by_location ON requests (location, observed_event) WHERE location IS NOT NULL;
CREATE TABLE pages (
    request INTEGER PRIMARY KEY REFERENCES requests (id),
    url TEXT NOT NULL,
    links INTEGER NOT NULL,
    new_links INTEGER NOT NULL,
    sha256 TEXT,
    warc_offset INTEGER,
    warc_length INTEGER,
    facts TEXT,
    out_links BLOB,
    title TEXT,
    relevant INTEGER NOT NULL DEFAULT 0,
    missing TEXT
);
CREATE INDEX relevant_pages ON pages (url) WHERE relevant;
CREATE TABLE extractions (
    page INTEGER PRIMARY KEY REFERENCES requests (id),
    statements INTEGER NOT NULL,
    failed TEXT
);
CREATE TABLE statements (
    page INTEGER NOT NULL REFERENCES requests (id),
    syntax TEXT NOT NULL,
    subject TEXT NOT NULL,
    predicate TEXT NOT NULL,
    object TEXT NOT NULL,
    object_kind TEXT NOT NULL,
    language TEXT,
    datatype TEXT
);
CREATE INDEX statements_by_page ON statements (page);
CREATE INDEX statements_by_predicate ON statements (predicate);
CREATE TABLE tag_paths (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL
);
CREATE TABLE links (
    id INTEGER PRIMARY KEY,
    page INTEGER NOT NULL REFERENCES requests (id),
    url TEXT NOT NULL,
    anchor TEXT NOT NULL,
    context TEXT,
    tag_path INTEGER REFERENCES tag_paths (id),
    modified TEXT,
    row_text TEXT,
    heading TEXT,
    licence TEXT,
    archived TEXT
);
CREATE INDEX links_by_url ON links (url);
CREATE INDEX links_by_page ON links (page);
CREATE TABLE lists (
    url TEXT PRIMARY KEY,
    named_by INTEGER NOT NULL REFERENCES requests (id)
);
CREATE TABLE files (
    name TEXT PRIMARY KEY,
    name_key TEXT NOT NULL UNIQUE,
    size_bytes INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    sha256 TEXT NOT NULL UNIQUE,
    title TEXT
);
CREATE TABLE unfinished_files (name TEXT PRIMARY KEY);
CREATE TABLE targets (
    request INTEGER PRIMARY KEY REFERENCES requests (id),
    url TEXT NOT NULL,
    version INTEGER NOT NULL,
    file TEXT NOT NULL REFERENCES files (name),
    size_bytes INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    anchor TEXT,
    found_on TEXT,
    found_by INTEGER REFERENCES requests (id),
    tag_path TEXT,
    redirects TEXT NOT NULL,
    headers TEXT NOT NULL,
    fetched_at TEXT NOT NULL,
    arm INTEGER,
    score REAL,
    sha256 TEXT NOT NULL,
    title TEXT NOT NULL,
    row_text TEXT,
    heading TEXT,
    page_title TEXT,
    licence TEXT,
    modified TEXT
);
CREATE INDEX targets_by_url ON targets (url);
CREATE TABLE hosts (
    host TEXT PRIMARY KEY,
    delay_seconds REAL,
    rests_until TEXT,
    ended TEXT
);
CREATE TABLE robots (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    status INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    reason TEXT,
    fetched_at TEXT NOT NULL
);
CREATE TABLE groups (
    arm INTEGER PRIMARY KEY,
    label TEXT NOT NULL,
    pulls INTEGER NOT NULL,
    rewards INTEGER NOT NULL,
    mean_reward REAL,
    total_reward REAL NOT NULL,
    targets INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    example_links TEXT NOT NULL
);
CREATE TABLE skipped (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    reason TEXT NOT NULL,
    source INTEGER REFERENCES requests (id)
);
CREATE TABLE skip_counts (
    reason TEXT PRIMARY KEY,
    urls INTEGER NOT NULL
);
"""

_VIEWS = """
CREATE VIEW targets_with_provenance AS
SELECT targets.file, targets.title, targets.anchor, targets.row_text, targets.heading, targets.page_title,
       files.title AS file_title, targets.licence, targets.modified,
       targets.url, targets.version, targets.redirects,
       targets.found_on, targets.tag_path,
       targets.media_type, targets.size_bytes, targets.fetched_at, requests.status,
       targets.arm, targets.score, groups.label AS group_label,
       finder.arm AS page_arm, finder.score AS page_score, finder.reward AS page_reward,
       targets.sha256, targets.headers, targets.request
FROM targets
JOIN requests ON requests.id = targets.request
JOIN files ON files.name = targets.file
LEFT JOIN requests AS finder ON finder.id = targets.found_by
LEFT JOIN groups ON groups.arm = targets.arm;

CREATE VIEW host_totals AS
SELECT requests.host, coalesce(sum(charged), 0) AS requests,
       coalesce(sum(kind = 'page' AND charged > 0), 0) AS pages, coalesce(sum(new_target), 0) AS targets,
       coalesce(sum(kind = 'failure'), 0) AS failures,
       coalesce(hosts.ended, CASE WHEN sum(kind IN ('page', 'target', 'other', 'redirect', 'unchanged')) = 0
           THEN max(reason) END) AS ended
FROM requests LEFT JOIN hosts ON hosts.host = requests.host
WHERE observed_event IS NOT NULL GROUP BY requests.host;

CREATE VIEW statements_with_pages AS
SELECT requests.url AS page_url, requests.host, statements.syntax, statements.subject, statements.predicate,
       statements.object, statements.object_kind, statements.language, statements.datatype,
       requests.finished_at AS fetched_at
FROM statements JOIN requests ON requests.id = statements.page;

CREATE VIEW links_with_tag_paths AS
SELECT links.id, links.url, links.anchor, links.context, links.row_text, links.heading,
       links.licence, links.modified,
       tag_paths.path AS tag_path, requests.url AS found_on, links.page
FROM links
LEFT JOIN tag_paths ON tag_paths.id = links.tag_path
JOIN requests ON requests.id = links.page;

CREATE VIEW gone AS
SELECT links.url, links.archived, links.modified AS last_seen, links.context AS known, requests.status
FROM links JOIN requests ON requests.link = links.id
WHERE links.archived IS NOT NULL AND requests.kind = 'failure' AND requests.status IN (404, 410);

CREATE VIEW skipped_with_source AS
SELECT skipped.url, skipped.reason, requests.url AS found_on
FROM skipped
LEFT JOIN requests ON requests.id = skipped.source;

CREATE VIEW in_flight AS
SELECT id, method, url, arm, score, chosen_at
FROM requests WHERE observed_event IS NULL ORDER BY chosen_event;

CREATE VIEW deferred AS
SELECT id, method, url, status, reason, deferred_until
FROM requests AS last WHERE kind = 'deferred' AND NOT EXISTS (
    SELECT 1 FROM requests AS again
    WHERE again.url = last.url AND again.method = last.method AND again.chosen_event > last.chosen_event
) ORDER BY chosen_event;

CREATE VIEW totals AS
SELECT coalesce(sum(charged), 0) AS requests,
       coalesce(sum(new_target), 0) AS targets,
       coalesce(sum(size_bytes), 0) AS bytes,
       coalesce(sum(CASE WHEN new_target THEN size_bytes END), 0) AS target_bytes,
       coalesce(sum(kind = 'failure'), 0) AS failures
FROM requests WHERE observed_event IS NOT NULL;

CREATE VIEW progress AS
SELECT sum(charged) OVER log AS requests,
       sum(new_target) OVER log AS targets,
       sum(size_bytes) OVER log AS bytes,
       finished_at
FROM requests WHERE observed_event IS NOT NULL
WINDOW log AS (ORDER BY observed_event);
"""

# Made when it is needed: a sole strategy's numbers are the run's.
_SHARE = "CREATE UNIQUE INDEX requests_by_strategy ON requests (strategy, strategy_id)"
_SHARED = "SELECT 1 FROM sqlite_master WHERE name = 'requests_by_strategy'"

# Version 3 said "html" and "broken" in the log, and "errors" where the failures are counted.
_FORMER = 3
_WITHOUT_VIEWS = "\n".join(f"DROP VIEW {name};" for name in re.findall(r"CREATE VIEW (\w+)", _VIEWS))
_MIGRATION = f"""
BEGIN IMMEDIATE;
UPDATE requests SET kind = CASE kind WHEN 'html' THEN 'page' ELSE 'failure' END
WHERE kind IN ('html', 'broken');
ALTER TABLE groups RENAME COLUMN errors TO failures;
UPDATE about SET value = '{VERSION}' WHERE name = 'schema';
PRAGMA user_version = {VERSION};
{_WITHOUT_VIEWS}
{_VIEWS}
COMMIT;
"""  # noqa: S608 - our own words

_SCRIPT = f"""
BEGIN;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
{_TABLES}
{_VIEWS}
"""


def is_shared(connection: sqlite3.Connection) -> bool:
    """Tell whether a log holds the choices of a strategy with a name."""
    return connection.execute(_SHARED).fetchone() is not None


def share(connection: sqlite3.Connection) -> None:
    """Let strategies with names into a log: requests are then looked up by the numbers of each."""
    connection.execute(_SHARE)


def create_database(path: Path, now: float) -> None:
    """Make an empty database, which is there whole or not at all."""
    # A kill within a transaction would leave a file that looks like a run, and a journal that empties it.
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(_SCRIPT)
        about = {
            "run_id": uuid.uuid4().hex,
            "coati": __version__,
            "schema": str(VERSION),
            "created_at": to_iso(now),
        }
        connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        connection.execute("COMMIT")
        image = connection.serialize()
    # What another attempt left beside it is not for this one.
    for suffix in ("-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    write_whole(path, (image,))


def open_version(path: Path) -> None:
    """Migrate the log of the former version, for whom holds the run's lock.

    Raises `RunVersionError` if this version cannot resume what another one wrote.
    """
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            if is_former(connection):
                migrate(connection)
            require_version(connection, path)
    except sqlite3.DatabaseError as error:
        raise RunError(f"{path} cannot be used: {error}") from error


def is_former(connection: sqlite3.Connection) -> bool:
    """Tell whether a log has the version that `migrate` understands."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    return int(found) == _FORMER


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a log of the former version to ours, whole or not at all."""
    try:
        connection.executescript(_MIGRATION)
    except BaseException:
        if connection.in_transaction:
            connection.rollback()
        raise


def require_version(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `RunVersionError` if a log that is open was written by a version that is not ours."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found == VERSION:
        return
    row = connection.execute("SELECT value FROM about WHERE name = 'coati'").fetchone()
    age = "newer" if found > VERSION else "older"
    made_by = f"Coati {row[0]}" if row else "another version"
    raise RunVersionError(
        f"{path.parent} was begun by {made_by}, whose log has the {age} version {found}; this is Coati"
        f" {__version__}, which reads and resumes version {VERSION} only. Its files, report and SQLite"
        f" tables can still be used with other tools"
    )
