"""Double-quoted names, as in packages' SQL for unknown adapters: Spark reads them as strings, so the adapter warns."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from dbt.tests.util import run_dbt

MAILS = "{{ config(materialized='table') }} select * from values (1, 'a@b.c'), (2, 'd@e.f') as t(id, `from`)"
STAGED = """select id, {quoted} as from_email from {{{{ ref('mails') }}}} where {quoted} is not null"""
CONSTANT = 'select \'x\' as id, "none" as kind, "id" as what from {{ ref(\'mails\') }} where "far" is not null'
NAMES = "{'spark.sql.ansi.enabled': true, 'spark.sql.ansi.doubleQuotedIdentifiers': true}"
HEADS = MappingProxyType(
    {
        "a_table": "materialized='table'",
        "a_view": "materialized='view'",
        "increments": "materialized='incremental', primary_key='id'",
    }
)
HEAD = "{{{{ config({}) }}}} "


class TestQuotedNames:
    """The tests use --warn-error, so a warning fails its node."""

    @pytest.fixture(scope="class")
    def models(self):
        quoted = STAGED.format(quoted='"from"')
        return {
            "mails.sql": MAILS,
            **{f"{name}.sql": HEAD.format(config) + quoted for name, config in HEADS.items()},
            "constant.sql": HEAD.format("materialized='table'") + CONSTANT,
            "backticks.sql": HEAD.format("materialized='table'") + STAGED.format(quoted="{{ adapter.quote('from') }}"),
            "by_setting.sql": HEAD.format(f"materialized='table', spark_config={NAMES}") + quoted,
        }

    @pytest.fixture(scope="class")
    def tests(self):
        return {"a_test.sql": "select * from {{ ref('mails') }} where \"from\" = ''"}

    def test_only_texts_that_are_columns_fail(self, project, rows):
        run_dbt(["run", "--select", "mails"])
        results = [
            *run_dbt(["run", "--exclude", "mails", "--warn-error"], expect_pass=False),
            *run_dbt(["test", "--warn-error"], expect_pass=False),
        ]
        assert {result.node.name for result in results if result.status == "error"} == {*HEADS, "a_test"}
        for name in ("backticks", "by_setting"):
            assert sorted(rows(f"select * from {{schema}}.{name}")) == [(1, "a@b.c"), (2, "d@e.f")]
