"""``coati``: find the command, run it, and report errors in one line.

Commands are named here and imported when they are called, so that ``coati --help`` need not wait for
numpy and Scrapy.
"""

from __future__ import annotations

import difflib
import importlib
import os
import shlex
import signal
import sqlite3
import sys
import traceback
from collections.abc import Sequence
from io import StringIO
from typing import NoReturn

import click
from click.shell_completion import CompletionItem

from coati.cli import ImportGuard
from coati.cli.terminal import say
from coati.errors import CoatiError, WriteError
from coati.machine_errors import is_full, is_of_the_machine
from coati.named_objects import place_in_users_code
from coati.runs.errors import RunLockedError, RunWriteError
from coati.version import __version__

FINISHED, WRONG_INPUT, OUR_ERROR, RUN_IS_HELD, INTERRUPTED = 0, 2, 5, 6, 130

# Each is in a module of its own, under its own name; these are what it does, in a few words.
COMMANDS = {
    "archive": "Import, inspect and export archived sites.",
    "completion": "Print the completion script for your shell.",
    "crawl": "Collect the data files of a website with few requests.",
    "discover": "Find data repositories on a topic with search engines and links.",
    "experiment": "Run the experiment that a file describes, and print its table.",
    "explain": "Explain why a URL was requested or skipped.",
    "export": "Export the structured data of a run for other tools.",
    "fleet": "Monitor a harvest on many machines.",
    "harvest": "Share one budget among many sites.",
    "inspect": "Show which software a site runs and what it lists.",
    "learn": "Train models from your own examples.",
    "man": "Write the man pages of all commands.",
    "merge": "Merge several runs into one SQLite database.",
    "pull": "Download a site from a fleet's store into a run folder.",
    "replay": "Run strategies over an archived site and measure them.",
    "report": "Rewrite the report of a run.",
    "runs": "List the runs below a folder.",
    "sample": "Draw a sample of a run's files and count the tables in them.",
    "search": "Index archived sites for `coati discover`, and query the index.",
    "show": "Show what one run did.",
    "strategies": "List the strategies.",
    "types": "List the presets of file types.",
    "verify": "Check the files of a run against their hashes.",
    "watch": "Find new and changed files on known sites with few requests.",
}


class LazyGroup(click.Group):
    """A group that imports a command when it is called or asked for help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = f"coati.cli.{cmd_name}"
        if module not in sys.modules:
            with ImportGuard():
                importlib.import_module(module)
        command = getattr(sys.modules[module], cmd_name)
        if not isinstance(command, click.Command):
            raise TypeError(f"{module}.{cmd_name} is not a command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for a misspelt or forgotten one, say which may be meant."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, n=1)
            if name.startswith(("http://", "https://")):
                near = [f"crawl {shlex.quote(name)}"]
            if near:
                ctx.fail(f"No such command {name!r}. Did you mean `coati {near[0]}`?")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer commands and options, and import no command for it: somebody waits for each Tab."""
        found = [
            CompletionItem(name, help=summary)
            for name, summary in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="coati", message="%(prog)s %(version)s")
def coati() -> None:
    """Collect data from the web with few requests."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its code; an error of ours keeps its traceback."""
    try:
        code = run(arguments)
    except KeyboardInterrupt:
        # A second one, while the first was being reported.
        code = INTERRUPTED
    if code == INTERRUPTED:
        # A further one, while Python tidies up, would only add a traceback.
        for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(kind, signal.SIG_IGN)
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code; a command returns one where it is not 0."""
    try:
        result = coati.main(arguments, prog_name="coati", standalone_mode=False)
    except click.ClickException as error:
        return _wrong_usage(error)
    except (click.Abort, KeyboardInterrupt):
        return _interrupted()
    except (SystemExit, BrokenPipeError):
        # The reader of the output has gone, as `head` does: click ends the program then. Nothing else does.
        _discard_output()
        return FINISHED
    except (CoatiError, OSError, sqlite3.Error) as error:
        return _refusal(error)
    except Exception as error:  # noqa: BLE001 -- anything else is a bug, and is shown as one
        return _interrupted() if _hides_an_interrupt(error) else _own_error(error)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
    return result if isinstance(result, int) else FINISHED


def _wrong_usage(error: click.ClickException) -> int:
    output = StringIO()
    error.show(output)
    say(output.getvalue().removesuffix("\n"), err=True)
    return WRONG_INPUT


def _interrupted() -> int:
    say("coati: interrupted", err=True)
    return INTERRUPTED


def _hides_an_interrupt(error: BaseException | None) -> bool:
    """Tell whether a library took Ctrl-C for an error, as some do whose import it meets."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _discard_output() -> None:
    """Discard what is still to be written, so that it does not fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refusal(error: CoatiError | OSError | sqlite3.Error) -> int:
    if not isinstance(error, CoatiError) and not is_of_the_machine(error):
        return _interrupted() if _hides_an_interrupt(error) else _own_error(error)
    say(f"coati: {error}", err=True)
    if isinstance(error, RunWriteError | WriteError) or (
        isinstance(error, OSError | sqlite3.Error) and is_full(error)
    ):
        # A full disk, say: no wrong input, and nothing that the user could write otherwise.
        return OUR_ERROR
    return RUN_IS_HELD if isinstance(error, RunLockedError) else WRONG_INPUT


def _own_error(error: BaseException) -> int:
    say(traceback.format_exc(), err=True)
    place = place_in_users_code(error)
    if place:
        say(f"coati: this error comes from your own code: {place}", err=True)
        return WRONG_INPUT
    say("coati: this is a bug in Coati; please report it", err=True)
    return OUR_ERROR
