"""A WHERE that keeps rows with NULL returns them, or a warning suggests a condition that does."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt
from tests.functional.conftest import VERSIONS

from dbt.adapters.paimon.capabilities import Capability

RIGHT = VERSIONS.supports(Capability.FILTERS_THAT_KEEP_NULLS)
FORMATS = ("parquet", "orc", "avro")
# name -> (condition that all rows but one meet, an equivalent that the warning suggests)
CONDITIONS = {
    "texts": ("st is distinct from 'done'", "(st <> 'done' or st is null)"),
    "flags": ("flag is not true", "(flag <> true or flag is null)"),
    "negated": (
        "not (st <=> 'done' and flag is true)",
        "((st <> 'done' or st is null) or not coalesce(flag, false))",
    ),
}
SOURCES = "sources: [{name: raw, schema: '{{ target.schema }}', tables: [{name: parquet}, {name: orc}, {name: avro}]}]"
ERRORS = ["--warn-error-options", "{error: [AdapterEventWarning]}"]


def model(condition: str) -> str:
    return "{{ config(materialized='table') }}\n" + " union all ".join(
        f"select '{each}' as format, id from {{{{ source('raw', '{each}') }}}} where {condition}" for each in FORMATS
    )


class TestNullFilters:
    @pytest.fixture(scope="class")
    def models(self):
        found = {"sources.yml": SOURCES}
        for name, (lossy, right) in CONDITIONS.items():
            found |= {f"{name}_lossy.sql": model(lossy), f"{name}_right.sql": model(right)}
        return found

    @pytest.fixture(scope="class")
    def results(self, project, rows):
        for each in FORMATS:
            rows(
                f"create table {{schema}}.{each} (id int, st string, flag boolean) tblproperties ('file.format' = '{each}')"
            )
            for values in (
                "(1, null, null), (2, null, null)",
                "(3, 'done', true), (4, null, null)",
                "(5, 'x', false)",
            ):
                rows(
                    f"insert into {{schema}}.{each} select /*+ coalesce(1) */ * from values {values} as v(id, st, flag)"
                )
        results = run_dbt([*ERRORS, "run"], expect_pass=RIGHT)
        return {result.node.name: result.status for result in results}

    @pytest.mark.parametrize("name", CONDITIONS)
    def test_rows(self, results, rows, name):
        expected = [(each, number) for each in sorted(FORMATS) for number in (1, 2, 4, 5)]
        assert rows(f"select format, id from {{schema}}.{name}_right order by 1, 2") == expected
        if RIGHT:
            assert rows(f"select format, id from {{schema}}.{name}_lossy order by 1, 2") == expected
        else:
            assert results[f"{name}_lossy"] == "error"
