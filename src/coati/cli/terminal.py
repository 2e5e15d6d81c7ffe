"""The one way to print: control characters from the web never reach the terminal.

Class names, texts, addresses and headers may hold escape sequences, which clear screens, forge lines or send
keystrokes on some terminals, and characters that reverse the direction of what follows. And nothing repeats
the password of an address that somebody typed, in whatever place it was not meant for.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import click

from coati.machine_errors import writing_to
from coati.web.invisible_characters import safe

if TYPE_CHECKING:
    from rich.console import RenderableType

# In a URL, or in the path that it becomes where a folder was meant. Quotes end it: JSON stays what it is.
_USER = re.compile(r"""(?i)\b((?:https?|socks5?|ftp):/{1,2})[^\s/@:"',]{0,256}:[^\s/@"',]{0,256}@""")


def say(text: object = "", *, err: bool = False, bold: bool = False) -> None:
    """Print a line, or lines, on stdout or stderr."""
    # While a bar is drawn in its place, lines go through its stream; click looks for the one behind it.
    above_bar = sys.stderr if err and hasattr(sys.stderr, "rich_proxied_file") else None
    with writing_to("the output"):
        click.secho(_USER.sub(r"\1", safe(str(text))), file=above_bar, err=err, bold=bold or None)


def say_json(facts: object) -> None:
    """Print facts as one line of JSON on stdout."""
    say(json.dumps(facts))


def print_tables(*tables: RenderableType, plain_width: int = 140) -> None:
    """Print tables on stdout; in a file or a pipe, which has no width of its own, they are this wide."""
    # Only commands that print tables wait for it.
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=plain_width)
    with writing_to("the output"):
        for table in tables:
            console.print(table)
