"""How often a long-running stream is restarted, when it is not, and which locks its batches hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import MagicMock

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.streaming import query
from dbt.adapters.paimon.streaming.batches import BatchWriter, Sink
from dbt.adapters.paimon.streaming.checkpoints import Checkpoint
from dbt.adapters.paimon.streaming.inputs import UnavailableError
from dbt.adapters.paimon.streaming.long_running import Trigger


class WrongError(DbtRuntimeError):
    """An error that another attempt does not fix."""


class StoreOfErrors(Checkpoint):
    """A checkpoint whose store fails the first `away` times that it is read."""

    def __init__(self, away: int) -> None:
        self.away = away

    def unfinished_batch(self) -> None:
        if self.away:
            self.away -= 1
            raise OSError("the store is away")


def attempts(
    monkeypatch: pytest.MonkeyPatch, raised: list[Exception], *, goes_on: bool = True, away: int = 0
) -> tuple[str, int]:
    """Run a query whose attempts raise these errors; returns the last message and the number of unused errors."""
    monkeypatch.setattr("dbt.adapters.paimon.streaming.long_running.PAUSES", (0,) * 6)
    # An earlier test in this process may have started a JVM that has ended.
    monkeypatch.setattr("dbt.adapters.paimon.spark.launch.jvm_process.Spawned.last", None)
    sink: Any = None
    writer = BatchWriter("stream", (), sink, "", None, refuses_new_columns=False)
    trigger = Trigger("1 second" if goes_on else None, lambda: False)

    def frame() -> Any:
        raise raised.pop(0)

    with pytest.raises((OSError, DbtRuntimeError)) as ended:
        query.Query(writer, StoreOfErrors(away), "m", trigger, lambda _: None, lambda: None).run(frame)
    return str(ended.value).rpartition("  ")[2], len(raised)


def test_sources_that_stop_answering_are_retried(monkeypatch):
    """A stream continues when its broker and store recover; a permanent error ends it."""
    errors = [OSError("gone"), UnavailableError("no answer"), OSError("gone"), WrongError("wrong")]
    assert attempts(monkeypatch, errors, away=2) == ("wrong", 0)


def test_a_source_that_never_answered_is_not_retried(monkeypatch):
    assert attempts(monkeypatch, [UnavailableError("no answer"), WrongError("wrong")]) == ("no answer", 1)


def test_a_run_that_ends_tries_once(monkeypatch):
    assert attempts(monkeypatch, [OSError("gone"), WrongError("wrong")], goes_on=False) == ("gone", 1)


def test_a_stream_gives_up_after_the_last_pause(monkeypatch):
    assert attempts(monkeypatch, [OSError(f"gone {number}") for number in range(8)]) == ("gone 6", 1)


def test_each_table_of_a_batch_is_written_under_its_own_lock():
    held: list[object] = []
    written: list[tuple[str, list[object]]] = []

    @contextmanager
    def alone(table: object) -> Iterator[None]:
        held.append(table)
        yield
        held.remove(table)

    def sql(text: Any) -> Any:
        if str(text).startswith("insert into"):
            written.append((text.split()[2], list(held)))
        return MagicMock(first=lambda: [1])

    table, faults = PaimonRelation.create(schema="s", identifier="t"), PaimonRelation.create(schema="s", identifier="f")
    sink = Sink(table, f"insert into {table} select 1", False, {}, True, faults, alone)
    writer = BatchWriter("stream", (MagicMock(),), sink, "", None, refuses_new_columns=False)
    writer(MagicMock(sparkSession=MagicMock(sql=sql)), 0)
    assert written == [(str(faults), [faults]), (str(table), [table])]
