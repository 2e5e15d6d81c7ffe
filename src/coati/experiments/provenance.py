"""Where a result comes from: the commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

from coati import version

_PACKAGE = Path(version.__file__).parent

_GIT_SECONDS = 10


def commit() -> str:
    """Name the commit, with a plus where files have changed since; the version where there is no checkout."""
    head = _git("rev-parse", "--short=12", "HEAD")
    if head is None:
        return f"coati {version.__version__}"
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
