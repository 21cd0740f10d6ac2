"""Configs that are refused before a table is created, and why: Paimon accepts some and then cannot read the table."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt
from dbt_common.exceptions import DbtDatabaseError
from tests.functional.conftest import CONNECTOR

from dbt.adapters.paimon.capabilities import Capability, Versions

KEYED = "materialized='table', primary_key='id', bucket=1"
QUERY = "select 1 as id, 'a' as v, '+I' as op"
REMOVES = "partial-update.remove-record-on-delete"

# name -> (config, part of the message)
REFUSED = {
    "sum_of_text": (
        f"{KEYED}, merge_engine='aggregation', fields={{'v': {{'aggregate_function': 'sum'}}}}",
        "'v' is string, and 'sum' takes numbers",
    ),
    "max_taken_back": (
        f"{KEYED}, merge_engine='aggregation', rowkind_field='op', fields={{'v': {{'aggregate_function': 'max'}}}}",
        "'max' cannot take back the '-U' and '-D' rows",
    ),
    "partial_deletes": (
        f"{KEYED}, merge_engine='partial-update', rowkind_field='op'",
        "partial-update accepts no '-U' and '-D' rows",
    ),
    "first_row_deletes": (
        f"{KEYED}, merge_engine='first-row', rowkind_field='op'",
        "first-row accepts no '-U' and '-D' rows",
    ),
    "first_row_input": (
        f"{KEYED}, merge_engine='first-row', changelog_producer='input'",
        "first-row supports only 'none' and 'lookup'",
    ),
    "old_name": (
        f"{KEYED}, merge_engine='partial-update', tblproperties={{'partial-update.ignore-delete': true}}",
        "it is an old name. Use 'ignore-delete'",
    ),
    "write_mode": (
        f"{KEYED}, tblproperties={{'write-mode': 'append-only'}}",
        "a table without a primary key is an append table",
    ),
}
# Tables that Paimon accepts and writes but cannot read: name -> (properties, the rows of each INSERT)
UNREADABLE = {
    "max": (
        "'merge-engine'='aggregation', 'fields.v.aggregate-function'='max'",
        ["(1, 'a', '+I')", "(1, 'a', '-D')"],
    ),
    "partial_update": ("'merge-engine'='partial-update'", ["(1, 'a', '+I')", "(1, 'a', '-D')"]),
}
if not Versions.of(CONNECTOR).supports(Capability.REMOVE_RECORD_ON_DELETE):
    REFUSED["remove_record"] = (
        f"{KEYED}, merge_engine='partial-update', tblproperties={{'{REMOVES}': true}}",
        "needs Paimon >= 1.0",
    )
    UNREADABLE["remove_record"] = (
        f"'merge-engine'='partial-update', '{REMOVES}'='true'",
        ["(1, 'a', '+I')", "(1, 'a', '-D')", "(1, 'b', '+I')"],
    )


class TestRefused:
    @pytest.fixture(scope="class")
    def models(self):
        asking = "{% if execute %}{{ adapter.has_capability('remove record on deletes') }}{% endif %} select 1 as id"
        refused = {f"{name}.sql": f"{{{{ config({config}) }}}}\n{QUERY}" for name, (config, _) in REFUSED.items()}
        return {**refused, "no_capability.sql": asking}

    @pytest.fixture(scope="class")
    def messages(self, project):
        results = run_dbt(["run"], expect_pass=False).results
        return {result.node.name: result.message for result in results}

    @pytest.mark.parametrize("name", REFUSED)
    def test_message(self, messages, rows, name):
        assert REFUSED[name][1] in messages[name]
        assert rows(f"show tables in {{schema}} like '{name}'") == []

    def test_unknown_capability(self, messages):
        assert "Did you mean 'remove record on delete'?" in messages["no_capability"]

    @pytest.mark.parametrize("name", UNREADABLE)
    def test_why(self, messages, rows, name):
        properties, inserts = UNREADABLE[name]
        table = f"{{schema}}.unreadable_{name}"
        rows(
            f"create table {table} (id int, v string, op string) using paimon "
            f"tblproperties ('primary-key'='id', 'bucket'='1', 'rowkind.field'='op', {properties})"
        )
        for values in inserts:
            rows(f"insert into {table} values {values}")
        with pytest.raises(DbtDatabaseError):
            rows(f"select * from {table}")
