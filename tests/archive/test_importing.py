import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from coati.archive.archive import Archive
from coati.archive.importing import ImportOptions, ImportSummary, import_source
from coati.archive.record import ArchiveMeta, Entry, Record
from coati.archive.sources.source import DamagedPart, ProgressCallback, Report, SiteSource
from coati.errors import ArchiveError, UsageError
from tests.archive.samples import META, SITE, Reports, make, page

ROOT = "http://example.test/"


class Given:
    """A source of given records; an exception among them is raised, damage reported."""

    def __init__(self, items: Sequence[Record | DamagedPart | BaseException]) -> None:
        self._items = items

    def meta(self) -> ArchiveMeta:
        return META

    def records(self, report: Report, progress: ProgressCallback) -> Iterator[Record]:
        for done, item in enumerate(self._items, start=1):
            if isinstance(item, BaseException):
                raise item
            if isinstance(item, DamagedPart):
                report(item)
            else:
                yield item
            progress(done, len(self._items))


def test_records_are_imported(tmp_path: Path) -> None:
    seen = []
    how = ImportOptions(progress=lambda done, total: seen.append((done, total)))
    source: SiteSource = Given(SITE)
    summary = import_source(source, tmp_path / "a", how)
    assert summary == ImportSummary(len(SITE), len(SITE), 0, 4, 0, has_start=True)
    assert seen[-1] == (len(SITE), len(SITE))
    with Archive.open(tmp_path / "a") as archive, Archive.open(make(tmp_path / "b")) as same:
        assert archive.digest() == same.digest()
        assert archive.meta == META
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_damage_is_counted_and_passed_on(tmp_path: Path) -> None:
    reports = Reports()
    damage = DamagedPart("x.warc.gz, byte 5", "it is broken", ROOT)
    summary = import_source(Given([SITE[1], damage, damage]), tmp_path / "a", ImportOptions(report=reports))
    assert (summary.records, summary.damaged, summary.has_start) == (1, 2, False)
    assert reports.all == [damage, damage]
    assert str(damage) == "x.warc.gz, byte 5 (http://example.test/): it is broken"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("x"), ArchiveError("x")])
def test_an_import_that_fails_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)):
        import_source(Given([*SITE, error]), tmp_path / "a", ImportOptions())
    assert not list(tmp_path.iterdir())


def test_a_source_without_a_readable_record_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="no readable record in the source; the first damage: f: bad"):
        import_source(Given([DamagedPart("f", "bad")]), tmp_path / "a", ImportOptions())
    assert not list(tmp_path.iterdir())


def test_target_bodies_can_be_left_out(tmp_path: Path) -> None:
    unlabelled = Record(Entry(f"{ROOT}b.csv", 200, "text/csv; charset=utf-8", 5), body=b"a,b\n1")
    import_source(Given([*SITE, unlabelled]), tmp_path / "a", ImportOptions(keep_target_bodies=False))
    with Archive.open(tmp_path / "a") as archive:
        for name in ("data.csv", "b.csv"):
            record = archive.record(ROOT + name)
            assert record.body is None
            assert record.entry.size_bytes > 0
        assert archive.body(ROOT) == SITE[0].body


def test_an_outage_or_a_part_never_hides_an_answer(tmp_path: Path) -> None:
    def answer(status: int, body: bytes) -> Record:
        return Record(Entry(f"{ROOT}x.csv", status, "text/csv", len(body)), body=body)

    order = [
        (503, b"busy"),
        (206, b"pa"),
        (200, b"old"),
        (404, b"no"),
        (200, b"new"),
        (206, b"rt"),
        (429, b"slow"),
    ]
    summary = import_source(
        Given([page(ROOT), *(answer(*each) for each in order)]), tmp_path / "a", ImportOptions()
    )
    assert (summary.records, summary.captures) == (2, 8)
    with Archive.open(tmp_path / "a") as archive:
        assert archive.body(f"{ROOT}x.csv") == b"new"


def test_captures_are_kept_in_the_order_of_time(tmp_path: Path) -> None:
    moments = [300.0, 100.0, 200.0, None, 100.0]
    records = [page(ROOT, f"{moment}", moment) for moment in moments]
    summary = import_source(Given(records), tmp_path / "a", ImportOptions())
    # The capture at 100 came twice.
    assert summary == ImportSummary(1, 4, 1, 1, 0, has_start=True)
    with Archive.open(tmp_path / "a") as archive:
        assert [entry.fetched_at for entry in archive.captures(ROOT)] == [None, 100.0, 200.0, 300.0]
        assert [
            archive.body(ROOT, as_of) == page(ROOT, f"{moment}").body
            for as_of, moment in [(None, 300.0), (299.9, 200.0), (100.0, 100.0), (99.0, None)]
        ] == [True] * 4


def test_two_captures_of_one_second_are_both_kept_and_the_later_one_answers(tmp_path: Path) -> None:
    records = [page(ROOT, "one", 100.0), page(ROOT, "two", 100.0), page(ROOT, "three", 200.0)]
    assert import_source(Given(records), tmp_path / "a", ImportOptions()).captures == 3
    with Archive.open(tmp_path / "a") as archive:
        assert archive.body(ROOT, 150.0) == records[1].body


def test_a_time_in_the_future_is_an_unknown_time_and_counted(tmp_path: Path) -> None:
    now = 1_800_000_000.0
    records = [page(ROOT, "future", now + 10**6), page(ROOT, "past", now - 10**6)]
    records.append(page(f"{ROOT}ahead", "by an hour", now + 3600))
    summary = import_source(Given(records), tmp_path / "a", ImportOptions(now=now))
    assert (summary.captures, summary.undated) == (3, 1)
    with Archive.open(tmp_path / "a") as archive:
        assert [entry.fetched_at for entry in archive.captures(ROOT)] == [None, now - 10**6]
        assert archive.body(ROOT) == records[1].body
        ahead = archive.entry(f"{ROOT}ahead")
        assert ahead is not None
        assert ahead.fetched_at == now + 3600


def test_an_archive_is_replaced_only_on_demand(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    with pytest.raises(UsageError, match="--overwrite"):
        import_source(Given(SITE[:2]), folder, ImportOptions())
    assert import_source(Given(SITE[:2]), folder, ImportOptions(overwrite=True)).records == 2
    with Archive.open(folder) as archive:
        assert len(archive) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_an_import_that_fails_leaves_the_old_archive(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    with pytest.raises(RuntimeError):
        import_source(Given([SITE[0], RuntimeError()]), folder, ImportOptions(overwrite=True))
    with Archive.open(folder) as archive:
        assert len(archive) == len(SITE)


def test_an_interruption_while_it_is_put_in_its_place_leaves_the_old_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path / "a")
    rename = Path.rename

    def interrupted(self: Path, target: Path) -> Path:
        if self.name == "a.partial":
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        import_source(Given(SITE[:2]), folder, ImportOptions(overwrite=True))
    with Archive.open(folder) as archive:
        assert len(archive) == len(SITE)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_nothing_else_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "thesis.txt").write_text("dear")
    (tmp_path / "b.partial").mkdir()
    (tmp_path / "b.partial" / "thesis.txt").write_text("dear")
    with pytest.raises(UsageError, match="is not an archive"):
        import_source(Given(SITE), tmp_path / "a", ImportOptions(overwrite=True))
    with pytest.raises(UsageError, match="is in the way"):
        import_source(Given(SITE), tmp_path / "b", ImportOptions())
    assert len(list(tmp_path.rglob("thesis.txt"))) == 2


def test_two_imports_to_one_place_do_not_meet(tmp_path: Path) -> None:
    with (
        Archive.create(tmp_path / "a.partial", META),
        pytest.raises(ArchiveError, match="open for writing elsewhere"),
    ):
        import_source(Given(SITE), tmp_path / "a", ImportOptions())


ENDLESS = """
import sys
from pathlib import Path
from coati.archive.importing import ImportOptions, ImportSummary, import_source
from tests.archive.samples import META, page
class Endless:
    def meta(self):
        return META
    def records(self, report, progress):
        for number in range(10**9):
            yield page(f"http://example.test/{number}")
            print(number, flush=True)
import_source(Endless(), Path(sys.argv[1]), ImportOptions())
"""


def test_a_killed_import_leaves_no_archive_and_can_be_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    command = [sys.executable, "-c", ENDLESS, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as killed:
        assert killed.stdout is not None
        for _ in range(50):
            killed.stdout.readline()
        killed.send_signal(signal.SIGKILL)
    assert not folder.exists()
    assert (tmp_path / "a.partial").exists()
    assert import_source(Given(SITE), folder, ImportOptions()).records == len(SITE)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_an_import_that_was_killed_while_it_began_is_not_in_the_way(tmp_path: Path) -> None:
    """Before its description is written, the folder of an archive holds an empty index and no records."""
    partial = tmp_path / "a.partial"
    (partial / "warc").mkdir(parents=True)
    (partial / "index.sqlite").write_bytes(b"")
    (partial / "index.sqlite-wal").write_bytes(b"begun")
    assert import_source(Given(SITE), tmp_path / "a", ImportOptions()).records == len(SITE)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
