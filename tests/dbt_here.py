"""Runs dbt in this process, on this process's Spark, for tests with their own project."""

from __future__ import annotations

from pathlib import Path

from dbt.cli.main import dbtRunner, dbtRunnerResult


def dbt_here(folder: Path, *arguments: str) -> dbtRunnerResult:
    """Run a dbt command in a folder with the project and its profiles.yml."""
    places = {
        "--project-dir": folder,
        "--profiles-dir": folder,
        "--target-path": folder / "target",
        "--log-path": folder / "logs",
    }
    return dbtRunner().invoke([*arguments, *(str(part) for pair in places.items() for part in pair)])


def dbt_passes(folder: Path, *arguments: str) -> None:
    """Run a dbt command that must succeed.

    Raises:
        AssertionError: with the messages of the nodes that failed.
    """
    result = dbt_here(folder, *arguments)
    assert result.success, result.exception or [
        node.message for node in result.result if node.status in ("error", "fail")
    ]
