"""A stream keeps writing a table while batch runs compact it, expire its snapshots and read it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt

MODELS = {
    "sources.yml": "sources: [{name: raw, schema: '{{ target.schema }}', tables: [{name: events}]}]",
    "status.sql": """
{{ config(
    materialized='streaming', primary_key='id', bucket=1, processing_time='1 second',
    maintenance={'compact': {'every_commits': 1, 'after_run': false}}
) }}
select id, v from {{ stream(source('raw', 'events')) }}
""",
    "at_first.sql": """
{{ config(materialized='table') }}
select count(*) as n, sum(v) as total from {{ at(ref('status'), tag='first') }}
""",
    "copy.sql": """
{{ config(
    materialized='incremental', incremental_strategy='apply_changes', primary_key='id', bucket=1,
    rowkind_field='_row_kind', sequence_field='read_to'
) }}
select id, v, _row_kind, read_to from {{ paimon_changes(ref('status'), snapshot_column='read_to', keep=true) }}
""",
}
MACROS = """
{% macro tag_first() %}{% do create_tag(ref('status'), 'first') %}{% endmacro %}
{% macro tidy(orphans_of='') %}
  {% do compact(ref('status')) %}
  {% do expire_snapshots(ref('status'), retain_max=1, retain_min=1, older_than='2100-01-01 00:00:00') %}
  {# While a stream writes, files younger than a day may be about to be committed. #}
  {% do remove_orphan_files(ref('status'), dry_run=false, older_than=orphans_of or none) %}
{% endmacro %}
"""


class TestHybrid:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def macros(self):
        return {"macros.sql": MACROS}

    @pytest.fixture(scope="class")
    def stream(self, project, profiles_root):
        """Function: start `dbt-paimon stream` for the table in a separate process."""
        folders = ("--project-dir", str(project.project_root), "--profiles-dir", str(profiles_root))
        command = (sys.executable, "-m", "dbt_paimon.cli", "stream", *folders, "--select", "status")
        with Path(project.project_root, "stream.txt").open("wb") as output:
            yield lambda: subprocess.Popen(command, stdout=output, stderr=output)

    def test_all_at_once(self, project, rows, stream):
        def add(step):
            """Add new keys, and new values of existing ones."""
            rows(f"insert into {{schema}}.events select id, id + {1000 * step} from range({5 * step}, {5 * step + 20})")
            expected.update({key: key + 1000 * step for key in range(5 * step, 5 * step + 20)})

        def status():
            return dict(rows("select id, v from {schema}.status"))

        expected: dict[int, int] = {}
        rows("create table {schema}.events (id bigint, v bigint)")
        add(0)
        run_dbt(["run", "--select", "status"])
        run_dbt(["run-operation", "tag_first"])
        process = stream()
        try:
            for step in range(1, 5):
                add(step)
                run_dbt(["run", "--select", "at_first", "copy"])
                run_dbt(["run-operation", "tidy"])
                run_dbt(["run-operation", "maintain", "--args", "{select: status}"])
                assert rows("select n, total from {schema}.at_first") == [(20, sum(range(20)))]
                # A batch run reads a state that the stream's table had: each key has one of its past values.
                read = rows("select id, v from {schema}.copy")
                assert all((value - key) % 1000 == 0 and value <= expected[key] for key, value in read)
            end = time.monotonic() + 400
            while status() != expected:
                assert process.poll() is None and time.monotonic() < end
                time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=300) == 0
        finally:
            if process.poll() is None:
                process.kill()
        # Orphan removal must keep the checkpoint in the table's folder; expiration must keep what `copy` reads next.
        for step in (5, 6):
            add(step)
            (result,) = run_dbt(["run", "--select", "status"])
            assert result.message == "20 rows read in 1 batch"
            run_dbt(["run-operation", "maintain"])
            assert rows("select max_by(commit_kind, snapshot_id) from {schema}.`status$snapshots`") == [("COMPACT",)]
            now = time.strftime("%Y-%m-%d %H:%M:%S")
            run_dbt(["run-operation", "tidy", "--args", f"{{orphans_of: '{now}'}}"])
        run_dbt(["run"])
        assert status() == expected
        assert dict(rows("select id, v from {schema}.copy")) == expected
        assert rows("select n, total from {schema}.at_first") == [(20, sum(range(20)))]
