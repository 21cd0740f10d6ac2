"""dbt's own suite: contracts and constraints."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.tests.adapter.constraints.test_constraints import (
    BaseConstraintQuotedColumn,
    BaseConstraintsRollback,
    BaseConstraintsRuntimeDdlEnforcement,
    BaseIncrementalConstraintsColumnsEqual,
    BaseIncrementalConstraintsRollback,
    BaseIncrementalConstraintsRuntimeDdlEnforcement,
    BaseIncrementalContractSqlHeader,
    BaseIncrementalForeignKeyConstraint,
    BaseModelConstraintsRuntimeEnforcement,
    BaseTableConstraintsColumnsEqual,
    BaseTableContractSqlHeader,
    BaseViewConstraintsColumnsEqual,
)

# The table gets NOT NULL and the primary key; dbt warns about the other constraints. A NULL fails the statement.
EXPECTED_DDL = """
create table <model_identifier> (
    `id` int not null,
    `color` string,
    `date_day` string
)
using paimon
tblproperties ('primary-key' = 'id', 'bucket' = '1');
insert into <model_identifier> (`id`, `color`, `date_day`)
select `id`, `color`, `date_day`
from (
    select
        case when `id` is null then raise_error('Cannot write null to non-null column(id) of model <model_identifier> because it is part of the primary key.
            Filter such rows out in the query, fill them in with coalesce(), or leave the column out of primary_key.') else `id` end as `id`,
        `color`,
        `date_day`
    from (
        select `id`, `color`, `date_day`
        from (
            -- depends_on: <foreign_key_model_identifier>
            select
                'blue' as color,
                1 as id,
                '2019-01-01' as date_day
        ) as model_subq
    )
)
"""


class InSpark:
    # In the base's own files, replaces PostgreSQL's type names, identifier quotes and settings with Spark's.
    WORDS = (
        (": text", ": string"),
        ('"from"', "`from`"),
        ("set session time zone", "set time zone"),
        ("current_setting('timezone')", "current_timezone()"),
    )

    @pytest.fixture(scope="class")
    def project(self, project):
        for path in Path(project.project_root, "models").iterdir():
            text = path.read_text()
            for word, spark_word in self.WORDS:
                text = text.replace(word, spark_word)
            path.write_text(text)
        return project


class SparkTypes(InSpark):
    # Also uses Spark's types.
    @pytest.fixture
    def string_type(self):
        return "string"

    @pytest.fixture
    def int_type(self):
        return "int"

    @pytest.fixture
    def data_types(self, schema_int_type, int_type, string_type):
        return [
            ["1", schema_int_type, int_type],
            ["'1'", string_type, string_type],
            ["true", "boolean", "boolean"],
            ["cast('2013-11-03 00:00:00-07' as timestamp)", "timestamp", "timestamp"],
            ["cast('2013-11-03 00:00:00' as timestamp_ntz)", "timestamp_ntz", "timestamp_ntz"],
            ["cast('2013-11-03' as date)", "date", "date"],
            ["array('a','b','c')", "array<string>", "array<string>"],
            ["array(1,2,3)", "array<int>", "array<int>"],
            ["map('a', 1)", "map<string,int>", "map<string,int>"],
            [
                "named_struct('bar', 'baz', 'balance', 7.77BD)",
                "struct<bar:string,balance:decimal(3,2)>",
                "struct<",
            ],
            ["cast('1' as numeric)", "numeric", "decimal(10,0)"],
            ["5000000000", "bigint", "bigint"],
            ["cast('1.5' as double)", "double", "double"],
            ["cast('ab' as binary)", "binary", "binary"],
        ]


class FewTypes(SparkTypes):
    # A contract's types are compared before anything is written, in the same way for each materialization.
    @pytest.fixture
    def data_types(self, schema_int_type, int_type, string_type):
        return [["1", schema_int_type, int_type], ["array(1,2,3)", "array<int>", "array<int>"]]


class NullRefused(InSpark):
    # Also expects our message instead of PostgreSQL's `null value in column "id" … violates not-null constraint`.
    @pytest.fixture(scope="class")
    def expected_error_messages(self):
        return ["Cannot write null to non-null column(id)"]


class DdlInSpark(InSpark):
    # Also expects this adapter's DDL.
    @pytest.fixture(scope="class")
    def expected_sql(self):
        return EXPECTED_DDL


class TestTableConstraintsColumnsEqual(SparkTypes, BaseTableConstraintsColumnsEqual):
    pass


class TestViewConstraintsColumnsEqual(FewTypes, BaseViewConstraintsColumnsEqual):
    pass


class TestIncrementalConstraintsColumnsEqual(FewTypes, BaseIncrementalConstraintsColumnsEqual):
    pass


class TestTableConstraintsRuntimeDdlEnforcement(DdlInSpark, BaseConstraintsRuntimeDdlEnforcement):
    pass


class TestIncrementalConstraintsRuntimeDdlEnforcement(DdlInSpark, BaseIncrementalConstraintsRuntimeDdlEnforcement):
    pass


class TestModelConstraintsRuntimeEnforcement(DdlInSpark, BaseModelConstraintsRuntimeEnforcement):
    pass


class TestConstraintQuotedColumn(InSpark, BaseConstraintQuotedColumn):
    # Also expects this adapter's DDL.
    @pytest.fixture(scope="class")
    def expected_sql(self):
        return """
create table <model_identifier> (
    `id` int not null,
    `from` string not null,
    `date_day` string
)
using paimon;
insert into <model_identifier> (`id`, `from`, `date_day`)
select `id`, `from`, `date_day`
from (
    select
        case when `id` is null then raise_error('Cannot write null to non-null column(id) of model <model_identifier> because the contract or the
            table declares it NOT NULL. Filter such rows out in the query, fill them in with coalesce(), or remove the constraint
            and run once with --full-refresh.') else `id` end as `id`,
        case when `from` is null then raise_error('Cannot write null to non-null column(from) of model <model_identifier> because the contract or the
            table declares it NOT NULL. Filter such rows out in the query, fill them in with coalesce(), or remove the constraint
            and run once with --full-refresh.') else `from` end as `from`,
        `date_day`
    from (
        select `id`, `from`, `date_day`
        from (
            select
              'blue' as `from`,
              1 as id,
              '2019-01-01' as date_day
        ) as model_subq
    )
)
"""


class TestTableConstraintsRollback(NullRefused, BaseConstraintsRollback):
    pass


class TestIncrementalConstraintsRollback(NullRefused, BaseIncrementalConstraintsRollback):
    pass


class TestTableContractSqlHeader(InSpark, BaseTableContractSqlHeader):
    pass


class TestIncrementalContractSqlHeader(InSpark, BaseIncrementalContractSqlHeader):
    pass


class TestIncrementalForeignKeyConstraint(BaseIncrementalForeignKeyConstraint):
    pass
