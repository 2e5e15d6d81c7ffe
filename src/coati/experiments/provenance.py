"""What a result owes to: the commit, and a digest of the code that decides what a run does."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import coati

_PACKAGE = Path(coati.__file__).parent

# Everything that a replay runs through. Commands, reports and the live driver change no result.
DECIDING = (
    "archive", "assembly.py", "bandits", "budget.py", "learners", "model.py", "replay", "strategies", "web",
)  # fmt: skip

_GIT_SECONDS = 10


def code_digest(parts: tuple[str, ...] = DECIDING) -> str:
    """Name the code of some parts of the package: equal for equal code, whatever the commit says."""
    total = hashlib.sha256()
    for name in parts:
        place = _PACKAGE / name
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            total.update(f"{file.relative_to(_PACKAGE).as_posix()}\n".encode() + file.read_bytes())
    return total.hexdigest()[:16]


def commit() -> str:
    """Name the commit, with a plus where files have changed since; the version where there is no checkout."""
    head = _git("rev-parse", "--short=12", "HEAD")
    if head is None:
        return f"coati {coati.__version__}"
    return head + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments
            ["git", "-C", str(_PACKAGE), *arguments],  # noqa: S607 - found on the path, as everybody's
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
