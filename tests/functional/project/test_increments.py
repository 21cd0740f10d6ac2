"""N increments give the same rows as one full refresh, for every incremental model and the snapshot's inputs."""

from __future__ import annotations

import json

import pytest

STEPS = ("2013-01-09", "2013-01-20", "2013-02-03")


@pytest.fixture(scope="module")
def stepped(new_lakehouse):
    lakehouse = new_lakehouse("stepped")
    ids = []
    for day in STEPS:
        lakehouse.dbt(
            "build", "--exclude-resource-type", "test", "unit_test", "--vars", f"known_until: {day}"
        )
        ids.append(lakehouse.snapshot_ids())
    return lakehouse, ids


def incremental_models(lakehouse):
    manifest = json.loads((lakehouse.folder / "target" / "manifest.json").read_text())
    return {
        f"{node['schema']}.{node['alias']}"
        for node in manifest["nodes"].values()
        if node["config"].get("materialized") == "incremental" and "examples" not in node["fqn"]
    }


def test_each_step_was_an_increment(stepped):
    lakehouse, ids = stepped
    for table in incremental_models(lakehouse):
        assert ids[0][table] < ids[1][table] < ids[2][table], table


def test_increments_equal_full_refresh(stepped):
    lakehouse, _ = stepped
    got = lakehouse.fingerprints()
    lakehouse.dbt("run", "--full-refresh", "--vars", f"known_until: {STEPS[-1]}")
    expected = lakehouse.fingerprints()
    incremental = incremental_models(lakehouse)
    assert len(incremental) >= 8
    for table in incremental:
        assert expected[table][0] > 0, table
    # Tables are rebuilt from them, so they are equal too; a snapshot remembers when it looked, so it is not, and neither
    # is the position of a reader of changes.
    differing = {
        name
        for name in expected
        if "snapshot" not in name and not name.endswith("__dbt_changes") and got.get(name) != expected[name]
    }
    assert differing == set()
    assert not [name for name in expected if name.endswith(("__dbt_tmp", "__dbt_backup"))]


def test_a_build_without_news_changes_no_row(stepped):
    lakehouse, _ = stepped
    before = lakehouse.fingerprints()
    # Its tests would see the rows that they have seen.
    lakehouse.dbt(
        "build", "--exclude-resource-type", "test", "unit_test", "--vars", f"known_until: {STEPS[-1]}"
    )
    after = lakehouse.fingerprints()
    assert set(after) == set(before)
    assert [name for name in before if before[name] != after[name]] == []
