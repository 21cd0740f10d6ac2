"""What dbt wrote, read by readers that nobody here wrote."""

from __future__ import annotations

import pyarrow.parquet
import pytest
from dbt.tests.util import run_dbt
from pypaimon import CatalogFactory
from tests.functional.conftest import CONNECTOR

from dbt.adapters.paimon.capabilities import parse_version

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


class TestReadBack:
    @pytest.fixture(scope="class")
    def models(self):
        batch = "{% if is_incremental() %}" + BATCHES[1] + "{% else %}" + BATCHES[0] + "{% endif %}"
        return {
            f"{name}.sql": f"{config}\n{QUERY.replace('BATCH', batch)}" for name, config in MODELS.items()
        }

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
        # After a full compaction the newest files hold the merged rows, and nothing else is to be known to read them.
        got = []
        for bucket, path in rows(f"select bucket, file_path from {{schema}}.`{name}$files`"):
            file = path if "/" in path else f"{warehouse}/{built}.db/{name}/bucket-{bucket}/{path}"
            parquet = pyarrow.parquet.ParquetFile(file.removeprefix("file:"))
            got += [(row["id"], row["word"], row["n"]) for row in parquet.read().to_pylist()]
        assert sorted(got, key=repr) == sorted(EXPECTED[name], key=repr)
