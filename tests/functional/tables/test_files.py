"""Data files: their codec, their order, and which of them a query opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dbt.tests.util import get_connection, run_dbt
from pyarrow import orc, parquet

from dbt.adapters.paimon.capabilities.version_numbers import reaches
from functional.conftest import VERSIONS

CODECS = {
    # pyarrow does not know Hadoop's own LZ4 format, which parquet-hadoop writes.
    "parquet": {
        "zstd": "ZSTD",
        "snappy": "SNAPPY",
        "gzip": "GZIP",
        "lz4": "UNKNOWN",
        "uncompressed": "UNCOMPRESSED",
    },
    "orc": {"zstd": "ZSTD", "snappy": "SNAPPY", "zlib": "ZLIB", "lz4": "LZ4", "none": "UNCOMPRESSED"},
}
CASES = [(kind, codec) for kind, codecs in CODECS.items() for codec in codecs]


class TestCodecs:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{kind}_{codec}.sql": f"{{{{ config(materialized='table', file_format='{kind}', "
            f"tblproperties={{'file.compression': '{codec}'}}) }}}} select id, repeat('abc', 99) as t from range(99)"
            for kind, codec in CASES
        }

    @pytest.fixture(scope="class", autouse=True)
    def _run(self, project):
        run_dbt(["run"])

    @pytest.mark.parametrize(("kind", "codec"), CASES)
    def test_codec(self, project, warehouse, rows, kind, codec):
        paths = list(warehouse.glob(f"{project.test_schema}.db/{kind}_{codec}/bucket-*/*.{kind}"))
        if kind == "parquet":
            groups = [parquet.read_metadata(path).row_group(0) for path in paths]
            found = {group.column(number).compression for group in groups for number in range(2)}
        else:
            found = {orc.ORCFile(path).compression for path in paths}
        assert found == {CODECS[kind][codec]}
        assert rows(f"select count(*), min(t) from {{schema}}.{kind}_{codec}") == [(99, "abc" * 99)]


class TestPruning:
    """A query succeeds although a file that it does not need is missing."""

    @pytest.fixture(scope="class")
    def models(self):
        append = "materialized='incremental', incremental_strategy='append'"
        ids = "select {{ var('run') }} as id"
        return {
            "by_day.sql": f"{{{{ config({append}, partition_by='day') }}}} {ids}, "
            "'2024-01-0' || {{ var('run') }} as day",
            "by_id.sql": f"{{{{ config({append}) }}}} {ids}, 'x' as v",
            "nested.sql": "{{ config(materialized='table') }} select 1 as id, "
            "named_struct('a', 1, 'b', named_struct('c', 2, 'd', 3)) as s",
        }

    @pytest.fixture(scope="class", autouse=True)
    def _runs(self, project):
        for run in range(3):
            run_dbt(["run", "--vars", f"run: {run}"])

    def test_partitions(self, project, warehouse, rows):
        folder = warehouse / f"{project.test_schema}.db" / "by_day" / "day=2024-01-01"
        with away(folder):
            assert rows("select id from {schema}.by_day where day > '2024-01-01'") == [(2,)]
            assert rows("select id from {schema}.by_day where day = '2024-01-00'") == [(0,)]
            with pytest.raises(Exception, match="day=2024-01-01"):
                rows("select id from {schema}.by_day")
        assert len(rows("select id from {schema}.by_day")) == 3

    def test_statistics(self, project, warehouse, rows):
        """The manifests have the minimum and maximum of each column in each file."""
        ((path,),) = rows("select file_path from {schema}.`by_id$files` where min_value_stats like '%id=1%'")
        name = path.rsplit("/", 1)[-1]
        (file,) = warehouse.glob(f"{project.test_schema}.db/by_id/bucket-0/{name}")
        with away(file):
            assert rows("select id from {schema}.by_id where id = 2") == [(2,)]
            assert rows("select id from {schema}.by_id where id < 1") == [(0,)]
            with pytest.raises(Exception, match=name):
                rows("select id from {schema}.by_id where id >= 1")
        assert len(rows("select id from {schema}.by_id")) == 3

    @pytest.mark.parametrize(
        ("field", "value", "read"),
        [
            ("s.a", 1, "struct<s:struct<a:int>>"),
            ("s.b.d", 3, "struct<s:struct<b:struct<d:int>>>"),
        ],
    )
    def test_fields_of_a_struct(self, project, field, value, read):
        """Nested projection: the scan reads only the selected field; before Paimon 1.2, the whole struct."""
        if not reaches(VERSIONS.paimon, "1.2"):
            read = "struct<s:struct<a:int,b:struct<c:int,d:int>>>"
        with get_connection(project.adapter):
            session = project.adapter.connections.get_thread_connection().handle.session
            frame = session.sql(f"select {field} from paimon.{project.test_schema}.nested")
            assert [tuple(row) for row in frame.collect()] == [(value,)]
            (scan,) = leaves(frame)
        assert scan.scan().readSchema().simpleString() == read


def leaves(frame):
    """The leaves of a query's physical plan, as Java objects."""
    found = frame._jdf.queryExecution().executedPlan().collectLeaves()
    return [found.apply(number) for number in range(found.size())]


class TestOrderOfPartitions:
    """Append tables are read partition by partition: in order of creation, or by value with an option."""

    @pytest.fixture(scope="class")
    def models(self):
        config = "materialized='table', partition_by='part', tblproperties={'scan.plan-sort-partition': true}"
        return {
            "in_order.sql": f"{{{{ config({config}) }}}} select id, 'p' || (10 + (id * 7) % 10) as part from range(10)",
            "as_made.sql": "{{ config(materialized='incremental', incremental_strategy='append', partition_by='part', "
            "bucket=1, bucket_key='id') }} select 1 as id, 'p3' as part",
        }

    def test_rows_are_read_by_partition(self, project, rows):
        run_dbt(["run", "--select", "in_order"])
        found = rows("select /*+ coalesce(1) */ part from {schema}.in_order")
        assert found == [(f"p{10 + number}",) for number in range(10)]

    def test_rows_are_read_as_they_were_written(self, project, rows):
        """Without the option: partitions in order of creation, and the rows of a bucket in order of writing."""
        run_dbt(["run", "--select", "as_made"])
        for values in ("(9, 'p1'), (8, 'p1')", "(7, 'p3'), (6, 'p2')", "(5, 'p1'), (0, 'p3')"):
            rows(f"insert into {{schema}}.as_made values {values}")
        found = rows("select /*+ coalesce(1) */ id, part from {schema}.as_made")
        assert found == [(1, "p3"), (7, "p3"), (0, "p3"), (9, "p1"), (8, "p1"), (5, "p1"), (6, "p2")]


@contextmanager
def away(path: Path) -> Iterator[None]:
    """Rename a file or folder during the block."""
    hidden = path.rename(path.with_name(f"_{path.name}.away"))
    try:
        yield
    finally:
        hidden.rename(path)


class TestAnalyze:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "hooked.sql": "{{ config(materialized='table', post_hook=\"{{ analyze(this, columns='all') }}\") }}"
            " select id, id % 3 as r, nullif(id, 5) as n from range(10)",
            "by_hand.sql": "{{ config(materialized='table') }} select id, `order` from (select 1 as id, 2 as `order`)",
        }

    @pytest.fixture(scope="class", autouse=True)
    def _run(self, project):
        run_dbt(["run"])

    def test_a_hook(self, rows):
        ((merged, stats),) = rows(
            "select mergedRecordCount, colstat from {schema}.`hooked$statistics` order by snapshot_id desc limit 1"
        )
        assert merged == 10
        found = json.loads(stats)
        assert {name: column["distinctCount"] for name, column in found.items()} == {"id": 10, "r": 3, "n": 9}
        assert found["n"]["nullCount"] == 1

    def test_an_operation(self, project, rows):
        run_dbt(["run-operation", "analyze", "--args", "{relation: by_hand}"])
        run_dbt(["run-operation", "analyze", "--args", "{relation: by_hand, columns: [order]}"])
        found = rows("select mergedRecordCount, colstat from {schema}.`by_hand$statistics` order by snapshot_id")
        assert [count for count, _ in found][-1] == 1
        assert set(json.loads(found[-1][1])) == {"order"}
        # Statistics do not change the rows.
        assert rows("select * from {schema}.by_hand") == [(1, 2)]
