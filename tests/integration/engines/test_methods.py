"""The same project on a Thrift server and on a Connect server, where dbt works as on an embedded Spark."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dbt.tests.util import get_connection, run_dbt

from dbt.adapters.paimon.spark.server_writers import Note, ServerWriters
from dbt.adapters.paimon.sql import views
from dbt_paimon.cli import main

SEED = """code,name,size,since
DE,"Deutsch'land ? \\ ü",357.5,1949-05-23
FR,,,1789-07-14
"""
# The number of tasks after a shuffle, and the session's time zone.
SEEN = """{{ config(materialized='table', spark_config={
  'spark.sql.adaptive.enabled': false, 'spark.sql.shuffle.partitions': %d, 'spark.sql.session.timeZone': '%s'
}) }}
select cast(count(distinct task) as int) as tasks, current_timezone() as zone
from (select spark_partition_id() as task from (select id from range(1000) distribute by id))"""
MODELS = {
    "typed.sql": """{{ config(materialized='table', primary_key='id', bucket=2) }}
select cast(1 as bigint) as id, cast(9.99 as decimal(10, 2)) as price, true as flag, X'00ff' as bytes,
  timestamp'2026-01-01 10:00:00.123456' as at, cast('2026-01-01 10:00:00.5' as timestamp_ntz) as local_at,
  date'2026-01-01' as day, named_struct('a', 1, 'b', array('x', null)) as nested, map('k', 1.5D) as pairs,
  cast('nan' as double) as nan, cast(null as string) as nothing""",
    "upserted.sql": """{{ config(materialized='incremental', primary_key='id', bucket=1) }}
select id, {{ 2 if is_incremental() else 1 }} as run from range({{ 3 if is_incremental() else 2 }})
{% if is_incremental() %} where id > 0 {% endif %}""",
    "merged.sql": """{{ config(
  materialized='incremental', incremental_strategy='merge', unique_key='id', incremental_predicates=['id >= 1', "`run` < 5"]
) }}
select id, run from {{ ref('looked_at') }}""",
    "five.sql": SEEN % (5, "Asia/Tokyo"),
    "seven.sql": SEEN % (7, "America/Lima"),
    "a_setter.sql": """{% call set_sql_header(config) %}
set spark.sql.function.concatBinaryAsString=true; use paimon.`{{ target.schema }}`
{% endcall %}
{{ config(materialized='table') }} select typeof(concat(X'61', X'62')) as kind, current_schema() as place""",
    "b_next.sql": "{{ config(materialized='table') }} select typeof(concat(X'61', X'62')) as kind, current_schema() as place",
    "usual_view.sql": "select hour(timestamp'2026-01-01 12:00:00Z') as noon",
    "own_view.sql": """{{ config(spark_config={'spark.sql.session.timeZone': 'Asia/Tokyo'}) }}
select hour(timestamp'2026-01-01 12:00:00Z') as noon""",
    "noons.sql": """{{ config(materialized='table', spark_config={'spark.sql.session.timeZone': 'America/Lima'}) }}
select usual.noon as usual, own.noon as own, current_timezone() as zone
from {{ ref('usual_view') }} as usual, {{ ref('own_view') }} as own""",
    "rekeyed.sql": "{{ config(materialized='table', primary_key=var('key', 'id')) }} select 1 as id, 2 as other",
    "refused.sql": "{{ config(materialized='table', spark_config={var('name', 'spark.sql.ansi.enabled'): true}) }} select 1 as id",
    "looked_at.sql": "{{ config(materialized='view') }} select * from {{ ref('upserted') }}",
    "watched.sql": """{{ config(materialized='materialized_view') }}
select u.id, upper(cast(u.run as string)) as run, v.run as same
from {{ ref('upserted') }} as u inner join {{ ref('upserted') }} as v on v.id = u.id where u.run < 9""",
    "runs.sql": "{{ config(materialized='materialized_view', spark_config={'spark.sql.session.timeZone': var('zone', 'UTC')}) }} select run, count(*) as n from {{ ref('upserted') }} group by run",
    "schema.yml": """
models:
  - name: upserted
    columns: [{name: id, data_tests: [unique, not_null]}]
sources:
  - name: lake
    schema: "{{ target.schema }}"
    tables: [{name: upserted, config: {freshness: {error_after: {count: 1, period: hour}}}}]
snapshots:
  - name: kept
    relation: ref('upserted')
    config: {unique_key: id, strategy: check, check_cols: all}
""",
}
PYTHON = """
import pyspark.sql.functions as F

def model(dbt, session):
    dbt.config(materialized='table', primary_key='id')
    return dbt.ref('upserted').withColumn('twice', F.col('id') * 2)
"""


# Model -> its wrong SQL, the error's position in the file, and the text that the message marks.
WRONG = {
    "no_column": (
        "\n{{ config(materialized='table') }}\nselect id,\n  rnu\nfrom {{ ref('upserted') }}",
        ":4:3",
        "rnu",
    ),
    "no_number": (
        "{{ config(materialized='table') }} select id,\n  cast('x' as int) as x from range(2)",
        ":2:3",
        "cast('x' as int)",
    ),
    "no_sql": ("select id\nfrom range(2) wher id = 1", ":2:20", "id"),
}


# So that an invalid cast fails.
ANSI = {"spark.sql.ansi.enabled": "true"}


def answer(command: str, project: Any, *arguments: str) -> Any:
    """The JSON output of `dbt-paimon report` or `diff` for the model `upserted`."""
    places = ["--project-dir", project.project_root, "--profiles-dir", project.profiles_dir]
    done = CliRunner().invoke(main, [command, *places, "--select", "upserted", *arguments])
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(line)


class Methods:
    """The tests for every connection method."""

    @pytest.fixture(scope="class")
    def models(self):
        return MODELS | {"in_python.py": PYTHON}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"countries.csv": SEED}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"+column_types": {"since": "date"}}}

    def test_two_builds(self, project, rows):
        run_dbt(["build", "--exclude", "in_python", "rekeyed"])
        assert sorted(rows("select id, run from {schema}.upserted")) == [(0, 1), (1, 1)]
        results = run_dbt(["build", "--exclude", "in_python", "rekeyed"])
        assert sorted(rows("select id, run from {schema}.upserted")) == [(0, 1), (1, 2), (2, 2)]
        said = {result.node.name: result.adapter_response for result in results}
        assert said["upserted"]["rows_affected"] == 2
        # A server does not report how many rows a MERGE wrote, only how much the table has grown.
        assert "rows_affected" not in said["merged"]
        assert said["merged"]["snapshot_id"] == 2
        # The predicate excludes row 0 from the MERGE's matches, so it is inserted again.
        assert sorted(rows("select id, run from {schema}.merged")) == [(0, 1), (0, 1), (1, 2), (2, 2)]
        assert sorted(rows("select id, run from {schema}.kept where dbt_valid_to is null")) == [
            (0, 1),
            (1, 2),
            (2, 2),
        ]
        assert sorted(rows("select code, name, size from {schema}.countries")) == [
            ("DE", "Deutsch'land ? \\ ü", 357.5),
            ("FR", None, None),
        ]

    def test_views_are_refreshed_by_what_changed(self, project, rows):
        def refreshed(*flags: str) -> dict[str, str]:
            results = run_dbt(["run", "--select", "watched", "runs", *flags])
            assert sorted(rows("select id, run, same from {schema}.watched")) == sorted(
                rows("select id, cast(run as string), run from {schema}.upserted where run < 9")
            )
            assert sorted(rows("select run, n from {schema}.runs")) == sorted(
                rows("select run, count(*) from {schema}.upserted group by run")
            )
            return {each.node.name: each.adapter_response["refresh"].split(" of ")[0] for each in results}

        run_dbt(["run", "--full-refresh", "--select", "upserted", "watched", "runs"])
        assert set(refreshed().values()) == {"none, no source has changed"}
        rows("insert into {schema}.upserted values (5, 5), (6, 6)")
        assert refreshed() == {"watched": "incremental, 2", "runs": "incremental, 2"}
        # On a server, the refresh is a MERGE, which also deletes the row of a group that no longer exists.
        rows("delete from {schema}.upserted where id = 5")
        rows("insert into {schema}.upserted values (6, 9), (7, 7)")
        assert refreshed() == {"watched": "incremental, 3", "runs": "incremental, 4"}
        assert set(refreshed().values()) == {"none, no source has changed"}
        # In another time zone the same query may return other rows, so the refresh is full.
        full = "full: its query, a source's columns or Spark's settings have changed"
        assert refreshed("--vars", "zone: Asia/Tokyo")["runs"] == full

    def test_settings_of_one_model(self, project, rows):
        run_dbt(["run", "--select", "five", "seven"])
        assert rows("select tasks, zone from {schema}.five") == [(5, "Asia/Tokyo")]
        assert rows("select tasks, zone from {schema}.seven") == [(7, "America/Lima")]
        assert rows("select current_timezone()") == [("UTC",)]

    def test_settings_of_a_header_end_with_its_node(self, project, rows):
        run_dbt(["run", "--select", "a_setter", "b_next", "--threads", "1"])
        assert rows("select kind, place from {schema}.a_setter") == [("string", project.test_schema)]
        assert rows("select kind, place from {schema}.b_next") == [("binary", "default")]

    def test_settings_of_a_view(self, project, rows):
        """A new process creates the views for a reader in another time zone."""
        run_dbt(["run", "--select", "usual_view", "own_view"])
        views.DIRECTORY.configure("", "", None)
        run_dbt(["run", "--select", "noons"])
        assert rows("select usual, own, zone from {schema}.noons") == [(12, 21, "America/Lima")]

    @pytest.mark.parametrize(
        ("setting", "remedy"),
        [
            ("spark.sql.codegen.comments", "spark_config in the profile"),
            ("spark.sql.shufle.partitions", "Did you mean spark.sql.shuffle.partitions?"),
        ],
    )
    def test_settings_that_a_model_cannot_have(self, project, setting, remedy):
        (refused,) = run_dbt(["run", "--select", "refused", "--vars", f"{{name: {setting}}}"], expect_pass=False)
        assert setting in refused.message
        assert remedy in refused.message

    def test_a_catalog_that_the_server_lacks(self, project):
        with get_connection(project.adapter):
            assert [project.adapter.has_catalog(name) for name in ("paimon", "nope")] == [True, False]

    def test_values(self, project, rows):
        run_dbt(["run", "--select", "typed"])
        ((price, flag, data, at, local_at),) = rows("select price, flag, bytes, at, local_at from {schema}.typed")
        assert (price, flag, bytes(data)) == (Decimal("9.99"), True, b"\x00\xff")
        assert at == datetime.datetime(2026, 1, 1, 10, 0, 0, 123456)
        assert local_at == datetime.datetime(2026, 1, 1, 10, 0, 0, 500000)
        assert rows("select nested.b[0], nested.b[1], pairs['k'], isnan(nan), nothing from {schema}.typed") == [
            ("x", None, 1.5, True, None)
        ]
        types = {row[0]: row[1] for row in rows("describe table {schema}.typed")}
        assert types["nested"] == "struct<a:int,b:array<string>>"
        assert types["price"] == "decimal(10,2)"

    def test_a_failing_query_changes_nothing(self, project, rows):
        run_dbt(["run", "--select", "typed"])
        before = rows("select id, at from {schema}.typed")
        path = Path(project.project_root) / "models" / "typed.sql"
        text = path.read_text()
        path.write_text(text.replace("cast(1 as bigint)", "cast(raise_error('no') as bigint)"))
        try:
            (result,) = run_dbt(["run", "--select", "typed"], expect_pass=False)
        finally:
            path.write_text(text)
        assert "\tat " not in result.message
        assert "no" in result.message
        assert rows("select id, at from {schema}.typed") == before

    def test_a_query_that_reads_too_much(self, project, rows):
        """A server reports only the rows read, so the bytes are estimated from the table's bytes per row."""
        ((size,),) = rows("select sum(file_size_in_bytes) from {schema}.`upserted$files`")
        for limit, allowed in ((size - 1, False), (size, True)):
            sql = f"{{{{ config(materialized='table', max_bytes_read={limit}) }}}} select * from {{{{ ref('upserted') }}}}"
            (Path(project.project_root) / "models" / "limited.sql").write_text(sql)
            run_dbt(["run", "--select", "limited"], expect_pass=allowed)
            assert bool(rows("show tables in {schema} like 'limited'")) is allowed

    def test_history_that_a_new_table_loses(self, project, rows):
        """A single commit does not count as history, but a tag does, and the message names it."""
        run_dbt(["run", "--select", "rekeyed"])
        run_dbt(["run", "--select", "rekeyed", "--vars", "key: other"])
        rows("call paimon.sys.create_tag(table => '{schema}.rekeyed', tag => 'kept')")
        (refused,) = run_dbt(["run", "--select", "rekeyed"], expect_pass=False)
        assert "1 tag (kept)" in refused.message
        assert rows("select tag_name from {schema}.`rekeyed$tags`") == [("kept",)]

    def test_times(self, project, rows, lake):
        """Times are right although the server's JVM is in a zone hours behind the session's."""
        run_dbt(["run", "--select", "upserted"])
        (result,) = run_dbt(["source", "freshness"])
        assert 0 <= result.age < 600
        folder = lake / f"{project.test_schema}.db/upserted/bucket-0"
        now = time.time()
        young, old = folder / "data-young.parquet", folder / "data-old.parquet"
        for path, hours in ((young, 25), (old, 27)):
            path.write_text("left")
            os.utime(path, (now - hours * 3600,) * 2)
        before = datetime.datetime.fromtimestamp(now - 26 * 3600, datetime.timezone.utc)
        orphans = {"relation": "upserted", "older_than": f"{before:%Y-%m-%d %H:%M:%S}", "dry_run": False}
        run_dbt(["run-operation", "remove_orphan_files", "--args", str(orphans)])
        assert young.exists() and not old.exists()

    def test_report_and_diff(self, project, rows):
        """Without access to Paimon's Java classes, `report` and `diff` use SQL."""
        run_dbt(["run", "--select", "upserted", "--full-refresh"])
        run_dbt(["run", "--select", "upserted"])
        (table,) = answer("report", project, "--json")["tables"]
        assert not table["problem"]
        assert [(table["files"], table["rows"], table["bytes"])] == rows(
            "select count(*), sum(record_count), sum(file_size_in_bytes) from {schema}.`upserted$files`"
        )
        found = answer("diff", project, "--output", "json")
        assert (found["added"], found["gone"], found["changed"]) == (1, 0, 1), json.dumps(found)

    def test_errors_name_the_line_of_the_file(self, project):
        run_dbt(["run", "--select", "upserted"])
        models = Path(project.project_root) / "models"
        for name, (text, _, _) in WRONG.items():
            (models / f"{name}.sql").write_text(text)
        try:
            results = run_dbt(["run", "--select", *WRONG], expect_pass=False)
        finally:
            for name in WRONG:
                (models / f"{name}.sql").unlink()
        for result in results:
            _, where, marked = WRONG[result.node.name]
            said, head, line, carets = result.message.split("\n")[1:5]
            assert said.startswith("  [")
            assert head.strip() == f"models/{result.node.name}.sql{where}"
            assert line[carets.index("^") : len(carets)] == marked


class TestThrift(Methods):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, thrift_port: int, lake: Path) -> dict[str, Any]:
        return {
            "type": "paimon",
            "paimon_version": "0.9.0",
            "method": "thrift",
            "host": "127.0.0.1",
            "port": thrift_port,
            "threads": 2,
            "warehouse": str(lake),
            "spark_config": ANSI,
        }

    def test_a_python_model_is_refused(self, project):
        run_dbt(["run", "--select", "upserted"])
        (result,) = run_dbt(["run", "--select", "in_python"], expect_pass=False)
        assert "method: session or method: connect" in result.message


# The exit handler closes the session, and a later `__del__` does not close it again.
CLOSED_AT_THE_END = """
import atexit, sys
from dbt.adapters.paimon.spark import connect
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.credentials import PaimonCredentials

handle = connect.open_session(Runtime(PaimonCredentials(
    schema="any", method="connect", host="127.0.0.1", port=int(sys.argv[1]), warehouse=None
)))
cursor = handle.cursor()
cursor.execute("select 1")
assert [tuple(row) for row in cursor.fetchall()] == [(1,)]
client = handle.session.client
atexit.unregister(connect._close_all)
connect._close_all()
assert client.is_closed
class Left:
    close = staticmethod(lambda: sys.exit("closed again"))
client._channel = Left
handle.session.__del__()
"""


class TestConnect(Methods):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, connect_port: int) -> dict[str, Any]:
        # No warehouse: the server's own settings define the catalog.
        return {
            "type": "paimon",
            "paimon_version": "0.9.0",
            "method": "connect",
            "host": "127.0.0.1",
            "port": connect_port,
            "threads": 2,
            "spark_config": ANSI,
        }

    def test_a_python_model(self, project, rows):
        run_dbt(["run", "--select", "upserted", "in_python"])
        assert rows("select sum(twice) = 2 * sum(id) from {schema}.in_python") == [(True,)]

    def test_a_client_that_returns_leaves_the_note_of_its_successor(self, project):
        with get_connection(project.adapter):
            handle = project.adapter.handle
            writers = ServerWriters(1, served=True)
            with Note(writers, lambda: handle, "`any table`") as note:
                assert writers.move()
                successor = replace(handle.client_record(), holding="successor")
                note._write(successor)
                assert not writers.move()
                assert note._read() == successor
            assert note._read() == successor
            handle.rows_of(f"drop view {note._name}")

    def test_sessions_are_closed_at_the_end(self, connect_port):
        ended = subprocess.run(
            [sys.executable, "-c", CLOSED_AT_THE_END, str(connect_port)],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
