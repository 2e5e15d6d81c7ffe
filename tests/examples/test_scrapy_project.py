"""The example project, run as its readers would: by the scrapy command, in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from coati.testing.generator import generate_site
from coati.testing.server import SiteServer, serve
from coati.testing.site_parameters import SiteParameters

PROJECT = Path(__file__).parents[2] / "examples" / "scrapy_project"
KNOBS = SiteParameters(pages=40, target_bytes=500, target_bytes_sd=100)


def run(server: SiteServer, folder: Path, **settings: str) -> list[dict[str, object]]:
    """Run the spider and give its items."""
    items = folder / "files.jsonl"
    command = [
        sys.executable,
        "-m",
        "scrapy",
        "crawl",
        "files",
        "-a",
        f"start={server.url}",
        "-O",
        str(items),
    ]
    changes = {"DOWNLOAD_DELAY": "0", "TELNETCONSOLE_ENABLED": "0", "LOG_LEVEL": "WARNING", **settings}
    for name, value in changes.items():
        command += ["-s", f"{name}={value}"]
    done = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True)
    # Scrapy says a few warnings about deprecated parts of its own; ours would be errors.
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in items.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    "strategy", ["scent", "sb-classifier", "coati.strategies.baselines.simple_orders.depth_first"]
)
def test_the_spider_finds_the_same_files_with_a_strategy(tmp_path: Path, strategy: str) -> None:
    with serve(lambda base: generate_site(KNOBS, 2, base)) as server:
        by_coati = run(server, tmp_path, COATI_STRATEGY=strategy)
        asked = [seen for seen in server.requests if not seen.url.endswith("/robots.txt")]
    assert len(by_coati) >= KNOBS.targets
    # Nothing was asked for twice, and everything but the answers to HEAD reached the spider.
    gets = [seen.url for seen in asked if seen.method == "GET"]
    assert len(gets) == len(set(gets))


def test_without_the_two_settings_it_is_the_spider_that_it_was(tmp_path: Path) -> None:
    with serve(lambda base: generate_site(KNOBS, 2, base)) as server:
        scheduler = "scrapy.core.scheduler.Scheduler"
        by_scrapy = {item["url"] for item in run(server, tmp_path, SCHEDULER=scheduler)}
        by_coati = {item["url"] for item in run(server, tmp_path, COATI_STRATEGY="bfs")}
    assert by_scrapy
    # Scrapy's spider follows links to pictures as well.
    assert by_coati <= by_scrapy


def test_two_settings_are_enough() -> None:
    settings = (PROJECT / "statistics_office" / "settings.py").read_text(encoding="utf-8")
    assert [
        line.split(" =")[0] for line in settings.splitlines() if "coati" in line.lower() and " = " in line
    ] == [
        "SCHEDULER",
        "COATI_STRATEGY",
    ]
