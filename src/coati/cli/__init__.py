"""The command line: one module a command."""

from coati.cli.main import main

__all__ = ["main"]
