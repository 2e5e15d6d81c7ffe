from dataclasses import fields

import pytest

from coati.errors import ConfigError
from coati.live import LiveSettings, StopReason
from coati.live.engine_settings import engine_settings
from tests.live.crawling import plan_for


def test_the_defaults_are_polite() -> None:
    settings = LiveSettings()
    assert (settings.delay_seconds, settings.concurrency, settings.per_host) == (1.0, 1, 1)
    assert settings.robots
    engine = engine_settings(plan_for("http://example.org/", delay_seconds=1.0))
    # Hosts are paced by one middleware of ours, and by nothing of Scrapy's.
    assert (engine["COATI_DELAY"], engine["DOWNLOAD_DELAY"]) == (1.0, 0)
    assert engine["DOWNLOADER_MIDDLEWARES"]["coati.live.pace.PaceMiddleware"] == 890
    assert engine["ROBOTSTXT_OBEY"] is True
    assert engine["CONCURRENT_REQUESTS_PER_DOMAIN"] == 1


def test_the_user_agent_says_who_asks() -> None:
    assert LiveSettings().user_agent.startswith("Coati/")
    assert LiveSettings(contact="mailto:me@example.org").user_agent.endswith("(+mailto:me@example.org)")


@pytest.mark.parametrize(
    "wrong",
    [
        {"concurrency": 0},
        {"delay_seconds": -1.0},
        {"answer_timeout_seconds": 0.0},
        {"retries": -1},
        {"max_file_bytes": 0},
        {"contact": "two\r\nlines: yes"},
        {"headers": (("X-One", "a\nb"),)},
        {"proxy": "nonsense"},
    ],
)
def test_impossible_values_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        LiveSettings(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", [field.name for field in fields(LiveSettings) if field.type in {"int", "float", "int | None"}]
)
def test_no_number_may_be_negative_and_the_message_names_it(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{name} is -1: it must be (at least [01]|above 0)$"):
        LiveSettings(**{name: -1})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("start_url", "allowed"),
    [
        ("http://127.0.0.1:8000/", True),
        ("http://localhost/", True),
        ("http://[::1]/", True),
        ("http://192.168.1.1/", True),
        ("http://www.example.org/", False),
        ("http://8.8.8.8/", False),
    ],
)
def test_private_addresses_are_allowed_if_the_user_named_one(start_url: str, *, allowed: bool) -> None:
    assert LiveSettings().allows_private([start_url]) is allowed
    assert LiveSettings(allow_private=True).allows_private([start_url])
    assert not LiveSettings(allow_private=False).allows_private([start_url])


def test_exit_codes_are_those_of_the_command_line() -> None:
    codes = {reason: reason.exit_code for reason in StopReason}
    assert (
        codes[StopReason.FINISHED] == codes[StopReason.BUDGET_BYTES] == codes[StopReason.STOPPED_EARLY] == 0
    )
    assert codes[StopReason.START_UNREACHABLE] == 3
    assert codes[StopReason.REFUSED] == codes[StopReason.RATE_LIMITED] == 4
    assert codes[StopReason.INTERRUPTED] == 130
