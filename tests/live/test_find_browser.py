"""What is said where pages cannot be rendered, before anything is fetched."""

import asyncio
import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from coati.cli.main import run
from coati.errors import ConfigError
from coati.live import StopReason, rendering
from coati.live import find_browser as module
from coati.live.browser import Rendered, RenderError
from coati.live.find_browser import find_browser
from coati.live.stop_signal import StopSignal
from coati.runs.reader import RunReader
from tests.live.browsers import made_by_script
from tests.live.crawling import crawl_into
from tests.live.scripted import scripted


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def _bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", "")
    monkeypatch.setattr(module, "find_spec", lambda _name: importlib.util.find_spec("json"))


def test_one_of_the_system_is_found(tmp_path: Path) -> None:
    chromium = executable(tmp_path / "bin" / "chromium")
    assert find_browser() == str(chromium)


def test_playwrights_own_is_found(tmp_path: Path) -> None:
    chrome = executable(tmp_path / "home/.cache/ms-playwright/chromium-1200/chrome-linux64/chrome")
    assert find_browser() == str(chrome)


def test_one_that_is_named_must_be_there(tmp_path: Path) -> None:
    named = executable(tmp_path / "elsewhere" / "my-chromium")
    assert find_browser(str(named)) == str(named)
    with pytest.raises(ConfigError, match="the browser /no/chromium does not exist"):
        find_browser("/no/chromium")


def test_without_a_browser_it_is_said_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "run")
    code = run(["crawl", "http://127.0.0.1:9/", "--render", "auto", "--out", out])
    said = capsys.readouterr().err
    assert code == 2
    assert said.count("\n") == 1
    assert "apt install chromium" in said
    assert not Path(out).exists()


def test_without_the_extra_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _name: None)
    code = run(["crawl", "http://127.0.0.1:9/", "--render", "always", "--out", str(tmp_path / "run")])
    said = capsys.readouterr().err
    assert code == 2
    assert "pip install 'coati[render]'" in said


def test_a_misspelt_way_is_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["crawl", "http://127.0.0.1:9/", "--render", "allways"]) == 2
    assert "did you mean" in capsys.readouterr().err


class DyingBrowser:
    """Fails, as a browser does that somebody stops together with the crawl."""

    def __init__(self, dies: Callable[[], None]) -> None:
        self._dies = dies

    async def render(self, *_: object) -> Rendered:
        self._dies()
        # The loop passes the signal on in its next turn.
        await asyncio.sleep(0)
        raise RenderError("it died")


@pytest.mark.parametrize("stopped", [True, False])
def test_a_page_that_was_not_rendered_since_somebody_stopped_the_crawl_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, stopped: bool
) -> None:
    stop = StopSignal()

    async def dismissed(*_: object) -> None:
        """Let a stand-in go."""

    def dies() -> None:
        if stopped:
            stop.set()

    monkeypatch.setattr(rendering, "share_browser", lambda _path: DyingBrowser(dies))
    monkeypatch.setattr(rendering, "release_browser", dismissed)
    browser = str(executable(tmp_path / "chromium"))
    with scripted({"/": made_by_script("/app.js")}) as site:
        crawled = crawl_into(tmp_path / "run", site.start, render="auto", browser=browser, stop=stop)
    with RunReader(tmp_path / "run") as run:
        waiting = run.connection.execute("SELECT url FROM in_flight").fetchall()
        missing = run.connection.execute("SELECT missing FROM pages").fetchall()
    if stopped:
        assert crawled.result.stop is StopReason.INTERRUPTED
        assert [row["url"] for row in waiting] == [site.start]
    else:
        assert not waiting
        assert [row["missing"] for row in missing] == ["its scripts were not run"]
