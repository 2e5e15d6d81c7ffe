"""The man pages, written from the commands themselves: one for the program, one for each command."""

from __future__ import annotations

from collections.abc import Iterator

import click

from coati.cli.reference import EXIT_CODES, plain
from coati.cli.setting_options import option_sections
from coati.version import __version__

_ABOUT = "collect data from the web with few requests"


def man_pages(root: click.Command) -> dict[str, str]:
    """Write all pages; the keys are the names of their files."""
    return {f"{name}.1": _page(name, command, ctx) for name, command, ctx in _walk(root, "coati", None)}


def _walk(
    command: click.Command, name: str, above: click.Context | None
) -> Iterator[tuple[str, click.Command, click.Context]]:
    ctx = click.Context(command, info_name=name.rpartition("-")[2], parent=above)
    yield name, command, ctx
    if isinstance(command, click.Group):
        for inner in command.list_commands(ctx):
            found = command.get_command(ctx, inner)
            if found is not None:
                yield from _walk(found, f"{name}-{inner}", ctx)


def _page(name: str, command: click.Command, ctx: click.Context) -> str:
    words = name.replace("-", " ")
    text = plain(command.help or "")
    summary = _ABOUT if name == "coati" else text.partition("\n")[0].rstrip(".")
    lines = [
        '.\\" Written by coati man.',
        f'.TH "{name.upper()}" "1" "" "Coati {__version__}" "Coati"',
        # No word is broken, so that each can be searched for.
        ".nh",
        ".ad l",
        ".SH NAME",
        f"{_roff(name)} \\- {_roff(summary)}",
        ".SH SYNOPSIS",
        f".B {_roff(words)}",
        _roff(" ".join(command.collect_usage_pieces(ctx))),
        ".SH DESCRIPTION",
        *(line for paragraph in text.split("\n\n") for line in (".PP", _roff(paragraph))),
    ]
    if isinstance(command, click.Group):
        lines += [".SH COMMANDS", *_commands(command, name, ctx)]
    for title, records in option_sections(command, ctx).items():
        lines.append(f".SH {_roff(title.upper())}")
        for option, about in records:
            lines += [".TP", f".B {_roff(option)}", _roff(about)]
    if name == "coati":
        lines.append(".SH EXIT STATUS")
        for code, meaning in EXIT_CODES.items():
            lines += [".TP", f".B {code}", _roff(meaning)]
    others = [other for other in ("coati", name.rpartition("-")[0]) if other and other != name]
    if others:
        lines += [".SH SEE ALSO", ", ".join(f"\\fB{_roff(other)}\\fR(1)" for other in dict.fromkeys(others))]
    return "\n".join(lines) + "\n"


def _commands(group: click.Group, name: str, ctx: click.Context) -> Iterator[str]:
    for inner in group.list_commands(ctx):
        found = group.get_command(ctx, inner)
        if found is not None:
            first = plain(found.help or "").partition("\n")[0]
            yield from (".TP", f"\\fB{_roff(f'{name}-{inner}')}\\fR(1)", _roff(first))


def _roff(text: str) -> str:
    """Write a text so that troff shows it as it is."""
    text = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    # A long list of choices may be broken between two of them.
    text = text.replace("|", "|\\:")
    text = "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in text)
    # A line that begins so would be an instruction.
    return f"\\&{text}" if text.startswith((".", "'")) else text
