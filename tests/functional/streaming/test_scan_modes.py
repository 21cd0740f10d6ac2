"""Where a stream from a Paimon table begins, and what its first two runs read, by `scan_mode` and scan options."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

LOG = """
{{{{ config(materialized='streaming') }}}}
select id, v, _kind from {{{{ stream(source('raw', '{source}'), row_kind='_kind', {arguments}) }}}}
"""
# Model -> arguments of stream(); the fixture `built` writes the table snapshots.
BEGINS = {
    "from_snapshot": "options={'scan.snapshot-id': 3}",
    "from_the_first": "scan_mode='from-snapshot', options={'scan.snapshot-id': 1}",
    "from_the_next": "options={'scan.snapshot-id': 5}",
    "all_at_two": "scan_mode='from-snapshot-full', options={'scan.snapshot-id': 2}",
    "from_a_time": "options={'scan.timestamp': var('moment')}",
    "from_milliseconds": "options={'scan.timestamp-millis': var('millis')}",
    "from_the_beginning": "options={'scan.timestamp': '2001-01-01'}",
    "by_commit": "options={'scan.snapshot-id': 2, 'maxSnapshotsPerTrigger': 1}",
}
TWICE = """
{{ config(materialized='streaming') }}
select id, v, _kind from {{ stream(source('raw', 't'), row_kind='_kind', options={'scan.snapshot-id': 3}) }}
union all
select id, v, _kind from {{ stream(source('raw', 't'), row_kind='_kind', options={'scan.snapshot-id': 5}) }}
"""
EXPIRED = {
    "too_old": "options={'scan.snapshot-id': 2}",
    "too_new": "options={'scan.snapshot-id': 9}",
    "before_all": "options={'scan.timestamp': '2001-01-01'}",
}
MODELS = {
    "sources.yml": "sources: [{name: raw, schema: '{{ target.schema }}', tables: [{name: t}, {name: old}]}]",
    "good": {
        **{f"{name}.sql": LOG.format(source="t", arguments=text) for name, text in BEGINS.items()},
        "twice.sql": TWICE,
    },
    "bad": {f"{name}.sql": LOG.format(source="old", arguments=text) for name, text in EXPIRED.items()},
}
CREATE = "create table {t} (id int, v int) tblproperties ('primary-key' = 'id', 'bucket' = '1', 'write-only' = 'true')"
COMMITS = [
    "insert into {t} values (1, 10), (2, 20)",
    "insert into {t} values (2, 21), (3, 30)",
    "delete from {t} where id = 1",
    "insert into {t} values (4, 40)",
]
ONE, TWO, FOUR = (
    [("+I", 1, 10), ("+I", 2, 20)],
    [("+I", 2, 21), ("+I", 3, 30)],
    [("+I", 4, 40)],
)
THREE = [("-D", 1, 10)]
FIVE = [("+I", 5, 50)]


class TestScanModes:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def built(self, write, rows):
        """Run each model twice: after four commits, and after one more."""
        write("t", CREATE, *COMMITS)
        ((moment, millis),) = rows(
            "select date_format(commit_time, 'yyyy-MM-dd HH:mm:ss.SSS'), unix_millis(cast(commit_time as timestamp)) "
            "from {schema}.`t$snapshots` where snapshot_id = 3"
        )
        arguments = ["run", "--select", "good", "--vars", f"{{moment: '{moment}', millis: {millis}}}"]
        run_dbt(arguments)
        write("t", "insert into {t} values (5, 50)")
        run_dbt(arguments)

    @pytest.mark.parametrize(
        ("model", "expected"),
        [
            # Several commits in one batch give one change per key.
            ("from_snapshot", [*THREE, *FOUR, *FIVE]),
            ("from_the_first", [*ONE, *TWO, *THREE, *FOUR, *FIVE]),
            ("from_the_next", FIVE),
            ("all_at_two", [("+I", 1, 10), *TWO, *THREE, *FOUR, *FIVE]),
            ("from_a_time", [*THREE, *FOUR, *FIVE]),
            ("from_milliseconds", [*THREE, *FOUR, *FIVE]),
            ("from_the_beginning", [*ONE, *TWO, *THREE, *FOUR, *FIVE]),
            ("twice", [*THREE, *FOUR, *FIVE, *FIVE]),
            ("by_commit", [*TWO, *THREE, *FOUR, *FIVE]),
        ],
    )
    def test_read(self, built, rows, model, expected):
        # Treat +U as +I: which of the two a row has depends on the table's files.
        found = [(kind.replace("U", "I"), *row) for kind, *row in rows(f"select _kind, id, v from {{schema}}.{model}")]
        assert sorted(found) == sorted(expected)

    @pytest.mark.parametrize("name", EXPIRED)
    def test_refused_before_the_table_is_made(self, write, rows, name):
        if not rows("show tables in {schema} like 'old'"):
            write(
                "old",
                CREATE,
                *COMMITS,
                "call paimon.sys.expire_snapshots(table => '{name}', retain_max => 2, retain_min => 2, "
                "older_than => timestamp '2100-01-01 00:00:00')",
            )
        (result,) = run_dbt(["run", "--select", name], expect_pass=False)
        assert "(available: 3 to 4)" in result.message
        assert not rows(f"show tables in {{schema}} like '{name}'")
