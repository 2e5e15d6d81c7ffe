"""The reference pages of the command line and of run files, written from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator

import click

from coati.cli.setting_options import default_text
from coati.settings.limits import LIMIT_DEFAULTS, LIMIT_MEANINGS, LIMIT_TYPES
from coati.settings.run_settings import SETTINGS
from coati.settings.setting import Section, Setting

_NOTE = "<!-- Written by scripts/make-cli-reference; do not edit. -->"

EXIT_CODES = {
    0: "finished, a budget was reached, or stopped early; the output says which",
    2: "wrong usage or input",
    3: "the start page could not be reached, or the site stopped responding",
    4: "rate limited, or refused",
    5: "an internal error, or a disk error",
    6: "another process is writing the run",
    7: "the start page has no link to follow: it is not a page, needs a browser (--render), or --include"
    " excludes all links",
    130: "interrupted; everything is saved",
}

_CLI_HEAD = f"""{_NOTE}
# The command line

Results go to stdout: tables for people, or with `--format json` one JSON object per line. Where the
lines of a command differ, `what` says what a line is: `site`, `total`, `repository`, `search`, `cycle`, or
the change that a watch found (`new`, `changed`, `gone`). Progress and messages go to stderr. Exit codes:

| code | meaning |
|---|---|
{"".join(f"| {code} | {meaning} |{chr(10)}" for code, meaning in EXIT_CODES.items())}"""

_FILE_HEAD = f"""{_NOTE}
# The run file

`coati crawl --run-file FILE.toml` reads settings from a file. Each run stores its settings in `run.toml`,
which is such a file. An option overrides its environment variable, and both override the file.
A key that is not listed here is an error.

Sizes can be written with a unit (`"500kB"`, `"10MB"`, `"2GiB"`), and times too (`"90s"`, `"15m"`,
`"1h30m"`); a bare number means bytes or seconds. `"none"` removes a budget. In an environment
variable, write each item of a list on its own line; start URLs can also be separated by spaces.

A run folder can be passed on: `run.toml` does not contain cookies, credentials in headers or a proxy's
password. Give them again to resume such a run.

Keys marked with a star cannot change when a run is resumed.
"""

_FILE_TAIL = """
## `[limits]`

Limits are set in a table of this name. `--limits NAME=VALUE` sets one of them, and `COATI_LIMITS` any number,
one per line.

| key | default | value | meaning |
|---|---|---|---|
"""


def cli_reference(root: click.Command) -> str:
    """Write the page of all commands."""
    sections = [_CLI_HEAD, *_commands(root, "coati", click.Context(root, info_name="coati"))]
    return "\n".join(sections)


def run_file_reference() -> str:
    """Write the page of all settings."""
    parts = [_FILE_HEAD]
    for group in Section:
        parts.append(f"## {group.value}\n")
        parts.append("| key | default | option | environment variable | meaning |\n|---|---|---|---|---|")
        parts.extend(_setting_row(setting) for setting in SETTINGS.values() if setting.group is group)
        parts.append("")
    limits = [
        f"| `{name}` | {_limit_default(name)} | {_value_word(kind.word)} | {LIMIT_MEANINGS.get(name, '')} |"
        for name, kind in LIMIT_TYPES.items()
    ]
    return "\n".join(parts) + _FILE_TAIL + "\n".join(limits) + "\n"


def _commands(command: click.Command, path: str, ctx: click.Context) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            if inner is not None:
                inner_path = f"{path} {name}"
                yield from _commands(inner, inner_path, click.Context(inner, info_name=name, parent=ctx))
        return
    usage = " ".join([path, *command.collect_usage_pieces(ctx)])
    lines = [f"## {path}\n", f"    {usage}\n", plain(command.help or ""), ""]
    options = [param for param in command.params if isinstance(param, click.Option)]
    if options:
        with_variables = any(option.envvar for option in options)
        variable_head = " environment variable |" if with_variables else ""
        lines.append(f"| option |{variable_head} meaning |\n|---|{'---|' if with_variables else ''}---|")
        lines.extend(_option_row(option, ctx, with_variables=with_variables) for option in options)
        lines.append("")
    yield "\n".join(lines)


def _option_row(option: click.Option, ctx: click.Context, *, with_variables: bool) -> str:
    record = option.get_help_record(ctx)
    names, about = record or (option.opts[0], option.help or "")
    variable = f" `{option.envvar}` |" if option.envvar else " |"
    return f"| `{_cell(names)}` |{variable if with_variables else ''} {_cell(about)} |"


def _setting_row(setting: Setting) -> str:
    star = " *" if setting.decides else ""
    default = default_text(setting)
    if setting.kind.flag:
        default = "true" if setting.default else "false"
    option = {"urls": "START", "topic": "TOPIC"}.get(setting.name, setting.option)
    shown = f"`{default}`" if default else ""
    meaning = _cell(setting.about) + _choices(setting)
    return f"| `{setting.name}`{star} | {shown} | `{option}` | `{setting.variable}` | {meaning} |"


def _choices(setting: Setting) -> str:
    choices = setting.kind.choices
    if choices is None or setting.name == "strategy":
        return ""
    return " " + "; ".join(f"`{name}`: {about}" for name, about in choices.items()) + "."


def _limit_default(name: str) -> str:
    value = LIMIT_DEFAULTS[name]
    if value is None:
        return ""
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


def _value_word(word: str) -> str:
    words = {"SIZE": "a size", "TIME": "a time", "N": "a whole number", "X": "a number", "TEXT": "a string"}
    return words.get(word, _cell(f"`{word}`"))


def plain(text: str) -> str:
    """Unwrap a help text as click does: its lines belong together up to an empty one."""
    paragraphs = text.replace("\b", "").strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
