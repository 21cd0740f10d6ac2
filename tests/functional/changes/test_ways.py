"""paimon_changes on every kind of table: a run sees the table's changes since the previous run."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt
from dbt_common.exceptions import DbtRuntimeError

# name -> (DDL after the name, INSERT before the first run, statements before the second run, changes it reads).
# The changes are (kind, id, v). `{t}` is the table.
KEYED = "(id int, v int) tblproperties ('primary-key' = 'id', 'bucket' = '1'{more})"
FIRST = "insert into {t} values (1, 10), (2, 20), (3, 30)"
COMPACT = "call sys.compact(table => '{t}')"
CHANGES = (
    "insert into {t} values (1, 11), (4, 40)",
    "insert into {t} values (1, 12)",
    "delete from {t} where id = 3",
    "update {t} set v = 41 where id = 4",
    "insert into {t} values (5, 50)",
    "delete from {t} where id = 5",
)
# The last row of each key in the commits' files: +I may be an update; a row inserted and deleted is -D.
BY_FILES = [("+I", 1, 12), ("-D", 3, 30), ("+U", 4, 41), ("-D", 5, 50)]
BY_COMPARING = [("+U", 1, 12), ("-D", 3, 30), ("+I", 4, 41)]

TABLES: dict[str, tuple[str, str, tuple[str, ...], list[tuple[str, int, int]]]] = {
    "appended": (
        "(id int, v int)",
        FIRST,
        (
            "insert into {t} values (4, 40)",
            "insert into {t} values (4, 40)",
            "insert into {t} select * from {t} where false",
        ),
        [("+I", 4, 40), ("+I", 4, 40)],
    ),
    # UPDATE and DELETE rewrite whole files, and commit as APPEND.
    "rewritten": (
        "(id int, v int)",
        "insert into {t} select /*+ coalesce(1) */ * from values (1, 10), (2, 20), (2, 20), (3, 30)",
        (
            "delete from {t} where id = 1",
            "update {t} set v = 31 where id = 3",
            "insert into {t} values (2, 20)",
        ),
        [("-D", 1, 10), ("+I", 2, 20), ("-D", 3, 30), ("+I", 3, 31)],
    ),
    "overwritten": (
        "(id int, v int)",
        FIRST,
        ("insert overwrite {t} values (1, 10), (2, 22)",),
        [("-D", 2, 20), ("+I", 2, 22), ("-D", 3, 30)],
    ),
    "plain": (KEYED.format(more=""), FIRST, CHANGES, BY_FILES),
    # The insert has the sequence number of a delete that the compaction has dropped.
    "compacted_between": (
        KEYED.format(more=""),
        FIRST,
        ("delete from {t} where id > 1", COMPACT, "insert into {t} values (2, 22)"),
        [("+U", 2, 22), ("-D", 3, 30)],
    ),
    "input": (KEYED.format(more=", 'changelog-producer' = 'input'"), FIRST, CHANGES, BY_FILES),
    # Paimon reads only changelog files of this table, and the first commit has none.
    "input_from_now_on": (
        KEYED.format(more=""),
        FIRST,
        (
            "insert into {t} values (1, 11), (4, 40)",
            "alter table {t} set tblproperties ('changelog-producer' = 'input')",
            "insert into {t} values (1, 12)",
        ),
        [("+U", 1, 12), ("+I", 4, 40)],
    ),
    "lookup": (KEYED.format(more=", 'changelog-producer' = 'lookup'"), FIRST, CHANGES, BY_COMPARING),
    "full_compaction": (
        KEYED.format(more=", 'changelog-producer' = 'full-compaction'"),
        FIRST,
        CHANGES,
        BY_COMPARING,
    ),
    "vectors": (KEYED.format(more=", 'deletion-vectors.enabled' = 'true'"), FIRST, CHANGES, BY_COMPARING),
    "keyed_overwritten": (
        KEYED.format(more=""),
        FIRST,
        ("insert overwrite {t} values (1, 10), (3, 33), (4, 40)", "insert into {t} values (1, 11)"),
        [("+U", 1, 11), ("-D", 2, 20), ("+U", 3, 33), ("+I", 4, 40)],
    ),
    # The late row of key 2 is not applied, but the unchanged row of key 2 is read again.
    "sequenced": (
        KEYED.format(more=", 'sequence.field' = 'v'"),
        FIRST,
        (
            "insert into {t} values (1, 12), (2, 19)",
            "insert into {t} values (1, 11), (4, 40)",
            "delete from {t} where id = 3",
        ),
        [("+U", 1, 12), ("+U", 2, 20), ("-D", 3, 30), ("+U", 4, 40)],
    ),
    # The row of a delete is the one that the table had, not an older one that arrived late.
    "sequenced_deleted": (
        KEYED.format(more=", 'sequence.field' = 'v'"),
        FIRST,
        ("insert into {t} values (3, 5)", "delete from {t} where id = 3"),
        [("-D", 3, 30)],
    ),
    "first_row": (
        KEYED.format(more=", 'merge-engine' = 'first-row'"),
        FIRST,
        ("insert into {t} values (1, 11), (4, 40)",),
        [("+I", 4, 40)],
    ),
    "summed": (
        KEYED.format(more=", 'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum'"),
        FIRST,
        ("insert into {t} values (1, 1), (4, 40)", "insert into {t} values (1, 2)"),
        [("+U", 1, 13), ("+U", 4, 40)],
    ),
    "filled": (
        "(id int, v int, w int) tblproperties ('primary-key' = 'id', 'bucket' = '1', 'merge-engine' = 'partial-update')",
        "insert into {t} values (1, 10, null), (2, 20, 2)",
        ("insert into {t} values (1, null, 1)",),
        [("+U", 1, 10)],
    ),
    # Here DELETE rewrites files and commits as APPEND; no new file lists the deleted keys.
    "filled_deleted": (
        KEYED.format(more=", 'merge-engine' = 'partial-update'"),
        FIRST,
        (COMPACT, "delete from {t} where id = 2"),
        [("-D", 2, 20)],
    ),
    "filled_deleted_input": (
        KEYED.format(more=", 'merge-engine' = 'partial-update', 'changelog-producer' = 'input'"),
        FIRST,
        (COMPACT, "delete from {t} where id > 1", "insert into {t} values (3, 30), (4, 40)"),
        [("-D", 2, 20), ("+I", 4, 40)],
    ),
    "summed_deleted": (
        KEYED.format(more=", 'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum'"),
        FIRST,
        (
            "insert into {t} values (1, 1)",
            COMPACT,
            "delete from {t} where id = 2",
            "insert into {t} values (2, 5), (4, 40), (5, 50), (6, 60), (7, 70)",
            COMPACT,
            "delete from {t} where id in (3, 5)",
        ),
        [("+U", 1, 11), ("+U", 2, 5), ("-D", 3, 30), ("+I", 4, 40), ("+I", 6, 60), ("+I", 7, 70)],
    ),
    # A compaction removes expired rows; v is their time in seconds since 1970.
    "expired": (
        KEYED.format(more=", 'record-level.expire-time' = '1 d', 'record-level.time-field' = 'v'"),
        "insert into {t} values (1, 10), (2, 2000000000)",
        ("insert into {t} values (3, 2000000000)", COMPACT),
        [("-D", 1, 10), ("+I", 3, 2000000000)],
    ),
    # With this scan mode, Paimon reads the changelog, but this table has none.
    "of_no_changelog": (
        KEYED.format(more=", 'incremental-between-scan-mode' = 'changelog'"),
        FIRST,
        ("insert into {t} values (1, 11), (4, 40)",),
        [("+U", 1, 11), ("+I", 4, 40)],
    ),
    "moved": (
        "(id int, v int) partitioned by (v) tblproperties ('primary-key' = 'id')",
        FIRST,
        ("insert into {t} values (1, 11)",),
        [("+U", 1, 11)],
    ),
    "widened": (
        KEYED.format(more=""),
        FIRST,
        (
            "alter table {t} add columns (w map<string, int>)",
            "insert overwrite {t} values (1, 10, null), (2, 20, map('a', 1))",
        ),
        [("+U", 2, 20), ("-D", 3, 30)],
    ),
    # The newest table snapshot does not have the new columns yet.
    "altered_afterwards": (
        "(id int, w int, v int) tblproperties ('primary-key' = 'id', 'bucket' = '1', 'sequence.field' = 'v')",
        "insert into {t} values (1, 1, 10), (2, 2, 20)",
        (
            "insert into {t} values (1, 1, 12)",
            "alter table {t} rename column w to x",
            "alter table {t} add columns (y int)",
        ),
        [("+U", 1, 12)],
    ),
    # Rows with maps are compared as JSON.
    "microseconds": (
        "(id int, v int, t timestamp, m map<string, int>) tblproperties "
        "('primary-key' = 'id', 'bucket' = '1', 'changelog-producer' = 'lookup')",
        "insert into {t} values (1, 10, timestamp'2024-01-01 00:00:00.123', map('a', 1))",
        ("insert into {t} values (1, 10, timestamp'2024-01-01 00:00:00.123456', map('a', 1))",),
        [("+U", 1, 10)],
    ),
    # A renamed column keeps its values.
    "renamed": (
        "(id int, v int, w int) tblproperties ('primary-key' = 'id', 'bucket' = '1')",
        "insert into {t} values (1, 10, 1), (2, 20, 2)",
        ("alter table {t} rename column w to x", "insert overwrite {t} values (1, 10, 1), (2, 21, 2)"),
        [("+U", 2, 21)],
    ),
}
SOURCES = (
    'version: 2\nsources:\n  - name: raw\n    schema: "{{ target.schema }}"\n    tables: ['
    + ", ".join(f"{{name: {name}}}" for name in TABLES)
    + "]"
)


# One model reads all tables.
LOG = "{{ config(materialized='incremental', incremental_strategy='append') }}\n" + "\nunion all\n".join(
    f"select '{name}' as name, _row_kind as kind, id, v, {{{{ var('run') }}}} as run "
    f"from {{{{ paimon_changes(source('raw', '{name}')) }}}}"
    for name in TABLES
)
# A second model reads the same changes with `from_snapshot`; a third (RANGE) reads the first two changes of one table.
BETWEEN = "{{ config(materialized='table') }}\n" + "\nunion all\n".join(
    f"select '{name}' as name, _row_kind as kind, id, v "
    f"from {{{{ paimon_changes(source('raw', '{name}'), from_snapshot=var('starts', {{}}).get('{name}', 0)) }}}}"
    for name in TABLES
)
RANGE = """
select _row_kind, id, v, upto from {{ paimon_changes(source('raw', 'NAME'), from_snapshot=FROM, to_snapshot=TO,
  snapshot_column='upto', before=true) }}
"""


def range_of(name: str, start: object, end: object) -> str:
    return RANGE.replace("NAME", name).replace("FROM", str(start)).replace("TO", str(end))


POSITIONS = "select split(source, '`')[5], snapshot_id from {schema}.log__dbt_changes"


class TestWays:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sources.yml": SOURCES,
            "log.sql": LOG,
            "between.sql": BETWEEN,
            "viewed.sql": "{{ config(materialized='view') }} select 1 as id",
            "first_two.sql": "{{ config(materialized='table') }}" + range_of("plain", 1, 3),
        }

    @pytest.fixture(scope="class")
    def read(self, project, rows):
        """The changes that each run read; nothing happens between the second run and the third."""
        for name, (ddl, first, _, _) in TABLES.items():
            rows(f"create table {{schema}}.{name} {ddl}")
            rows(first.format(t=f"{{schema}}.{name}"))
        run_dbt(["run", "--select", "log", "--vars", "run: 1"])
        starts = dict(rows(POSITIONS))
        for name, (_, _, changes, _) in TABLES.items():
            for statement in changes:
                rows(statement.format(t=f"{{schema}}.{name}"))
        run_dbt(["run", "--vars", str({"run": 2, "starts": starts})])
        run_dbt(["run", "--select", "log", "--vars", "run: 3"])
        return rows("select run, name, kind, id, v from {schema}.log order by id, v")

    @pytest.mark.parametrize("name", TABLES)
    def test_changes(self, read, name):
        by_run = {run: [row[2:] for row in read if row[:2] == (run, name)] for run in (1, 2, 3)}
        assert {kind for kind, *_ in by_run[1]} == {"+I"}
        found, expected = by_run[2], TABLES[name][3]
        if expected is BY_FILES:
            # Newer connectors recognize the update from the files.
            found = [("+I", *row[1:]) if row == ("+U", 1, 12) else row for row in found]
        assert found == expected
        assert by_run[3] == []

    def test_positions(self, read, rows):
        """The model's position is the newest table snapshot of each table."""
        at = dict(rows(POSITIONS))
        newest = rows(
            " union all ".join(
                f"select '{name}', max(snapshot_id) from {{schema}}.`{name}$snapshots`" for name in TABLES
            )
        )
        assert at == dict(newest)

    def test_between_two_table_snapshots(self, read, rows):
        between = rows("select name, kind, id, v from {schema}.between")
        assert sorted(between) == sorted(row[1:] for row in read if row[0] == 2)
        found = rows("select * from {schema}.first_two order by id, _row_kind desc")
        assert found == [("-U", 1, 10, 3), ("+U", 1, 12, 3), ("+I", 4, 40, 3)]

    @pytest.mark.parametrize(
        ("sql", "said"),
        [
            (range_of("plain", 3, 1), "3 is after 1 (available: 1 to"),
            (range_of("plain", 1, 99), "table snapshot 99 does not exist (available: 1 to"),
            (range_of("plain", "'a_tag'", 1), "numbers of table snapshots, not a_tag, 1"),
            (
                range_of("renamed", 0, 1),
                "columns have changed since table snapshot 1. Set to_snapshot to a table snapshot after",
            ),
            (range_of("log", 0, 1).replace("source('raw', 'log')", "ref('viewed')"), "is not a Paimon table"),
        ],
    )
    def test_a_range_that_cannot_be_read(self, read, sql, said):
        with pytest.raises(DbtRuntimeError) as raised:
            run_dbt(["show", "--inline", sql])
        assert said in " ".join(str(raised.value).split())
