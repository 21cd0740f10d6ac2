"""`on_schema_change` in its four modes, dropped columns included."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, write_file

WINDOW = ["--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02"]
SECOND_RUN = "var('second', false)"
SYNCS = f"'sync_all_columns' if {SECOND_RUN} else 'fail'"
FIRST = "select 1 as id, 'a' as kept, 10 as gone"
SECOND = "select 2 as id, cast(7 as bigint) as fresh, 'b' as kept"


def model(mode: str, second: str = SECOND) -> str:
    mode = mode if mode == SYNCS else f"'{mode}'"
    return (
        "{{ config(materialized='incremental', primary_key='id', on_schema_change=" + mode + ") }}\n"
        "{% if is_incremental() %}" + second + "{% else %}" + FIRST + "{% endif %}"
    )


# Models whose second run lacks `gone`, which their table requires: name -> (on_schema_change, config)
KEY = "primary_key=['id', 'gone']"
BATCHES = "incremental_strategy='microbatch', event_time='at', batch_size='day', begin='2024-01-01'"
LESS = {
    "key_merged": ("append_new_columns", KEY + ", incremental_strategy='merge'"),
    "key_audited": ("append_new_columns", KEY + ", incremental_strategy='merge', wap=true"),
    "key_merged_in_parts": ("ignore", KEY + ", incremental_strategy='merge', merge_engine='partial-update'"),
    "key_upserted": ("append_new_columns", KEY),
    "key_upserted_in_parts": ("ignore", KEY + ", merge_engine='partial-update'"),
    "key_replaced": (
        "append_new_columns",
        KEY + ", unique_key='id', incremental_strategy='delete+insert'",
    ),
    "key_synced": ("sync_all_columns", KEY),
    "partition_merged": (
        "append_new_columns",
        "primary_key='id', partition_by='gone', incremental_strategy='merge'",
    ),
    "partition_upserted": ("append_new_columns", "primary_key='id', partition_by='gone'"),
    "partition_overwritten": (
        "append_new_columns",
        "partition_by='gone', incremental_strategy='insert_overwrite'",
    ),
    "order_upserted": ("append_new_columns", "primary_key='id', sequence_field='gone'"),
    "required_merged": ("append_new_columns", "unique_key='id', incremental_strategy='merge'"),
    "required_upserted": ("append_new_columns", "primary_key='id'"),
    "required_replaced": ("append_new_columns", "unique_key='id', incremental_strategy='delete+insert'"),
    "required_batched": ("append_new_columns", BATCHES),
    # Replacing a partition's rows would lose the values of a column that the model lacks.
    "parts_overwritten": (
        "ignore",
        "primary_key=['kept', 'id'], partition_by='kept', merge_engine='partial-update', "
        "incremental_strategy='insert_overwrite'",
    ),
    "parts_batched": (
        "ignore",
        "primary_key=['kept', 'id', 'at'], partition_by='kept', merge_engine='partial-update', " + BATCHES,
    ),
}
# Models whose second run drops `gone`, which was NOT NULL.
SYNCED = {
    "required_upserted_synced": "primary_key='id'",
    "required_merged_synced": "primary_key='id', incremental_strategy='merge'",
    "required_table": "materialized='table'",
}
# Models whose config in the second run names a new column, which on_schema_change='ignore' leaves out.
LEFT_OUT = {
    "updates_left_out": "primary_key='id', incremental_strategy='merge', "
    f"merge_update_columns=['fresh' if {SECOND_RUN} else 'kept']",
    "matches_left_out": f"incremental_strategy='merge', unique_key=['id', 'fresh'] if {SECOND_RUN} else ['id']",
}
AT = ", timestamp'2024-01-01 12:00:00' as at"


def less(mode: str, config: str) -> str:
    text = model(mode, f"select id, 'a' as kept{AT} from values (1), (2) as v(id)")
    text = text.replace(FIRST, FIRST + AT).replace("primary_key='id'", config)
    if "materialized='table'" in config:
        text = text.replace("materialized='incremental', ", "").replace("is_incremental()", SECOND_RUN)
    return text


def contract(names, gone: str = "") -> str:
    columns = (
        f"[{{name: id, data_type: int}}, {{name: kept, data_type: string}}, {gone}{{name: at, data_type: timestamp}}]"
    )
    return "models:\n" + "".join(
        f"  - {{name: {name}, config: {{contract: {{enforced: true}}}}, columns: {columns}}}\n"
        for name in names
        if name.startswith("required")
    )


# Paimon's ALTER would change the order of existing rows, or convert their values differently from Spark's cast.
GROUPED = "primary_key='id', merge_engine='partial-update', fields={'gone': {'sequence_group': ['kept']}}"
GREATEST = "primary_key='id', merge_engine='aggregation', fields={'gone': {'aggregate_function': 'max'}}"
NO_ALTER = {
    "group": (GROUPED, "9", "'10'"),
    "greatest": (GREATEST, "9", "'10'"),
    "instant": ("primary_key='id'", "timestamp'2024-01-01 03:04:00'", "'2024-01-02 03:04:00'"),
    "clock": ("primary_key='id'", "timestamp_ntz'2024-01-01 03:04:00'", "'2024-01-02 03:04:00'"),
    "decimal": ("primary_key='id'", "cast(0 as decimal(10,7))", "'0'"),
    "day": ("primary_key='id'", "date'2024-01-01'", "timestamp'2024-01-02 03:04:00'"),
}

# Models whose config names `gone`, which their second run lacks.
NAMED = {
    "aggregated": GREATEST,
    "indexed": "primary_key='id', tblproperties={'file-index.bloom-filter.columns': 'gone'}",
}
REQUIRED = (
    "  - {{name: added_model, config: {{contract: {{enforced: true}}}}, columns: [{{name: id, data_type: int}}, "
    "{{name: kept, data_type: string}}, {{name: gone, data_type: int}}{}]}}\n"
)
# `ignore_add` describes a column that its table never gets.
DESCRIBED = "".join(
    f"  - {{name: {name}_model, config: {{persist_docs: {{columns: true}}}}, columns: [{{name: fresh, description: new}}]}}\n"
    for name in ("ignore_add", "sync")
)
FRESH = ", {name: fresh, data_type: bigint, constraints: [{type: not_null}]}"


class TestSchemaChange:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "added_model.sql": model(
                "append_new_columns", "select 2 as id, 'b' as kept, 20 as gone, cast(7 as bigint) as fresh"
            ),
            **{
                f"{name}_model.sql": model("sync_all_columns", "select 1 as id, 'b' as kept").replace(
                    "primary_key='id'", config
                )
                for name, config in NAMED.items()
            },
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
            **{f"{name}.sql": less(*case) for name, case in LESS.items()},
            **{f"{name}.sql": less(SYNCS, config) for name, config in SYNCED.items()},
            **{
                f"{name}.sql": model(
                    "ignore", "select id, 'b' as kept, 20 as gone, 2 as fresh from values (1), (2) as v(id)"
                ).replace("primary_key='id'", config)
                for name, config in LEFT_OUT.items()
            },
            "contracts.yml": contract(
                [*LESS, *SYNCED],
                "{name: gone, data_type: int, constraints: [{type: not_null}]}, ",
            )
            + REQUIRED.format("")
            + DESCRIBED,
            **{
                f"{name}_model.sql": model("sync_all_columns", f"select 1 as id, 'b' as kept, {second} as gone")
                .replace("10 as gone", f"{first} as gone")
                .replace("primary_key='id'", config)
                for name, (config, first, second) in NO_ALTER.items()
            },
        }

    @pytest.fixture(scope="class")
    def results(self, project):
        run_dbt(["run", *WINDOW])
        # dbt does not allow sync_all_columns with a contract.
        contracts = contract([*LESS, "required_table"]) + REQUIRED.format(FRESH) + DESCRIBED
        write_file(contracts, project.project_root, "models", "contracts.yml")
        found = run_dbt(["run", *WINDOW, "--vars", "second: true"], expect_pass=False)
        return {r.node.name: r for r in found}

    def test_sync_all_columns(self, results, rows):
        described = {c[0]: c[2] for c in rows("describe table {schema}.sync_model")}
        assert described == {"id": None, "kept": None, "fresh": "new"}
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

    def test_a_column_that_the_table_cannot_be_without_is_refused(self, results, rows):
        for name in LESS:
            assert results[name].status == "error", name
            assert rows(f"select id, kept, gone from {{schema}}.{name}") == [(1, "a", 10)], name
            # A microbatch model's messages belong to its batches; dbt only logs them.
            if not name.endswith("batched"):
                assert f"model '{name}'" in results[name].message and "gone" in results[name].message, name

    def test_a_required_column_is_dropped(self, results, rows):
        for name in SYNCED:
            assert results[name].status == "success", results[name].message
            described = [c[0] for c in rows(f"describe table {{schema}}.{name}")]
            assert described == ["id", "kept", "at"], name
            assert sorted(rows(f"select id, kept from {{schema}}.{name}")) == [(1, "a"), (2, "a")], name

    def test_nothing_is_matched_or_updated_by_a_column_that_is_left_out(self, results, rows):
        for name in LEFT_OUT:
            assert f"model '{name}'" in results[name].message, name
            assert "the table has no column 'fresh'" in results[name].message, name
            assert rows(f"select * from {{schema}}.{name}") == [(1, "a", 10)], name

    def test_a_column_that_the_config_names_is_not_dropped(self, results, rows):
        for name in NAMED:
            assert "the query has no column 'gone'" in results[f"{name}_model"].message, name
            assert rows(f"select * from {{schema}}.{name}_model") == [(1, "a", 10)], name

    def test_a_required_column_is_not_added_to_existing_rows(self, results, rows):
        message = results["added_model"].message
        assert "model 'added_model'" in message and "fresh" in message and "--full-refresh" in message
        assert rows("select * from {schema}.added_model") == [(1, "a", 10)]

    def test_ignore_leaves_a_new_column_out(self, results, rows):
        assert sorted(rows("select * from {schema}.ignore_add_model")) == [(1, "a", 10), (2, "b", 20)]

    def test_sync_widens_a_type(self, results, rows):
        assert sorted(rows("select id, gone from {schema}.widen_model")) == [(1, 10), (2, 5000000000)]

    def test_sync_narrows_no_type_under_the_rows_that_stay(self, results, rows):
        assert sorted(rows("select id, gone from {schema}.narrow_model")) == [(1, 5000000000), (2, 20)]

    @pytest.mark.parametrize("name", NO_ALTER)
    def test_sync_alters_no_type_whose_old_rows_would_change(self, results, rows, name):
        _, first, _ = NO_ALTER[name]
        assert results[f"{name}_model"].status == "error"
        assert "--full-refresh" in results[f"{name}_model"].message
        assert rows(f"select id, kept, gone = {first} from {{schema}}.{name}_model") == [(1, "a", True)]


# The second run has `fresh` instead of `gone`: name -> (config, `gone` of the existing row afterwards)
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
        } | {"renamed.sql": model("ignore", "select 2 as id, 'b' as kept, 20 as fresh")}

    def test_columns(self, project, rows):
        run_dbt(["run"])
        run_dbt(["run", "--exclude", "renamed"])
        for name, (_, gone) in KEYS.items():
            assert [c[0] for c in rows(f"describe table {{schema}}.{name}_sync_all")] == [
                "id",
                "kept",
                "fresh",
            ], name
            assert sorted(rows(f"select * from {{schema}}.{name}_sync_all")) == [(1, "b", 7), (2, "b", 7)], name
            expected = [(1, "b", gone, 7), (2, "b", None, 7)]
            assert sorted(rows(f"select * from {{schema}}.{name}_append_new")) == expected, name

    def test_a_column_with_another_name_keeps_its_values(self, project, rows):
        (refused,) = run_dbt(["run", "--select", "renamed"], expect_pass=False)
        _, _, remedy = refused.message.partition("which keeps its values: ")
        rows(remedy.splitlines()[0].replace("<table>", "{schema}.renamed"))
        run_dbt(["run", "--select", "renamed"])
        assert sorted(rows("select id, kept, fresh from {schema}.renamed")) == [(1, "a", 10), (2, "b", 20)]
