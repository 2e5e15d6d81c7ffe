"""The documentation says what is there, every command, error and public name, and nothing else."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
import shlex
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import coati
from coati.cli.main import coati as program
from coati.cli.main import run
from coati.cli.replay import replay
from coati.errors import CoatiError
from coati.settings.run_settings import DEFAULT_STRATEGY
from coati.testing import sample_site, serve

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
STUDIES = sorted([*(ROOT / "experiments").glob("*/*.md"), *(ROOT / "benchmarks").glob("*.md")])
# Decision notes also speak of other programs and of what was thought once.
FOR_USERS = [page for page in PAGES if page.parent.name != "decisions" and page.name != "CONTRIBUTING.md"]
TUTORIALS = ("first-crawl", "reading-the-report", "resuming", "first-replay")
PRACTICE_SITE = "http://127.0.0.1:8000/"

# Blocks of commands and of Python are tried; the others are files and what programs print.
LANGUAGES = {"sh", "python", "toml", "json", "sql", "text", "ini", "html", "yaml"}

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
MAKE_TARGET = re.compile(r"^([a-z-]+):", flags=re.MULTILINE)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def fenced(page: Path, language: str) -> list[str]:
    return [body for found, body in FENCE.findall(text_of(page)) if found == language]


def shell_lines(page: Path) -> list[list[str]]:
    """Return the commands of a page's shell blocks as words, comments left out."""
    lines = (line for block in fenced(page, "sh") for line in block.splitlines())
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def commands(
    group: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Walk through the commands and what is below them."""
    if not isinstance(group, click.Group):
        yield path, group
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        inner = group.get_command(context, name)
        assert inner is not None
        yield from commands(inner, (*path, name))


COMMANDS = dict(commands(program))


def find_command(words: list[str]) -> tuple[click.Command, list[str]]:
    """Find the command that a command line calls; gives it with the words after its name."""
    for length in (2, 1):
        found = COMMANDS.get(tuple(words[:length]))
        if found is not None:
            return found, words[length:]
    raise AssertionError(f"there is no command: coati {' '.join(words)}")


def options_of(command: click.Command) -> set[str]:
    named = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return named | {"--help", "-h"}


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_and_option_is_in_the_reference(path: tuple[str, ...]) -> None:
    reference = text_of(DOCS / "reference" / "cli.md")
    heading = f"## coati {' '.join(path)}\n"
    assert heading in reference, "run scripts/make-cli-reference"
    section = reference.split(heading)[1].split("\n## ")[0]
    for parameter in COMMANDS[path].params:
        if isinstance(parameter, click.Option):
            assert max(parameter.opts, key=len) in section


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_line_on_a_page_is_one(page: Path) -> None:
    targets = set(MAKE_TARGET.findall(text_of(ROOT / "Makefile")))
    for words in shell_lines(page):
        program_name = Path(words[0]).name
        if program_name == "make":
            assert {word for word in words[1:] if "=" not in word} <= targets
        elif program_name == "coati":
            command, rest = find_command(words[1:])
            given = {word.partition("=")[0] for word in rest if word.startswith("--")}
            assert given <= options_of(command), words
        elif words[0].startswith("scripts/"):
            assert (ROOT / words[0]).is_file()


@pytest.mark.parametrize("page", FOR_USERS, ids=name_of)
def test_commands_stand_where_they_are_looked_at(page: Path) -> None:
    # Under another name, a block would be passed over by the test above.
    assert {language for language, _ in FENCE.findall(text_of(page))} <= {"", *LANGUAGES}
    without = [body for language, body in FENCE.findall(text_of(page)) if not language]
    assert [body for body in without if re.match(r"(\$ )?(\.venv/bin/)?coati [a-z]", body)] == []


@pytest.mark.parametrize("page", FOR_USERS, ids=name_of)
def test_every_command_and_option_that_a_text_names_exists(page: Path) -> None:
    prose = FENCE.sub("", text_of(page))
    known = {path[0] for path in COMMANDS}
    named = set(re.findall(r"`(?:\.venv/bin/)?coati ([a-z]+)", prose))
    assert named <= known
    options = {name for command in COMMANDS.values() for name in options_of(command)}
    alone = set(re.findall(r"`(--[a-z][a-z-]+)(?:[ =][^`]*)?`", prose))
    assert alone <= options


def test_every_error_is_documented() -> None:
    page = text_of(DOCS / "reference" / "errors.md")
    for module in pkgutil.walk_packages(coati.__path__, "coati."):
        if not module.name.endswith("__main__"):
            _import(module.name)
    missing = [error.__name__ for error in _family(CoatiError) if f".{error.__name__}`" not in page]
    assert missing == []


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        # An extra that is not installed; one of our own must be there.
        if (error.name or "").startswith("coati"):
            raise


def _family(error: type[BaseException]) -> Iterator[type[BaseException]]:
    yield error
    for child in error.__subclasses__():
        yield from _family(child)


@pytest.mark.parametrize(
    "package", ["coati", "coati.live", "coati.runs", "coati.reporting", "coati.testing", "coati.settings"]
)
def test_every_public_name_is_documented(package: str) -> None:
    page = text_of(DOCS / "reference" / "python-api.md") + text_of(DOCS / "reference" / "errors.md")
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if not re.search(rf"\b{name}\b", page)] == []


@pytest.mark.parametrize("page", [*PAGES, *STUDIES], ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked), target


@pytest.mark.parametrize(
    "page", [DOCS / "explanation" / "architecture.md", ROOT / "CONTRIBUTING.md"], ids=name_of
)
def test_the_listing_of_folders_is_what_the_import_rules_hold(page: Path) -> None:
    listing = re.search(
        r"Each folder of `src/coati` .*?\n\n((?: {4}\S[^\n]*\n)+)", text_of(page), flags=re.DOTALL
    )
    assert listing is not None
    told = [set(re.split(r"\s{4,}", line.strip())[0].split()) for line in listing[1].splitlines()]
    # import-linter itself knows whether each folder and each module has its place there.
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))
    (layers,) = (
        contract["layers"]
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    held = [set(layer.split(" | ")) for layer in layers if layer != "__main__"]
    assert told == held


# Where a page names a place of the repository, as far as that can be told from other paths.
PLACE = re.compile(
    r"`((?:src|tests|docs|examples|experiments|benchmarks|scripts|changelog\.d)/[^`\s*<>{}]*)`"
)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_places_of_the_repository_exist(page: Path) -> None:
    assert [place for place in PLACE.findall(text_of(page)) if not (ROOT / place).exists()] == []


# A module by its file below the package, or by its dotted name.
MODULE_FILE = re.compile(r"`((?:[a-z_0-9]+/)+[a-z_0-9]+\.py)`")
MODULE = re.compile(r"`(coati(?:\.[a-z_0-9]+)+)`")


@pytest.mark.parametrize("page", FOR_USERS, ids=name_of)
def test_modules_that_a_page_names_exist(page: Path) -> None:
    files = [file for file in MODULE_FILE.findall(text_of(page)) if not PLACE.match(f"`{file}`")]
    folders = ROOT / "src", ROOT / "src" / "coati"
    assert [file for file in files if not any((folder / file).is_file() for folder in folders)] == []
    assert [name for name in MODULE.findall(text_of(page)) if not is_there(name)] == []


def test_modules_that_a_package_names_exist() -> None:
    missing = []
    for init in (ROOT / "src" / "coati").rglob("__init__.py"):
        tree = ast.parse(text_of(init))
        own = {path.stem for path in init.parent.glob("*.py")} | {path.name for path in init.parent.iterdir()}
        own |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} | {"coati"}
        own |= set(getattr(importlib.import_module(package_of(init)), "__all__", ()))
        named = re.findall(r"(?<!`)`([a-z_]+)(?:\.[\w.]+)?`(?!`)", ast.get_docstring(tree) or "")
        missing += [f"{package_of(init)}: {name}" for name in named if name not in own]
    assert missing == []


def package_of(init: Path) -> str:
    return ".".join(init.parent.relative_to(ROOT / "src").parts)


def is_there(name: str) -> bool:
    """Tell whether a dotted name is that of a module, or of what a module holds."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        return is_there(module) and hasattr(importlib.import_module(module), attribute)
    return True


def test_no_message_names_a_page_that_an_installation_does_not_have() -> None:
    named = []
    for path in (ROOT / "src").rglob("*.py"):
        tree = ast.parse(text_of(path))
        texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        named += [
            f"{path.name}: {node.value}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts
            if re.search(r"(?<![\w./])docs/", node.value)
        ]
    assert named == []


def test_scent_is_where_a_reader_meets_strategies_first() -> None:
    default = next(each.default for each in replay.params if each.name == "strategies")
    assert DEFAULT_STRATEGY in str(default).split(",")
    tutorial = text_of(DOCS / "tutorial" / "first-replay.md")
    assert f"--strategy {default} " in tutorial
    # What the report and explain call a group, no page denies.
    assert [name_of(page) for page in PAGES if "no groups" in text_of(page).lower()] == []


def anchors(page: Path) -> set[str]:
    """Return the names of a page's headings as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text_of(page)), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_can_be_reached_from_the_index() -> None:
    reached: set[Path] = set()
    to_read = [DOCS / "index.md"]
    while to_read:
        page = to_read.pop()
        reached.add(page)
        targets = re.findall(r"\]\(([^)#\s]+\.md)", text_of(page))
        to_read += {(page.parent / target).resolve() for target in targets if "://" not in target} - reached
    assert set(DOCS.rglob("*.md")) - reached == set()
    # A reader who looks for a decision looks there.
    listed = re.findall(r"\]\((decisions/[^)#\s]+\.md)", text_of(DOCS / "index.md"))
    assert listed == sorted(f"decisions/{note.name}" for note in (DOCS / "decisions").glob("*.md"))


def test_every_picture_is_used_and_small() -> None:
    shown = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in re.findall(r"!\[[^\]]+\]\(([^)\s]+)\)", text_of(page))
    }
    pictures = {path for path in (DOCS / "pictures").iterdir() if path.is_file()}
    assert pictures == shown
    assert all(path.stat().st_size < 200_000 for path in pictures)


@pytest.mark.parametrize("page", [page for page in PAGES if ">>> " in text_of(page)], ids=name_of)
def test_examples_give_what_they_say(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried.attempted > 0
    assert tried.failed == 0


@pytest.mark.parametrize("page", [page for page in PAGES if fenced(page, "python")], ids=name_of)
def test_what_examples_import_exists(page: Path) -> None:
    for block in fenced(page, "python"):
        # A part of a class is indented.
        source = textwrap.dedent(block)
        if ">>> " in block:
            source = "".join(example.source for example in doctest.DocTestParser().get_examples(block))
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("coati"):
                module = importlib.import_module(node.module or "")
                assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []


def test_the_tutorials_work_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with serve(sample_site) as server:
        for name in TUTORIALS:
            for words in shell_lines(DOCS / "tutorial" / f"{name}.md"):
                if words[0] != "coati" or any("example.org" in word for word in words):
                    continue
                arguments = [word.replace(PRACTICE_SITE, server.url) for word in words[1:]]
                code = run(arguments)
                told = capsys.readouterr()
                assert code == 0, f"{words}: {told.err}"
                assert told.out, words
    assert (tmp_path / "first" / "report.html").is_file()
    assert (tmp_path / "curves" / "curves.png").is_file()


def test_every_tutorial_is_tried() -> None:
    assert {page.stem for page in (DOCS / "tutorial").glob("*.md")} == set(TUTORIALS)
