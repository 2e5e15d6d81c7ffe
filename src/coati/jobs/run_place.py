"""Where a crawl is kept, and with which settings: a new run, or one that is resumed.

The same command in the same folder resumes. What makes a run the run that it is (where it starts, what it
wants, what decides) cannot change on the way; budgets and manners can.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from coati.errors import ConfigError, UsageError
from coati.jobs.own_code import require_usable
from coati.runs.layout import Layout, holds_run, is_free
from coati.runs.lock import lock_run
from coati.runs.reader import RunReader
from coati.runs.settings_file import read_settings, require_start_urls
from coati.settings.credentials import header_of_address
from coati.settings.discovery import DEFAULT_SEARCH, search_settings
from coati.settings.run_file import read_values, require_no_hidden, with_values
from coati.settings.run_settings import SETTINGS, RunSettings
from coati.settings.setting_types import read_texts, read_urls
from coati.stop_reasons import FAILED_STARTS
from coati.web.queries import parse_query
from coati.web.urls import is_query, normalise, with_scheme


@dataclass(frozen=True, slots=True)
class RunPlace:
    """A folder and the settings of the run in it; ``resumed`` says that there is one already."""

    folder: Path
    settings: RunSettings
    resumed: bool


def find_place(start: Sequence[str], given: Mapping[str, object]) -> RunPlace:
    """Find out what is to be crawled and where it is kept; ``start`` has URLs, or the folder of a run."""
    values = {**given, **_meaning_of(start, given)}
    urls = read_urls(values.get("urls", ()))
    if urls:
        values.update(_starts(urls, values))
    if not values.get("out"):
        if not urls:
            raise UsageError("nothing to crawl: give a start URL, or --out with the folder of a run")
        values["out"] = _folder_name(_start_url(urls[0]))
    for name in ("archive", "events", "log_file"):
        if values.get(name):
            # A run may be resumed from another folder.
            values[name] = str(Path(str(values[name])).absolute())
    folder = Path(str(values["out"]))
    resumed = holds_run(folder) and not _never_began(folder)
    settings = _resumed(folder, values) if resumed else _new(folder, values)
    # Fails where no crawl can be made of these, before anything is touched.
    require_usable(settings)
    return RunPlace(folder, settings, resumed)


def find_search_place(start: Sequence[str], given: Mapping[str, object]) -> RunPlace:
    """Find out what to search for and where it is kept; ``start``: the topic, or the folder of a run."""
    values = dict(given)
    if len(start) == 1 and holds_run(Path(start[0])) and _is_meant(start[0], values.get("out")):
        values["out"] = start[0]
    elif start:
        values["topic"] = " ".join(" ".join(start).split())
    if not values.get("out"):
        if not values.get("topic"):
            raise UsageError("nothing to search for: name the topic in a few words")
        values["out"] = _named_after(str(values["topic"]))
    for name in ("archive", "events", "log_file", "start_model"):
        if values.get(name):
            values[name] = str(Path(str(values[name])).absolute())
    if values.get("search"):
        values["search"] = tuple(map(_engine_from_anywhere, read_texts(values["search"])))
    folder = Path(str(values["out"]))
    resumed = holds_run(folder) and not _never_began(folder)
    stored = _stored(folder) if holds_run(folder) else {}
    if not stored:
        values.setdefault("strategy", DEFAULT_SEARCH)
    elif not stored.get("topic"):
        raise ConfigError(f"{folder} holds a crawl, not a search: `coati crawl {folder}` resumes it")
    # Where a search begins follows from the rest; resuming changes it no more than the rest.
    complete = search_settings(with_values(RunSettings(), {**stored, **values}))
    values |= {name: getattr(complete, name) for name in ("urls", "scope", "stop_when_dry")}
    # One that never began has the settings of what was tried.
    settings = _resumed(folder, values) if resumed else _new(folder, {**stored, **values})
    require_usable(settings)
    return RunPlace(folder, settings, resumed)


def _is_meant(name: str, out: object) -> bool:
    """Tell a folder to resume from a topic: the folder of an earlier search is named after its topic."""
    if not out or Path(str(out)).resolve() == Path(name).resolve():
        return True
    if Path(name).name != name:
        raise UsageError(f"{name} is the folder of a run, but --out names another folder")
    return False


def _engine_from_anywhere(text: str) -> str:
    """Write the path of an index in full: a search may be resumed from another folder."""
    name, equals, value = text.partition("=")
    is_path = equals and "://" not in value and Path(value).exists()
    return f"{name}={Path(value).absolute()}" if is_path else text


def _named_after(topic: str) -> str:
    return re.sub(r"\W+", "-", topic.lower()).strip("-")[:60] or "search"


def _meaning_of(start: Sequence[str], given: Mapping[str, object]) -> dict[str, object]:
    """Tell the folder of a run from URLs."""
    for name in start:
        if holds_run(Path(name)):
            if len(start) > 1:
                raise UsageError(f"{name} is the folder of a run: to resume it, give no other URLs")
            out = given.get("out")
            if out and Path(str(out)).resolve() != Path(name).resolve():
                raise UsageError(f"{name} is the folder of a run, but --out names another folder")
            return {"out": name}
        if "://" not in name and Path(name).is_dir():
            raise UsageError(f"there is no run in {name} to resume; give the start URL of a new one")
    return {"urls": tuple(start)} if start else {}


def _new(folder: Path, values: Mapping[str, object]) -> RunSettings:
    if not values.get("urls") and holds_run(folder):
        # It never got beyond its start page: the same again.
        values = {**_stored(folder), **values}
    if not values.get("urls"):
        raise UsageError(f"there is no run in {folder} to resume; give the start URL of a new one")
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file; the run needs a folder (--out)")
    if not holds_run(folder) and not is_free(folder):
        raise ConfigError(f"{folder} is not empty and holds no run; choose a new or empty folder with --out")
    return with_values(RunSettings(), values)


def _never_began(folder: Path) -> bool:
    """Tell whether there is nothing to resume: a run that ended at its start page, or before it."""
    with RunReader(folder) as reader:
        totals, sessions = reader.totals(), reader.sessions()
        # What was chosen and not observed is still to be requested.
        (open_requests,) = reader.connection.execute("SELECT count(*) FROM in_flight").fetchone()
    reason = sessions[-1].stop_reason if sessions else None
    failed = reason in FAILED_STARTS or (reason is None and not totals.requests)
    return failed and not open_requests and not totals.targets and not totals.pages


def forget_failed_start(folder: Path) -> None:
    """Remove a run that never began from its folder; its other files will be overwritten.

    Raises `coati.runs.errors.RunLockedError` where another process is about to begin it.
    """
    layout = Layout(folder)
    layout.state.mkdir(exist_ok=True)
    lock = lock_run(layout)
    try:
        for path in folder.glob(f"{layout.database.name}*"):
            path.unlink()
        shutil.rmtree(layout.snapshots, ignore_errors=True)
    finally:
        lock.release()


def _resumed(folder: Path, values: Mapping[str, object]) -> RunSettings:
    stored = with_values(RunSettings(), _stored(folder))
    wanted = with_values(stored, values)
    # The order of addresses and patterns makes no other run; the run's own is kept.
    same = {name: value for name, value in _lists(stored) if set(value) == set(getattr(wanted, name))}
    wanted = with_values(wanted, same)
    differing = [
        f"{setting.name} is {_shown(getattr(stored, name))} there and {_shown(getattr(wanted, name))} here"
        for name, setting in SETTINGS.items()
        if setting.decides and getattr(stored, name) != getattr(wanted, name)
    ]
    if differing:
        raise ConfigError(
            f"{folder} holds a run with other settings: {'; '.join(differing)}. To resume it, leave these"
            f" out; to crawl with them, start a new run in another folder (--out)"
        )
    require_no_hidden(wanted)
    return wanted


def _lists(settings: RunSettings) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Go through the settings that decide and have several values."""
    for name, setting in SETTINGS.items():
        value = getattr(settings, name)
        if setting.decides and isinstance(value, tuple):
            yield name, value


def _stored(folder: Path) -> dict[str, object]:
    """Read the settings of the run in a folder."""
    path = Layout(folder).settings
    try:
        values = read_values(read_settings(path))
        with_values(RunSettings(), values)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    require_start_urls(path, values)
    return values


def _shown(value: object) -> str:
    return ", ".join(map(repr, value)) or "nothing" if isinstance(value, tuple) else repr(value)


def _starts(urls: Sequence[str], values: Mapping[str, object]) -> dict[str, object]:
    """Read the start URLs; users and passwords in them become headers for their origins."""
    given = values.get("header")
    headers = list(given) if isinstance(given, tuple) else []
    read = []
    for text in urls:
        read.append(_start_url(text))
        header = header_of_address(text.strip())
        if header is not None:
            headers.append(header)
    found: dict[str, object] = {"urls": tuple(dict.fromkeys(read))}
    return {**found, "header": tuple(headers)} if headers else found


def _start_url(text: str) -> str:
    url = normalise(text.strip())
    if url is not None:
        return url
    if is_query(text.strip()):
        engine = parse_query(text.strip()).engine
        raise ConfigError(
            f"{engine!r} is not a search engine that this command knows: start from a website. From"
            f" Python, a crawl can use your own engines"
        )
    completed = normalise(with_scheme(text.strip())) if "://" not in text else None
    if completed and "." in text:
        hint = f"; did you mean {completed}?"
    elif text.strip().lower().startswith(("http://", "https://")):
        hint = "; its host or port is not valid"
    else:
        hint = "; it must begin with http:// or https://"
    shown = "//" + text.rpartition("@")[2] if "@" in text else text
    raise ConfigError(f"not a URL: {shown!r}{hint}")


def _folder_name(url: str) -> str:
    parts = urlsplit(url)
    host = (parts.hostname or "site").replace(":", "-")
    return f"{host}-{parts.port}" if parts.port else host
