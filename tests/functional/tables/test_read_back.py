"""Reads dbt's tables with pypaimon, PyArrow and DuckDB; docs/how-to/read-without-spark.md lists the outcomes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pyspark
import pytest
from dbt.tests.util import run_dbt
from pypaimon import CatalogFactory
from tests.functional.conftest import CONNECTOR

from dbt.adapters.paimon.capabilities.version_numbers import parse_version
from wheels import find_uv

Rows = list[tuple[Any, ...]]

MODELS = {
    "keyed": "{{ config(materialized='incremental', primary_key='id', bucket=2, post_hook='{{ compact(this) }}') }}",
    "plain": "{{ config(materialized='incremental') }}",
    "totals": (
        "{{ config(materialized='incremental', primary_key='id', bucket=1, merge_engine='aggregation', "
        "fields={'n': {'aggregate_function': 'sum'}}, post_hook='{{ compact(this) }}') }}"
    ),
}
QUERY = "select cast(id as int) as id, word, cast(n as bigint) as n from values BATCH as t(id, word, n)"
BATCHES = ("(1, 'a', 10), (2, 'b', 20)", "(2, 'ü', 200), (3, null, 30)")
EXPECTED = {
    "keyed": [(1, "a", 10), (2, "ü", 200), (3, None, 30)],
    "plain": [(1, "a", 10), (2, "b", 20), (2, "ü", 200), (3, None, 30)],
    "totals": [(1, "a", 10), (2, "ü", 220), (3, None, 30)],
}


ROWS = """
select cast(id as int) as id, word, cast(n as int) as n, day from values
{{% if is_incremental() %}} (2, 'ü', 200, 'tue'), (3, null, 30, 'mon') {{% else %}} (1, 'a', 10, 'mon'), (2, 'b', 20, 'tue') {{% endif %}}
as t(id, word, n, day)
"""
KEY = "primary_key='id', bucket=2"
VECTORS = "deletion_vectors=true"
SUM = "merge_engine='aggregation', fields={'n': {'aggregate_function': 'sum'}}"
COMPACT = "call paimon.sys.compact(table => '{schema}.{name}')"
DELETE = "delete from {t} where id = 2"
MORE = "insert into {t} values (4, 'd', 40, 'wed')"
# Table -> (config, statements that follow a first run and an increment).
CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "appended": ("", ()),
    "appended_partitions": ("partition_by='day'", ()),
    "appended_orc": ("file_format='orc'", ()),
    "appended_avro": ("file_format='avro'", ()),
    "appended_deletes": ("", (DELETE,)),
    "appended_vectors": (VECTORS, (DELETE,)),
    "keyed": (KEY, ()),
    "keyed_orc": (f"{KEY}, file_format='orc'", ()),
    "keyed_avro": (f"{KEY}, file_format='avro'", ()),
    "keyed_dynamic": ("primary_key='id'", ()),
    "keyed_partitions": ("primary_key=['id', 'day'], partition_by='day', bucket=1", ()),
    "keyed_across": ("primary_key='id', partition_by='day'", ("insert into {t} values (1, 'moved', 11, 'tue')",)),
    "keyed_deletes": (KEY, (DELETE,)),
    "keyed_vectors": (f"{KEY}, {VECTORS}", (DELETE,)),
    "keyed_sequence": (f"{KEY}, sequence_field='n'", ("insert into {t} values (2, 'late', 100, 'tue')",)),
    "partial": (f"{KEY}, merge_engine='partial-update'", ("insert into {t} values (3, 'c', null, null)",)),
    "first_row": (f"{KEY}, merge_engine='first-row'", ()),
    "totals": (f"{KEY}, {SUM}", ()),
    "compacted": (KEY, (DELETE, COMPACT)),
    "compacted_totals": (f"{KEY}, {SUM}", (COMPACT,)),
    "added_column": ("", ("alter table {t} add columns (x int)", "insert into {t} values (4, 'd', 40, 'wed', 400)")),
    "renamed_column": ("", ("alter table {t} rename column word to name", MORE)),
    "renamed_of_keyed": (KEY, ("alter table {t} rename column word to name", MORE)),
    "wider_type": ("", ("alter table {t} alter column n type bigint", "insert into {t} values (4, 'd', 5000000000, 'wed')")),
    "column_anew": (
        "",
        (
            "alter table {t} drop column word",
            "alter table {t} add columns (word string)",
            "insert into {t} values (4, 40, 'wed', 'd')",
        ),
    ),
    "overwritten": ("", ("insert overwrite {t} values (9, 'z', 90, 'sun')",)),
    "truncated": ("", ("truncate table {t}", MORE)),
}  # fmt: skip
# Tables that DuckDB cannot read from their files: it returns wrong rows without an error, or fails (ERRORS).
OTHER_ROWS = {
    *("appended_vectors", "keyed", "keyed_dynamic", "keyed_partitions", "keyed_across", "keyed_deletes"),
    *("keyed_sequence", "partial", "totals", "renamed_column", "renamed_of_keyed", "column_anew"),
}
ERRORS = {"appended_orc", "appended_avro", "keyed_orc", "keyed_avro"}
# pypaimon 0.2 runs Paimon 0.9 in its own JVM; later versions need no JVM, but cannot read tables of 0.9.
OLD = "pypaimon==0.2.0"
READ_BY_OLD = """
import json, sys
from pypaimon.py4j import Catalog

catalog = Catalog.create({"warehouse": sys.argv[1]})
for name in sys.argv[2:]:
    builder = catalog.get_table(name).new_read_builder()
    found = builder.new_read().to_duckdb(builder.new_scan().plan().splits(), "found")
    print(json.dumps([name, found.sql("select * from found").fetchall()]))
"""


class TestReadBack:
    @pytest.fixture(scope="class")
    def models(self):
        batch = "{% if is_incremental() %}" + BATCHES[1] + "{% else %}" + BATCHES[0] + "{% endif %}"
        return {f"{name}.sql": f"{config}\n{QUERY.replace('BATCH', batch)}" for name, config in MODELS.items()}

    @pytest.fixture(scope="class")
    def built(self, project):
        run_dbt(["run"])
        run_dbt(["run"])
        return project.test_schema

    @pytest.mark.xfail(
        parse_version("1.0") > CONNECTOR,
        raises=KeyError,
        strict=True,
        reason="pypaimon 1.3 and later expect the manifest field _VALUE_STATS_COLS, which Paimon 0.9 does not write",
    )
    @pytest.mark.parametrize("name", MODELS)
    def test_pypaimon(self, built, warehouse, name):
        table = CatalogFactory.create({"warehouse": str(warehouse)}).get_table(f"{built}.{name}")
        builder = table.new_read_builder()
        read = builder.new_read().to_arrow(builder.new_scan().plan().splits())
        got = [(row["id"], row["word"], row["n"]) for row in read.to_pylist()]
        assert sorted(got, key=repr) == sorted(EXPECTED[name], key=repr)

    @pytest.mark.parametrize("name", MODELS)
    def test_pyarrow_reads_the_compacted_files(self, built, warehouse, rows, name):
        # After a full compaction, the newest files hold exactly the merged rows.
        got = []
        for bucket, path in rows(f"select bucket, file_path from {{schema}}.`{name}$files`"):
            file = path if "/" in path else f"{warehouse}/{built}.db/{name}/bucket-{bucket}/{path}"
            parquet = pyarrow.parquet.ParquetFile(file.removeprefix("file:"))
            got += [(row["id"], row["word"], row["n"]) for row in parquet.read().to_pylist()]
        assert sorted(got, key=repr) == sorted(EXPECTED[name], key=repr)


@pytest.mark.full
class TestEveryReader:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name}.sql": f"{{{{ config(materialized='incremental'{config and ', ' + config}) }}}}\n{ROWS.format()}"
            for name, (config, _) in CASES.items()
        }

    @pytest.fixture(scope="class")
    def built(self, project, rows):
        """Build the tables; returns their schema."""
        run_dbt(["run"])
        run_dbt(["run"])
        schema = project.test_schema
        for name, (_, then) in CASES.items():
            for statement in then:
                rows(statement.format(t=f"paimon.{schema}.{name}", name=name, schema=schema))
        return schema

    @pytest.fixture(scope="class")
    def by_pypaimon(self, built, warehouse) -> dict[str, Rows]:
        """The rows of each table, as DuckDB gets them from pypaimon."""
        if parse_version("1.0") > CONNECTOR:
            return _by_old(warehouse, built)
        pytest.importorskip("duckdb", reason="`make compat` installs it")
        catalog, found = CatalogFactory.create({"warehouse": str(warehouse)}), {}
        for name in CASES:
            builder = catalog.get_table(f"{built}.{name}").new_read_builder()
            duckdb = builder.new_read().to_duckdb(builder.new_scan().plan().splits(), "found")
            found[name] = duckdb.sql("select * from found").fetchall()
        return found

    @pytest.mark.parametrize("name", CASES)
    def test_pypaimon(self, by_pypaimon, rows, name):
        assert _sorted(by_pypaimon[name]) == _sorted(rows(f"select * from {{schema}}.{name}"))

    @pytest.mark.parametrize("name", CASES)
    def test_plain_files(self, built, warehouse, rows, name):
        """DuckDB reads the files of the newest table snapshot, without Paimon."""
        duckdb = pytest.importorskip("duckdb", reason="`make compat` installs it")
        listed = {path.rpartition("/")[2] for (path,) in rows(f"select file_path from {{schema}}.`{name}$files`")}
        files = [str(path) for path in (warehouse / f"{built}.db" / name).rglob("*") if path.name in listed]
        assert len(files) == len(listed)
        # DESCRIBE repeats partition columns at the end. Files of keyed tables also have Paimon's own columns.
        described = [row[0] for row in rows(f"describe {{schema}}.{name}")]
        columns = dict.fromkeys(column for column in described if column and not column.startswith("#"))
        if name in ERRORS:
            with pytest.raises(duckdb.InvalidInputException):
                duckdb.read_parquet(files)
            return
        found = duckdb.read_parquet(files, union_by_name=True).select(*columns).fetchall()
        is_same = _sorted(found) == _sorted(rows(f"select * from {{schema}}.{name}"))
        assert is_same == (name not in OTHER_ROWS)


def _by_old(warehouse: Path, schema: str) -> dict[str, Rows]:
    jars = Path(pyspark.__file__).parent / "jars"
    hadoop = [path for name in ("hadoop-client-*", "commons-logging-*", "slf4j-api-*") for path in jars.glob(name)]
    ways = [
        "--quiet",
        "--isolated",
        "--no-project",
        "--python",
        sys.executable,
        "--with",
        OLD,
        "--with",
        "duckdb",
    ]
    names = [f"{schema}.{name}" for name in CASES]
    done = subprocess.run(
        [find_uv(), "run", *ways, "python", "-c", READ_BY_OLD, str(warehouse), *names],
        env=os.environ
        | {
            "_PYPAIMON_HADOOP_CLASSPATH": os.pathsep.join(map(str, hadoop)),
            "_PYPAIMON_JVM_ARGS": "--add-opens=java.base/java.nio=ALL-UNNAMED",
        },
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return {name.rpartition(".")[2]: rows for name, rows in map(json.loads, done.stdout.splitlines())}


def _sorted(rows: Any) -> Rows:
    return sorted((tuple(row) for row in rows), key=repr)
