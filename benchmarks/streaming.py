"""Streaming models, and Spark's own stream into Delta: rows per second, and the lag of a message."""

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any, Final

from benchmarks.cold import Project
from benchmarks.contestants import DELTA, Contestant, Worker, named
from benchmarks.delta_sink import Stream
from benchmarks.field import started, write_project
from benchmarks.measure import Spent, stop
from benchmarks.options import Options
from benchmarks.report import Report
from integration.services.kafka import Kafka, kafka

_COLUMNS: Final = "id bigint, message_no bigint, status string, amount double"
_READER: Final = "org.apache.spark:spark-sql-kafka-0-10_2.12:3.5.7"
_WAYS: Final = ("append", "upsert")
_SOURCES: Final = ("files", "topic")
_FILE: Final = 50_000
# Messages per second, the seconds of a run, and the seconds at its start that are not counted.
_RATE: Final = 2_000
_SECONDS: Final = 60
_WARM: Final = 15

_YAML = """
sources:
  - name: bench
    schema: bench
    tables:
      - name: files
        external: {{using: json, location: {folder}}}
        columns: &columns
          - {{name: id, data_type: bigint}}
          - {{name: message_no, data_type: bigint}}
          - {{name: status, data_type: string}}
          - {{name: amount, data_type: double}}
      - name: topic
        external: {{using: kafka, location: messages}}
        columns: *columns
"""
_MODEL = """{{{{ config(materialized='streaming', processing_time='1 second'{config}) }}}}
select id, message_no, status, amount from {{{{ stream(source('bench', '{source}')) }}}}
"""
_CONFIG = {"append": "", "upsert": ", primary_key='id', sequence_field='message_no'"}


def run(options: Options) -> Iterator[Report]:
    """Two reports: the throughput of waiting messages, and the lag of arriving ones."""
    with kafka(options.scratch / "kafka") as broker:
        yield _throughput(options, broker)
        yield _lag(options, broker)


def _model(way: str, source: str) -> str:
    return _MODEL.format(config=_CONFIG[way], source=source)


def _messages(first: int, count: int, keys: int) -> Iterator[str]:
    for number in range(first, first + count):
        row = {
            "id": number % keys,
            "message_no": number,
            "status": f"status {number % 7}",
            "amount": number / 8,
        }
        yield json.dumps(row)


def _put(folder: Path, first: int, count: int, keys: int) -> None:
    """Write files of messages; readers see only complete files."""
    folder.mkdir(exist_ok=True)
    for start in range(first, first + count, _FILE):
        draft = folder / f".{start}"
        draft.write_text("\n".join(_messages(start, min(_FILE, first + count - start), keys)) + "\n")
        draft.rename(folder / f"{start}.json")


def _delta(broker: Kafka) -> tuple[Contestant, dict[str, str]]:
    """Spark with Delta and the Kafka reader, and the options of the reader."""
    (plain,) = named("Delta, plain")
    packages = {"spark.jars.packages": f"{DELTA},{_READER}"}
    options = {"kafka.bootstrap.servers": broker.address, "startingOffsets": "earliest"}
    return replace(plain, conf={**plain.conf, **packages}), options


def _throughput(options: Options, broker: Kafka) -> Report:
    count = 2_000_000 // (10 if options.quick else 1)
    landing = options.scratch / "landing"
    models = {f"models/{way}_{source}.sql": _model(way, source) for way in _WAYS for source in _SOURCES}
    project = write_project(
        options.scratch / "streaming", {"models/sources.yml": _YAML.format(folder=landing), **models}
    )
    delta, reader = _delta(broker)
    target = {"kafka_options": {"kafka.bootstrap.servers": broker.address}}
    ours = replace(named("Paimon, upsert")[0], name="dbt-paimon", target=target)
    theirs = replace(delta, name="Spark's stream, Delta")
    with started([ours, theirs], project, options.scratch / "streaming-run") as workers:
        paimon, spark = workers.values()

        def dbt(way: str, source: str) -> Spent:
            model = f"{way}_{source}"
            return Spent(**paimon.dbt("run", "--select", model)["nodes"][model])

        def plain(way: str, source: str) -> Spent:
            files = source == "files"
            stream = Stream(
                "json" if files else "kafka",
                {"path": str(landing)} if files else {**reader, "subscribe": "messages"},
                _COLUMNS,
                str(spark.folder / f"{way}_{source}"),
                "id" if way == "upsert" else "",
            )
            return spark.stream(stream.asked())

        def all_once() -> dict[tuple[str, str, str], Spent]:
            found = {}
            for source in _SOURCES:
                for way in _WAYS:
                    for name, one in (("dbt-paimon", dbt), ("Spark's stream, Delta", plain)):
                        options.say(f"{source}, {way}: {name}")
                        found[source, way, name] = one(way, source)
            return found

        broker.create("messages")
        # The first rows warm the JVMs, and create the tables.
        for first, rows in ((0, _FILE), (_FILE, count)):
            _put(landing, first, rows, count // 2)
            broker.send("messages", _messages(first, rows, count // 2))
            found = all_once()
        _same(paimon, spark)
    rows = [
        [f"{name}: {source}, {way}", count / spent.wall, spent.wall, spent.cpu]
        for (source, way, name), spent in found.items()
    ]
    return Report(
        "streaming-throughput",
        f"{count:,} JSON messages that wait in a folder, and in a topic of Kafka",
        ["stream", "rows a second", "wall s", "CPU s"],
        rows,
        ["rows a second"],
        [
            "All that is there, read to its end, into a table that has 50,000 rows; each with its defaults.",
            "`append` has no key; `upsert` has half as many keys as messages: `sequence_field` in a streaming model, "
            "`foreachBatch` with MERGE in Spark's.",
            "At the end the tables hold the same rows.",
        ],
    )


def _same(paimon: Worker, spark: Worker) -> None:
    for way in _WAYS:
        for source in _SOURCES:
            asked = "select count(*), sum(id), sum(message_no), sum(amount) from "
            ours, _ = paimon.sql(f"{asked} bench.{way}_{source}")
            theirs, _ = spark.sql(f"{asked} delta.`{spark.folder}/{way}_{source}`")
            if ours != theirs:
                raise RuntimeError(f"{way}, {source}: {ours} in ours, {theirs} in Delta's")


def _lag(options: Options, broker: Kafka) -> Report:
    seconds = _SECONDS // (2 if options.quick else 1)
    rows = []
    for way in _WAYS:
        for name, one in (("dbt-paimon stream", _lag_of_ours), ("Spark's stream, Delta", _lag_of_delta)):
            options.say(f"lag: {way}, {name}")
            topic = f"{way}-{'ours' if one is _lag_of_ours else 'delta'}"
            broker.create(topic)
            found = one(options.scratch / topic, way, _Course(broker, topic, seconds))
            percentiles = statistics.quantiles(found, n=100)
            rows.append([f"{name}: {way}", percentiles[49], percentiles[98], max(found)])
    return Report(
        "streaming-lag",
        f"{_RATE:,} messages a second from Kafka, a batch every second: from the message to its commit",
        ["stream", "median s", "99th percentile s", "longest s"],
        rows,
        ["median s", "99th percentile s"],
        [
            f"{seconds} seconds, of which the first {_WARM} do not count; one contestant at a time; each message is "
            "new (as many keys as messages), so that the table's rows count the messages that are in it.",
        ],
    )


class _Course:
    """Sends messages at a steady rate; `sent` is the time of each."""

    def __init__(self, broker: Kafka, topic: str, seconds: int) -> None:
        self.broker, self.topic = broker, topic
        self.count = seconds * _RATE
        self.sent: list[float] = []

    def send(self, begins: Callable[[], bool]) -> None:
        """Send one message, and all others once `begins` returns true: the first is in the table."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.broker.address, "linger.ms": 5})
        self._send(producer, 1)
        while not begins():
            time.sleep(0.1)
        started = time.time()
        while len(self.sent) < self.count:
            due = int((time.time() - started) * _RATE)
            self._send(producer, min(due, self.count) - len(self.sent))
            time.sleep(0.02)

    def _send(self, producer: Any, count: int) -> None:
        first = len(self.sent)
        for message in _messages(first, max(count, 0), self.count):
            producer.produce(self.topic, value=message)
            self.sent.append(time.time())
        producer.poll(0)
        producer.flush()

    def lags(self, commits: Sequence[tuple[float, int]]) -> list[float]:
        """The lag of each counted message in seconds. `commits`: each commit's time, and the table's rows after it."""
        found, at = [], 0
        for number, sent in enumerate(self.sent):
            while commits[at][1] <= number:
                at += 1
            if sent > self.sent[1] + _WARM:
                found.append(commits[at][0] - sent)
        return found


def _lag_of_ours(folder: Path, way: str, course: _Course) -> list[float]:
    target = {"kafka_options": {"kafka.bootstrap.servers": course.broker.address}}
    project = Project("paimon", folder, target=target)
    yaml = _YAML.format(folder=folder).replace("location: messages", f"location: {course.topic}")
    project.write({"facts.sql": _model(way, "topic"), "sources.yml": yaml})
    snapshots = project.lake / "warehouse" / "bench.db" / "facts" / "snapshot"

    def commits() -> list[tuple[float, int]]:
        found = []
        for path in snapshots.glob("snapshot-*"):
            snapshot = json.loads(path.read_text())
            if snapshot["commitKind"] == "APPEND":
                found.append((path.stat().st_mtime, snapshot["totalRecordCount"]))
        return sorted(found)

    with (folder / "stream.log").open("w") as log:
        process = subprocess.Popen(
            project.dbt_paimon("stream", "--select", "facts"),
            cwd=project.lake,
            env=project.environment(),
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
        )
    try:
        course.send(lambda: _running(process) and any(rows for _, rows in commits()))
        while commits()[-1][1] < course.count and _running(process):
            time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        process.wait(60)
    finally:
        stop(process)
    return course.lags(commits())


def _running(process: subprocess.Popen[str]) -> bool:
    if process.poll() is not None:
        raise RuntimeError(f"dbt-paimon stream ended with {process.returncode}")
    return True


def _lag_of_delta(folder: Path, way: str, course: _Course) -> list[float]:
    delta, reader = _delta(course.broker)
    table = folder / "facts"

    def commits() -> list[tuple[float, int]]:
        found, rows = [], 0
        for path in sorted((table / "_delta_log").glob("*.json")):
            written = [json.loads(line) for line in path.read_text().splitlines()]
            (info,) = (each["commitInfo"] for each in written if "commitInfo" in each)
            metrics = info["operationMetrics"]
            rows += int(metrics.get("numTargetRowsInserted", metrics.get("numOutputRows", 0)))
            found.append((path.stat().st_mtime, rows))
        return found

    stream = Stream(
        "kafka",
        {**reader, "subscribe": course.topic},
        _COLUMNS,
        str(table),
        "id" if way == "upsert" else "",
        seconds=course.count // _RATE + 60,
    )
    worker = Worker(delta, write_project(folder / "project", {}), folder / "run")
    try:
        sending = Thread(target=course.send, args=[lambda: any(rows for _, rows in commits())], daemon=True)
        sending.start()
        worker.stream(stream.asked())
        sending.join(1)
    finally:
        worker.close()
    return course.lags(commits())
