"""Merge engines, with one run per batch of rows: the merged rows are those that the documentation promises."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt
from tests.functional.conftest import CONNECTOR

from dbt.adapters.paimon.capabilities import Capability, Versions

PAIMON = Versions.of(CONNECTOR)

KIND = "rowkind_field='op'"

# name -> (config, columns, the rows of each run, the merged rows)
SCENARIOS: dict[str, tuple[str, str, list[str], list[tuple[object, ...]]]] = {
    "partial_update": (
        "merge_engine='partial-update'",
        "id, price, sales, title",
        ["(1, 23.0D, 10, null)", "(1, null, null, 'This is a book')", "(1, 25.2D, null, null)"],
        [(1, 25.2, 10, "This is a book")],
    ),
    "aggregation": (
        "merge_engine='aggregation', "
        "fields={'price': {'aggregate_function': 'max'}, 'sales': {'aggregate_function': 'sum'}}",
        "id, price, sales",
        ["(1, 23.0D, 15)", "(1, 30.2D, 20)"],
        [(1, 30.2, 35)],
    ),
    # Without a function: the table's default function, or last_non_null_value.
    "default_function": (
        "merge_engine='aggregation', tblproperties={'fields.default-aggregate-function': 'sum'}, "
        "fields={'title': {'aggregate_function': 'last_non_null_value'}}",
        "id, sales, title",
        ["(1, 15, 'a')", "(1, 20, null)"],
        [(1, 35, "a")],
    ),
    "no_function": ("merge_engine='aggregation'", "id, sales", ["(1, 15)", "(1, null)"], [(1, 15)]),
    "deduplicate": (
        KIND,
        "id, v, op",
        [
            "(1, 'a', '+I'), (2, 'x', '+I'), (3, 'z', '+I')",
            "(1, 'b', '+U'), (2, 'x', '-D')",
            "(3, null, '+U')",
        ],
        [(1, "b", "+U"), (3, None, "+U")],
    ),
    "deduplicate_ignoring_deletes": (
        f"{KIND}, tblproperties={{'ignore-delete': true}}",
        "id, v, op",
        ["(1, 'a', '+I')", "(1, 'b', '-D')"],
        [(1, "a", "+I")],
    ),
    "first_row": (
        "merge_engine='first-row'",
        "id, v",
        ["(1, 'a')", "(1, 'b'), (2, 'c')"],
        [(1, "a"), (2, "c")],
    ),
    "first_row_ignoring_deletes": (
        f"merge_engine='first-row', {KIND}, tblproperties={{'ignore-delete': true}}",
        "id, v, op",
        ["(1, 'a', '+I')", "(1, 'a', '-D')", "(1, 'b', '+I')"],
        [(1, "a", "+I")],
    ),
    "sequence_fields": (
        "sequence_field=['a', 'b']",
        "id, v, a, b",
        ["(1, 'second', 1, 2)", "(1, 'first', 1, 1)", "(1, 'before', 0, 9)"],
        [(1, "second", 1, 2)],
    ),
    # In the second run, the first group is late and the second is not. n is summed in any order. In the third run, the
    # first group's sequence is NULL, so that group stays as it is.
    "sequence_groups": (
        "merge_engine='partial-update', fields={"
        "'g1': {'sequence_group': ['v']}, 'g2': {'sequence_group': ['w', 'n']}, 'n': {'aggregate_function': 'sum'}}",
        "id, g1, v, g2, w, n",
        ["(1, 2, 'new', 1, 'x', 10)", "(1, 1, 'late', 2, 'y', 5)", "(1, null, 'lost', 0, 'late', 1)"],
        [(1, 2, "new", 2, "y", 16)],
    ),
    "sequence_group_of_two": (
        "merge_engine='partial-update', fields={'a,b': {'sequence_group': ['v']}}",
        "id, a, b, v",
        ["(1, 1, 2, 'second')", "(1, 1, 1, 'first')"],
        [(1, 1, 2, "second")],
    ),
    "delete_empties_a_group": (
        f"merge_engine='partial-update', {KIND}, fields={{'g': {{'sequence_group': ['v']}}}}",
        "id, g, v, w, op",
        ["(1, 1, 'a', 'b', '+I')", "(1, 2, 'a', null, '-D')"],
        [(1, 2, None, "b", "+I")],
    ),
    "partial_update_ignoring_deletes": (
        f"merge_engine='partial-update', {KIND}, tblproperties={{'ignore-delete': true}}",
        "id, v, w, op",
        ["(1, 'a', null, '+I')", "(1, 'a', null, '-D')", "(1, null, 'b', '+U')"],
        [(1, "a", "b", "+U")],
    ),
    "remove_record_on_delete": (
        f"merge_engine='partial-update', {KIND}, "
        "tblproperties={'partial-update.remove-record-on-delete': true}, "
        "enabled=adapter.has_capability('remove record on delete')",
        "id, v, w, op",
        [
            "(1, 'a', null, '+I'), (2, 'x', 'y', '+I')",
            "(1, null, null, '-D'), (2, null, null, '-D')",
            "(1, null, 'b', '+I')",
        ],
        [(1, None, "b", "+I")],
    ),
    # Functions that retract values, and some that ignore retractions.
    "retract": (
        f"merge_engine='aggregation', {KIND}, fields={{"
        "'added': {'aggregate_function': 'sum'}, 'last': {'aggregate_function': 'last_value'}, "
        "'collected': {'aggregate_function': 'collect', 'ignore_retract': true}, "
        "'greatest': {'aggregate_function': 'max', 'ignore_retract': true}, "
        "'frozen': {'aggregate_function': 'sum', 'ignore_retract': true}}",
        "id, added, last, collected, greatest, frozen, op",
        [
            "(1, 5, 5, array(5), 5, 5, '+I')",
            # Both rows are in one run: Paimon merges them with each other before it merges the older row.
            "(1, 5, 5, array(5), 5, 5, '-U'), (1, 2, 2, array(2), 2, 2, '+U')",
            "(1, 2, 2, array(2), 2, 2, '-D')",
        ],
        [(1, 0, None, [5, 2], 5, 7, None)],
    ),
    "ignoring_deletes_everywhere": (
        f"merge_engine='aggregation', {KIND}, tblproperties={{'ignore-delete': true}}, "
        "fields={'n': {'aggregate_function': 'max'}}",
        "id, n, op",
        ["(1, 5, '+I')", "(1, 9, '-D')"],
        [(1, 5, "+I")],
    ),
    "default_value": (
        "fields={'v': {'default_value': '7'}, 'w': {'default_value': 'none'}}, "
        "enabled=adapter.has_capability('field default value')",
        "id, v, w",
        ["(1, cast(null as int), cast(null as string))", "(2, 3, 'some')"],
        [(1, 7, "none"), (2, 3, "some")],
    ),
}


def model(config: str, columns: str, runs: list[str]) -> str:
    """A model that selects a different batch of rows in each run."""
    first = f"select * from values {runs[0]} as t({columns})"
    types = " union all ".join(f"select * from values {run} as t({columns})" for run in runs)
    choices = "".join(
        f"{{% elif var('run', 1) == {number} %}}select * from values {run} as t({columns})\n"
        for number, run in enumerate(runs[1:], 2)
    )
    # The types come from all batches, because a column may be NULL in the first one.
    return (
        f"{{{{ config(materialized='incremental', primary_key='id', bucket=1, {config}) }}}}\n"
        f"select * from ({types}) where false union all (\n"
        f"{{% if var('run', 1) == 1 %}}{first}\n{choices}{{% endif %}})"
    )


WRITE_ONLY = (
    "{{ config(materialized='incremental', primary_key='id', bucket=1, merge_engine='first-row', "
    "tblproperties={'write-only': true}) }} select 1 as id, {{ var('run', 1) }} as n"
)
PARTITIONED = (
    "{{ config(materialized='incremental', partition_by='day', tblproperties={'partition.default-name': 'unknown'}) }}\n"
    "select * from values (1, null), (2, '2024-01-01') as t(id, day)"
)


class TestMessages:
    @pytest.fixture(scope="class")
    def models(self):
        scenarios = {f"{name}.sql": model(*scenario[:3]) for name, scenario in SCENARIOS.items()}
        return {**scenarios, "write_only.sql": WRITE_ONLY, "partitioned.sql": PARTITIONED}

    @pytest.fixture(scope="class")
    def ran(self, project):
        for run in (1, 2, 3):
            bringing = [name for name, (_, _, runs, _) in SCENARIOS.items() if len(runs) >= run]
            others = ["write_only", "partitioned"] if run == 1 else []
            run_dbt(["run", "--vars", f"run: {run}", "--select", *bringing, *others])

    @pytest.mark.parametrize("name", SCENARIOS)
    def test_rows(self, ran, rows, name):
        config, columns, _, expected = SCENARIOS[name]
        missing = [text for text in map(str, Capability) if text in config and not PAIMON.supports(Capability(text))]
        if missing:
            assert rows(f"show tables in {{schema}} like '{name}'") == []
            return
        assert rows(f"select {columns} from {{schema}}.{name} order by id") == expected

    def test_each_message_was_a_commit(self, ran, rows):
        commits = "select count(*) from {schema}.`partial_update$snapshots` where commit_kind = 'APPEND'"
        assert rows(commits) == [(3,)]

    def test_first_row_is_compacted_before_it_is_read(self, ran, rows):
        """first-row reads only compacted files: a write compacts, unless the table is write-only."""
        assert rows("select distinct level from {schema}.`first_row$files`") == [(5,)]
        assert rows("select * from {schema}.write_only") == []
        run_dbt(["run-operation", "compact", "--args", "{relation: write_only}"])
        assert rows("select * from {schema}.write_only") == [(1, 1)]

    def test_partition_of_null(self, ran, rows, project, warehouse):
        folders = {path.name for path in (warehouse / f"{project.test_schema}.db" / "partitioned").glob("day=*")}
        assert folders == {"day=unknown", "day=2024-01-01"}
        assert rows("select distinct id from {schema}.partitioned where day is null") == [(1,)]
