"""After erase, no row and no byte of a person is left in any file, and everyone else's rows stay."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture
from packaging.version import Version

from dbt.adapters.paimon.streaming import dead_letters

ANN, BOB = "ann@example.org", "bob@example.org"
# Without compression, values can be found in the bytes of files.
PLAIN = {
    "manifest.compression": "null",
    "file.compression": "uncompressed",
    "parquet.enable.dictionary": "false",
}
PLAIN_ORC = PLAIN | {"file.compression": "none", "orc.dictionary.key.threshold": "0"}
DAY = "{{ var('day', 1) }}"
PEOPLE = f"select email, cast({DAY} as int) as day from values ('{ANN}'), ('{BOB}') as t(email)"
KEYED = "materialized='incremental', primary_key='email', bucket=1"
MODELS = {
    "people.sql": f"{{{{ config({KEYED}, changelog_producer='lookup') }}}} {PEOPLE}",
    "profiles.sql": f"{{{{ config({KEYED}, merge_engine='partial-update') }}}} {PEOPLE}",
    "firsts.sql": f"{{{{ config({KEYED}, merge_engine='first-row', changelog_producer='lookup') }}}} {PEOPLE}",
    "totals.sql": f"{{{{ config({KEYED}, merge_engine='aggregation', fields={{'day': {{'aggregate_function': 'sum'}}}}) }}}} {PEOPLE}",
    "visits.sql": f"{{{{ config(materialized='incremental', file_format='orc', tblproperties={PLAIN_ORC}) }}}} {PEOPLE}",
    "days.sql": f"{{{{ config(materialized='table') }}}} select cast({DAY} as int) as day",
    "seen.sql": "{{ config(materialized='view') }} select * from {{ ref('people') }}",
}
TABLES = ("people", "profiles", "firsts", "totals", "visits", "contacts", "history", "landed")
SNAPSHOTS = """
snapshots:
  - name: history
    relation: ref('people')
    config: {strategy: check, unique_key: email, check_cols: [day]}
"""
SOURCES = """
sources: [{name: raw, schema: "{{ target.schema }}", tables: [{name: landed}]}]
"""


def erase(**arguments: Any) -> None:
    arguments = {"key": {"email": ANN}, "dry_run": False} | arguments
    run_dbt(["run-operation", "erase", "--args", str(arguments)])


def refusal(**arguments: Any) -> str:
    """Run the operation, which must fail; returns its output as one line."""
    arguments = {"key": {"email": ANN}, "dry_run": False} | arguments
    _, output = run_dbt_and_capture(["run-operation", "erase", "--args", str(arguments)], expect_pass=False)
    return " ".join(output.split())


class Lake:
    """The files of a schema's tables in the warehouse."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def files(self, table: str) -> list[Path]:
        return [path for path in (self.folder / table).rglob("*") if path.is_file()]

    def with_bytes(self, table: str, text: str) -> list[Path]:
        return [path for path in self.files(table) if text.encode() in path.read_bytes()]


@pytest.fixture
def lake(project: Any, warehouse: Path) -> Lake:
    return Lake(warehouse / f"{project.test_schema}.db")


class TestErase:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return MODELS | {"sources.yml": SOURCES}

    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return {"contacts.csv": f"email,day\n{ANN},1\n{BOB},1\n"}

    @pytest.fixture(scope="class")
    def snapshots(self) -> dict[str, str]:
        return {"history.yml": SNAPSHOTS}

    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return {kind: {"+tblproperties": PLAIN} for kind in ("models", "seeds", "snapshots")}

    @pytest.fixture
    def found(self, rows: Any) -> Any:
        return lambda: {
            table: dict(rows(f"select email, count(*) from {{schema}}.{table} group by 1")) for table in TABLES
        }

    def test_a_person_is_erased(self, project: Any, rows: Any, lake: Lake, found: Any) -> None:
        options = ", ".join(f"'{name}'='{value}'" for name, value in PLAIN.items())
        rows(f"create table {{schema}}.landed (email string, day int) using paimon tblproperties ({options})")
        for day in (1, 2):
            rows(f"insert into {{schema}}.landed values ('{ANN}', {day}), ('{BOB}', {day})")
            run_dbt(["build", "--vars", f"day: {day}"])
        schema = project.test_schema
        rows(f"call paimon.sys.create_tag(table => '{schema}.people', tag => 'kept')")
        rows(f"call paimon.sys.create_branch(table => '{schema}.people', branch => 'tried', tag => 'kept')")
        rows(dead_letters.create_sql(f"paimon.{schema}.people__dead_letters", "people"))
        for message in (ANN, BOB, f"x{ANN}"):
            rows(
                "insert into {schema}.people__dead_letters select 'm', 'bad', 'p', null, "
                f"cast('{{{{\"email\":\"{message}\"}}}}' as binary), null, 's', 0, null"
            )
        before = found()
        assert before["visits"] == before["history"] == {ANN: 2, BOB: 2}
        assert before["people"] == before["contacts"] == {ANN: 1, BOB: 1}
        assert all(lake.with_bytes(table, ANN) for table in TABLES)
        files = {table: set(lake.files(table)) for table in (*TABLES, "days")}

        # A dry run, or a call without the required drop_… arguments, changes no file.
        erase(dry_run="true")
        assert "dry_run='no': must be true or false" in refusal(dry_run="no")
        message = refusal(drop_branches="true", drop_tags="false", drop_dead_letters="False")
        assert f"looking for rows with email = '{ANN}'" in message
        assert "tags: kept (drop_tags: true)" in message
        assert "1 dead letter (drop_dead_letters: true)" in message
        assert "drop_branches" not in message
        assert {table: set(lake.files(table)) for table in files} == files

        erase(drop_tags=True, drop_branches=True, drop_dead_letters=True)
        assert found() == {table: {BOB: count[BOB]} for table, count in before.items()}
        assert {table: lake.with_bytes(table, ANN) for table in TABLES} == {table: [] for table in TABLES}
        assert all(lake.with_bytes(table, BOB) for table in TABLES)
        assert rows("select day from {schema}.profiles") == [(2,)]
        assert rows("select day from {schema}.totals") == [(3,)]
        letters = rows("select decode(value, 'UTF-8') from {schema}.people__dead_letters order by 1")
        assert letters == [(f'{{"email":"{BOB}"}}',), (f'{{"email":"x{ANN}"}}',)]
        for table in TABLES:
            assert rows(f"select count(*) from {{schema}}.`{table}$snapshots`") == [(1,)]
        assert rows("select * from {schema}.`people$tags`") == rows("select * from {schema}.`people$branches`") == []
        assert set(lake.files("days")) == files["days"]

        # All is erased: a second call writes nothing.
        after = set(lake.files("people"))
        erase(relations="people")
        assert set(lake.files("people")) == after

        # As after a failed write: Paimon does not list the file, but erase finds it in the folder.
        data = next(path for path in lake.with_bytes("people", BOB) if path.suffix == ".parquet")
        planted = data.with_name("data-00000000-0000-0000-0000-000000000000-0.parquet")
        planted.write_bytes(data.read_bytes())
        assert f"1 file in its folder still hold them: {planted.name}" in refusal(
            key={"email": BOB}, relations="people", drop_dead_letters=True
        )
        assert lake.with_bytes("people", BOB) == [planted]
        two_days_ago = time.time() - 2 * 86400
        os.utime(planted, (two_days_ago, two_days_ago))
        erase(key={"email": BOB}, relations="people", drop_dead_letters=True)
        assert lake.with_bytes("people", BOB) == []

    def test_arguments(self, project: Any) -> None:
        assert "Give each column of the key a value" in refusal(key={"email": ""})
        assert "days does not have the columns email" in refusal(relations=["contacts", "days"])


class TestRefusals:
    """A table from which a person cannot be erased stays as it is."""

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        config = "materialized='table', file_format=var('format', 'avro')"
        return {"built.sql": f"{{{{ config({config}) }}}} {PEOPLE} where email <> '{{{{ var('gone', '') }}}}'"}

    @pytest.fixture
    def create(self, rows: Any) -> Any:
        def created(name: str, column: str = "email", partition: str = "", **options: str) -> None:
            given = ", ".join(f"'{option}'='{value}'" for option, value in (PLAIN | options).items())
            by = f"partitioned by ({partition})" if partition else ""
            rows(f"create table {{schema}}.{name} ({column} string, day int) using paimon {by} tblproperties ({given})")
            rows(f"insert into {{schema}}.{name} values ('{ANN}', 1), ('{BOB}', 1)")

        return created

    @pytest.mark.parametrize(
        ("name", "why", "options"),
        [
            ("by_email", "email is a partition column", {"partition": "email"}),
            (
                "moved",
                "compacts such a table only while writing",
                {"partition": "day", "primary-key": "email"},
            ),
            ("avro", "that Spark cannot search", {"file.format": "avro", "file.compression": "zstd"}),
            ("logged", "changelog.time-retained keeps its changelog", {"changelog.time-retained": "2 d"}),
        ],
    )
    def test_refused_by_the_tables_definition(
        self, project: Any, rows: Any, lake: Lake, create: Any, name: str, why: str, options: dict[str, str]
    ) -> None:
        create(name, **options)
        before = set(lake.files(name))
        assert why in refusal(relations=name)
        assert set(lake.files(name)) == before
        assert rows(f"select count(*) from {{schema}}.{name}") == [(2,)]

    def test_a_table_is_built_again(self, project: Any, rows: Any, lake: Lake) -> None:
        run_dbt(["run"])
        run_dbt(["run"])
        before = {path.name for path in lake.files("built") if path.suffix == ".avro"}
        assert before
        assert "drop the table (dbt run-operation drop_table) and run its model" in refusal(relations="built")
        # Do what the message says.
        run_dbt(["run-operation", "drop_table", "--args", "{relation: built, confirm: built}"])
        assert not lake.files("built")
        run_dbt(["run", "--vars", f"{{gone: {ANN}, format: parquet}}"])
        assert not before & {path.name for path in lake.files("built")}
        assert rows("select email from {schema}.built") == [(BOB,)]
        assert rows("select count(*) from {schema}.`built$snapshots`") == [(1,)]
        erase(relations="built")

    def test_a_renamed_column(self, project: Any, rows: Any, lake: Lake, create: Any) -> None:
        create("renamed", column="mail")
        rows("alter table {schema}.renamed rename column mail to email")
        rows(f"delete from {{schema}}.renamed where email = '{ANN}'")
        before = set(lake.files("renamed"))
        assert "email was added or renamed, or its type changed" in refusal(relations="renamed")
        assert set(lake.files("renamed")) == before

    def test_a_consumer(self, project: Any, rows: Any, lake: Lake, create: Any) -> None:
        create("consumed")
        (lake.folder / "consumed" / "consumer").mkdir()
        (lake.folder / "consumed" / "consumer" / "consumer-flink").write_text('{"nextSnapshot": 1}')
        assert "consumers (flink) keep its old table snapshots" in refusal(relations="consumed")
        assert rows("select count(*) from {schema}.consumed") == [(2,)]

    def test_rows_that_deletion_vectors_hide(self, project: Any, rows: Any, lake: Lake, create: Any) -> None:
        create("hidden", **{"primary-key": "email", "bucket": "1", "deletion-vectors.enabled": "true"})
        table = f"paimon.{project.test_schema}.hidden"
        rows(f"insert into {table} values ('carl@example.org', 1)")
        rows(f"call paimon.sys.compact(table => '{project.test_schema}.hidden')")
        # From Paimon 1.4, compaction rewrites the file without the hidden rows.
        if project.adapter.versions.paimon < Version("1.4"):
            assert "deletion vectors only hide them in 1 file" in refusal(relations="hidden")
            assert rows(f"select count(*) from {table}") == [(2,)]
            assert lake.with_bytes("hidden", ANN)
            rows(f"insert overwrite {table} select * from {table}")
        erase(relations="hidden")
        assert rows(f"select count(*) from {table}") == [(2,)]
        assert lake.with_bytes("hidden", ANN) == []
