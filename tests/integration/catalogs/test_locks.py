"""Two dbt processes lose no rows on one catalog or bucket. With `lock.enabled`, Paimon waits for other clients."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from integration.catalogs.base import Reader
from own_process import OwnProcess, write_project

BATCH = 50
FILES = {
    "models/appended.sql": f"""{{{{ config(materialized='incremental', incremental_strategy='append') }}}}
select id, {{{{ var('run') }}}} as run from range({BATCH})""",
    "models/upserted.sql": f"""{{{{ config(materialized='incremental', primary_key=['run', 'id'], bucket=2) }}}}
select {{{{ var('run') }}}} as run, id from range({BATCH})""",
    "models/counted.sql": f"""{{{{ config(
    materialized='incremental', primary_key='id', merge_engine='aggregation', fields={{'n': {{'aggregate_function': 'sum'}}}}
) }}}} select id, 1 as n from range({BATCH})""",
    "models/swapped.sql": f"""{{{{ config(
    materialized='table', on_rebuild='drop_history', primary_key=['id'] if var('run') % 2 else ['id', 'run']
) }}}} select id, {{{{ var('run') }}}} as run from range({BATCH})""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture(
    params=[
        "filesystem_on_s3",
        "postgresql",
        *(pytest.param(name, marks=pytest.mark.full) for name in ("hive", "hive_on_s3", "sqlite")),
    ]
)
def target(request, folder: Path, spark_config: dict[str, Any]) -> dict[str, Any]:
    """A target for each kind of catalog, with Paimon's locks where they exist."""
    catalog: dict[str, Any] = {
        "sqlite": lambda: {
            "metastore": "jdbc",
            "uri": f"jdbc:sqlite:{folder / 'catalog.db'}",
            "catalog_options": {"lock.enabled": True},
        },
        "hive": lambda: {
            "metastore": "hive",
            "uri": request.getfixturevalue("hive").uri,
            "catalog_options": {"lock.enabled": True},
        },
        # The adapter's own locks, in the bucket.
        "filesystem_on_s3": lambda: {
            "warehouse": f"s3://{request.getfixturevalue('object_store').bucket}/leases",
            "catalog_options": request.getfixturevalue("object_store").catalog_options(),
            "s3_lock": True,
        },
        # No `lock.enabled`: the adapter sets it where a rename does not work as a lock.
        "hive_on_s3": lambda: {
            "metastore": "hive",
            "uri": request.getfixturevalue("hive").uri,
            "warehouse": f"s3://{request.getfixturevalue('object_store').bucket}/locks",
            # Locations are stored in properties, because the metastore itself has no file system for s3://.
            "catalog_options": request.getfixturevalue("object_store").catalog_options()
            | {"location-in-properties": True},
        },
        "postgresql": lambda: {
            "metastore": "jdbc",
            "uri": request.getfixturevalue("postgresql").uri,
            "catalog_options": {
                "catalog-key": "locks",
                "jdbc.user": request.getfixturevalue("postgresql").user,
                "jdbc.password": request.getfixturevalue("postgresql").password,
            },
        },
    }[request.param]()
    return {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "schema": f"{request.function.__name__}_{request.param}",
        "warehouse": str(folder / "lake"),
        "threads": 4,
        "spark_config": spark_config,
        **catalog,
    }


def test_two_runs_of_dbt(target, folder):
    write_project(folder, target, FILES)
    models = {"appended", "upserted", "counted", "swapped"}
    # Only the adapter's own locks (on local warehouses and in buckets) keep two runs from creating or swapping the same
    # table at the same time (docs/storage.md).
    apart = "s3_lock" in target or not target["warehouse"].startswith("s3:")
    if not apart:
        models.remove("swapped")
    runs = [["run", "--vars", f"{{run: {number}}}", "--select", *sorted(models)] for number in range(4)]
    both = [
        OwnProcess(folder, target, [{"dbt": runs[first]}, {"dbt": runs[first + 2]}], name=f"process_{first}")
        for first in (0, 1)
    ]
    answers = [process.answers() for process in both]
    # Every run has a result for each of its models.
    assert [set(step) for found in answers for step in found] == [models] * 4, answers
    # Without those locks, a run may fail because the other run creates the same table at the same time.
    written = {
        model: [first + 2 * step for first in (0, 1) for step in (0, 1) if answers[first][step][model] == "success"]
        for model in models
    }
    for found in written.values():
        assert len(found) == 4 or (len(found) == 3 and not apart), answers
    reader = Reader(target)

    def rows(model: str) -> list[tuple[int, int]]:
        return sorted((number, run) for run in written[model] for number in range(BATCH))

    # The tables have all rows of the successful runs and none of the failed ones.
    assert reader.state("appended") == rows("appended")
    assert reader.state("upserted") == sorted((run, number) for number, run in rows("upserted"))
    assert reader.state("counted") == [(number, len(written["counted"])) for number in range(BATCH)]
    # All rows are from one of the last two runs.
    if "swapped" in models:
        assert reader.state("swapped") in [[(number, run) for number in range(BATCH)] for run in (2, 3)]
    assert reader.tables() == models


@contextmanager
def locked_by_hive(target: dict[str, Any], reader: Reader, table: str) -> Iterator[None]:
    """Hold the lock of a table as another client of the metastore would."""
    jvm = reader.session._jvm
    api, hive = jvm.org.apache.hadoop.hive.metastore.api, jvm.org.apache.hadoop.hive
    conf = hive.conf.HiveConf()
    conf.set("hive.metastore.uris", target["uri"])
    client = hive.metastore.HiveMetaStoreClient(conf)
    wanted = api.LockComponent(api.LockType.EXCLUSIVE, api.LockLevel.TABLE, target["schema"])
    wanted.setTablename(table)
    components = jvm.java.util.ArrayList()
    components.add(wanted)
    held = client.lock(api.LockRequest(components, "somebody", "elsewhere"))
    assert str(held.getState()) == "ACQUIRED"
    yield
    client.unlock(held.getLockid())
    client.close()


@contextmanager
def locked_in_sqlite(target: dict[str, Any], reader: Reader, table: str) -> Iterator[None]:
    """Hold the lock of a table as another JdbcCatalogLock would."""
    with closing(sqlite3.connect(target["uri"].removeprefix("jdbc:sqlite:"), timeout=30)) as database:
        name = f"jdbc.{target['schema']}.{table}"
        held = "insert into paimon_distributed_locks (lock_id, expire_time_seconds) values (?, 600)"
        database.execute(held, [name])
        database.commit()
        yield
        database.execute("delete from paimon_distributed_locks where lock_id = ?", [name])
        database.commit()


@pytest.mark.parametrize(
    ("target", "locked"),
    [("hive", locked_by_hive), ("sqlite", locked_in_sqlite)],
    indirect=["target"],
    ids=["hive", "sqlite"],
)
def test_paimons_own_locks(target, locked):
    """A commit waits for any client that holds the table's lock, and gives up after a timeout without writing."""
    target["catalog_options"] |= {"lock-acquire-timeout": "2 s", "lock-check-max-sleep": "1 s"}
    reader = Reader(target)
    schema = reader.schema
    reader.rows(f"create database {schema}")
    reader.rows(f"create table {schema}.held (n int)")
    reader.rows(f"insert into {schema}.held values (1)")
    with locked(target, reader, "held"):
        with pytest.raises(Exception, match="Acquire lock failed"):
            reader.rows(f"insert into {schema}.held values (2)")
        assert reader.state("held") == [(1,)]
    reader.rows(f"insert into {schema}.held values (3)")
    assert reader.state("held") == [(1,), (3,)]
