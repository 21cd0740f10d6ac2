"""A stream continues a table that a batch model built: batch runs load the history, the stream adds new rows."""

from __future__ import annotations

import json
import shlex

import pytest
from dbt.tests.util import run_dbt

# Each model is first built by batch runs (`--vars 'by: incremental'`), and then is a stream.
KEYED = """
{{ config(
    materialized=var('by', 'streaming'), primary_key='id', sequence_field='at', full_refresh=false,
    bucket=2, on_schema_change='append_new_columns'
) }}
{% if var('by', 'streaming') == 'streaming' %}
select id, v, at from {{ stream(source('raw', 'news')) }}
{% else %}
select id, v, at from {{ source('raw', 'history') }}
{% endif %}
"""
LOG = """
{{ config(materialized=var('by', 'streaming'), full_refresh=var('full_refresh', false)) }}
{% if var('by', 'streaming') == 'streaming' %}
select id, {{ var('column', 'v') }} as v, at
from {{ stream(source('raw', 'news'), scan_mode=var('mode', none), options=var('options', {})) }}
{% else %}
select id, v, at from {{ source('raw', 'history') }}
{% endif %}
"""
CHANGES = """
{{ config(
    materialized=var('by', 'streaming'), incremental_strategy='apply_changes', primary_key='id', bucket=1,
    rowkind_field='kind', sequence_field='at', full_refresh=false
) }}
select id, v, at, if(v < 0, '-D', '+I') as kind
from {{ stream(source('raw', 'news')) if var('by', 'streaming') == 'streaming' else source('raw', 'history') }}
"""
SOURCES = "sources: [{name: raw, schema: '{{ target.schema }}', tables: [{name: history}, {name: news}]}]"
HISTORY = [(1, 10, 1), (2, 20, 1), (3, 30, 1)]
# The first row is also in the history.
NEWS = [(3, 30, 1), (2, 21, 2), (4, 40, 2)]
# The row with key 1 is older than the one in the history.
LATER = [(5, 50, 3), (1, 9, 0)]


def run(*select, wrong=False, arguments=(), **variables):
    command = ["run", "--select", *select, "--vars", json.dumps(variables), *arguments]
    return {result.node.name: result.message for result in run_dbt(command, expect_pass=not wrong)}


def inserted(found):
    return f"insert into {{t}} values {', '.join(map(str, found))}"


class TestTakesOver:
    @pytest.fixture(scope="class")
    def models(self):
        return {"sources.yml": SOURCES, "keyed.sql": KEYED, "log.sql": LOG, "changes.sql": CHANGES}

    @pytest.fixture(scope="class")
    def table(self, rows):
        return lambda name: sorted(rows(f"select id, v, at from {{schema}}.{name}"))

    @pytest.fixture(scope="class")
    def loaded(self, write, rows):
        """Build the tables by batch runs; the second run of `changes` applies a delete."""
        for source, values in (("history", HISTORY), ("news", NEWS)):
            write(source, "create table {t} (id int, v int, at int)", inserted(values))
        run("keyed", "log", "changes", by="incremental")
        write("history", inserted([(3, -1, 3)]))
        run("changes", by="incremental")

    @staticmethod
    def stream_of(rows, name):
        return dict(rows(f"show tblproperties {{schema}}.{name}")).get("dbt.stream-id")

    def test_refused_and_left_to_batch(self, loaded, table, rows):
        """A refused stream leaves the table unchanged, so that batch runs can continue it."""
        before = rows("select max(snapshot_id) from {schema}.`log$snapshots`")
        for says, variables in (
            ("full_refresh=false", {"full_refresh": None}),
            ("Set where stream(…) begins", {}),
            ("there is no table snapshot 9", {"options": {"scan.snapshot-id": 9}}),
            ("column v is int", {"mode": "full", "column": "'x'"}),
        ):
            assert says in run("log", wrong=True, **variables)["log"], variables
            assert self.stream_of(rows, "log") is None
        assert rows("select max(snapshot_id) from {schema}.`log$snapshots`") == before
        assert table("log") == sorted(HISTORY)

    def test_the_deletes_of_batch_runs(self, loaded, rows, table):
        """Batch runs remember deletes to keep older changes out. A stream would ignore them, so it is refused."""
        assert table("changes") == HISTORY[:2]
        message = run("changes", wrong=True)["changes"]
        assert self.stream_of(rows, "changes") is None
        run_dbt(["run-operation", *shlex.split(message.split("`dbt run-operation ")[1].partition("`")[0])])
        run("changes")
        assert [row for row in table("changes") if row[0] != 3] == [HISTORY[0], *NEWS[1:]]

    def test_by_key(self, loaded, write, table, rows):
        # The stream begins at the first row of its source, so a row that the history also has is written again.
        run("keyed")
        assert table("keyed") == sorted([HISTORY[0], *NEWS])
        stream = self.stream_of(rows, "keyed")
        write("news", inserted(LATER))
        # With full_refresh=false, --full-refresh deletes no rows, as the stream could not read them again.
        assert run("keyed", arguments=["--full-refresh"]) == {"keyed": "2 rows read in 1 batch"}
        assert table("keyed") == sorted([HISTORY[0], *NEWS, (5, 50, 3)])
        assert self.stream_of(rows, "keyed") == stream

    def test_without_a_key(self, loaded, killed, write, table):
        """The stream starts at its source's second commit. Its first run is killed after it has written a batch."""
        write("news", inserted([(6, 60, 4)]))
        begins = {"options": {"scan.snapshot-id": 2}}
        killed("log", 0, "after", "--vars", json.dumps(begins))
        write("news", inserted([(7, 70, 5)]))
        run("log", **begins)
        assert table("log") == sorted([*HISTORY, *LATER, (6, 60, 4), (7, 70, 5)])

    def test_a_batch_run_ends_the_stream(self, loaded, write, table, rows):
        """After a batch run has written the table, the stream does not continue from its old checkpoint."""
        run("log", by="table")
        assert self.stream_of(rows, "log") is None
        before = table("log")
        assert "was not written by a stream" in run("log", wrong=True, full_refresh=None)["log"]
        assert table("log") == before
