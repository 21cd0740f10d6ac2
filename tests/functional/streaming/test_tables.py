"""Streams from Paimon tables: after each run, a stream's table has each change of its sources once."""

from __future__ import annotations

import json

import pytest
from dbt.tests.util import run_dbt

# Source -> its columns and table options.
KEYED = "(id int, v int) tblproperties ('primary-key' = 'id', 'bucket' = '1'{more})"
SOURCES = {
    "appended": "(id int, v int)",
    "keyed": KEYED.format(more=""),
    "looked_up": KEYED.format(more=", 'changelog-producer' = 'lookup'"),
    "summed": KEYED.format(more=", 'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum'"),
    "rebuilt": "(id int, v int)",
}
COPIED = ("keyed", "looked_up", "summed")
# Copies a table by applying its changes.
COPY = """
{{{{ config(
    materialized='streaming', incremental_strategy='apply_changes', primary_key='id', bucket=1,
    rowkind_field='_kind', sequence_field='_snapshot'
) }}}}
select id, v, _kind, _snapshot from {{{{ stream(
    source('raw', '{name}'), row_kind='_kind', options={{'consumer-id': 'copy'}}
) }}}}
"""
MODELS = {
    **{f"copy_of_{name}.sql": COPY.format(name=name) for name in COPIED},
    # The source of this copy also has a row kind and a sequence field.
    "copy_of_copy.sql": COPY.format(name="keyed").replace("source('raw', 'keyed')", "ref('copy_of_keyed')"),
    # With `wide`, the SELECT is different, but the stream continues.
    "log.sql": """
{{ config(materialized='streaming', on_schema_change='append_new_columns') }}
select id, v{% if var('wide', false) %}, v * 2 as twice{% endif %}
from {{ stream(source('raw', 'appended'), options={'read.stream.maxRowsPerTrigger': 2}) }}
""",
    "merged.sql": """
{{ config(
    materialized='streaming', primary_key=['id', 'v'], incremental_strategy='merge', on_schema_change='append_new_columns'
) }}
select distinct id{% if not var('wide', false) %}, v{% endif %}, '-' as word from {{ stream(source('raw', 'appended')) }}
""",
    "totals.sql": """
{{ config(
    materialized='streaming', primary_key='part', bucket=1, merge_engine='aggregation',
    fields={'total': {'aggregate_function': 'sum'}, 'n': {'aggregate_function': 'sum'}}
) }}
select id % 2 as part, sum(v) as total, count(*) as n from {{ stream(source('raw', 'appended')) }} group by 1
""",
    "both.sql": """
{{ config(materialized='streaming') }}
select 'a' as name, id, v from {{ stream(source('raw', 'appended')) }}
union all
select 'k' as name, id, v from {{ stream(source('raw', 'keyed'), row_kind='_kind') }} where _kind <> '-D'
{% if var('more', false) %}
union all select 's' as name, id, v from {{ stream(source('raw', 'summed')) }}
{% endif %}
""",
    "from_now_on.sql": """
{{ config(materialized='streaming') }}
select * from {{ stream(source('raw', 'appended'), scan_mode='latest') }}
""",
    "odd.sql": """
{{ config(materialized='streaming') }}
select * from {{ stream(source('raw', 'o-d d'), options={'consumer-id': 'odd'}) }}
""",
    "diff.sql": """
{{ config(materialized='streaming') }}
select id, {{ var('column', 'v') }} as v{{ ', kind' if var('kinds', true) else ", '+I' as kind" }}
from {{ stream(source('raw', 'rebuilt'), row_kind='kind' if var('kinds', true) else none) }}
""",
}
BAD = {
    "joined.sql": """
{{ config(materialized='streaming') }}
select a.id from {{ stream(source('raw', 'appended')) }} as a join {{ stream(source('raw', 'keyed')) }} as k using (id)
""",
    "nested.sql": """
{{ config(materialized='streaming') }}
select id from {{ stream(source('raw', 'appended')) }} where id in (select id from {{ stream(source('raw', 'keyed')) }})
""",
    "without.sql": """
{{ config(materialized='streaming') }}
select id from {{ stream(source('raw', 'appended')) }} except select id from {{ stream(source('raw', 'keyed')) }}
""",
    "with_names.sql": """
{{ config(materialized='streaming') }}
with a as (select * from {{ stream(source('raw', 'appended')) }}), k as (select * from {{ stream(source('raw', 'keyed')) }})
select a.id from a where exists (select 1 from k where k.id = a.id)
""",
    "missing.sql": """
{{ config(materialized='streaming') }} select * from {{ stream(source('raw', 'missing')) }}
""",
    "unknown.sql": """
{{ config(materialized='streaming') }}
select * from {{ stream(source('raw', 'appended'), options={'read.stream.maxFilesPerTrigger': 1}) }}
""",
    "mode.sql": """
{{ config(materialized='streaming') }}
select * from {{ stream(source('raw', 'appended'), scan_mode='compacted-full') }}
""",
}
YML = (
    "sources: [{name: raw, schema: '{{ target.schema }}', tables: ["
    + ", ".join(f"{{name: {name}}}" for name in (*SOURCES, "o-d d", "missing"))
    + "]}]"
)
SECOND = [
    "insert into {t} values (1, 11), (4, 40)",
    "insert into {t} values (1, 12)",
    "insert into {t} values (5, 50), (6, 60)",
]
COMPACT = "call paimon.sys.compact(table => '{name}')"
EXPIRE = (
    "call paimon.sys.expire_snapshots(table => '{name}', retain_max => 1, retain_min => 1, "
    "older_than => timestamp '2100-01-01 00:00:00')"
)
DELETES = ["delete from {t} where id = 2", "update {t} set v = 42 where id = 4"]


def run(*select, wrong=False, full_refresh=False, **variables):
    """Run models; returns the message of each."""
    arguments = ["run", "--select", *select, "--vars", json.dumps(variables)]
    results = run_dbt(arguments + ["--full-refresh"] * full_refresh, expect_pass=not wrong)
    return {result.node.name: result.message for result in results}


class TestTables:
    @pytest.fixture(scope="class")
    def models(self):
        return {"sources.yml": YML, "good": MODELS, "bad": BAD}

    @pytest.fixture(scope="class")
    def table(self, rows):
        def read(name, columns="*"):
            return sorted(rows(f"select {columns} from {{schema}}.{name}"))

        return read

    @pytest.fixture(scope="class")
    def ran(self, write, rows):
        """Run all models on the first rows, and again after changes."""
        for source, ddl in SOURCES.items():
            write(source, f"create table {{t}} {ddl}", "insert into {t} values (1, 10), (2, 20), (3, 30)")
        rows("create table {schema}.`o-d d` using paimon as select 1 as id")
        run("good")
        for source in ("appended", *COPIED):
            write(source, *SECOND)
        for source in ("keyed", "looked_up"):
            write(source, *DELETES)
        for source in COPIED:
            write(source, COMPACT)
        write("rebuilt", "insert overwrite {t} values (1, 10), (3, 33), (4, 40)")
        run("good")

    def test_appended(self, ran, table):
        every = [(1, 10), (1, 11), (1, 12), (2, 20), (3, 30), (4, 40), (5, 50), (6, 60)]
        assert table("log") == every
        assert table("from_now_on") == sorted(set(every) - {(1, 10), (2, 20), (3, 30)})
        assert table("totals", "part, total, n") == [
            (rest, sum(v for key, v in every if key % 2 == rest), sum(key % 2 == rest for key, _ in every))
            for rest in (0, 1)
        ]

    def test_a_batch_ends_with_a_commit(self, ran, table):
        # A batch has at most two rows, or one commit with more.
        assert [count for _, count in table("`log$snapshots`", "snapshot_id, delta_record_count")] == [
            3,
            2,
            1,
            2,
        ]

    @pytest.mark.parametrize("name", COPIED)
    def test_copies(self, ran, table, name):
        assert table(f"copy_of_{name}", "id, v") == table(name)

    def test_a_copy_of_a_copy(self, ran, table):
        assert table("copy_of_copy", "id, v") == table("keyed")

    def test_shown(self, ran, table):
        for name in ("copy_of_keyed", "copy_of_copy"):
            (shown,) = run_dbt(["show", "--select", name, "--limit", "-1"])
            assert sorted(tuple(row) for row in shown.agate_table.rows) == [
                (key, v, "+I", 0) for key, v in table("keyed")
            ]

    def test_two_sources(self, ran, table):
        found = table("both")
        assert [row[1:] for row in found if row[0] == "a"] == table("log", "id, v")
        assert [row[1:] for row in found if row[0] == "k"] == sorted(
            [(1, 10), (2, 20), (3, 30), (1, 12), (4, 42), (5, 50), (6, 60)]
        )

    def test_a_source_that_is_overwritten(self, ran, table, write):
        """After INSERT OVERWRITE, a stream reads the rows that differ. A model that does not read row kinds fails."""
        came = [
            ("+I", 1, 10),
            ("+I", 2, 20),
            ("+I", 3, 30),
            ("+I", 3, 33),
            ("+I", 4, 40),
            ("-D", 2, 20),
            ("-D", 3, 30),
        ]
        assert table("diff", "kind, id, v") == came
        write("rebuilt", "insert overwrite {t} values (1, 10), (3, 33)")
        message = run("diff", wrong=True, kinds=False)["diff"]
        assert "were deleted or replaced" in message and "row_kind" in message
        assert table("diff", "kind, id, v") == came
        # Once the model reads row kinds again, the failed batch is written.
        run("diff")
        assert table("diff", "kind, id, v") == sorted([*came, ("-D", 4, 40)])

    def test_a_consumer_of_a_table_in_backticks(self, ran, rows):
        assert rows("select consumer_id from {schema}.`o-d d$consumers`") == [("odd",)]

    def test_nothing_new(self, ran, table):
        before = [table(f"`{name}$snapshots`", "max(snapshot_id)") for name in ("log", "both")]
        assert run("log")["log"] == "0 rows read in 0 batches"
        assert [table(f"`{name}$snapshots`", "max(snapshot_id)") for name in ("log", "both")] == before

    def test_another_select(self, ran, table, write):
        write("appended", "insert into {t} values (7, 70)")
        run("log", wide=True)
        assert table("log")[-1] == (7, 70, 140)
        assert table("log")[0] == (1, 10, None)
        before = table("merged")
        assert "the query has no column 'v'" in run("merged", wrong=True, wide=True)["merged"]
        assert table("merged") == before

    def test_other_sources(self, ran, table):
        before = table("both")
        message = run("both", wrong=True, more=True)["both"]
        assert "summed" in message and "--full-refresh" in message
        assert table("both") == before
        run("both", full_refresh=True, more=True)
        assert [row[1:] for row in table("both") if row[0] == "s"] == table("summed")
        assert [row[1:] for row in table("both") if row[0] == "k"] == table("keyed")

    @pytest.mark.parametrize(
        ("name", "says"),
        [
            ("joined", "joins two streams"),
            ("nested", "joins two streams"),
            ("without", "joins two streams"),
            ("with_names", "joins two streams"),
            ("missing", "there is no table"),
            ("unknown", "read.stream.maxFilesPerTrigger"),
            ("mode", "scan_mode='compacted-full' is unknown"),
        ],
    )
    def test_refused(self, ran, name, says):
        assert says in run(name, wrong=True)[name]

    def test_renamed_columns(self, ran, table, write):
        """For rows from before the renaming, the stream could not tell which column their values belong to."""
        write("appended", "insert into {t} values (9, 90)", "alter table {t} rename column v to w")
        before = table("from_now_on")
        assert "its table has columns" in run("from_now_on", wrong=True)["from_now_on"]
        assert table("from_now_on") == before
        write("appended", "alter table {t} rename column w to v", "alter table {t} add columns (x int)")
        run("from_now_on")
        assert table("from_now_on") == [*before, (7, 70), (9, 90)]

    def test_expired(self, ran, table, write):
        write("rebuilt", *["insert into {t} values (8, 80)"] * 2, EXPIRE)
        before = table("diff")
        message = run("diff", wrong=True)["diff"]
        assert "has expired" in message and "--full-refresh" in message
        assert table("diff") == before
        run("diff", full_refresh=True)
        assert table("diff", "id, v") == table("rebuilt")
        # A consumer keeps the table snapshots that a stream has yet to read.
        write(
            "looked_up",
            *["insert into {t} values (1, 13), (8, 80)", "delete from {t} where id = 3"] * 2,
            EXPIRE,
        )
        run("copy_of_looked_up")
        assert table("copy_of_looked_up", "id, v") == table("looked_up")

    def test_renamed_within_a_batch(self, ran, table, write):
        """Rows are compared by their values, even if a column was renamed."""
        before = table("diff", "kind, id, v")
        write(
            "rebuilt",
            "alter table {t} rename column v to w",
            "insert overwrite {t} select * from {t} where id <> 3",
        )
        run("diff", column="w")
        assert table("diff", "kind, id, v") == sorted([*before, ("-D", 3, 33)])

    def test_a_recreated_source(self, ran, table, write):
        write(
            "summed",
            "drop table {t}",
            f"create table {{t}} {SOURCES['summed']}",
            "insert into {t} values (1, 1)",
        )
        before = table("copy_of_summed")
        message = run("copy_of_summed", wrong=True)["copy_of_summed"]
        assert "--full-refresh" in message
        assert table("copy_of_summed") == before
        run("copy_of_summed", full_refresh=True)
        assert table("copy_of_summed", "id, v") == [(1, 1)]
