"""Defects of docs/reference/known-defects.md that plain SQL shows: wrong with the releases that the page names, right with others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from dbt.tests.util import run_dbt
from dbt_common.exceptions import DbtDatabaseError
from tests.functional.conftest import VERSIONS

from dbt.adapters.paimon.capabilities import Capability

ERROR = "an error"
KEY = "'primary-key' = 'id', 'bucket' = '1'"


@dataclass(frozen=True)
class Defect:
    """Statements about the table {t}, then a query with its right and its wrong rows (or ERROR)."""

    statements: tuple[str, ...]
    query: str
    right: list[tuple[Any, ...]]
    wrong: list[tuple[Any, ...]] | str


DEFECTS = {
    Capability.LATE_ROWS_WITH_LOOKUP: Defect(
        (
            f"create table {{t}} (id int, at int, v bigint) using paimon tblproperties ({KEY}, 'merge-engine' = "
            "'aggregation', 'fields.v.aggregate-function' = 'sum', 'sequence.field' = 'at', "
            "'changelog-producer' = 'lookup')",
            "insert into {t} select cast(id as int), 10, 1L from range(1000)",
            "insert into {t} values (500, 5, 7L)",
        ),
        "select v from {t} where id = 500",
        [(8,)],
        [(1,)],
    ),
    Capability.RETRACTIONS_WITHOUT_INSERT: Defect(
        (
            f"create table {{t}} (id int, g int, v string, op string) using paimon tblproperties ({KEY}, "
            "'merge-engine' = 'partial-update', 'fields.g.sequence-group' = 'v', 'rowkind.field' = 'op')",
            "insert into {t} values (2, 1, 'x', '-D')",
            "insert into {t} values (2, 1, 'x', '-D')",
        ),
        "select id from {t}",
        [],
        ERROR,
    ),
    Capability.NULL_STRUCTS_OF_CASTS: Defect(
        (
            "create table {t} (id int, tags array<string>, s struct<a: int>) using paimon "
            "tblproperties ('file.format' = 'orc')",
            "insert into {t} values (1, array('x'), named_struct('a', 1)), (2, array('y'), null)",
        ),
        "select id from {t} where s is null",
        [(2,)],
        [],
    ),
    Capability.NULL_IN_SEQUENCES: Defect(
        (
            f"create table {{t}} (id int, a int, b int, v string) using paimon tblproperties ({KEY}, 'merge-engine' = "
            "'aggregation', 'sequence.field' = 'a,b', 'fields.v.aggregate-function' = 'last_value')",
            "insert into {t} values (1, 1, 5, 'x')",
            "insert into {t} values (1, 2, null, 'y')",
            "call paimon.sys.compact(table => '{t}')",
            "insert into {t} values (1, 2, 3, 'z')",
        ),
        "select v from {t}",
        [("z",)],
        [("y",)],
    ),
    Capability.ONE_COMMIT_WITH_DELETION_VECTORS: Defect(
        (
            "create table {t} (id int, v int) using paimon tblproperties ('deletion-vectors.enabled' = 'true')",
            "insert into {t} values (1, 10), (2, 20)",
            "update {t} set v = 11 where id = 1",
        ),
        "select id, v from {t} version as of 2 order by v",
        [(1, 11), (2, 20)],
        [(1, 10), (1, 11), (2, 20)],
    ),
    Capability.BINARY_IN_COLLECTIONS: Defect(
        (
            f"create table {{t}} (id int, v array<binary>, m map<binary, int>) using paimon tblproperties ({KEY}, "
            "'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'collect', 'fields.v.distinct' = 'true', "
            "'fields.m.aggregate-function' = 'merge_map')",
            "insert into {t} values (1, array(X'01'), map(X'01', 1))",
            "insert into {t} values (1, array(X'01'), map(X'01', 2))",
        ),
        "select size(v), size(m) from {t}",
        [(1, 1)],
        [(2, 2)],
    ),
    Capability.UPDATES_OF_TWO_STRUCTS: Defect(
        (
            "create table {t} (net struct<amount: int, tax: int>, gross struct<amount: int, tax: int>) using paimon",
            "insert into {t} select named_struct('amount', 1, 'tax', 2), named_struct('amount', 3, 'tax', 4)",
            "update {t} set net.amount = 10, gross.tax = 40",
        ),
        "select net.amount, net.tax, gross.amount, gross.tax from {t}",
        [(10, 2, 3, 40)],
        [(10, 40, 10, 40)],
    ),
}


@pytest.mark.parametrize("capability", DEFECTS, ids=lambda capability: capability.name)
def test_defect(project, rows, capability):
    defect, table = DEFECTS[capability], f"paimon.{project.test_schema}.{capability.name.lower()}"
    rows("create schema if not exists {schema}")
    for statement in defect.statements:
        rows(statement.replace("{t}", table))
    query = defect.query.replace("{t}", table)
    if VERSIONS.supports(capability):
        assert rows(query) == defect.right
    elif defect.wrong == ERROR:
        with pytest.raises(DbtDatabaseError, match="NullPointerException"):
            rows(query)
    else:
        assert rows(query) == defect.wrong


def test_a_bloom_filter_of_decimals(project, rows):
    """Only Paimon 1.4 is wrong: before, conditions on decimals are not pushed down."""
    rows("create schema if not exists {schema}")
    rows(
        "create table {schema}.bloom (id int, amount decimal(28,2)) using paimon "
        "tblproperties ('parquet.bloom.filter.enabled' = 'true')"
    )
    rows("insert into {schema}.bloom values (1, 1.50), (2, 2.50)")
    is_wrong = VERSIONS.paimon.release[:2] == (1, 4)
    assert rows("select id from {schema}.bloom where amount = 1.50") == ([] if is_wrong else [(1,)])


class TestDatePartitions:
    @pytest.fixture(scope="class")
    def models(self):
        west = "{{ config(materialized='table', spark_config={'spark.sql.session.timeZone': 'America/New_York'}) }}\n"
        days = "select id from {{ target.schema }}.days where day >= "
        return {
            "by_time.sql": f"{west}{days} timestamp'2024-01-31 00:00:00'",
            "by_date.sql": f"{west}{days} date'2024-01-31'",
        }

    def test_a_session_west_of_the_jvm(self, project, rows):
        rows("create schema if not exists {schema}")
        rows("create table {schema}.days (id int, day date) using paimon partitioned by (day)")
        rows("insert into {schema}.days values (1, date'2024-01-30'), (2, date'2024-01-31'), (3, date'2024-02-01')")
        run_dbt(["run"])
        # Spark 4.1 does not push this condition down.
        right = VERSIONS.supports(Capability.DATE_PARTITIONS_BY_TIMESTAMP) or VERSIONS.spark.major >= 4
        assert rows("select id from {schema}.by_time order by id") == ([(2,), (3,)] if right else [(3,)])
        assert rows("select id from {schema}.by_date order by id") == [(2,), (3,)]


def test_substring_of_the_second_partition_column(project, rows):
    """Only Paimon 1.4 is wrong: before, the condition is not pushed down."""
    rows("create schema if not exists {schema}")
    rows("create table {schema}.places (id int, region string, day string) using paimon partitioned by (region, day)")
    rows("insert into {schema}.places values (1, null, '2024-01-31'), (2, 'eu', '2024-01-31')")
    found = rows("select id from {schema}.places where substring(day, 1, 7) = '2024-01' order by id")
    is_wrong = VERSIONS.paimon.release[:2] == (1, 4)
    assert found == ([(2,)] if is_wrong else [(1,), (2,)])
    assert rows("select id from {schema}.places where day like '2024-01%' order by id") == [(1,), (2,)]
