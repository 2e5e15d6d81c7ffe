import threading

import pytest

from coati.runs.background_sync import BackgroundSync

_PATIENCE = 30.0


def test_it_works_in_another_thread_and_takes_wishes_together() -> None:
    begun, go_on, again = threading.Event(), threading.Event(), threading.Event()
    threads: list[int] = []

    def sync() -> None:
        threads.append(threading.get_ident())
        if begun.is_set():
            again.set()
        begun.set()
        assert go_on.wait(_PATIENCE)

    background = BackgroundSync(sync)
    background.sync_soon()
    assert begun.wait(_PATIENCE)
    background.sync_soon()
    background.sync_soon()
    go_on.set()
    assert again.wait(_PATIENCE)
    background.close()
    assert len(threads) == 2
    assert threading.get_ident() not in threads


def test_a_failure_comes_out_at_the_next_check() -> None:
    begun = threading.Event()

    def sync() -> None:
        begun.set()
        raise OSError("the disk is gone")

    background = BackgroundSync(sync)
    background.check()
    background.sync_soon()
    # What has not begun when it is closed is dropped.
    assert begun.wait(_PATIENCE)
    background.close()
    with pytest.raises(OSError, match="the disk is gone"):
        background.check()


def test_closing_what_never_began_does_nothing() -> None:
    BackgroundSync(lambda: None).close()
