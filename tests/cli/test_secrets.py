"""Secrets reach the origin that they were given for; no other one, no file and no line of output has them."""

import base64
import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import Coati, Said, coati
from tests.live.scripted import Script, answer, file, page, scripted

__all__ = ["coati"]

SECRET = "s3cretw0rd"  # noqa: S105 - a word to look for
BASIC = base64.b64encode(f"jo:{SECRET}".encode()).decode()
CREDENTIALS = {"authorization", "cookie", "x-api-key", "proxy-authorization"}


@pytest.fixture
def site() -> Iterator[Script]:
    routes = {"/": page("/a.csv", "/away"), "/a.csv": file()}
    with scripted(routes) as server:
        yield server


@pytest.fixture
def other(site: Script) -> Iterator[Script]:
    """Serve from another origin that the site leads to in every way."""
    with scripted({"/robots.txt": file(b"User-agent: *\nAllow: /", "text/plain"), "*": file()}) as server:
        site.routes["/robots.txt"] = answer(302, Location=f"{server.base}/robots.txt")
        site.routes["/away"] = answer(302, Location=f"{server.base}/b.csv")
        site.routes["/"] = page("/a.csv", "/away", f"{server.base}/c.csv")
        yield server


def traces(folder: Path, said: Said) -> list[str]:
    """Name everything that holds the secret, in the clear or as a header would."""
    told = {"stdout": said.out.encode(), "stderr": said.err.encode()}
    for path in folder.rglob("*"):
        if path.is_file():
            told[str(path.relative_to(folder))] = path.read_bytes()
            if path.suffix == ".gz":
                told[f"{path.name}, unpacked"] = gzip.decompress(path.read_bytes())
    assert any(name.endswith("run.sqlite") for name in told)
    return [name for name, text in told.items() if any(word.encode() in text for word in (SECRET, BASIC))]


GIVEN = {
    "header": (("--header", f"Authorization: Bearer {SECRET}"), {}, "authorization", f"Bearer {SECRET}"),
    "key": (("--header", f"X-Api-Key: {SECRET}"), {}, "x-api-key", SECRET),
    "cookies": (("--cookies", f"id={SECRET}"), {}, "cookie", f"id={SECRET}"),
    "url": ((), {}, "authorization", f"Basic {BASIC}"),
    "user": (("--user", "jo", "--password-file", "pass.txt"), {}, "authorization", f"Basic {BASIC}"),
    "user-variable": (
        (),
        {"COATI_USER": "jo", "COATI_PASSWORD_FILE": "pass.txt"},
        "authorization",
        f"Basic {BASIC}",
    ),
    "variable": ((), {"COATI_HEADER": f"X-Api-Key: {SECRET}"}, "x-api-key", SECRET),
    "cookie-variable": ((), {"COATI_COOKIES": f"id={SECRET}"}, "cookie", f"id={SECRET}"),
}


@pytest.mark.parametrize("how", GIVEN)
def test_a_secret_is_told_to_its_origin_only_and_kept_nowhere(
    coati: Coati, site: Script, other: Script, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options, variables, name, value = GIVEN[how]
    for variable, text in variables.items():
        monkeypatch.setenv(variable, text)
    start = site.start.replace("//", f"//jo:{SECRET}@") if how == "url" else site.start
    password = tmp_path / "pass.txt"
    password.write_text(f"{SECRET}\nanother line\n", encoding="utf-8")
    said = coati(
        *("crawl", start, "--out", "run", "--delay", "0", "--events", "events.jsonl", "--archive", "kept"),
        *("--strategy", "bfs", "--log-file", "log.txt", *options),
    )
    assert said.code == 0, said.err
    assert {asked.headers.get(name) for asked in site.asked} == {value}
    assert {asked.path for asked in other.asked} >= {"/robots.txt", "/b.csv", "/c.csv"}
    assert not [asked.path for asked in other.asked if CREDENTIALS & asked.headers.keys()]
    assert traces(tmp_path, said) == ["pass.txt"]
    again = coati("show", "run"), coati("crawl", start, "--out", "run", "--dry-run", *options)
    assert all(SECRET not in one.out + one.err and BASIC not in one.out + one.err for one in again)


def test_a_look_at_a_site_may_need_a_password_too(coati: Coati, site: Script, tmp_path: Path) -> None:
    (tmp_path / "pass.txt").write_text(SECRET, encoding="utf-8")
    said = coati("inspect", site.start, "--delay", "0", "--user", "jo", "--password-file", "pass.txt")
    assert {asked.headers.get("authorization") for asked in site.asked} == {f"Basic {BASIC}"}
    assert SECRET not in said.out + said.err


def test_a_user_is_resumed_by_giving_the_password_again(coati: Coati, site: Script, tmp_path: Path) -> None:
    (tmp_path / "pass.txt").write_text(SECRET, encoding="utf-8")
    options = ("--delay", "0", "--strategy", "bfs")
    user = ("--user", "jo", "--password-file", "pass.txt")
    assert coati("crawl", site.start, "--out", "run", "--max-requests", 1, *options, *user).code == 0
    refused = coati("crawl", "run", "--max-requests", "none")
    assert (refused.code, "give it again" in refused.err) == (2, True)
    assert coati("crawl", "run", "--max-requests", "none", *user).code == 0
    assert {asked.headers.get("authorization") for asked in site.asked} == {f"Basic {BASIC}"}


def test_a_user_may_be_for_another_host(coati: Coati, site: Script, other: Script, tmp_path: Path) -> None:
    (tmp_path / "pass.txt").write_text(SECRET, encoding="utf-8")
    user = ("--user", f"{other.base} jo", "--password-file", "pass.txt")
    said = coati("crawl", site.start, "--out", "run", "--delay", "0", "--strategy", "bfs", *user)
    assert said.code == 0, said.err
    assert {asked.headers.get("authorization") for asked in other.asked} == {f"Basic {BASIC}"}
    assert not [asked for asked in site.asked if "authorization" in asked.headers]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--user", "jo"), "go together"),
        (("--password-file", "pass.txt"), "go together"),
        (("--user", f"jo:{SECRET}", "--password-file", "pass.txt"), "cannot contain a colon"),
        (("--user", "jo", "--password-file", "missing.txt"), "No such file"),
        (("--user", "jo", "--password-file", "."), "Is a directory"),
        (("--user", "jo", "--password-file", "empty.txt"), "no password in its first line"),
        (("--user", "jo", "--password-file", "latin.txt"), "not text in UTF-8"),
        (("--user", "http://[ jo", "--password-file", "pass.txt"), "needs a host"),
    ],
)
def test_a_user_without_a_usable_password_is_refused(
    coati: Coati, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    for name, text in (("pass", SECRET.encode()), ("empty", b"\n"), ("latin", b"\xe9")):
        (tmp_path / f"{name}.txt").write_bytes(text)
    told = coati("crawl", "http://site.test/", *options)
    assert (told.code, said in told.err) == (2, True), told.err
    assert SECRET not in told.out + told.err


@pytest.mark.parametrize("command", [("harvest", "--types", "data"), ("crawl", "--from-file")])
@pytest.mark.parametrize("secret", [f"Authorization: {SECRET}", f"X-Api-Key: {SECRET}"])
def test_a_secret_for_many_sites_needs_a_host(
    coati: Coati, site: Script, other: Script, tmp_path: Path, command: tuple[str, ...], secret: str
) -> None:
    (tmp_path / "list.txt").write_text(f"{site.start}\n{other.start}\n", encoding="utf-8")
    arguments = (*command, "list.txt", "--out", "all", "--delay", "0", "--header")
    told = coati(*arguments, secret)
    assert (told.code, "needs a host" in told.err) == (2, True)
    assert (site.asked, other.asked) == ([], [])
    told = coati(*arguments, f"{site.base} {secret}")
    assert told.code == 0, told.err
    assert not [asked for asked in other.asked if CREDENTIALS & asked.headers.keys()]
    assert [asked for asked in site.asked if CREDENTIALS & asked.headers.keys()] == site.asked
    # What the folder does not hold cannot be made up when it is resumed.
    if command[0] == "harvest":
        asked = len(site.asked)
        again = coati("harvest", "all", "--delay", "0")
        assert (again.code, "give it again" in again.err, len(site.asked)) == (2, True, asked)


def test_a_search_tells_no_secret_to_whoever_it_finds(coati: Coati, tmp_path: Path) -> None:
    arguments = (
        "discover",
        "wheat",
        "--search",
        "searxng=http://127.0.0.1:1",
        "--header",
        f"X-Api-Key: {SECRET}",
    )
    told = coati(*arguments)
    assert (told.code, "needs a host" in told.err) == (2, True)
    assert not list(tmp_path.iterdir())


def test_a_watch_asks_with_what_is_given_again(coati: Coati, site: Script) -> None:
    key = ("--header", f"X-Api-Key: {SECRET}")
    assert coati("crawl", site.start, "--out", "run", "--delay", "0", "--strategy", "bfs", *key).code == 0
    refused = coati("watch", "run", "--once", "--delay", "0")
    assert (refused.code, "give it again" in refused.err) == (2, True)
    site.asked.clear()
    assert coati("watch", "run", "--once", "--delay", "0", *key).code == 0
    assert {asked.headers.get("x-api-key") for asked in site.asked} == {SECRET}


def test_a_header_may_be_for_another_host(coati: Coati, site: Script, other: Script, tmp_path: Path) -> None:
    header = f"{other.base} X-Api-Key: {SECRET}"
    said = coati("crawl", site.start, "--out", "run", "--delay", "0", "--strategy", "bfs", "--header", header)
    assert said.code == 0, said.err
    assert {asked.headers.get("x-api-key") for asked in other.asked} == {SECRET}
    assert not [asked for asked in site.asked if "x-api-key" in asked.headers]
    assert traces(tmp_path, said) == []
    assert f"{other.base} X-Api-Key: (hidden)" in (tmp_path / "run" / "run.toml").read_text()


def test_the_password_of_a_proxy_is_kept_nowhere(coati: Coati, tmp_path: Path) -> None:
    with scripted({"*": page("/a", "/b")}) as proxy:
        given = proxy.base.replace("//", f"//jo:{SECRET}@")
        said = coati("crawl", "http://site.test/", "--out", "run", "--delay", "0", "--proxy", given)
    assert said.code == 0, said.err
    assert {asked.headers["proxy-authorization"] for asked in proxy.asked} == {f"Basic {BASIC}"}
    assert traces(tmp_path, said) == []


@pytest.mark.parametrize(
    "options",
    [
        ("--header", f"Authorization {SECRET}"),
        ("--header", f"Bad Name: {SECRET}"),
        ("--header", f"http://[ Name: {SECRET}"),
        ("--cookies", SECRET),
        ("--proxy", f"socks://jo:{SECRET}@localhost:1"),
        ("--header", f"Authorization: {SECRET}\x00"),
    ],
)
def test_errors_do_not_repeat_a_secret(coati: Coati, options: tuple[str, str]) -> None:
    said = coati("crawl", "http://site.test/", *options)
    assert said.code == 2
    assert SECRET not in said.out + said.err


@pytest.mark.parametrize("url", [f"http://jo:{SECRET}@[::1/", f"ftp://jo:{SECRET}@site.test/"])
def test_neither_do_those_about_urls(coati: Coati, url: str) -> None:
    said = coati("crawl", url)
    assert said.code == 2
    assert SECRET not in said.out + said.err


def test_users_and_passwords_of_links_are_not_kept(coati: Coati, site: Script, tmp_path: Path) -> None:
    inside = site.base.replace("//", f"//jo:{SECRET}@")
    site.routes["/"] = lambda exchange: exchange.answer(body=f"<a href=/r>r</a><a href={inside}/a.csv>a</a>")
    site.routes["/r"] = answer(302, Location=f"{inside}/b.csv")
    site.routes["/b.csv"] = file()
    said = coati("crawl", site.start, "--out", "run", "--delay", "0", "--strategy", "bfs")
    assert {"/a.csv", "/b.csv"} <= set(site.paths)
    assert not [asked for asked in site.asked if CREDENTIALS & asked.headers.keys()]
    # The page itself holds the link, and pages are kept as they came.
    assert {Path(name).name.partition(",")[0] for name in traces(tmp_path, said)} <= {"pages.warc.gz"}


@pytest.mark.parametrize("leads_to", ["another-site.test", "127.0.0.1"])
def test_rules_are_not_fetched_from_another_site(site: Script, coati: Coati, leads_to: str) -> None:
    site.routes["/robots.txt"] = answer(302, Location=f"http://{leads_to}:1/robots.txt")
    said = coati("crawl", site.start, "--out", "run", "--delay", "0", "--limits", "retries=0")
    # Of the same site's other origin nothing came, so nothing may be asked yet; another site's is not asked.
    assert said.code == (0 if leads_to == "another-site.test" else 3), said.err


@pytest.mark.parametrize(
    "command",
    [
        ("inspect", f"http://jo:{SECRET}@[::1"),
        ("verify", f"http://jo:{SECRET}@site.test/"),
        ("show", f"http://jo:{SECRET}@site.test/"),
        ("report", f"http://jo:{SECRET}@site.test/"),
        ("harvest", f"http://jo:{SECRET}@site.test/", "--types", "data"),
        ("watch", f"http://jo:{SECRET}@site.test/"),
        ("discover", "words", "--search", f"searxng=http://jo:{SECRET}@localhost:1/", "--out", "found"),
        ("discover", "words", "--search", f"searxng=http://localhost:1/?key={SECRET}", "--out", "found"),
        ("discover", "words", "--search", f"http://jo:{SECRET}@localhost:1/", "--out", "found"),
        ("crawl", "http://site.test/", "--types", f"http://jo:{SECRET}@site.test/"),
    ],
    ids=lambda command: " ".join(command).replace(SECRET, "password"),
)
def test_no_command_repeats_the_password_of_an_address(
    coati: Coati, command: tuple[str, ...], tmp_path: Path
) -> None:
    said = coati(*command)
    assert said.code == 2
    assert SECRET not in said.out + said.err
    assert not [
        path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
    ]


def test_a_list_may_hold_passwords(coati: Coati, site: Script, other: Script, tmp_path: Path) -> None:
    listed = tmp_path.parent / f"{tmp_path.name}.txt"
    listed.write_text(site.start.replace("//", f"//jo:{SECRET}@") + "\n")
    said = coati("harvest", listed, "--types", "data", "--out", "all", "--delay", "0")
    assert said.code == 0, said.err
    assert {asked.headers.get("authorization") for asked in site.asked} == {f"Basic {BASIC}"}
    assert not [asked.path for asked in other.asked if CREDENTIALS & asked.headers.keys()]
    assert traces(tmp_path, said) == []


def test_a_look_sends_the_password_of_the_address(coati: Coati, site: Script, other: Script) -> None:
    said = coati("inspect", site.start.replace("//", f"//jo:{SECRET}@"), "--delay", "0")
    assert {asked.headers.get("authorization") for asked in site.asked} == {f"Basic {BASIC}"}
    assert not [asked.path for asked in other.asked if CREDENTIALS & asked.headers.keys()]
    assert SECRET not in said.out + said.err
