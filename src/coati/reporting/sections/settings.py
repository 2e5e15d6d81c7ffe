"""All settings of the run, without secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coati.reporting.run_facts import RunFacts
from coati.reporting.safe_html import Html, element, joined, shortened
from coati.reporting.tables import pairs

_MAX_SETTINGS = 200

# A report is passed on; these hold passwords and session ids. What they are set to stands in run.toml.
_SECRET = ("cookie", "header", "proxy", "password", "token", "secret", "auth")


def settings(facts: RunFacts) -> Html:
    """List every setting as it was used."""
    listed = list(_flat(facts.settings))[:_MAX_SETTINGS]
    body = pairs(listed) if listed else element("p", "run.toml contains no settings.")
    note = joined(
        "All settings of the run; ",
        element("a", "run.toml", href="run.toml"),
        " holds them for Coati to read.",
    )
    return element(
        "section",
        element("h2", "Settings"),
        element("details", element("summary", note), element("div", body, class_="settings")),
        id="settings",
    )


def _flat(values: Mapping[str, object], before: str = "") -> Iterator[tuple[str, Html]]:
    for key, value in values.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}.")
        elif any(word in name.lower() for word in _SECRET) and value:
            yield shortened(name, 60), element("i", "set, not shown")
        else:
            yield shortened(name, 60), element("code", shortened(_text(value), 300))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value[:50])) or "none"
    return str(value) if value != "" else "none"
