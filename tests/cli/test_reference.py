"""The reference pages say what the commands do."""

import subprocess
import sys
from pathlib import Path

from coati.settings.limits import LIMIT_TYPES
from coati.settings.run_settings import SETTINGS

ROOT = Path(__file__).parents[2]
# What the command was promised to have.
PROMISED = [
    "types",
    "strategy",
    "seed",
    "max_requests",
    "max_bytes",
    "max_time",
    "max_targets",
    "max_file_size",
    "delay",
    "concurrency",
    "per_host",
    "contact",
    "include",
    "exclude",
    "scope",
    "header",
    "cookies",
    "proxy",
    "sitemaps",
    "archive",
    "out",
    "events",
    "format",
    "dry_run",
    "stop_when_dry",
]


def test_the_pages_are_up_to_date() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "make-cli-reference"), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_option_is_there_with_its_variable_and_key() -> None:
    command_line = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    run_file = (ROOT / "docs" / "reference" / "run-file.md").read_text(encoding="utf-8")
    for name in PROMISED:
        option = "--" + name.replace("_", "-")
        assert f"`{option} " in command_line or f"`{option}`" in command_line
        assert f"`COATI_{name.upper()}`" in command_line
        assert f"| `{name}`" in run_file
    for name in [*SETTINGS, *LIMIT_TYPES]:
        assert f"| `{name}`" in run_file
