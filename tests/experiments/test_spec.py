from pathlib import Path

import pytest

from coati.assembly import StrategySettings
from coati.errors import CoatiError, ConfigError
from coati.experiments.site_specs import ArchivedSite, GeneratedSite
from coati.experiments.spec import parse_experiment, read_experiment
from coati.strategies.sb.tag_paths import TagPathSettings

SHIPPED = sorted((Path(__file__).parents[2] / "experiments").glob("*/*.toml"))

SMALL: dict[str, object] = {
    "table": "t",
    "title": "T",
    "measures": ["auc"],
    "sites": ["a"],
    "strategies": ["bfs"],
}


def test_a_part_needs_no_strategy_of_another_part() -> None:
    experiment = parse_experiment({**SMALL, "strategies": ["bfs", "no_such_module:Mine"]}, Path())
    part = experiment.narrowed(frozenset(), None, None, frozenset({"bfs"}))
    assert [row.label for row in part.variants] == ["bfs"]
    with pytest.raises(ConfigError, match="cannot be imported"):
        experiment.narrowed(frozenset(), None, None, frozenset())


def test_sites_strategies_and_variants_are_read() -> None:
    experiment = parse_experiment(
        {
            **SMALL,
            "sites": ["a", {"generated": "be", "pages": 50, "seed": 3}],
            "seeds": 2,
            "budget": {"max_requests": 7},
            "variants": [
                {"strategy": "sb-oracle", "name": "cold", "settings": {"tag_paths": {"exploration": 1}}}
            ],
        },
        Path(),
    )
    assert experiment.sites == (ArchivedSite("a"), GeneratedSite("be", 50, 3))
    assert [variant.label for variant in experiment.variants] == ["bfs", "cold"]
    settings = experiment.variants[1].settings
    assert settings == StrategySettings(tag_paths=TagPathSettings(exploration=1.0))
    assert isinstance(settings.tag_paths.exploration, float)
    assert experiment.budget.max_requests == 7
    assert experiment.seeds_of("random") == (0, 1)
    assert experiment.seeds_of("bfs") == (None,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sedes": 3}, "did you mean 'seeds'"),
        ({"measures": ["requests_to_90"]}, "did you mean 'requests_to_90_pct'"),
        ({"strategies": ["bsf"]}, "did you mean 'bfs'"),
        ({"figures": ["curve"]}, "did you mean 'curves'"),
        ({"sites": [{"generated": "be", "page": 3}]}, "did you mean 'pages'"),
        ({"sites": [{"generated": "be"}]}, "scale"),
        ({"sites": ["../up"]}, "name of a folder"),
        ({"sites": ["a", "a"]}, "listed twice"),
        ({"sites": []}, "needs sites"),
        ({"strategies": []}, "needs strategies"),
        ({"strategies": ["bfs", "bfs"]}, "two rows"),
        ({"seeds": 0}, "from 1 to"),
        ({"seeds": True}, "a whole number"),
        ({"seeds": "many"}, "a whole number"),
        ({"table": "../x"}, "plain name"),
        ({"title": ""}, "has no title"),
        ({"measures": []}, "measures or figures"),
        ({"budget": {"max_request": 5}}, "did you mean 'max_requests'"),
        ({"budget": {"max_requests": -5}}, "above zero"),
        ({"variants": [{"strategy": "bfs", "name": "x", "settings": {"bacth": 1}}]}, "'batch'"),
        ({"variants": [{"strategy": "bfs", "name": "x", "settings": {"batch": "1"}}]}, "whole number"),
        ({"variants": [{"strategy": "bfs", "name": "x", "settings": {"tag_paths": 1}}]}, "table of settings"),
        ({"variants": ["bfs"]}, "list of tables"),
        ({"early_stops": [{"name": "x", "rule": "papre"}]}, "did you mean 'paper'"),
        ({"early_stops": [{"name": "x", "rule": "paper", "intervall": 3}]}, "did you mean 'interval'"),
        ({"measures": ["saved_pct:x"]}, "unknown measure"),
        ({"fewer_seeds": {"randon": 3}}, "did you mean 'random'"),
        ({"fewer_seeds": {"random": 0}}, "above zero"),
        ({"fewer_seeds": {"random": "3"}}, "above zero"),
        ({"examples": ["../a"]}, "name of a folder"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_experiment({**SMALL, **change}, Path())


def test_a_strategy_that_takes_long_may_have_fewer_seeds() -> None:
    experiment = parse_experiment({**SMALL, "fewer_seeds": {"random": 2}, "seeds": 3}, Path())
    assert experiment.seeds_of("random") == (0, 1)
    assert experiment.seeds_of("sb-classifier") == (0, 1, 2)
    assert experiment.narrowed(frozenset(), 1, None).seeds_of("random") == (0,)


def test_a_file_that_is_none_is_an_error_of_one_line(tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text("table = [")
    for file in (bad, tmp_path / "none.toml", tmp_path):
        with pytest.raises(CoatiError):
            read_experiment(file)


@pytest.mark.parametrize("value", ["", "x", "nan", "18 to", "18 to x"])
def test_published_numbers_must_be_numbers(value: str, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(f"strategy,variant,site,measure,value\nbfs,,a,auc,{value}\n")
    with pytest.raises(ConfigError, match="not a number"):
        parse_experiment({**SMALL, "published": "p.csv"}, tmp_path)


def test_a_published_number_may_be_a_range(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("strategy,variant,site,measure,value\nbfs,,a,auc,18 to 21\n")
    experiment = parse_experiment({**SMALL, "published": "p.csv"}, tmp_path)
    assert experiment.published.find("bfs", "", "a", "auc") == (18, 21)
    assert experiment.published.find("bfs", "", "b", "auc") is None


def test_only_a_part_can_do_without_the_published_numbers(tmp_path: Path) -> None:
    experiment = parse_experiment({**SMALL, "published": "nowhere.csv", "seeds": 3}, tmp_path)
    with pytest.raises(ConfigError, match=r"nowhere\.csv cannot be read"):
        experiment.narrowed(frozenset(), None, None)
    assert experiment.narrowed(frozenset(), 1, None).published.numbers == {}


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        ("bfs", "bfs does not read the setting scent; it reads no settings"),
        ("sb-oracle", "sb-oracle does not read the setting scent; it reads tag_paths, group_index"),
        ("spec_mine:Mine", "spec_mine:Mine does not read the setting scent; it reads no settings"),
    ],
)
def test_a_variant_by_settings_that_nobody_reads_is_refused(
    strategy: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spec_mine.py").write_text("class Mine: ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    changes = {"scent": {"aim": "targets per byte"}}
    variants = [{"strategy": strategy, "name": "other", "settings": changes}]
    with pytest.raises(ConfigError, match=message):
        parse_experiment({**SMALL, "variants": variants}, Path()).narrowed(frozenset(), None, None)


def test_generated_sites_are_asked_for_where_there_are_some() -> None:
    experiment = parse_experiment({**SMALL, "sites": ["a", "b"]}, Path())
    for names in ({"generated"}, {"a", "generated"}):
        with pytest.raises(ConfigError, match="this experiment has no generated sites"):
            experiment.narrowed(frozenset(names), None, None)


def test_an_experiment_can_be_narrowed() -> None:
    experiment = parse_experiment({**SMALL, "sites": ["a", "b"]}, Path())
    small = experiment.narrowed(frozenset({"b"}), 2, 50)
    assert [site.name for site in small.sites] == ["b"]
    assert small.seeds == (0, 1)
    assert small.budget.max_requests == 50
    with pytest.raises(ConfigError, match="unknown site"):
        experiment.narrowed(frozenset({"c"}), None, None)


@pytest.mark.parametrize("name", ["dfs", "ache", "spec_mine:Mine"])
def test_a_strategy_that_the_file_does_not_name_can_be_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spec_mine.py").write_text("class Mine: ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    chosen = parse_experiment(SMALL, Path()).narrowed(frozenset(), None, None, frozenset({name}))
    assert [row.label for row in chosen.variants] == [name]


def test_a_site_is_chosen_by_its_name_or_by_that_of_its_archive() -> None:
    sites: list[object] = [
        "a",
        {"archive": "a", "types": "application/pdf"},
        {"archive": "b", "types": "text/csv,text/plain"},
        {"archive": "b", "types": "application/pdf"},
        {"generated": "be", "pages": 20},
    ]
    experiment = parse_experiment({**SMALL, "sites": sites}, Path())

    def chosen(*names: str) -> list[str]:
        return [site.name for site in experiment.narrowed(frozenset(names), None, None).sites]

    assert chosen("a:application/pdf") == ["a:application/pdf"]
    assert chosen("a") == ["a"]
    assert chosen("b", "generated") == ["b:text/csv text/plain", "b:application/pdf", "be-like"]
    # The names are parted by commas on the command line.
    assert not any("," in site.name for site in experiment.sites)
    with pytest.raises(ConfigError, match="did you mean 'a:application/pdf'"):
        chosen("a:application/pdg")


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_every_site_of_a_shipped_experiment_can_be_named(file: Path) -> None:
    experiment = read_experiment(file)
    for site in experiment.sites:
        assert "," not in site.name
        assert experiment.narrowed(frozenset({site.name}), None, None).sites == (site,)


def test_every_table_of_the_paper_has_a_file() -> None:
    names = {file.stem for file in SHIPPED}
    assert {"table2", "table3", "table4", "table5", "table6", "early_stop", "figure4", "figure5"} <= names


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_published_numbers_belong_to_rows_and_measures_of_their_table(file: Path) -> None:
    experiment = read_experiment(file)
    assert experiment.table == file.stem
    rows = {(variant.strategy, variant.name) for variant in experiment.variants}
    models = {site.model for site in experiment.sites} | {""}
    found = experiment.published.numbers
    ours = [key for key in found if key[:2] in rows and key[2] in models and key[3] in experiment.measures]
    assert bool(ours) == bool(found)
    assert {measure for _, _, _, measure in found} <= set(experiment.measures)
