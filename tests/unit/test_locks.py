"""A table has one writer at a time, among threads and processes; a process that dies releases its locks."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.concurrency.locks import FOLDER, TableLocks
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.machine.waiting import WaitedTooLongError
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import views
from dbt.adapters.paimon.writing.table_writer import TableWriter

HOLD = """
import sys, time
from pathlib import Path
from dbt.adapters.paimon.concurrency.locks import TableLocks
locks = TableLocks()
time.sleep(0.01)
locks.hold("t", Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.readline()
locks.release()
print("released", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def other(tmp_path: Path):
    """Another process that holds table `t`; a line of input makes it release."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def holder(locks: TableLocks, warehouse: Path | None, name: str = "t") -> tuple[threading.Thread, list[bool]]:
    got: list[bool] = []

    def run() -> None:
        got.append(locks.hold(name, warehouse))
        locks.release()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, got


@pytest.mark.parametrize("local", [True, False])
def test_threads_take_turns(tmp_path: Path, local: bool) -> None:
    locks = TableLocks()
    warehouse = tmp_path if local else None
    locks.hold("t", warehouse)
    thread, got = holder(locks, warehouse)
    free, other_table = holder(locks, warehouse, "u")
    free.join(60)
    time.sleep(0.2)
    assert got == []
    assert other_table == [False]
    locks.release()
    thread.join(5)
    assert got == [False]


def test_a_thread_may_take_its_own_lock_again(tmp_path: Path) -> None:
    locks = TableLocks()
    locks.hold("t", tmp_path)
    with locks.alone("t", tmp_path):
        assert not locks.hold("t", tmp_path)
    thread, got = holder(locks, tmp_path)
    time.sleep(0.1)
    assert got == []
    locks.release()
    thread.join(5)
    with locks.alone("t", tmp_path):
        pass


def test_another_process_is_waited_for(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    locks = TableLocks()
    thread, got = holder(locks, tmp_path)
    time.sleep(0.3)
    assert got == []
    assert other.stdin is not None
    other.stdin.write("\n")
    other.stdin.flush()
    thread.join(5)
    assert got == [True]  # the other process released the lock while this thread waited


def test_earlier_writes_do_not_count(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    assert other.stdin is not None and other.stdout is not None
    other.stdin.write("\n")
    other.stdin.flush()
    assert other.stdout.readline() == "released\n"
    assert TableLocks().hold("t", tmp_path) is False


def test_a_killed_process_releases_its_lock(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    thread, got = holder(TableLocks(), tmp_path)
    other.kill()
    thread.join(5)
    assert len(got) == 1


def test_names_of_any_text_make_one_file_each(tmp_path: Path) -> None:
    locks = TableLocks()
    names = ["a", "a/b", "../a", "ä" * 200, "a\nb", ""]
    for name in names:
        locks.hold(name, tmp_path)
    locks.release()
    assert len(list((tmp_path / FOLDER).glob("*.lock"))) == len(names)
    assert [path.name for path in tmp_path.iterdir()] == [FOLDER]


def test_a_missing_folder_is_no_error(tmp_path: Path) -> None:
    locks = TableLocks()
    assert not locks.hold("t", tmp_path / "missing" / "too")
    locks.release()


def test_a_thread_that_holds_a_table_waits_for_no_other(tmp_path: Path) -> None:
    locks = TableLocks()
    assert locks.may_wait_for("t")
    locks.hold("t", tmp_path)
    assert locks.may_wait_for("t")
    assert not locks.may_wait_for("u")
    locks.release()
    assert locks.may_wait_for("u")


def test_the_wait_for_another_process_is_bounded(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    locks = TableLocks(bound=0.2)
    with pytest.raises(
        WaitedTooLongError, match=r"Waited 0.2 s for t, which another process is writing .*lock_timeout"
    ):
        locks.hold("t", tmp_path)
    assert other.stdin is not None and other.stdout is not None
    other.stdin.write("\n")
    other.stdin.flush()
    assert other.stdout.readline() == "released\n"
    # The failed attempt leaves no lock, neither in this process nor on the file.
    assert locks.hold("t", tmp_path)
    locks.release()


def test_the_wait_for_another_thread_is_bounded(tmp_path: Path) -> None:
    locks = TableLocks(bound=0.2)
    locks.hold("t", tmp_path)
    raised: list[Exception] = []

    def run() -> None:
        try:
            locks.hold("t", tmp_path)
        except WaitedTooLongError as exc:
            raised.append(exc)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert len(raised) == 1
    locks.release()
    assert locks.hold("t", tmp_path) is False


def test_runs_may_name_a_warehouses_catalog_differently(tmp_path: Path) -> None:
    lake, other_lake = tmp_path / "lake", tmp_path / "other"
    files = [tmp_path / name for name in ("a.db", "b.db")]
    for folder in (lake, other_lake):
        folder.mkdir()
    for file in files:
        file.touch()
    for place, other_place in [(lake, other_lake), files]:
        one, other = TableLocks(), TableLocks()
        one.hold("`paimon`.`s`.`t`", place)
        assert not other.take("`lake`.`s`.`t`", place)
        assert other.take("`lake`.`s`.`other`", place)
        assert other.take("`lake`.`s`.`t`", other_place)
        one.release()
        other.release()
    assert {path.name for path in tmp_path.iterdir()} == {"lake", "other", "a.db", "b.db", FOLDER}


def test_a_view_has_the_lock_of_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    directory = views.ViewDirectory()
    directory.configure("paimon", "spark_catalog", "a warehouse")
    directory.remember(views.ViewDefinition("s", "v", "select 1"))
    monkeypatch.setattr(views, "DIRECTORY", directory)
    view = PaimonRelation.create("paimon", "s", "v", "view")
    builds = TableWriter(MagicMock(credentials=PaimonCredentials(schema="s", warehouse=str(tmp_path), lock_timeout=1)))
    builds.hold(view)
    # Not a second lock, for which this thread would wait until the timeout.
    with builds.alone(view.incorporate(type="table")):
        assert len(list((tmp_path / FOLDER).glob("*.lock"))) == 1
    builds.release()
    # The same holds for its note in a server.
    assert builds._note(view)._view == builds._note(view.incorporate(type="table"))._view


@pytest.mark.parametrize("mode", [0o700, 0o2775, 0o777])
def test_who_may_write_the_warehouse_may_lock(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    locks, folder = TableLocks(), tmp_path / FOLDER
    locks.hold("t", tmp_path)
    locks.release()
    assert folder.stat().st_mode & 0o7777 == mode
    (file,) = folder.glob("*.lock")
    assert file.stat().st_mode & 0o777 == mode & 0o666
    # What the error message advises stays.
    for each in (folder, file):
        each.chmod(0o777)
    locks.hold("t", tmp_path)
    locks.release()
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o777, 0o777)


def test_a_lock_that_cannot_be_opened(tmp_path: Path) -> None:
    locks = TableLocks()
    locks.hold("t", tmp_path)
    locks.release()
    (file,) = (tmp_path / FOLDER).glob("*.lock")
    file.unlink()
    file.mkdir()
    with pytest.raises(DbtRuntimeError, match=r"t: its lock in .* cannot be opened .*chmod -R a\+rwX"):
        locks.hold("t", tmp_path)
    file.rmdir()
    assert not locks.hold("t", tmp_path)
    locks.release()
