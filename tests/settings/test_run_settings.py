"""Every setting, wherever it comes from; and what a run file may and may not hold."""

import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from coati.errors import ConfigError
from coati.live.settings import LiveSettings
from coati.model import Link, LinkList, Page
from coati.settings.crawl_plan import CrawlResources, crawl_plan, new_strategy, snapshot_form
from coati.settings.limits import LIMIT_MEANINGS, LIMIT_TYPES, read_limits, trap_settings, with_limits
from coati.settings.live_settings import live_settings, parse_cookies, parse_header
from coati.settings.run_file import (
    HIDDEN,
    read_run_file,
    read_values,
    require_no_hidden,
    to_toml_values,
    with_values,
)
from coati.settings.run_settings import SETTINGS, RunSettings
from coati.toml_writer import to_toml
from coati.web.rules import Refusal
from coati.web.traps import TrapSettings
from tests.driving import ask

URL = "https://www.example.org/"


def given(**values: object) -> RunSettings:
    return with_values(RunSettings(urls=(URL,)), read_values(values))


def test_defaults_are_polite() -> None:
    live = live_settings(given())
    assert (live.delay_seconds, live.concurrency, live.per_host, live.robots) == (1.0, 1, 1, True)
    assert given().stop_when_dry == "normal"
    assert not given().sitemaps


@pytest.mark.parametrize(
    ("written", "level"),
    [
        (True, "normal"),
        (False, "off"),
        ("no", "off"),
        ("eager", "eager"),
        (7, "7"),
        ("1", "1"),
        ("2.5", "2.5"),
    ],
)
def test_the_level_of_stopping(written: object, level: str) -> None:
    """Run files of older versions say true or false."""
    assert given(stop_when_dry=written).stop_when_dry == level


def test_every_field_of_the_live_driver_can_be_set() -> None:
    options = {
        "delay_seconds",
        "concurrency",
        "per_host",
        "contact",
        "agent",
        "max_bytes_per_second",
        "max_file_bytes",
        "headers",
        "origin_headers",
        "cookies",
        "proxy",
        "render",
    }
    traps = {"traps", "max_urls_per_shape", "max_chain", "max_equal_pages"}
    assert {field.name for field in fields(LiveSettings)} | traps == options | set(LIMIT_TYPES)
    assert set(LIMIT_MEANINGS) == set(LIMIT_TYPES), "describe it in coati.settings.limits"


def test_limits_of_traps_reach_the_plan() -> None:
    limits = read_limits(["traps=no", "max_chain=7", "retries=0"])
    assert trap_settings(limits) == TrapSettings(enabled=False, max_chain=7)
    assert with_limits(LiveSettings(), limits).retries == 0


def test_values_come_as_text_or_as_toml_has_them() -> None:
    text = given(max_requests="50", max_bytes="10MB", max_time="2h", seed="7", sitemaps="yes", delay="500ms")
    toml = given(max_requests=50, max_bytes=10_000_000, max_time=7200, seed=7, sitemaps=True, delay=0.5)
    assert text == toml
    assert text.budget.max_seconds == 7200


def test_none_takes_a_budget_away() -> None:
    assert given(max_requests="none").max_requests is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"max_requsts": 5}, "did you mean 'max_requests'"),
        ({"max_requests": 0}, "above zero"),
        ({"max_requests": True}, "whole number"),
        ({"max_requests": 1.5}, "whole number"),
        ({"max_bytes": "10 apples"}, "not a size"),
        ({"max_time": "soon"}, "not a time"),
        ({"delay": -1}, "not a time"),
        ({"concurrency": 0}, "at least 1"),
        ({"strategy": "bsf"}, "did you mean 'bfs'"),
        ({"strategy": "clairvoyant"}, "works only in `coati replay`"),
        ({"types": "tabels"}, "did you mean 'tables'"),
        ({"scope": "world"}, "unknown scope"),
        ({"include": "["}, "not a regular expression"),
        ({"exclude": [1]}, "not a string"),
        ({"sitemaps": "perhaps"}, "neither true nor false"),
        ({"limits": {"retry": 1}}, "did you mean 'retries'"),
        ({"limits": {"retries": "many"}}, "retries: 'many' is not a whole number"),
        ({"limits": ["retries"]}, "not NAME=VALUE"),
        ({"archive_mode": "record"}, "--archive"),
    ],
)
def test_bad_values_say_what_is_wrong(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        given(**values)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "values",
    [
        {"proxy": "example.org"},
        {"proxy": "socks5://example.org:1"},
        {"proxy": "http://example.org:99999"},
        {"header": ["cannot contain a colon"]},
        {"header": ["Bad name: x"]},
        {"cookies": "no-equals"},
        {"cookies": "a=1; =2"},
        {"contact": "line\nbreak"},
    ],
)
def test_what_no_request_could_carry_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        live_settings(given(**values))


def test_headers_and_cookies() -> None:
    start = "https://example.org/"
    assert parse_header("X-Key:  a: b ", start) == ("https://example.org", "X-Key", "a: b")
    assert parse_header("X-Other: example.org b: c", start) == ("", "X-Other", "example.org b: c")
    assert parse_header("localhost X-Other: 1", start) == ("https://localhost", "X-Other", "1")
    assert parse_header("http://example.org:80 X-Other: 1", start) == ("http://example.org", "X-Other", "1")
    assert parse_cookies("a=1; b=x=y;", "example.org") == (("a", "1"), ("b", "x=y"))


def test_cookies_of_a_browsers_file_are_those_of_the_site(tmp_path: Path) -> None:
    path = tmp_path / "cookies.txt"
    path.write_text(
        "# Netscape HTTP Cookie File\n"
        ".example.org\tTRUE\t/\tTRUE\t0\tsession\tabc\n"
        "#HttpOnly_www.example.org\tFALSE\t/\tTRUE\t0\ttoken\tdef\n"
        "other.org\tFALSE\t/\tFALSE\t0\tspy\t1\n",
        encoding="utf-8",
    )
    assert parse_cookies(str(path), "www.example.org") == (("session", "abc"), ("token", "def"))
    with pytest.raises(ConfigError, match=r"no cookies for example\.com"):
        parse_cookies(str(path), "example.com")


def test_what_a_run_writes_can_be_read_again() -> None:
    settings = given(
        types="tables,.nc",
        include=["/data/", r"\d{4}"],
        max_time="90s",
        limits={"retries": 0, "allow_private": True},
        header=["Accept-Language: en"],
    )
    text = to_toml(to_toml_values(settings))
    again = with_values(RunSettings(), read_values(tomllib.loads(text)))
    assert to_toml(to_toml_values(again)) == text
    assert dict(again.limits)["retries"] == 0
    assert live_settings(again) == live_settings(settings)
    assert (again.rules, again.budget) == (settings.rules, settings.budget)


def test_every_setting_of_a_run_is_written_with_its_default() -> None:
    expected = {name for name, setting in SETTINGS.items() if setting.of_run}
    assert set(to_toml_values(given())) == expected


def test_secrets_do_not_leave_with_the_folder() -> None:
    settings = given(
        header=["Authorization: Bearer s3cret", "Accept-Language: en"],
        cookies="session=s3cret",
        proxy="http://me:s3cret@proxy.example:8080",
    )
    values = to_toml_values(settings)
    assert "s3cret" not in to_toml(values)
    assert values["header"] == [f"Authorization: {HIDDEN}", "Accept-Language: en"]
    stored = with_values(RunSettings(), read_values(tomllib.loads(to_toml(values))))
    with pytest.raises(ConfigError, match="COATI_HEADER"):
        require_no_hidden(stored)
    require_no_hidden(settings)


def test_run_files_say_what_is_wrong_with_them(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    with pytest.raises(ConfigError, match="cannot be read"):
        read_run_file(path)
    path.write_text("types = ", encoding="utf-8")
    with pytest.raises(ConfigError, match="is not TOML"):
        read_run_file(path)
    path.write_text('typs = "data"', encoding="utf-8")
    with pytest.raises(ConfigError, match="did you mean 'types'"):
        read_run_file(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError):
        read_run_file(path)


def test_limits_add_up() -> None:
    settings = with_values(given(limits={"retries": 0}), read_values({"limits": ["max_redirects=3"]}))
    live = live_settings(settings)
    assert (live.retries, live.max_redirects) == (0, 3)


def test_a_plan_is_what_the_settings_say() -> None:
    settings = given(scope="path", types="tables", archive="a", archive_mode="record", max_targets=3)
    plan = crawl_plan(settings, CrawlResources())
    assert plan.start_urls == (URL,)
    assert plan.rules.scope.value == "path"
    assert plan.types.name == "tables"
    assert plan.budget.max_targets == 3
    assert not plan.answer_from_archive
    assert ask(plan.new_strategy()) is not None
    assert plan.one_site
    assert not crawl_plan(given(scope="any"), CrawlResources()).one_site


def test_a_snapshot_belongs_to_what_the_strategy_is_built_from() -> None:
    plain = snapshot_form(given())
    assert plain.digest() == snapshot_form(given(max_requests=5, delay=0)).digest()
    assert plain.digest() != snapshot_form(given(seed=1)).digest()
    assert plain.digest() != snapshot_form(given(types="tables")).digest()
    wanted = [snapshot_form(given(types=types)).digest() for types in ("tables,.nc,.px", ".px,tables,.nc")]
    assert len(set(wanted)) == 1


def test_the_strategy_of_a_crawl_knows_what_wanted_files_end_with() -> None:
    def first(types: str) -> str:
        strategy = new_strategy(given(types=types, strategy="scent"))
        start = ask(strategy)
        assert start is not None
        links = [Link(f"{URL}files/a.{ending}", ("html", "a")) for ending in ("px", "nc", "sav")]
        strategy.observe(start.id, Page(200, 9, LinkList(links)), 0.0)
        request = ask(strategy, 1.0)
        assert request is not None
        return request.url.rpartition(".")[2]

    assert [first(f".{ending}") for ending in ("px", "nc", "sav")] == ["px", "nc", "sav"]


def test_published_strategies_keep_to_the_published_rule_for_traps() -> None:
    long_file = URL + "x" * 400 + ".csv"
    assert RunSettings(urls=(URL,)).rules.refusal(long_file) is None
    assert RunSettings(urls=(URL,), types="application/pdf").rules.refusal(long_file) is Refusal.TOO_LONG
    assert RunSettings(urls=(URL,), strategy="sb-classifier").rules.refusal(long_file) is Refusal.TOO_LONG
