"""What dbt builds on S3, on HDFS and on OSS: rows, files, and what a rebuild leaves behind."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.spark.session import SessionCursor, open_session
from functional.views import test_many_views

MODELS = {
    "flat.sql": "{{ config(materialized='table') }} select id, {{ var('step') }} as step from range(4)",
    "keyed.sql": """{{ config(materialized='incremental', primary_key='id', bucket=1) }}
select id, {{ var('step') }} as step from range({{ 2 if is_incremental() else 0 }}, {{ 6 if is_incremental() else 4 }})""",
    "swapped.sql": """{{ config(materialized='table', on_rebuild='drop_history', primary_key=['id'] if var('step') == 1 else ['id', 'step']) }}
select id, {{ var('step') }} as step from range(4)""",
    "seen.sql": "{{ config(materialized='view') }} select id, step from {{ ref('keyed') }} where id > 2",
}
SNAPSHOT = """
snapshots:
  - name: history
    relation: ref('flat')
    config: {unique_key: id, strategy: check, check_cols: [step]}
"""


class TestStorage:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"planted.csv": "id,name\n1,one\n2,zwei\n"}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"history.yml": SNAPSHOT}

    def files(self, project, storage, table: str = "") -> list[str]:
        return storage.files(f"{project.test_schema}.db/{table}".rstrip("/"))

    def test_build(self, project, rows, storage):
        run_dbt(["build", "--vars", "step: 1"])
        assert sorted(rows("select * from {schema}.flat")) == [(n, 1) for n in range(4)]
        assert sorted(rows("select * from {schema}.planted")) == [(1, "one"), (2, "zwei")]
        # Tables are where the profile says.
        for table in ("flat", "keyed", "swapped", "planted", "history"):
            files = self.files(project, storage, table)
            assert any(name.endswith("/snapshot/snapshot-1") for name in files), files
            assert any("/data-" in name for name in files), files

    def test_build_again(self, project, rows, storage):
        before = set(self.files(project, storage, "flat"))
        run_dbt(["build", "--vars", "step: 2"])
        assert sorted(rows("select * from {schema}.flat")) == [(n, 2) for n in range(4)]
        upserted = [(0, 1), (1, 1), (2, 2), (3, 2), (4, 2), (5, 2)]
        assert sorted(rows("select * from {schema}.keyed")) == upserted
        seen = rows(f"select * from spark_catalog.{project.test_schema}.seen")
        assert sorted(seen) == [row for row in upserted if row[0] > 2]
        history = rows("select id, step, dbt_valid_to is null from {schema}.history")
        assert sorted(history) == [(n, step, step == 2) for n in range(4) for step in (1, 2)]
        # A rebuild is one more commit, so the table's earlier state is still there.
        assert before < set(self.files(project, storage, "flat"))
        assert rows("select step from {schema}.flat version as of 1 limit 1") == [(1,)]

    def test_swap_leaves_nothing(self, project, rows, storage):
        assert rows("select distinct step from {schema}.swapped") == [(2,)]
        assert rows("select primary_keys from {schema}.`swapped$schemas`") == [('["id","step"]',)]
        assert not [name for name in self.files(project, storage) if "__dbt_" in name]
        tables = {row[1] for row in rows("show tables in {schema}")}
        assert tables - {"_dbt_views"} == {"flat", "keyed", "swapped", "planted", "history"}

    def test_docs(self, project):
        run_dbt(["docs", "generate", "--vars", "step: 2"])
        nodes = json.loads(Path(project.project_root, "target", "catalog.json").read_text())["nodes"]
        stats = nodes["model.test.keyed"]["stats"]
        assert stats["has_stats"]["value"]
        assert {name.split(".")[-1] for name in nodes} >= {
            "flat",
            "keyed",
            "swapped",
            "seen",
            "planted",
            "history",
        }

    def test_debug_writes_and_cleans_up(self, project, storage):
        before = self.files(project, storage)
        run_dbt(["debug"])
        assert self.files(project, storage) == before

    def test_tables_disappear_while_they_are_listed(self, project, rows):
        stopped = threading.Event()

        def create_and_drop():
            session = open_session(project.adapter.runtime).session
            while not stopped.is_set():
                session.sql(f"create table paimon.{project.test_schema}.brief (id int)")
                session.sql(f"drop table paimon.{project.test_schema}.brief")

        other = threading.Thread(target=create_and_drop, daemon=True)
        other.start()
        schema = project.adapter.Relation.create(database="paimon", schema=project.test_schema)
        try:
            with project.adapter.connection_named("listing"):
                found = [project.adapter.list_relations_without_caching(schema) for _ in range(40)]
                renames = project.adapter.handle.embedded().copied_renames(TableName("paimon", schema.schema, "flat"))
                assert [renames.possible() for _ in range(40)] == [[]] * 40
        finally:
            stopped.set()
            other.join()
        assert all({"flat", "keyed"} <= {each.identifier for each in listed} for listed in found)


# Each time that the statement's query runs (MERGE reads its source more than once), it waits until another writer has
# replaced the table's files. It uses one task, because the other writer needs a core, too.
WAITS = (
    "rm -f {{ var('signs') }}/overwritten; for i in $(seq 6000); do "
    "ls {{ var('signs') }} | grep -q . && break; sleep 0.1; done; cat"
)


class TestConflict:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "merged.sql": "{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}"
            "{% if is_incremental() %} select id, 2 as n from ("
            f'select transform(id) using "{WAITS}" as (id bigint) from range(0, 3, 1, 1)'
            "){% else %} select id, 1 as n from range(2){% endif %}"
        }

    def test_the_later_commit_is_repeated(self, project, rows, tmp_path, monkeypatch):
        run_dbt(["run", "--vars", f"signs: {tmp_path}"])
        merges: list[str] = []
        run = SessionCursor._run

        def overwrite():
            session = open_session(project.adapter.runtime).session
            while len(merges) == 1:
                session.sql(
                    f"insert overwrite {project.test_schema}.merged "
                    "select * from values (0, 7), (1, 7), (9, 7) as t (id, n)"
                )
                (tmp_path / "overwritten").touch()

        other = threading.Thread(target=overwrite, daemon=True)

        def watched(cursor, statement, *args):
            if "merge into" in statement:
                merges.append(statement)
                if len(merges) == 1:
                    other.start()
                else:
                    other.join()
                    (tmp_path / "ended").touch()
            return run(cursor, statement, *args)

        monkeypatch.setattr(SessionCursor, "_run", watched)
        run_dbt(["run", "--vars", f"signs: {tmp_path}"])
        assert len(merges) == 2
        assert sorted(rows("select id, n from {schema}.merged")) == [(0, 2), (1, 2), (2, 2), (9, 7)]
        kinds = {kind for (kind,) in rows("select commit_kind from {schema}.`merged$snapshots`")}
        assert "OVERWRITE" in kinds


@pytest.mark.full
class TestManyViews(test_many_views.TestManyViews):
    """The tests of many views, on each storage."""
