"""Runs that are cut off, because dbt is killed or its Job is deleted, leave the table unchanged and no executors."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import psutil

from integration.kubernetes.lakehouse import Lakehouse, busy_executor

Rows = Callable[[str], list[tuple[Any, ...]]]
STARTED = 12
SLOWLY = ("--select", "slow", "--full-refresh", "--vars", "slowly: true")


def dbt() -> psutil.Process:
    """The dbt process in the Job's container."""
    (found,) = [
        process
        for process in psutil.process_iter(["cmdline"])
        if "--profiles-dir /etc/dbt" in " ".join(process.info["cmdline"] or [])
    ]
    return found


def _is_as_it_was(rows: Rows) -> None:
    assert rows("select count(*), sum(total - id) from paimon.analytics.slow") == [(2000, 0)]
    assert rows("select count(*) from paimon.analytics.`slow$snapshots`") == [(1,)]


def test_dbt_is_killed(lakehouse: Lakehouse, rows: Rows) -> None:
    lakehouse.create()
    lakehouse.build("--select", "slow")
    lakehouse.start(*SLOWLY)
    lakehouse.wait_for(lambda: busy_executor(STARTED))
    dbt().kill()
    assert lakehouse.outcome() == "Failed"
    lakehouse.wait_for(lambda: busy_executor(0) is None, 60)
    lakehouse.delete()
    lakehouse.wait_for(lambda: not lakehouse.executors(), 60)
    _is_as_it_was(rows)


def test_the_job_is_deleted(lakehouse: Lakehouse, rows: Rows) -> None:
    lakehouse.create()
    lakehouse.build("--select", "slow")
    lakehouse.start(*SLOWLY)
    lakehouse.wait_for(lambda: busy_executor(STARTED))
    began = time.monotonic()
    lakehouse.delete()
    assert time.monotonic() - began < 60
    lakehouse.wait_for(lambda: not lakehouse.executors(), 60)
    assert busy_executor(0) is None
    _is_as_it_was(rows)
