"""The one way to print: nothing that comes from the web drives the terminal of whoever reads it.

Class names, texts, addresses and headers may hold escape sequences, which clear screens, forge lines or send
keystrokes on some terminals, and characters that reverse the direction of what follows.
"""

from __future__ import annotations

import click

from coati.web.unseen import safe


def say(text: object = "", *, err: bool = False, bold: bool = False) -> None:
    """Print a line, or lines, on stdout or stderr."""
    click.secho(safe(str(text)), err=err, bold=bold or None)
