"""The progress in a Connect server's messages."""

from __future__ import annotations

import time
from dataclasses import dataclass

from dbt.adapters.paimon.spark.connect_progress import ProgressMessages
from dbt.adapters.paimon.spark.job_metrics import Progress


@dataclass
class Stage:
    num_tasks: int
    num_completed_tasks: int
    num_bytes_read: int = 0
    done: bool = False


def heard(*stages: Stage, running: int = 0) -> Progress | None:
    messages = ProgressMessages()
    began = time.time()
    messages(list(stages), running, "an operation", False)
    return messages.since(began)


def test_the_running_stage_is_counted():
    found = heard(Stage(4, 4, 100, done=True), Stage(10, 3, 50), Stage(2, 0), running=2)
    assert found == Progress(stage=2, stages=3, tasks_done=3, tasks=12, bytes_read=150)


def test_a_stage_begins_with_its_first_task():
    assert heard(Stage(10, 0), running=2) == Progress(stage=1, stages=1, tasks_done=0, tasks=10)
    assert heard(Stage(10, 0)) == Progress(stage=0, stages=1, tasks_done=0, tasks=10)


def test_a_message_of_an_earlier_statement_is_ignored():
    messages = ProgressMessages()
    assert messages.since(0.5) is None
    messages([Stage(1, 0)], 1, None, False)
    assert messages.since(time.time() + 1) is None
    assert messages.since(time.time() - 1) is not None


def test_a_client_without_messages_is_left_alone():
    messages, client = ProgressMessages(), object()
    messages.listen(client)
    messages.leave(client)
