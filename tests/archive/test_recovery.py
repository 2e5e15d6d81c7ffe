import shutil
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from coati.archive.archive import Archive
from coati.archive.index import FILE_NAME as INDEX
from coati.archive.recovery import Damage, FoundRecord, rebuild_index, scan_volume
from tests.archive.samples import SITE, make, volume


@lru_cache(maxsize=1)
def sound() -> tuple[bytes, tuple[FoundRecord | Damage, ...]]:
    """Return the bytes of a volume, and what stands where in it."""
    with TemporaryDirectory() as place:
        path = volume(make(Path(place) / "a"))
        return path.read_bytes(), tuple(scan_volume(path))


def scan(octets: bytes) -> list[FoundRecord | Damage]:
    with TemporaryDirectory() as place:
        path = Path(place) / "x.warc.gz"
        path.write_bytes(octets)
        return list(scan_volume(path))


def test_a_sound_volume_is_read_whole() -> None:
    octets, found = sound()
    assert [
        member.record.entry.url for member in found if isinstance(member, FoundRecord) and member.record
    ] == [record.entry.url for record in SITE]
    assert sum(member.length for member in found) == len(octets)


@settings(max_examples=50)
@given(st.data())
def test_a_volume_that_ends_anywhere_gives_what_is_whole(data: st.DataObject) -> None:
    octets, found = sound()
    end = data.draw(st.integers(0, len(octets)))
    whole = [member for member in found if member.offset + member.length <= end]
    got = scan(octets[:end])
    assert got[: len(whole)] == whole
    rest = got[len(whole) :]
    cut_at = whole[-1].offset + whole[-1].length if whole else 0
    if cut_at == end:
        assert not rest
    else:
        (damage,) = rest
        assert isinstance(damage, Damage)
        assert (damage.offset, damage.length, damage.reaches_end) == (cut_at, end - cut_at, True)


@settings(max_examples=50)
@given(st.data())
def test_damage_costs_the_record_that_it_touches(data: st.DataObject) -> None:
    octets, found = sound()
    place = data.draw(st.integers(0, len(octets) - 1))
    member = next(member for member in found if member.offset <= place < member.offset + member.length)
    # The other bytes of a gzip header (time, system, flags) may change and still be read, and so may the bits
    # that fill up the last byte before the checksum and the length.
    if 3 <= place - member.offset < 10 or place - member.offset == member.length - 9:
        return
    damaged = bytearray(octets)
    damaged[place] ^= 1 << data.draw(st.integers(0, 7))
    got = scan(bytes(damaged))
    assert [other for other in got if isinstance(other, FoundRecord)] == [
        other for other in found if other != member
    ]
    (damage,) = [other for other in got if isinstance(other, Damage)]
    assert damage[:2] == member[:2]


def test_garbage_between_records_is_passed_over() -> None:
    octets, found = sound()
    middle = found[3].offset
    got = scan(octets[:middle] + b"\x1f\x8b\x08garbage" * 20 + octets[middle:])
    assert len([member for member in got if isinstance(member, FoundRecord)]) == len(found)
    assert len([member for member in got if isinstance(member, Damage)]) == 1


def test_an_index_is_rebuilt_around_damage(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    path = volume(folder)
    octets = bytearray(path.read_bytes())
    # After the description of the file come two pages, each behind what was asked.
    member = list(scan_volume(path))[4]
    octets[member.offset + member.length // 2] ^= 0xFF
    path.write_bytes(octets)
    (folder / INDEX).unlink()
    rebuilt = rebuild_index(folder)
    assert rebuilt.records == len(SITE) - 1
    ((name, damage),) = rebuilt.damages
    assert name == path.name
    assert damage.offset == member.offset
    with Archive.open(folder) as archive:
        assert archive.entry("http://example.test/a.html") is None
        assert archive.body("http://example.test/data.csv") == SITE[2].body


def test_a_rebuild_that_was_interrupted_is_not_a_hindrance(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    shutil.copy(folder / INDEX, folder / (INDEX + ".new"))
    assert rebuild_index(folder).records == len(SITE)
    assert not (folder / (INDEX + ".new")).exists()
