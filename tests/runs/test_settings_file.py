"""The settings of a run, as later versions read them."""

from __future__ import annotations

from pathlib import Path

from coati.runs.settings_file import read_settings


def test_the_topic_of_a_search_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('words = "flood risk"\nurls = ["search://local/?q=flood+risk"]\n', encoding="utf-8")
    settings = read_settings(file)
    assert settings["topic"] == "flood risk"
    assert "words" not in settings
