"""What a shell completes: names of strategies, types and limits, and folders of runs; and its script."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from coati.runs.layout import holds_run

SHELLS = ("bash", "zsh", "fish")

# A shell that waits for a folder with a million entries is worse than one that offers nothing.
_MOST_ENTRIES = 10_000

Completed = list[CompletionItem]


class RunPath(click.Path):
    """The folder of a run; a shell offers such folders, else any on the way to one."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Completed:
        """Offer folders that hold a run."""
        return run_folders_like(incomplete)


class RunOrUrl(click.ParamType[str]):
    """A URL, or the folder of a run; only the latter can be offered."""

    name = "text"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Completed:
        """Offer folders that hold a run."""
        return run_folders_like(incomplete)


def run_folders_like(incomplete: str) -> Completed:
    """Return the folders of runs that begin like this; where there is none, let the shell offer folders."""
    before, slash, start = incomplete.rpartition("/")
    found = []
    try:
        with os.scandir(Path(before + slash).expanduser()) as entries:
            for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False):
                if entry.name.startswith(start) and entry.is_dir() and holds_run(Path(entry.path)):
                    found.append(f"{before}{slash}{entry.name}")
    except OSError:
        return []
    return [CompletionItem(name) for name in sorted(found)] or [CompletionItem(incomplete, type="dir")]


def names_like(names: Mapping[str, str] | Iterable[str], incomplete: str, *, many: bool = False) -> Completed:
    """Return the names that begin like this, with what they mean; ``many`` are separated by commas.

    >>> [item.value for item in names_like(["data", "tables"], "data,t", many=True)]
    ['data,tables']
    """
    before, comma, start = incomplete.rpartition(",") if many else ("", "", incomplete)
    meanings = names if isinstance(names, Mapping) else dict.fromkeys(names, "")
    taken = set(before.split(","))
    return [
        CompletionItem(f"{before}{comma}{name}", help=meaning or None)
        for name, meaning in meanings.items()
        if name.startswith(start) and name not in taken
    ]


def offering(
    names: Mapping[str, str] | Iterable[str],
) -> Callable[[click.Context, click.Parameter, str], Completed]:
    """Make the ``shell_complete`` of an option that takes these names, separated by commas."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> Completed:
        return names_like(names, incomplete, many=True)

    return complete


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and values in your shell.

    For bash and zsh, add `source <(coati completion bash)` to ~/.bashrc, or the same with zsh to ~/.zshrc.
    For fish, write it to ~/.config/fish/completions/coati.fish.
    """
    script = get_completion_class(shell)
    if script is None:
        raise TypeError(f"click knows no completion for {shell}")
    click.echo(script(ctx.find_root().command, {}, "coati", "_COATI_COMPLETE").source())
