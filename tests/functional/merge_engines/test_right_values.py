"""Values that Paimon itself stores, merges or reads wrongly: the adapter writes them correctly, or refuses them."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt
from tests.functional.conftest import VERSIONS

from dbt.adapters.paimon.capabilities import Capability

FORMATS = ("parquet", "orc", "avro")
NEGATIVE = "cast('-0.0' as double)"
NESTED = "named_struct('p', named_struct('q', array(1), 'r', 2), 's', 3)"
KIND = "struct<p:struct<q:array<int>,r:int>,s:int>"
AGGREGATED = "materialized='{kind}', primary_key='id', bucket=1, merge_engine='{engine}', "
TAKES_BACK = AGGREGATED.format(kind="incremental", engine="aggregation") + "rowkind_field='op', "
OP = "'op': {'aggregate_function': 'last_value'}, "
CHANGES = "select 1 as id, {value} as v, '+I' as op"
GROUPED = "select 1 as id, 1 as no, 2 as v, '+I' as op"
VALUES = {
    "product": "2",
    "collect": "array(1)",
    "merge_map": "map(1, 1)",
    "nested_update": "array(named_struct('a', 1))",
    "last_non_null_value": "1",
}


def model(config: str, query: str) -> str:
    return f"{{{{ config({config}) }}}} {query}"


def function(name: str) -> str:
    return f"{{'aggregate_function': '{name}'}}"


def first(kind: str, order: str) -> str:
    return model(
        AGGREGATED.format(kind=kind, engine="aggregation") + f"{order} fields={{'v': {function('first_value')}}}",
        "select 1 as id, 2 as no, 'a' as v",
    )


class TestStored:
    """Values are written so that Paimon finds and merges them as Spark would."""

    @pytest.fixture(scope="class")
    def models(self):
        zeros = f"select 1 as id, {NEGATIVE} as f, cast({NEGATIVE} as float) as g union all select 2, 5D, 5F"
        keyed = f"select {{% if is_incremental() %}}{NEGATIVE} as k, 2 as v{{% else %}}0D as k, 1 as v{{% endif %}}"
        return {
            **{f"{name}.sql": model(f"materialized='table', file_format='{name}'", zeros) for name in FORMATS},
            **{
                f"keyed_{name}.sql": model(
                    f"materialized='incremental', primary_key='k', bucket=1, file_format='{name}'", keyed
                )
                for name in FORMATS
            },
            "merged.sql": model("materialized='incremental', unique_key='k'", keyed),
            "collected.sql": model(
                AGGREGATED.format(kind="incremental", engine="aggregation")
                + "fields={'v': {'aggregate_function': 'collect', 'distinct': true}}",
                "select 1 as id, array('A', 'B', 'A', 'A') as v",
            ),
            "by_day.sql": model(
                "materialized='incremental', incremental_strategy='append', partition_by='day'",
                "select 1 as id, date'2024-01-31' as day",
            ),
        }

    @pytest.fixture(scope="class", autouse=True)
    def _runs(self, project):
        run_dbt(["run"])
        run_dbt(["run"])

    @pytest.mark.parametrize("file_format", FORMATS)
    @pytest.mark.parametrize("condition", ["{} = 0", "{} >= 0", "{} in (0, 6)", "not ({} < 0)"])
    def test_a_negative_zero_is_found(self, rows, file_format, condition):
        for column in ("f", "g"):
            where = condition.format(column)
            assert (1,) in rows(f"select id from {{schema}}.{file_format} where {where}")

    @pytest.mark.parametrize("table", [*(f"keyed_{name}" for name in FORMATS), "merged"])
    def test_a_negative_zero_is_the_key_zero(self, rows, table):
        assert rows(f"select k, v from {{schema}}.{table}") == [(0.0, 2)]
        assert rows(f"select v from {{schema}}.{table} where k = 0") == [(2,)]

    def test_distinct_values_of_one_row(self, rows):
        ((found,),) = rows("select v from {schema}.collected")
        assert sorted(found) == ["A", "B"]

    def test_compact_accepts_a_date_partition(self):
        for day in ("'2024-01-31'", "2024-01-31"):
            run_dbt(["run-operation", "compact", "--args", f"{{relation: by_day, partitions: [{{day: {day}}}]}}"])


class TestRefused:
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"flags": {"send_anonymous_usage_stats": False}}

    @pytest.fixture(scope="class")
    def models(self):
        by_function = {
            f"takes_back_{name}.sql": model(
                TAKES_BACK + f"fields={{{OP}'v': {function(name)}}}", CHANGES.format(value=value)
            )
            for name, value in VALUES.items()
        }
        grouped = AGGREGATED.format(kind="incremental", engine="partial-update") + (
            "rowkind_field='op', fields={{'no': {{'sequence_group': ['v']}}, 'v': {v}}}"
        )
        ignoring = "{'aggregate_function': 'sum', 'ignore_retract': true}"
        expiring = (
            "materialized='incremental', primary_key='id', bucket=1, tblproperties={'record-level.expire-time': '1 d', "
        )
        return {
            **by_function,
            "grouped_sum.sql": model(grouped.format(v=function("sum")), GROUPED),
            "ignoring_sum.sql": model(grouped.format(v=ignoring), GROUPED),
            "first_in_order.sql": first("incremental", "sequence_field='no',"),
            "first_in_one_write.sql": first("table", "sequence_field='no',"),
            "first_written.sql": first("incremental", "").replace("'v': ", "'no': {}, 'v': ".format(function("max"))),
            "existing.sql": first("incremental", "sequence_field='no',"),
            "expiring.sql": model(
                expiring + "'record-level.time-field': 'at'}", "select 1 as id, cast(null as int) as at"
            ),
            "structs.sql": model(
                "materialized='table'",
                f"select 1 as id, {NESTED} as c union all select 2, null union all select 3, {NESTED}",
            ),
            "structs_in_orc.sql": model(
                "materialized='table', file_format='orc'",
                f"select 1 as id, {NESTED} as c union all select 2, null union all select 3, {NESTED}",
            ),
            "structs_in_arrays.sql": model(
                "materialized='table'", f"select 1 as id, cast(array({NESTED}, null) as array<{KIND}>) as c"
            ),
            "part_of_partitions.sql": model(
                "materialized='incremental', primary_key=['id', 'p'], partition_by=['p', 'q']",
                "select 1 as id, 1 as p, 1 as q",
            ),
        }

    @pytest.fixture(scope="class")
    def results(self, project, rows):
        rows("create schema if not exists {schema}")
        rows(
            "create table {schema}.existing (id int not null, no int, v string) tblproperties ('primary-key'='id', "
            "'bucket'='1', 'merge-engine'='aggregation', 'sequence.field'='no', 'fields.v.aggregate-function'='first_value')"
        )
        found = run_dbt(["run"], expect_pass=False)
        return {r.node.name: "" if str(r.status) == "success" else r.message for r in found}

    @pytest.mark.parametrize("name", VALUES)
    def test_functions_that_lose_retractions(self, results, name):
        assert f"'{name}' forgets a '-U' or '-D'" in results[f"takes_back_{name}"]

    @pytest.mark.parametrize("name", ["grouped_sum", "ignoring_sum"])
    def test_a_sum_in_a_sequence_group(self, results, name):
        right = VERSIONS.supports(Capability.RETRACTIONS_IN_SEQUENCE_GROUP)
        assert ("'sum' in a sequence group counts the value of a '-U'" in results[name]) is not right

    def test_first_value_with_a_sequence_field(self, results):
        assert "is taken for the first" in results["first_in_order"]
        assert not results["first_in_one_write"]
        assert not results["first_written"]

    def test_an_existing_table_is_not_refused(self, results, rows):
        assert not results["existing"]
        assert rows("select v from {schema}.existing") == [("a",)]

    def test_a_null_in_the_time_field(self, results):
        right = VERSIONS.supports(Capability.RECORD_EXPIRY_OF_NULL)
        assert ("because rows expire by it" in results["expiring"]) is not right

    @pytest.mark.parametrize("name", ["structs", "structs_in_arrays"])
    def test_a_null_around_a_struct(self, results, rows, name):
        if VERSIONS.supports(Capability.STRUCT_IN_NULL_STRUCT):
            assert not results[name]
            assert rows(f"select count(c), count(*) from {{schema}}.{name}") in ([(2, 3)], [(1, 1)])
        else:
            assert "file_format = 'orc'" in results[name]

    def test_orc_is_the_remedy_for_null_structs(self, results, rows):
        assert not results["structs_in_orc"]
        assert rows("select c.p.r from {schema}.structs_in_orc order by id") == [(2,), (None,), (2,)]

    def test_a_key_with_one_of_two_partitions(self, results):
        right = VERSIONS.supports(Capability.KEY_WITH_ONE_OF_TWO_PARTITIONS)
        assert ("all partition columns" in results["part_of_partitions"]) is not right
