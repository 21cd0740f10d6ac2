"""System tables in models, table_health, and the generic data tests, each with a passing and a failing table."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture
from dbt_common.exceptions import DbtRuntimeError
from tests.functional.conftest import CONNECTOR

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.metadata.system_tables import SYSTEM_TABLES

ENVIRONMENT = Versions.of(str(CONNECTOR))
KEYED = "materialized='incremental', primary_key='id', bucket=1, tblproperties={'write-only': true}"

MODELS = {
    # Three runs leave three files of level 0 and three table snapshots.
    "untended": f"{{{{ config({KEYED}, tags=['watched']) }}}} select {{{{ var('run', 1) }}}} as id",
    "tended": "{{ config(" + KEYED + ", tags=['watched'], maintenance={'compact': {'small_files': 2}, "
    "'expire_snapshots': {'retain_max': 1}}) }} select {{ var('run', 1) }} as id",
    # All rows have the same bucket key.
    "skewed": "{{ config(materialized='table', bucket=4, bucket_key='country') }} select id, 'NL' as country from range(100)",
    "even": "{{ config(materialized='table', bucket=4, bucket_key='id') }} select id, 'NL' as country from range(1000)",
    "many_partitions": "{{ config(materialized='table', partition_by='day') }} select id, cast(id as string) as day "
    "from range(3)",
    "levels": "{{ config(materialized='table') }} select level, count(*) as files from {{ files_of(ref('tended')) }} group by level",
    "by_name": "{{ config(materialized='table') }} select count(*) as n from {{ system_table(ref('untended'), 'snapshots') }}",
    "viewed": "{{ config(materialized='view') }} select * from {{ ref('tended') }}",
    "counted": """
{{ config(materialized='table') }}
-- depends_on: {{ ref('even') }} {{ ref('many_partitions') }}
{% set found = table_health(select='even many_partitions') or [] %}
{% for row in found %}
select '{{ row.table.split('.')[1] }}' as name, {{ row.partitions }} as partitions, {{ row.buckets }} as buckets
{{ 'union all' if not loop.last }}
{% endfor %}
""",
    # Runs in a session in which double quotes mark names.
    "kept_health": """
{{ config(
    materialized='table', spark_config={'spark.sql.ansi.enabled': true, 'spark.sql.ansi.doubleQuotedIdentifiers': true}
) }}
-- depends_on: {{ ref('tended') }} {{ ref('untended') }}
{% set found = table_health(select='tag:watched') or [] %}
{% for row in found %}
select '{{ row.table.split('.')[1] }}' as name, {{ row.rows }} as n, {{ row.files }} as files, {{ row.small_files }} as small,
  '{{ row.levels }}' as levels, {{ row.sorted_runs }} as runs, {{ row.snapshots }} as snapshots,
  {{ row.commits_since_compaction }} as commits, {{ row.tags }} as tags, {{ row.oldest_snapshot }} as age
{{ 'union all' if not loop.last }}
{% endfor %}
""",
}

TESTS = """
models:
  - name: tended
    data_tests:
      - small_files: {arguments: {max_files: 0}}
      - snapshot_count: {arguments: {max_snapshots: 1}}
      - snapshot_age: {arguments: {max_age: 1 d, newest_max_age: 1 d}}
      - compaction_needed: {arguments: {max_sorted_runs: 1}}
  - name: untended
    data_tests:
      - small_files
      - snapshot_count
      - snapshot_age
      - compaction_needed
      - bucket_size
      - small_files: {name: fails_small_files, arguments: {max_files: 2}}
      - snapshot_count: {name: fails_snapshot_count, arguments: {max_snapshots: 2}}
      - snapshot_age: {name: fails_snapshot_age, arguments: {max_age: 0 s, retain_min: 1}}
      - snapshot_age: {name: never_expires, arguments: {max_age: 0 s}}
      - snapshot_age: {name: fails_newest_age, arguments: {max_age: null, newest_max_age: 0 s}}
      - compaction_needed: {name: fails_compaction_needed, arguments: {max_sorted_runs: 2}}
      - bucket_size: {name: fails_bucket_size, arguments: {max_gb: 0.0000001}}
  - name: skewed
    data_tests:
      - bucket_skew
      - bucket_skew: {name: fails_bucket_skew, arguments: {min_rows: 100}}
  - name: even
    data_tests:
      - bucket_skew: {arguments: {min_rows: 1, max_skew: 1.5}}
  - name: many_partitions
    data_tests:
      - partition_count
      - compaction_needed: {arguments: {max_small_files: 1}}
      - partition_count: {name: fails_partition_count, arguments: {max_partitions: 2}}
"""


class TestMonitoring:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": sql for name, sql in MODELS.items()} | {"tests.yml": TESTS}

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project):
        selected = ["--exclude", "kept_health"]
        run_dbt(["compile", *selected])
        for number in (1, 2, 3):
            run_dbt(["run", "--vars", f"run: {number}", *(selected if number < 3 else [])])

    def test_data_tests(self, project):
        results = {result.node.name: result for result in run_dbt(["test"], expect_pass=False)}
        wrong = {
            name: (str(result.status), result.message)
            for name, result in results.items()
            if str(result.status) != ("fail" if name.startswith("fails_") else "pass")
        }
        assert not wrong
        assert len(results) == 22

    @pytest.mark.parametrize(
        ("sql", "part"),
        [
            ("select * from {{ files_of(ref('viewed')) }}", "is a view, which has no system tables"),
            ("select * from {{ system_table(ref('tended'), 'file') }}", "Did you mean 'files'?"),
            ("{{ test_small_files(get_where_subquery(ref('viewed'))) }}", "is a view"),
            ("{{ test_snapshot_age('a subquery') }}", "Remove `where` from its config"),
            ("{{ test_snapshot_age(ref('tended'), max_age='a day') }}", "'a day' is not a duration"),
        ],
    )
    def test_refused(self, project, sql, part):
        with pytest.raises(DbtRuntimeError) as raised:
            run_dbt(["compile", "--inline", sql])
        assert part in str(raised.value)

    def test_system_tables(self, project, rows):
        assert rows("select n from {schema}.by_name") == [(3,)]
        assert rows("select * from {schema}.`kept_health` order by name") != []
        # The only file after the last compaction.
        assert rows("select level, files from {schema}.levels") == [(5, 1)]

    def test_table_health(self, rows):
        found = rows(
            "select name, n, files, small, levels, runs, snapshots, commits, tags from {schema}.kept_health order by 1"
        )
        # The runs have compacted `tended` to one file in level 5.
        assert found == [
            ("tended", 3, 1, 0, "5:1", 1, 1, 0, 0),
            ("untended", 3, 3, 3, "0:3", 3, 3, 3, 0),
        ]
        assert all(0 <= age < 3600 for (age,) in rows("select age from {schema}.kept_health"))

    def test_partitions_and_buckets(self, rows):
        assert rows("select * from {schema}.counted order by 1") == [
            ("even", 1, 4),
            ("many_partitions", 3, 3),
        ]

    def test_operation(self, project):
        run_dbt(["run-operation", "table_health"])
        _, output = run_dbt_and_capture(
            ["run-operation", "table_health", "--args", "{select: untendd}"], expect_pass=False
        )
        assert "Did you mean 'untended'?" in " ".join(output.split())

    def test_a_macro_for_each(self, project):
        """Reads each system table that this Paimon has; the first one that it lacks is refused by name."""
        lacking = [name for name, needs in SYSTEM_TABLES.items() if needs and not ENVIRONMENT.supports(needs)]
        # `row_tracking` needs a table with a special option.
        read = [name for name in SYSTEM_TABLES if name not in (*lacking, "row_tracking")]
        sql = "{% do run_query('select count(*) from ' ~ NAME_of(ref('untended'))) %}"
        queries = " ".join(sql.replace("NAME", name) for name in read)
        run_dbt(["show", "--inline", f"{queries} select 1 as one"])
        if lacking:
            with pytest.raises(DbtRuntimeError, match=f"the system table {lacking[0]} of"):
                run_dbt(["show", "--inline", sql.replace("NAME", lacking[0]) + " select 1 as one"])
