"""With `iceberg: true`, pyiceberg and DuckDB read the same rows as Spark, or the config is refused."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.capabilities import Capability
from query_rows import Rows

# pydantic stores the class `datetime` when it is first imported, so import it before a test of dbt freezes the time.
with contextlib.suppress(ImportError):
    import pyiceberg.table  # noqa: F401

ON = "iceberg=true"
EVERYTHING = """{{ config(materialized='table', iceberg=true) }}
select
    true as b, 1Y as t, 2S as sm, 3 as i, 4L as l, 1.5F as f, 2.5D as d, cast(1.2345 as decimal(20,4)) as de,
    'x' as st, x'01' as bi, date '2024-01-02' as da, timestamp '2024-01-02 03:04:05.123456' as ts,
    timestamp_ntz '2024-01-02 03:04:05.123456' as tn, array('a', 'b') as ar, map('k', 1) as ma,
    named_struct('x', 1, 'y', 'z') as ro, array(named_struct('n', map('k', array(1, 2)))) as deep,
    cast(null as int) as nothing
"""
KEYED = """{{{{ config(materialized='incremental', primary_key='id', iceberg=true{more}) }}}}
select id, name, amount from {{{{ source('raw', 'changes') }}}}
"""
PARTITIONED = """{{ config(
    materialized='incremental', primary_key=['id', 'day', 'n'], partition_by=['day', 'n'], iceberg=true
) }}
select id, name, date '2024-01-01' + id as day, id % 2 as n, amount from {{ source('raw', 'changes') }}
"""
APPENDED = """{{ config(materialized='incremental', iceberg=true, on_schema_change='append_new_columns') }}
select id, name{{ var('more', '') }} from {{ source('raw', 'changes') }}
"""
REBUILT = """{{ config(materialized='table', iceberg=true, primary_key=var('key', 'id'), on_rebuild='drop_history') }}
select id, name, amount from {{ source('raw', 'changes') }}
"""
SOURCE = {
    "version": 2,
    "sources": [{"name": "raw", "schema": "{{ target.schema }}", "tables": [{"name": "changes"}]}],
}


def _metadata(folder: Path) -> Path:
    """The metadata file that `version-hint.text` points to."""
    newest = int((folder / "metadata" / "version-hint.text").read_text())
    return folder / "metadata" / f"v{newest}.metadata.json"


def _by_pyiceberg(folder: Path) -> list[tuple[Any, ...]]:
    from pyiceberg.table import StaticTable

    table = StaticTable.from_metadata(str(_metadata(folder))).scan().to_arrow()
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=str)


def _by_duckdb(folder: Path) -> list[tuple[Any, ...]]:
    import duckdb
    import duckdb_ext

    (base,) = duckdb_ext.__path__
    with duckdb.connect(config={"allow_unsigned_extensions": "true"}) as connection:
        for name in ("avro", "iceberg"):
            (path,) = Path(base).glob(f"extensions/*/*/{name}.duckdb_extension")
            connection.execute(f"load '{path}'")
        found = connection.execute(f"select * from iceberg_scan('{_metadata(folder)}')").fetchall()
    return sorted(found, key=str)


@pytest.fixture
def changes(rows: Rows) -> Callable[[str], None]:
    """Function: create the source table again, with these rows."""

    def make(values: str) -> None:
        rows("drop table if exists {schema}.changes")
        rows("create table {schema}.changes (id int, name string, amount int) using paimon")
        rows(f"insert into {{schema}}.changes values {values}")

    return make


@pytest.mark.needs(Capability.ICEBERG_METADATA)
class TestReaders:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, Any]:
        return {
            "sources.yml": SOURCE,
            "everything.sql": EVERYTHING,
            "keyed.sql": KEYED.format(more=""),
            "with_vectors.sql": KEYED.format(more=", deletion_vectors=true"),
            "by_policy.sql": KEYED.format(more=", maintenance={'compact': {'small_files': 20}}"),
            "partitioned.sql": PARTITIONED,
            "appended.sql": APPENDED,
            "rebuilt.sql": REBUILT,
        }

    @pytest.fixture
    def same(self, project: Any, rows: Rows, warehouse: Path) -> Callable[[str], list[Any]]:
        """Function: check that both readers read the same rows of a table as Spark; returns the rows."""

        def compare(name: str) -> list[Any]:
            folder = warehouse / f"{project.test_schema}.db" / name
            ours = sorted((tuple(row) for row in rows(f"select * from {{schema}}.`{name}`")), key=str)
            assert _plain(_by_pyiceberg(folder)) == _plain(ours)
            assert _plain(_by_duckdb(folder)) == _plain(ours)
            return ours

        return compare

    def test_every_type(self, changes, same):
        run_dbt(["run", "--select", "everything"])
        assert len(same("everything")) == 1

    @pytest.mark.parametrize("name", ["keyed", "with_vectors", "partitioned"])
    def test_upserts_and_deletes(self, name, changes, same, rows):
        changes("(1, 'a', 10), (2, 'b', 20), (3, 'c', 30)")
        run_dbt(["run", "--select", name, "--full-refresh"])
        assert len(same(name)) == 3
        changes("(2, 'B', 21), (4, 'd', 40)")
        run_dbt(["run", "--select", name])
        assert [row[1] for row in same(name)] == ["a", "B", "c", "d"]
        rows(f"delete from {{schema}}.{name} where id = 1")
        changes("(5, 'e', 50)")
        run_dbt(["run", "--select", name])
        assert [row[1] for row in same(name)] == ["B", "c", "d", "e"]

    def test_compacted_by_policy(self, changes, same, rows, project, warehouse):
        """With a maintenance policy, Iceberg readers see the rows of the last full compaction."""
        changes("(1, 'a', 10)")
        run_dbt(["run", "--select", "by_policy", "--full-refresh"])
        rows("call paimon.sys.compact(table => '{schema}.by_policy')")
        changes("(2, 'b', 20)")
        run_dbt(["run", "--select", "by_policy"])
        folder = warehouse / f"{project.test_schema}.db" / "by_policy"
        assert _by_pyiceberg(folder) == _by_duckdb(folder) == [(1, "a", 10)]
        rows("call paimon.sys.compact(table => '{schema}.by_policy')")
        assert len(same("by_policy")) == 2

    def test_schema_changes(self, changes, same, rows):
        changes("(1, 'a', 10)")
        run_dbt(["run", "--select", "appended", "--full-refresh"])
        assert same("appended") == [(1, "a")]
        run_dbt(["run", "--select", "appended", "--vars", "{more: ', amount'}"])
        assert same("appended") == [(1, "a", 10), (1, "a", None)]

    def test_rebuilt_and_swapped(self, changes, same):
        """After a rebuild or a swap, readers find the new table's files."""
        changes("(1, 'a', 10), (1, 'b', 20)")
        run_dbt(["run", "--select", "rebuilt"])
        assert len(same("rebuilt")) == 1
        run_dbt(["run", "--select", "rebuilt"])
        assert len(same("rebuilt")) == 1
        run_dbt(["run", "--select", "rebuilt", "--full-refresh", "--vars", "{key: [id, name]}"])
        assert len(same("rebuilt")) == 2
        run_dbt(["run", "--select", "rebuilt", "--vars", "{key: [id, name]}"])
        assert len(same("rebuilt")) == 2

    @pytest.mark.parametrize(
        ("operation", "more"),
        [
            ("rollback_to", "version: 1"),
            ("fast_forward", "branch: other, discard: true"),
            ("create_branch", "branch: other"),
        ],
    )
    def test_not_taken_back(self, changes, same, rows, project, operation, more):
        """Rollbacks and branches fail: Paimon would keep the metadata of removed rows, or write that of a branch."""
        changes("(1, 'a', 10)")
        run_dbt(["run", "--select", "appended", "--full-refresh"])
        run_dbt(["run", "--select", "appended"])
        before = rows("select snapshot_id from {schema}.`appended$snapshots`")
        arguments = f"{{relation: {project.test_schema}.appended, {more}}}"
        run_dbt(["run-operation", operation, "--args", arguments], expect_pass=False)
        assert rows("select snapshot_id from {schema}.`appended$snapshots`") == before
        assert len(same("appended")) == 2


def _plain(rows: list[Any]) -> list[Any]:
    """Rows with the same Python types for all readers, which differ in time zones, maps, structs and bytes."""
    return [[_value(value) for value in row] for row in rows]


def _value(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if hasattr(value, "asDict"):
        return _value(value.asDict())
    if isinstance(value, dict):
        return {key: _value(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        pairs = value and all(isinstance(each, tuple) and len(each) == 2 for each in value)
        return {key: _value(each) for key, each in value} if pairs else [_value(each) for each in value]
    return value.replace(tzinfo=None) if hasattr(value, "tzinfo") else value


class TestRefused:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        keyed = "{{{{ config(materialized='table', primary_key='id', {}) }}}} select 1 as id"
        return {
            "by_key.sql": keyed.format(ON),
            "by_option.sql": keyed.format("tblproperties={'metadata.iceberg.storage': 'table-location'}"),
            "old_option.sql": keyed.format("tblproperties={'metadata.iceberg-compatible': 'true'}"),
            "of_orc.sql": keyed.format(f"{ON}, file_format='orc'"),
            "audited.sql": keyed.format(f"{ON}, wap=true"),
            "quoted.sql": keyed.format("iceberg='maybe'"),
        }

    def refusal(self, project: Any, name: str) -> str:
        (result,) = run_dbt(["run", "--select", name], expect_pass=False)
        assert project.run_sql(f"show tables in {{schema}} like '{name}'", fetch="all") == []
        return re.sub(r"\s+", " ", str(result.message))

    @pytest.mark.lacks(Capability.ICEBERG_METADATA)
    @pytest.mark.parametrize("name", ["by_key", "by_option", "old_option"])
    def test_before_paimon_1_4(self, project, name):
        assert "tables that Iceberg's readers can read" in self.refusal(project, name)

    @pytest.mark.needs(Capability.ICEBERG_METADATA)
    @pytest.mark.parametrize(("name", "reason"), [("of_orc", "not orc"), ("audited", "a branch's commits would write")])
    def test_what_does_not_go_together(self, project, name, reason):
        assert reason in self.refusal(project, name)

    def test_neither_true_nor_false(self, project):
        assert "iceberg='maybe': true or false" in self.refusal(project, "quoted")
