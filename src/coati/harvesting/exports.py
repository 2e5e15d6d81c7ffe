"""Export the statements of a run: N-Quads, Parquet, or JSON-LD line by line."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from coati.errors import ConfigError, UsageError
from coati.jobs.arguments import PathText, checked_arguments, path_of
from coati.machine_errors import writing_to
from coati.markup.statements import RDF_TYPE, is_address
from coati.runs.durable import write_whole
from coati.runs.parquet_file import write_parquet
from coati.runs.reader import RunReader
from coati.runs.statements import KeptStatement, all_statements

_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*\Z")
_BLANK = re.compile(r"_:[A-Za-z0-9]+\Z")
_NOT_IN_LABEL = re.compile(r"[^A-Za-z0-9]")
_ESCAPED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TO_ESCAPE = re.compile(r'[\\"\x00-\x1f\x7f]')
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{0,31}:")
# What may stand in an address as it is; the rest is percent-encoded.
_ADDRESS_SAFE = "/:?#[]@!$&'()*+,;=%-._~"


@checked_arguments
def export_statements(run_folder: PathText, out: str | Path) -> int:
    """Write the structured data of a run's pages to a file, and return the number of statements.

    The extension sets the format: .nq or .nq.gz for N-Quads, .parquet, or .jsonl for a JSON-LD document per
    page. Raises `ConfigError` for other extensions.
    """
    file = Path(out)
    write = _writer(file)
    if not file.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {file.absolute().parent}")
    with RunReader(path_of("run_folder", run_folder)) as run, writing_to(file):
        run.connection.row_factory = None
        (count,) = run.connection.execute("SELECT count(*) FROM statements").fetchone()
        write(file, all_statements(run.connection))
    return int(count)


def _writer(file: Path) -> Callable[[Path, Iterable[KeptStatement]], None]:
    endings = {
        ".nq": _write_nquads,
        ".nq.gz": _write_nquads,
        ".jsonl": write_json_ld,
        ".parquet": _write_parquet,
    }
    for ending, write in endings.items():
        if file.name.endswith(ending):
            if ending == ".parquet" and importlib.util.find_spec("duckdb") is None:
                raise ConfigError("writing Parquet needs duckdb: pip install 'coati[experiments]'")
            return write
    raise ConfigError(f"{file.name}: unknown extension; use one of {', '.join(endings)}")


def _write_nquads(file: Path, statements: Iterable[KeptStatement]) -> None:
    lines = (nquad(statement).encode() for statement in statements)
    write_whole(file, _compressed(lines) if file.name.endswith(".gz") else lines)


def _compressed(lines: Iterable[bytes]) -> Iterator[bytes]:
    # One member per this many lines: any tool reads them as one file.
    block: list[bytes] = []
    for line in lines:
        block.append(line)
        if len(block) == 10_000:  # noqa: PLR2004 - a megabyte or so
            yield gzip.compress(b"".join(block))
            block = []
    yield gzip.compress(b"".join(block))


def nquad(statement: KeptStatement) -> str:
    """Write a statement as a line of N-Quads; the graph is the page that makes it."""
    value = _literal(statement) if statement.object_kind == "text" else _node(statement.object)
    predicate, graph = _address(statement.predicate), _address(statement.page_url)
    return f"{_node(statement.subject)} {predicate} {value} {graph} .\n"


def _literal(statement: KeptStatement) -> str:
    text = _TO_ESCAPE.sub(lambda sign: _ESCAPED.get(sign[0], f"\\u{ord(sign[0]):04X}"), statement.object)
    if statement.language and _LANGUAGE.match(statement.language):
        return f'"{text}"@{statement.language}'
    if statement.datatype and is_address(statement.datatype):
        return f'"{text}"^^{_address(statement.datatype)}'
    return f'"{text}"'


def _node(node: str) -> str:
    if node.startswith("_:"):
        return node if _BLANK.match(node) else "_:" + _NOT_IN_LABEL.sub("x", node[2:])
    return _address(node)


def _address(text: str) -> str:
    if not _SCHEME.match(text):
        text = f"urn:x-undefined:{text}"
    if not text.isascii() or not is_address(text):
        text = quote(text.encode("utf-8", "replace"), safe=_ADDRESS_SAFE)
    return f"<{text}>"


def write_json_ld(file: Path, statements: Iterable[KeptStatement]) -> None:
    """Write one JSON-LD document per page and line: a graph that is named after the page."""
    pages = groupby(statements, key=lambda statement: (statement.page_url, statement.fetched_at))
    write_whole(file, (_page_line(url, at, list(own)).encode() for (url, at), own in pages))


def _page_line(url: str, fetched_at: str, statements: list[KeptStatement]) -> str:
    nodes: dict[str, dict[str, Any]] = {}
    for statement in statements:
        node = nodes.setdefault(statement.subject, {"@id": statement.subject})
        if statement.predicate == RDF_TYPE:
            node.setdefault("@type", []).append(statement.object)
        else:
            node.setdefault(statement.predicate, []).append(_value(statement))
    graph = {"@id": url, "http://purl.org/dc/terms/modified": fetched_at, "@graph": list(nodes.values())}
    return json.dumps(graph, ensure_ascii=False) + "\n"


def _value(statement: KeptStatement) -> dict[str, str]:
    if statement.object_kind != "text":
        return {"@id": statement.object}
    value = {"@value": statement.object}
    if statement.language:
        value["@language"] = statement.language
    elif statement.datatype:
        value["@type"] = statement.datatype
    return value


def _write_parquet(file: Path, statements: Iterable[KeptStatement]) -> None:
    columns = [name for name in KeptStatement._fields if name != "page"]
    rows = ({name: getattr(row, name) for name in columns} for row in statements)
    write_parquet(file, dict.fromkeys(columns, "VARCHAR"), rows)
