"""`dbt debug` writes to the warehouse and leaves nothing there; without write permission, it fails as a run does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.adapters.factory import reset_adapters
from dbt.cli.main import dbtRunner
from dbt.tests.util import run_dbt

Here = Callable[..., tuple[bool, str]]


class TestDebug:
    def test_debug_leaves_no_table(self, project, rows):
        run_dbt(["debug"])
        assert rows("show tables in {schema}") == []


@pytest.fixture
def here(tmp_path: Path, dbt_profile_target: dict[str, Any], capfd: pytest.CaptureFixture[str]) -> Iterator[Here]:
    """Function: run dbt on a warehouse with a read-only schema, which is in /proc, where even root cannot write."""
    lake = tmp_path / "lake"
    lake.mkdir()
    (lake / "locked.db").symlink_to("/proc/sys")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "made.sql").write_text("{{ config(materialized='table') }} select 1 as id")
    (tmp_path / "dbt_project.yml").write_text(yaml.safe_dump({"name": "locked", "profile": "locked"}))

    def run(*arguments: str, **keys: Any) -> tuple[bool, str]:
        target = dbt_profile_target | {"warehouse": str(lake), "schema": "locked"} | keys
        profile = {"locked": {"target": "here", "outputs": {"here": target}}}
        (tmp_path / "profiles.yml").write_text(yaml.safe_dump(profile))
        places = ("--project-dir", str(tmp_path), "--profiles-dir", str(tmp_path))
        result = dbtRunner().invoke([*arguments, *places, "--log-path", str(tmp_path / "logs")])
        return result.success, " ".join(capfd.readouterr().out.split())

    yield run
    # dbt keeps the adapter, and the next test's project would reuse it.
    reset_adapters()


def test_a_schema_without_write_permission(here: Here) -> None:
    """If `dbt debug` only read, it would pass."""
    for command, part in (("debug", "Could not create a table in warehouse"), ("run", "in model made")):
        passed, said = here(command)
        assert not passed
        assert part in said and "Mkdirs failed to create" in said, said
        assert "dbt's user has no write permission there" in said, said
    assert here("debug", schema="open")[0]


def test_the_schema_default(here: Here, tmp_path: Path) -> None:
    """`default` is also Paimon's own default database."""
    assert here("run", schema="default")[0]
    assert here("run", schema="default")[0]
    (file,) = (tmp_path / "lake" / "default.db" / "made" / "snapshot").glob("snapshot-2")
    assert file.is_file()


def test_settings_of_cluster_mode(here: Here, spark_config: dict[str, Any]) -> None:
    """These settings have no effect, because dbt's own process is the driver."""
    for key in ("spark.kubernetes.file.upload.path", "spark.kubernetes.appKillPodDeletionGracePeriod"):
        passed, said = here("--warn-error", "debug", schema="open", spark_config={**spark_config, key: "1"})
        assert not passed
        assert f"spark_config: {key} has no effect" in said, said
