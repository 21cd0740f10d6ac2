"""Writes `lake-0.1.0.tar.gz`: the warehouse of `small_lake` after two steps with another commit of the adapter.

    git worktree add --detach ../dbt-paimon-0.1.0 905dd9b && make -C ../dbt-paimon-0.1.0 venv
    PYTHONPATH=tests ../dbt-paimon-0.1.0/.venv/bin/python -m functional.upgrade.write_fixture

These commands wrote it with commit 905dd9b, which counts as version 0.1.0, and Paimon 0.9.0.
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from pathlib import Path

from dbt.cli.main import dbtRunner

from dbt.adapters.paimon.credentials import PaimonCredentials
from functional.upgrade import small_lake

FIXTURE = Path(__file__).with_name("lake-0.1.0.tar.gz")


def main() -> None:
    """Run the steps and pack the warehouse."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": 2}
        target = {"type": "paimon", "method": "session", "threads": 1, "spark_config": config}
        small_lake.write_project(folder, target)
        for step in range(1, small_lake.OLD_STEPS + 1):
            places = ("--project-dir", name, "--profiles-dir", name, "--target-path", f"{name}/target")
            result = dbtRunner().invoke(
                ["build", *places, "--log-path", f"{name}/logs", "--vars", json.dumps({"step": step})]
            )
            assert result.success, result.exception
        credentials = PaimonCredentials(schema=small_lake.SCHEMA, warehouse=f"{name}/lake", spark_config=config)
        # The module's path in that commit.
        from dbt.adapters.paimon.session import open_session  # type: ignore[import-not-found]

        open_session(credentials).session.sql(f"drop table paimon.{small_lake.SCHEMA}.marked__dbt_changes")
        with tarfile.open(FIXTURE, "w:gz") as archive:
            archive.add(folder / "lake", "lake", filter=_without_owner)


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
