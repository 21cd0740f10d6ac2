"""A rename on S3 copies file by file. If it is killed halfway, the next run finds all rows of one state."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.catalogs.base import Reader
from integration.services.s3 import S3
from integration.storage.conftest import on_s3

TARGET, STAGED, BACKUP = "{0}", "{0}__dbt_tmp", "{0}__dbt_backup"
FIRST, SECOND, BUILD = (TARGET, BACKUP), (STAGED, TARGET), (STAGED, TARGET)
# How far the rename got before the run was killed: the share of files copied, and the share deleted.
MOMENTS = {"one_file": (0.0, 0.0), "deleted_half": (1.0, 0.5), "one_left": (1.0, 1.0)}
OLD, NEW = [("old", 1), ("old", 2)], [("new", 3), ("new", 4)]
# A model -> the interrupted rename, its moment, whether a table is replaced, and the rows that must be there.
CASES: dict[str, tuple[tuple[str, str], tuple[float, float], bool, list[tuple[str, int]]]] = {}
for name, moment in MOMENTS.items():
    CASES[f"first_{name}"] = (FIRST, moment, True, NEW)
    CASES[f"second_{name}"] = (SECOND, moment, True, NEW)
    CASES[f"build_{name}"] = (BUILD, moment, False, NEW)
MODEL = """{{ config(materialized='incremental', incremental_strategy='append') }}
select 'run' as state, 9 as id"""


class TestKilledRenames:
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, object_store: S3, spark_config: dict[str, Any]) -> dict[str, Any]:
        target = on_s3(object_store, "renames", s3_lock=True).target
        return {
            "type": "paimon",
            "paimon_version": "0.9.0",
            "method": "session",
            "threads": 2,
            "spark_config": spark_config,
            **target,
        }

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {f"{name}.sql": MODEL for name in (*CASES, "unclear")}

    @pytest.fixture(scope="class")
    def folder(self, project: Any) -> str:
        return f"renames/{project.test_schema}.db"

    def test_next_run_finishes_them(self, project: Any, object_store: S3, dbt_profile_target: Any, folder: str) -> None:
        reader = Reader(dbt_profile_target | {"schema": project.test_schema})
        reader.rows(f"create database if not exists {reader.schema}")
        for name, (rename, moment, replaces, _) in CASES.items():
            tables(reader, name, STAGED, NEW)
            if replaces:
                tables(reader, name, BACKUP if rename == SECOND else TARGET, OLD)
            cut_short(object_store, *(f"{folder}/{each.format(name)}" for each in rename), *moment)
        run_dbt(["run", "--exclude", "unclear"])
        found = {name: sorted(reader.rows(f"select * from {{schema}}.{name}")) for name in CASES}
        assert found == {name: sorted([*rows, ("run", 9)]) for name, (*_, rows) in CASES.items()}
        left = {key.removeprefix(f"{folder}/").split("/")[0] for key in object_store.keys(folder)}
        assert {name for name in left if "__dbt" in name} == set()

    def test_unclear_state_is_refused(
        self, project: Any, object_store: S3, dbt_profile_target: Any, folder: str
    ) -> None:
        """The two folders share no file, because each copied file was already deleted from the old folder."""
        reader = Reader(dbt_profile_target | {"schema": project.test_schema})
        tables(reader, "unclear", STAGED, NEW)
        tables(reader, "unclear", TARGET, OLD)
        half = [f"{folder}/{each.format('unclear')}" for each in FIRST]
        cut_short(object_store, *half, 0.5, 0.5)
        before = object_store.keys(folder)
        (result,) = run_dbt(["run", "--select", "unclear"], expect_pass=False)
        assert "Keep the one that has all rows" in result.message
        assert object_store.keys(folder) == before
        # Do what the message says.
        for name in ("unclear", "unclear__dbt_backup"):
            reader.rows(f"drop table if exists {{schema}}.{name}")
        reader.rows(f"alter table {{schema}}.unclear__dbt_tmp rename to {project.test_schema}.unclear")
        run_dbt(["run", "--select", "unclear"])
        assert sorted(reader.rows("select * from {schema}.unclear")) == sorted([*NEW, ("run", 9)])


def tables(reader: Reader, name: str, pattern: str, rows: list[tuple[str, int]]) -> None:
    """Create a table with one commit per row."""
    table = pattern.format(name)
    reader.rows(f"create table {{schema}}.{table} (state string, id int)")
    for row in rows:
        reader.rows(f"insert into {{schema}}.{table} values {row}")


def cut_short(store: S3, old: str, new: str, copied: float, deleted: float) -> None:
    """Copy a share of a folder's files (at least one), then delete a share of the originals (at least one stays)."""
    client = store.client()
    keys = store.keys(f"{old}/")
    done = keys[: max(1, round(len(keys) * copied))]
    for key in done:
        source = {"Bucket": store.bucket, "Key": key}
        client.copy_object(Bucket=store.bucket, Key=new + key.removeprefix(old), CopySource=source)
    last = len(keys) - 1 if deleted == 1 else round(len(keys) * deleted)
    for key in done[:last]:
        client.delete_object(Bucket=store.bucket, Key=key)
