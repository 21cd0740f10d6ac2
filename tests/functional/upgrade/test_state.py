"""The adapter continues a warehouse of commit 905dd9b (dbt-paimon 0.1.0), and refuses state of a newer version.

The fixture and how it was written: `small_lake.py`, `write_fixture.py`.
"""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.paimon.changes import positions
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.metadata.commits import COMMIT_USER_CONF
from dbt.adapters.paimon.state import folders, tables
from dbt.adapters.paimon.state.kinds import CURRENT, Kind
from dbt_here import dbt_here
from faults.house import House, Point, at
from functional.upgrade import small_lake
from functional.upgrade.write_fixture import FIXTURE

LAKE = f"`paimon`.`{small_lake.SCHEMA}`"
TABLES = {
    Kind.VIEWS: "_dbt_views",
    Kind.POSITIONS: "logged__dbt_changes",
    Kind.DELETES: "applied__dbt_deletes",
}
# Kills around the first writes. Each starts a dbt process: CI runs only the first, `--kills 60` runs all.
KILLS: list[Point] = [
    *at("logged", "insert into"),
    *at("applied", "insert into|merge into"),
    {"table": "streamed", "moment": "begun"},
    {"table": "streamed", "moment": "after"},
]
NEWER = "99"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, spark_config: dict[str, Any]) -> House:
    """The project in a folder, and a session that reads its tables."""
    from dbt.adapters.paimon.spark.runtime import Runtime
    from dbt.adapters.paimon.spark.session import open_session

    folder = tmp_path_factory.mktemp("upgrade")
    target = {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "threads": 4,
        "spark_config": spark_config,
    }
    small_lake.write_project(folder, target)
    credentials = PaimonCredentials(
        paimon_version="0.9.0",
        schema=small_lake.SCHEMA,
        warehouse=str(folder / "lake"),
        spark_config=dict(spark_config),
    )
    session = open_session(Runtime(credentials)).session
    return House(small_lake, folder, lambda sql: [tuple(row) for row in session.sql(sql).collect()])


def unpack(house: House) -> None:
    """Restore the warehouse as the older adapter left it."""
    shutil.rmtree(house.folder / "lake")
    with tarfile.open(FIXTURE) as archive:
        archive.extractall(house.folder, filter="data")
    house.step = house.at_step["build"] = small_lake.OLD_STEPS


def options_of(house: House, table: str) -> dict[str, str]:
    return dict(house.read(f"select key, value from {LAKE}.`{table}$options`"))


def note_of(house: House) -> Path:
    (note,) = (house.folder / "lake" / f"{small_lake.SCHEMA}.db" / "streamed").glob("__dbt_checkpoint/*/dbt.json")
    return note


def versions(house: House) -> dict[Kind, Any]:
    """The version of each kind of state, as stored in the warehouse."""
    found: dict[Kind, Any] = {kind: options_of(house, name).get(tables.OPTION) for kind, name in TABLES.items()}
    found[Kind.CHECKPOINT] = json.loads(note_of(house).read_text()).get("version")
    locks = house.folder / "lake" / ".dbt_paimon" / folders.FILE
    found[Kind.LOCKS] = locks.read_text().strip() if locks.exists() else None
    return found


class TestUpgrade:
    @pytest.mark.parametrize("point", range(len(KILLS)))
    def test_a_killed_first_run_heals(self, house: House, point: int, pytestconfig: pytest.Config) -> None:
        if point and pytestconfig.getoption("--kills") < 60:
            pytest.skip("one in CI; all with --kills 60")
        unpack(house)
        assert set(versions(house).values()) == {None}
        assert house.wrong() == []
        house.next_step("build")
        assert house.kill(KILLS[point]) == -9
        assert house.wrong(killed="build") == []
        assert house.done("build")
        assert house.wrong() == []

    def test_what_has_no_version_stays_so(self, house: House) -> None:
        """Only the folder of locks gets a version, because runs write new files there."""
        assert versions(house) == {
            **dict.fromkeys((*TABLES, Kind.CHECKPOINT)),
            Kind.LOCKS: str(CURRENT[Kind.LOCKS]),
        }

    def test_goes_on(self, house: House) -> None:
        house.next_step("build")
        assert house.done("build")
        assert house.wrong() == []
        assert house.leftovers() == []


def _bump_table(table: str) -> Callable[[House], None]:
    def bump(house: House) -> None:
        house.read(f"alter table {LAKE}.{table} set tblproperties ('{tables.OPTION}' = '{NEWER}')")

    return bump


def _bump_note(house: House) -> None:
    note = note_of(house)
    # The checksum that Hadoop's local file system wrote would no longer match.
    note.with_name(f".{note.name}.crc").unlink(missing_ok=True)
    note.write_text(json.dumps(json.loads(note.read_text()) | {"version": int(NEWER)}))


def _bump_locks(house: House) -> None:
    (house.folder / "lake" / ".dbt_paimon" / folders.FILE).write_text(NEWER)


def _commit(user: str, insert: str) -> Callable[[House], None]:
    def commit(house: House) -> None:
        house.read(f"set `{COMMIT_USER_CONF}`={user}")
        house.read(f"insert into {LAKE}.{insert}")
        house.read(f"reset `{COMMIT_USER_CONF}`")

    return commit


def _commit_batch(house: House) -> None:
    """A batch that a newer adapter has committed to the table, but not noted in the checkpoint."""
    folder = note_of(house).parent
    last = max(
        (path for path in (folder / "commits").iterdir() if path.name.isdigit()),
        key=lambda path: int(path.name),
    )
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink(missing_ok=True)
    _commit(f"dbts{NEWER}-{folder.name}.{last.name}", "streamed values (1L, 0)")(house)


class TestNewer:
    """Newer state of each kind is refused before anything is written, also by a full refresh."""

    @pytest.fixture(scope="class", autouse=True)
    def upgraded(self, house: House) -> Iterator[Path]:
        """A copy of the warehouse after TestUpgrade, or of the fixture after one more step."""
        if not house.step:
            unpack(house)
            house.next_step("build")
            assert house.done("build")
        saved = house.folder / "saved"
        shutil.copytree(house.folder / "lake", saved)
        house.next_step("build")
        yield saved
        shutil.rmtree(saved)

    @pytest.mark.parametrize(
        ("bump", "model", "full_refresh"),
        [
            (_bump_table("_dbt_views"), "seen", False),
            (_bump_table("logged__dbt_changes"), "logged", False),
            (_bump_table("logged__dbt_changes"), "logged", True),
            (_bump_table("applied__dbt_deletes"), "applied", False),
            (_bump_table("applied__dbt_deletes"), "applied", True),
            (_bump_note, "streamed", False),
            (_bump_note, "streamed", True),
            (_bump_locks, "added", False),
            (_commit(f"dbtc{NEWER}-{positions.short_hash('x')}.1.{'0' * 8}", "logged values (1L, 0, '+I')"), "logged", False),
            (_commit_batch, "streamed", False),
        ],
        ids=[
            "views", "positions", "positions, full refresh", "deletes", "deletes, full refresh", "checkpoint",
            "checkpoint, full refresh", "locks", "positions in commits", "batches in commits",
        ],
    )  # fmt: skip
    def test_refused(
        self, house: House, upgraded: Path, bump: Callable[[House], None], model: str, full_refresh: bool
    ) -> None:
        lake = house.folder / "lake"
        shutil.rmtree(lake)
        shutil.copytree(upgraded, lake)
        bump(house)
        before = contents(lake)
        more = ["--full-refresh"] if full_refresh else []
        result = dbt_here(house.folder, "run", "--select", model, *more, "--vars", json.dumps({"step": house.step}))
        assert not result.success
        messages = [str(result.exception)] if result.exception else [str(node.message) for node in result.result]
        assert [f"state version {NEWER}; this one" in message for message in messages] == [True]
        assert contents(lake) == before


def contents(lake: Path) -> dict[str, bytes]:
    """The files of a warehouse, without locks."""
    return {
        str(path.relative_to(lake)): path.read_bytes()
        for path in lake.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }
