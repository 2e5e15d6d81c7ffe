"""``changes.jsonl`` of a watch: what is new, changed or gone, one line each, in order."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from coati.runs.durable import append_lines

FILE_NAME = "changes.jsonl"


@dataclass(frozen=True, slots=True)
class Change:
    """One change; ``seen_at`` is when the watch noticed it, ``dated`` what the site says of the file."""

    id: str
    what: str
    url: str
    seen_at: str
    title: str = ""
    file: str = ""
    found_on: str = ""
    media_type: str = ""
    size_bytes: int | None = None
    sha256: str = ""
    dated: str = ""

    def as_json(self) -> dict[str, object]:
        """Return it as JSON can hold it, without what is not known."""
        return {name: value for name, value in asdict(self).items() if value not in {"", None}}


def read_changes(folder: Path) -> list[Change]:
    """Read the changes that were written down; a last line that a power cut left unfinished is left out."""
    path = folder / FILE_NAME
    if not path.is_file():
        return []
    changes = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            changes.append(Change(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return changes


def write_new(folder: Path, changes: list[Change]) -> list[Change]:
    """Write down the changes that are not there yet, and return them; the file is there also without any."""
    written = {change.id for change in read_changes(folder)}
    new = [change for change in changes if change.id not in written]
    if new or not (folder / FILE_NAME).exists():
        lines = "".join(json.dumps(change.as_json(), ensure_ascii=False) + "\n" for change in new)
        append_lines(folder / FILE_NAME, lines.encode())
    return new
