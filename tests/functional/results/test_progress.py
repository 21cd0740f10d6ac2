"""Progress is logged while a statement runs; Spark's figures show its tasks, rows and bytes."""

from __future__ import annotations

import time

from dbt.tests.util import get_connection

from dbt.adapters.paimon.spark import progress

ROWS = 16
TASKS = 8


def test_a_statement(project, monkeypatch):
    table = f"paimon.{project.test_schema}.slow"
    seen, lines = [], []
    with get_connection(project.adapter):
        handle = project.adapter.handle
        cursor = handle.cursor()
        cursor.execute(f"create table {table} (id bigint)")
        before = time.time()
        cursor.execute(f"insert into {table} select id from range(100)")
        since = time.time()

        def tell(line: str) -> None:
            lines.append(line)
            seen.append(handle.progress(since))

        monkeypatch.setattr(progress, "FIRST", 0.2)
        monkeypatch.setattr(progress, "EVERY", 0.2)
        monkeypatch.setattr(progress.logger, "info", tell)
        with progress.report_progress(handle, "slow"):
            # Two tasks run at a time, and each row takes 250 ms.
            cursor.execute(
                f"insert into {table} select id from range(0, {ROWS}, 1, {TASKS}) "
                "where java_method('java.lang.Thread', 'sleep', id * 0 + 250) is not null"
            )
        told = len(lines)
        # Spark counts a task after the statement has ended.
        deadline = time.monotonic() + 30
        while (end := handle.progress(since)).tasks and time.monotonic() < deadline:
            time.sleep(0.1)
        both = handle.progress(before)
        time.sleep(0.5)  # Nothing more is logged.
    assert told == len(lines) > 0
    assert any(0 < each.tasks_done < each.tasks == TASKS for each in seen)
    assert max(each.stage for each in seen) == end.stage == end.stages
    assert (end.tasks, end.rows_read, end.rows_written) == (0, ROWS, ROWS)
    assert end.bytes_written > 0
    assert both.rows_written == ROWS + 100
