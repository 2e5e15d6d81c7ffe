"""Options of a command, made from the settings of a run: the names, the variables and the help are theirs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from coati.cli.completion import names_like
from coati.errors import ConfigError
from coati.search.registry import ENGINES
from coati.search.web_archives import HINTS
from coati.settings.limits import LIMIT_MEANINGS
from coati.settings.run_settings import SETTINGS
from coati.settings.setting import Section, Setting
from coati.settings.setting_types import SettingType
from coati.strategies.stopping.stop_when_dry import OFF
from coati.units import format_bytes, format_seconds
from coati.web.media import PRESETS

# What everybody tries first.
_SHORT = {"verbose": ("-v",), "quiet": ("-q",)}

_GIVEN = frozenset({ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT})


class SettingParam(click.ParamType[Any]):
    """Reads the value of an option as `coati.settings.setting_types` does."""

    # Patterns and headers hold spaces, so a variable lists several of them on lines of their own.
    envvar_list_splitter = "\n"

    def __init__(self, kind: SettingType) -> None:
        self.name = kind.word
        self._type = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        try:
            # A list is read whole, after all its parts have come.
            return value if self._type.many else self._type.read(value)
        except ConfigError as error:
            self.fail(str(error), param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return self.name

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the values that there are names for, and files where one is to be named."""
        offered, many = _offered(param.name or "")
        if self._type.choices is not None:
            offered = self._type.choices
        if offered:
            return names_like(offered, incomplete, many=many)
        return [CompletionItem(incomplete, type="file")] if self._type.word == "PATH" else []


def _offered(setting: str) -> tuple[Mapping[str, str], bool]:
    """Return names that a setting may be made of, beside others, and whether several go into one value."""
    match setting:
        case "types":
            return dict.fromkeys(PRESETS, ""), True
        case "hints":
            return dict.fromkeys(HINTS, ""), True
        case "limits":
            return {f"{name}=": about for name, about in LIMIT_MEANINGS.items()}, False
        case "search":
            return {f"{name}=": row.summary for name, row in ENGINES.items()}, False
    return {}, False


def setting_option(setting: Setting, default: str | None = None) -> click.Option:
    """Make the option of a setting; its value is None, or empty for a list, where nobody gave it.

    ``default`` is shown where the command has another one than a crawl; an empty one is not shown.
    """
    names = [*_SHORT.get(setting.name, ()), setting.option]
    if setting.kind.flag and setting.of_run:
        names = [f"{setting.option}/--no-{setting.option[2:]}"]
    return click.Option(
        [*names, setting.name],
        type=None if setting.kind.flag else SettingParam(setting.kind),
        is_flag=setting.kind.flag or None,
        multiple=setting.kind.many,
        default=None,
        envvar=setting.variable,
        help=setting.about + shown_default(default_text(setting) if default is None else default),
    )


def no_stop_option() -> click.Option:
    """Make the short way to say that nothing but a budget or the last link ends a crawl."""
    return click.Option(
        ["--no-stop-when-dry", "stop_when_dry"], flag_value=OFF, help="The same as `--stop-when-dry off`."
    )


def shown_default(text: str) -> str:
    """Write a default behind the help of an option, if there is one."""
    return f" [default: {text}]" if text else ""


def default_text(setting: Setting) -> str:
    """Write a default as a user would write it."""
    value = setting.default
    if value is None or value is False or value in ("", ()):
        return ""
    if setting.kind.word == "SIZE" and isinstance(value, int):
        return f"{value >> 30}GiB" if value % (1 << 30) == 0 else format_bytes(value)
    if setting.kind.word == "TIME" and isinstance(value, float):
        return format_seconds(value)
    return str(value)


def misspelt_variables(environment: Iterable[str], others: Iterable[str] = ()) -> Iterator[str]:
    """Say which variables look like ours and mean nothing, each with the nearest that does.

    >>> list(misspelt_variables(["COATI_MAX_REQUEST", "COATI_SEED", "HOME"]))
    ['COATI_MAX_REQUEST is not known; did you mean COATI_MAX_REQUESTS?']
    """
    known = {setting.variable for setting in SETTINGS.values()} | set(others)
    for name in sorted(environment):
        if name.startswith("COATI_") and name not in known:
            near = difflib.get_close_matches(name, sorted(known), n=1)
            yield f"{name} is not known" + (f"; did you mean {near[0]}?" if near else "")


def given_settings(ctx: click.Context) -> dict[str, object]:
    """Collect what options and variables gave, each value in its form."""
    given: dict[str, object] = {}
    for name, setting in SETTINGS.items():
        if name in ctx.params and ctx.get_parameter_source(name) in _GIVEN:
            value = ctx.params[name]
            given[name] = setting.read(value) if setting.kind.many else value
    return given


class SettingsCommand(click.Command):
    """A command whose options are listed under the headings of their settings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each heading, and one for what is not a setting."""
        for title, records in option_sections(self, ctx).items():
            with formatter.section(title):
                formatter.write_dl(records)


def option_sections(command: click.Command, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
    """Return a command's options and what they mean, by heading; only a `SettingsCommand` has several."""
    sections: dict[str, list[tuple[str, str]]] = {group.value: [] for group in Section}
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
        if record is not None:
            setting = SETTINGS.get(param.name or "") if isinstance(command, SettingsCommand) else None
            other = "Other" if isinstance(command, SettingsCommand) else "Options"
            sections.setdefault(other if setting is None else setting.group.value, []).append(record)
    return {title: records for title, records in sections.items() if records}
