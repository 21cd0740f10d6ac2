"""What dbt builds on S3 and on HDFS: rows, files, and what a rebuild leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt

from functional.incremental import test_conflicts

MODELS = {
    "flat.sql": "{{ config(materialized='table') }} select id, {{ var('step') }} as step from range(4)",
    "keyed.sql": """{{ config(materialized='incremental', primary_key='id', bucket=1) }}
select id, {{ var('step') }} as step from range({{ 2 if is_incremental() else 0 }}, {{ 6 if is_incremental() else 4 }})""",
    "swapped.sql": """{{ config(materialized='table', primary_key=['id'] if var('step') == 1 else ['id', 'step']) }}
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
        # Tables are where the profile says, and nowhere else.
        for table in ("flat", "keyed", "swapped", "planted", "history"):
            files = self.files(project, storage, table)
            assert any(name.endswith("/snapshot/snapshot-1") for name in files), table
            assert any("/bucket-0/data-" in name for name in files), table

    def test_build_again(self, project, rows, storage):
        before = set(self.files(project, storage, "flat"))
        run_dbt(["build", "--vars", "step: 2"])
        assert sorted(rows("select * from {schema}.flat")) == [(n, 2) for n in range(4)]
        upserted = [(0, 1), (1, 1), (2, 2), (3, 2), (4, 2), (5, 2)]
        assert sorted(rows("select * from {schema}.keyed")) == upserted
        assert sorted(rows("select * from {schema}.seen")) == [row for row in upserted if row[0] > 2]
        history = rows("select id, step, dbt_valid_to is null from {schema}.history")
        assert sorted(history) == [(n, step, step == 2) for n in range(4) for step in (1, 2)]
        # A rebuild is a commit more: the table's earlier state is there.
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
        assert {name.split(".")[-1] for name in nodes} >= {"flat", "keyed", "swapped", "seen", "planted", "history"}

    def test_debug_writes_and_cleans_up(self, project, storage):
        before = self.files(project, storage)
        run_dbt(["debug"])
        assert self.files(project, storage) == before


class TestConflicts(test_conflicts.TestConflicts):
    """On S3 by a catalog that locks: a filesystem catalog loses commits there."""

    @pytest.fixture(scope="class")
    def storage(self, request, storage, tmp_path_factory):
        if storage.target["warehouse"].startswith("s3"):
            catalog = tmp_path_factory.mktemp("catalog") / "catalog.db"
            storage.target.update(metastore="jdbc", uri=f"jdbc:sqlite:{catalog}?busy_timeout=60000")
        return storage


