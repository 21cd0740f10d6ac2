"""A sorted compaction loses no row while another program appends to the table."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from dbt.tests.util import get_connection, run_dbt

ROWS = 100_000
SORTED = "{'compact': {'order': 'zorder', 'order_by': ['a', 'b'], 'small_files': 2}}"
MODEL = (
    "{{{{ config(materialized='incremental', incremental_strategy='append', {config}) }}}} "
    f"select id, hash(id) as a, hash(id, 7) as b, id % 2 as part from range({{{{{{{{ var('rows', {ROWS}) }}}}}}}})"
)


class TestBesideAWriter:
    @pytest.fixture(scope="class")
    def models(self):
        by_hand = "partition_by='part'"
        in_a_hook = (
            by_hand + ", post_hook=\"{{ compact(this, order_strategy='order', order_by='a', where='part = 0L') }}\""
        )
        return {
            "by_policy.sql": MODEL.format(config=f"maintenance={SORTED}"),
            "by_hand.sql": MODEL.format(config=by_hand),
            "by_hook.sql": MODEL.format(config=in_a_hook),
            "by_script.sql": MODEL.format(config=in_a_hook.replace('"{{', '"select 1; {{')),
        }

    @pytest.fixture(scope="class", autouse=True)
    def _built(self, project):
        run_dbt(["run"])

    @pytest.fixture
    def appending(self, project, rows) -> Iterator[Callable[[str], int]]:
        """Function: append to a table in a thread; returns a function that stops it and returns the number of rows."""
        ended, added = threading.Event(), []
        with get_connection(project.adapter):
            session = project.adapter.connections.get_thread_connection().handle.session

        def append(table: str) -> None:
            while not ended.is_set():
                session.sql(f"insert into paimon.{project.test_schema}.{table} select -1L, 1, 1, 0L")
                added.append(table)

        threads = []

        def start(table: str) -> Callable[[], int]:
            threads.append(threading.Thread(target=append, args=(table,)))
            threads[-1].start()

            def stop() -> int:
                assert threads[-1].is_alive()
                ended.set()
                threads[-1].join()
                return len(added)

            return stop

        yield start
        ended.set()

    @pytest.mark.parametrize(
        ("table", "command"),
        [
            ("by_policy", ["run", "--select", "by_policy", "--vars", "rows: 1"]),
            ("by_hook", ["run", "--select", "by_hook", "--vars", "rows: 1"]),
            (
                "by_hand",
                [
                    "run-operation",
                    "compact",
                    "--args",
                    "{relation: by_hand, order_strategy: hilbert, order_by: [a, b]}",
                ],
            ),
        ],
    )
    def test_no_row_is_lost(self, appending, rows, table, command):
        stop = appending(table)
        # If another writer commits first, the compaction may fail, but the model's own rows are committed.
        run_dbt(command, expect_pass=None)
        added = stop()
        ours = 1 if command[0] == "run" else 0
        assert added > 1
        assert rows(f"select count_if(id < 0), count(*) - {added} from {{schema}}.{table}") == [(added, ROWS + ours)]

    def test_the_rows_are_sorted(self, rows):
        """Without another writer, the compaction sorts the chosen partition."""
        run_dbt(["run", "--select", "by_hook", "--vars", "rows: 1"])
        lying = [a for (a,) in rows("select a from {schema}.by_hook where part = 0")]
        assert lying == sorted(lying)
        assert len(lying) > ROWS / 2
        kinds = rows("select commit_kind from {schema}.`by_hook$snapshots` order by snapshot_id desc limit 1")
        assert kinds in ([("COMPACT",)], [("OVERWRITE",)])

    def test_a_script_sorts_too(self, rows):
        lying = [a for (a,) in rows("select a from {schema}.by_script where part = 0")]
        assert lying == sorted(lying)
        assert len(lying) == ROWS / 2
