"""``coati completion``: the script that lets a shell complete commands, options and values."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


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
