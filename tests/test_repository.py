"""What must hold for the repository as a whole."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# Packages come from where each machine takes them, and no path of one machine means anything on
# another.
REGISTRY_HOST = re.compile(
    r"pypi\.org|pythonhosted\.org|registry\.npmjs|(?:deb|security)\.debian\.org"
    r"|(?:archive|ports)\.ubuntu\.com|conda\.anaconda|index[-_]url"
)
MACHINE_PATH = re.compile(r"(?<![\w.~*)}-])/(?:work|root|shared)(?![\w-])")

# What .gitignore leaves out, for a copy without git.
BUILT = re.compile(r"^\.(?:venv|lock-venv|hypothesis|\w+_cache)|^(?:build|dist|runs|results)/|__pycache__")


def project_files() -> list[Path]:
    """Return the files that are, or are about to be, under version control."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.check_output(command, cwd=ROOT, stderr=subprocess.DEVNULL, text=True)
    except (OSError, subprocess.CalledProcessError):  # no git, or not a checkout
        names = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")]
        paths = [ROOT / name for name in names if not BUILT.search(name)]
    else:
        paths = [ROOT / name for name in listing.split("\0") if name]
    return [path for path in paths if path.is_file()]


def texts() -> Iterator[tuple[Path, str]]:
    for path in project_files():
        try:
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def fenced_commands(markdown: str) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", markdown, flags=re.DOTALL | re.MULTILINE)
    return [line.split("#")[0].strip() for block in blocks for line in block.splitlines()]


def test_ci_runs_exactly_the_test_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    # Setting bash's options and going to the repository's root is not running anything.
    commands = [line for line in script.splitlines() if not re.match(r"#|set |cd |$", line)]
    assert commands == ["make test"]
    assert "make test" in fenced_commands(readme)


@pytest.mark.parametrize("unwanted", [REGISTRY_HOST, MACHINE_PATH], ids=["registry", "path"])
def test_no_file_names_a_registry_or_a_path_of_one_machine(unwanted: re.Pattern[str]) -> None:
    found = [
        f"{path}:{number}: {line.strip()}"
        for path, text in texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if unwanted.search(line)
    ]
    assert not found, "\n".join(found)


def test_the_image_is_built_from_files_that_exist_and_from_the_lock_alone() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    copied = {name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]}
    assert [name for name in copied if not (ROOT / name).exists()] == []
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == copied
    from_network = [line for line in lines if "pip " in line and "--no-index" not in line]
    assert len(from_network) == 1
    assert "--require-hashes" in from_network[0]


def test_the_lock_pins_every_package_by_hash() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    entries = re.split(r"^(?=[a-z0-9])", lock, flags=re.MULTILINE)[1:]
    loose = [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry]
    assert not loose


def test_every_changelog_fragment_has_a_known_section() -> None:
    sections = "|".join(kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"])
    name = re.compile(rf"(\d+|\+[\w-]+)\.({sections})(\.\d+)?\.md")
    fragments = [path for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]
    assert [path.name for path in fragments if not name.fullmatch(path.name)] == []
    assert [path.name for path in fragments if not path.read_text(encoding="utf-8").strip()] == []


def test_every_link_between_documents_leads_somewhere() -> None:
    broken = [
        f"{path}: {target}"
        for path, text in texts()
        if path.suffix == ".md"
        for target in re.findall(r"\]\(([^)#\s]+)", text)
        if "://" not in target and not (ROOT / path.parent / target).exists()
    ]
    assert not broken


def imported_packages(source: str) -> set[str]:
    """Return the top-level names that a module imports absolutely, wherever it does."""
    nodes = list(ast.walk(ast.parse(source)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    parts = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    return {name.split(".")[0] for name in plain | parts if name}


def test_every_library_that_the_package_imports_is_declared() -> None:
    # A development dependency must not hide that a user lacks something.
    project = PROJECT["project"]
    requirements = sum(project["optional-dependencies"].values(), project["dependencies"])
    declared = {re.split(r"[^\w.-]", requirement)[0].lower() for requirement in requirements}
    known = packages_distributions()
    undeclared = {
        f"{path.relative_to(ROOT)}: {package}"
        for path in (ROOT / "src").rglob("*.py")
        for package in imported_packages(path.read_text(encoding="utf-8"))
        if package not in {"coati", "compression"}  # the latter is Python's own from 3.14 on
        if package not in sys.stdlib_module_names
        if not declared & {name.lower() for name in known.get(package, [package])}
    }
    assert not undeclared


def test_what_says_that_it_returns_something_does() -> None:
    wrong = []
    for path, text in texts():
        if path.suffix == ".py" and path.parts[0] in {"src", "benchmarks"}:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    says = (ast.get_docstring(node) or "").startswith("Return ")
                    if says and isinstance(node.returns, ast.Constant) and node.returns.value is None:
                        wrong.append(f"{path}:{node.lineno} {node.name}")
    assert not wrong


def test_a_name_of_a_class_stands_for_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path, text in texts():
        if path.suffix == ".py" and path.parts[0] == "src":
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places.setdefault(node.name, []).append(path.as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_every_private_function_is_used() -> None:
    """A method that replaces one of another name replaces nothing."""
    sources = [text for path, text in texts() if path.suffix == ".py" and path.parts[0] == "src"]
    used = Counter(name for text in sources for name in re.findall(r"\b_[a-z]\w*", text))
    made = {
        node.name
        for text in sources
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and used[node.name] == 1
    }
    # Scrapy and the enumerations call these.
    assert made == {"_engine_started", "_missing_"}
