"""`on_schema_change` in its four modes, dropped columns included."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

FIRST = "select 1 as id, 'a' as kept, 10 as gone"
SECOND = "select 2 as id, cast(7 as bigint) as fresh, 'b' as kept"


def model(mode: str, second: str = SECOND) -> str:
    return (
        "{{ config(materialized='incremental', primary_key='id', on_schema_change='" + mode + "') }}\n"
        "{% if is_incremental() %}" + second + "{% else %}" + FIRST + "{% endif %}"
    )


class TestSchemaChange:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sync_model.sql": model("sync_all_columns"),
            "append_model.sql": model("append_new_columns"),
            "fail_model.sql": model("fail"),
            "ignore_drop_model.sql": model("ignore"),
            "ignore_add_model.sql": model("ignore", "select 2 as id, 'b' as kept, 20 as gone, 1 as fresh"),
            "widen_model.sql": model(
                "sync_all_columns", "select 2 as id, 'b' as kept, cast(5000000000 as bigint) as gone"
            ),
            "narrow_model.sql": model("sync_all_columns", "select 2 as id, 'b' as kept, 20 as gone").replace(
                "10 as gone", "5000000000 as gone"
            ),
        }

    @pytest.fixture(scope="class")
    def results(self, project):
        run_dbt(["run"])
        return {r.node.name: r for r in run_dbt(["run"], expect_pass=False)}

    def test_sync_all_columns(self, results, rows):
        assert [c[0] for c in rows("describe table {schema}.sync_model")] == ["id", "kept", "fresh"]
        assert sorted(rows("select id, kept, fresh from {schema}.sync_model")) == [
            (1, "a", None),
            (2, "b", 7),
        ]

    def test_append_new_columns(self, results, rows):
        assert [c[0] for c in rows("describe table {schema}.append_model")] == ["id", "kept", "gone", "fresh"]
        expected = [(1, "a", 10, None), (2, "b", None, 7)]
        assert sorted(rows("select id, kept, gone, fresh from {schema}.append_model")) == expected

    def test_fail_and_dropped_column_under_ignore_write_nothing(self, results, rows):
        for name in ("fail_model", "ignore_drop_model"):
            assert results[name].status == "error"
            assert "on_schema_change" in results[name].message and "gone" in results[name].message
            assert rows(f"select * from {{schema}}.{name}") == [(1, "a", 10)]

    def test_ignore_leaves_a_new_column_out(self, results, rows):
        assert sorted(rows("select * from {schema}.ignore_add_model")) == [(1, "a", 10), (2, "b", 20)]

    def test_sync_widens_a_type(self, results, rows):
        assert sorted(rows("select id, gone from {schema}.widen_model")) == [(1, 10), (2, 5000000000)]

    def test_sync_narrows_no_type_under_the_rows_that_stay(self, results, rows):
        assert sorted(rows("select id, gone from {schema}.narrow_model")) == [(1, 5000000000), (2, 20)]


# What MERGE writes where the model and the table have other columns; `gone` of the row that was there.
BOTH = "select id, cast(7 as bigint) as fresh, 'b' as kept from values (1), (2) as v(id)"
KEYS = {
    "merged": ("unique_key='id'", 10),
    "merged_by_key": ("incremental_strategy='merge', primary_key='id'", 10),
    "replaced": ("incremental_strategy='delete+insert', unique_key='id'", None),
    "replaced_by_key": ("incremental_strategy='delete+insert', primary_key='id'", None),
}


class TestMerged:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name}_{mode}.sql": model(f"{mode}_columns", BOTH).replace("primary_key='id'", config)
            for name, (config, _) in KEYS.items()
            for mode in ("append_new", "sync_all")
        }

    def test_columns(self, project, rows):
        run_dbt(["run"])
        run_dbt(["run"])
        for name, (_, gone) in KEYS.items():
            assert [c[0] for c in rows(f"describe table {{schema}}.{name}_sync_all")] == [
                "id",
                "kept",
                "fresh",
            ], name
            assert sorted(rows(f"select * from {{schema}}.{name}_sync_all")) == [(1, "b", 7), (2, "b", 7)], (
                name
            )
            expected = [(1, "b", gone, 7), (2, "b", None, 7)]
            assert sorted(rows(f"select * from {{schema}}.{name}_append_new")) == expected, name
