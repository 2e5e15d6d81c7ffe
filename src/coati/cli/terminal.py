"""The one way to print: nothing that comes from the web drives the terminal of whoever reads it.

Class names, texts, addresses and headers may hold escape sequences, which clear screens, forge lines or send
keystrokes on some terminals, and characters that reverse the direction of what follows.
"""

from __future__ import annotations

import click

from coati.web.unseen import UNSEEN


def safe(text: str) -> str:
    r"""Write control characters, and those that hide or reverse text, as JSON would: JSON stays what it is.

    >>> print(safe("ul.\x1b[2J > a"))
    ul.\u001b[2J > a
    """
    return UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: object = "", *, err: bool = False, bold: bool = False) -> None:
    """Print a line, or lines, on stdout or stderr."""
    click.secho(safe(str(text)), err=err, bold=bold or None)
