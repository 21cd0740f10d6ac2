"""A Kafka broker in KRaft mode, from Maven Central, and its operations for tests."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from integration.services.maven import jar
from integration.services.process import LOOPBACK, SHORT_LIVED, free_port, running

_VERSION: Final = "3.9.1"
# The jars that a broker in KRaft mode loads. Even in this mode, its config refers to ZooKeeper's classes.
_OF_KAFKA: Final = (
    *(
        "kafka_2.13",
        "kafka-clients",
        "kafka-group-coordinator",
        "kafka-group-coordinator-api",
        "kafka-metadata",
    ),
    *("kafka-raft", "kafka-server", "kafka-server-common", "kafka-storage", "kafka-storage-api"),
    *("kafka-tools-api", "kafka-transaction-coordinator"),
)
_OTHERS: Final = (
    ("org.scala-lang", "scala-library", "2.13.15"),
    ("org.scala-lang", "scala-reflect", "2.13.15"),
    ("org.scala-lang.modules", "scala-collection-compat_2.13", "2.10.0"),
    ("org.scala-lang.modules", "scala-java8-compat_2.13", "1.0.2"),
    ("com.fasterxml.jackson.core", "jackson-core", "2.16.2"),
    ("com.fasterxml.jackson.core", "jackson-databind", "2.16.2"),
    ("com.fasterxml.jackson.core", "jackson-annotations", "2.16.2"),
    ("com.fasterxml.jackson.datatype", "jackson-datatype-jdk8", "2.16.2"),
    ("com.github.ben-manes.caffeine", "caffeine", "2.9.3"),
    ("com.github.luben", "zstd-jni", "1.5.6-4"),
    ("com.typesafe.scala-logging", "scala-logging_2.13", "3.9.5"),
    ("com.yammer.metrics", "metrics-core", "2.2.0"),
    ("commons-validator", "commons-validator", "1.7"),
    ("net.sf.jopt-simple", "jopt-simple", "5.0.4"),
    ("net.sourceforge.argparse4j", "argparse4j", "0.7.0"),
    ("org.apache.zookeeper", "zookeeper", "3.8.4"),
    ("org.bitbucket.b_c", "jose4j", "0.9.4"),
    ("org.lz4", "lz4-java", "1.8.0"),
    ("org.pcollections", "pcollections", "4.0.1"),
    ("org.slf4j", "slf4j-api", "1.7.36"),
    ("org.slf4j", "slf4j-simple", "1.7.36"),
    ("org.xerial.snappy", "snappy-java", "1.1.10.5"),
)
_CLUSTER: Final = "ZGJ0LXBhaW1vbi10ZXN0cw"
# Seconds to wait for a broker, on a busy machine.
_TIMEOUT: Final = 600


@dataclass
class Kafka:
    """A broker.

    Attributes:
        address: for `kafka.bootstrap.servers`.
        folder: its files and its log.
    """

    address: str
    folder: Path
    _process: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def create(self, topic: str, partitions: int = 1, **config: str) -> None:
        """Create a topic."""
        from confluent_kafka.admin import NewTopic

        self._ask("create_topics", [NewTopic(topic, partitions, 1, config=config)])

    def delete(self, topic: str) -> None:
        """Delete a topic and its messages."""
        self._ask("delete_topics", [topic])

    def forget(self, topic: str, before: int, partition: int = 0) -> None:
        """Delete the messages before an offset, as retention does."""
        from confluent_kafka import TopicPartition

        self._ask("delete_records", [TopicPartition(topic, partition, before)])

    def send(
        self,
        topic: str,
        values: Iterable[bytes | str | None],
        *,
        keys: Sequence[bytes | str | None] | None = None,
        headers: Sequence[tuple[str, bytes]] | None = None,
        partition: int | None = None,
        timestamp: int = 0,
    ) -> int:
        """Send messages and wait until the broker has them.

        Args:
            topic: the topic, which must exist.
            values: the messages' values, in order.
            keys: one for each value.
            headers: for each message.
            partition: for all messages; by key if not given.
            timestamp: milliseconds since 1970; now if not given.

        Returns:
            The number of messages.
        """
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.address, "enable.idempotence": True, "linger.ms": 5})
        failed: list[Any] = []
        count = 0
        more: dict[str, Any] = {} if partition is None else {"partition": partition}
        for index, value in enumerate(values):
            key = keys[index] if keys else None
            while True:
                try:
                    producer.produce(
                        topic,
                        value=value,
                        key=key,
                        headers=list(headers or []),
                        timestamp=timestamp,
                        on_delivery=lambda error, _: failed.append(error) if error else None,
                        **more,
                    )
                    break
                except BufferError:
                    producer.poll(0.1)
            count += 1
        left = producer.flush(_TIMEOUT)
        if failed or left:
            raise RuntimeError(f"{len(failed) + left} of {count} messages were not taken: {failed[:3]}")
        return count

    def messages(self, topic: str) -> list[tuple[bytes | None, bytes | None]]:
        """The keys and values of all messages of a topic, partition by partition."""
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer({"bootstrap.servers": self.address, "group.id": "tests", "enable.auto.commit": False})
        found: list[tuple[bytes | None, bytes | None]] = []
        try:
            for number in consumer.list_topics(topic, timeout=_TIMEOUT).topics[topic].partitions:
                at, end = consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=_TIMEOUT)
                consumer.assign([TopicPartition(topic, number, at)])
                while at < end:
                    message = consumer.poll(_TIMEOUT)
                    if message is None or message.error():
                        raise RuntimeError(f"{topic} is not to be read: {message and message.error()}")
                    found.append((message.key(), message.value()))
                    at = message.offset() + 1
        finally:
            consumer.close()
        return found

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """Stop the broker for the block, then start it again with all its messages."""
        self._process.close()
        try:
            yield
        finally:
            self.start()

    def start(self) -> None:
        """Start the broker, and wait until it answers.

        Call it only from the main thread: the broker dies with the thread that started it.
        """
        port = int(self.address.rpartition(":")[2])
        command = [*_java(), "kafka.Kafka", str(self.folder / "server.properties")]
        self._process.enter_context(running(command, self.folder / "kafka.log", [port], cwd=self.folder))
        # The port is open before the broker has elected itself leader.
        self._admin().list_topics(timeout=_TIMEOUT)

    def stop(self) -> None:
        """Stop the broker for good."""
        self._process.close()

    def _ask(self, what: str, things: Sequence[Any]) -> None:
        # The requests need the client until they are done.
        admin = self._admin()
        for each in getattr(admin, what)(things).values():
            each.result(_TIMEOUT)

    def _admin(self) -> Any:
        from confluent_kafka.admin import AdminClient

        return AdminClient({"bootstrap.servers": self.address})


@contextlib.contextmanager
def kafka(folder: Path) -> Iterator[Kafka]:
    """Run an empty broker; its messages are in the folder.

    Raises:
        RuntimeError: the broker did not start.
    """
    folder.mkdir(parents=True, exist_ok=True)
    port, controller = free_port(), free_port()
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{LOOPBACK}:{controller}",
        "listeners": f"PLAINTEXT://{LOOPBACK}:{port},CONTROLLER://{LOOPBACK}:{controller}",
        "advertised.listeners": f"PLAINTEXT://{LOOPBACK}:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(folder / "data"),
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "auto.create.topics.enable": "false",
        "log.retention.check.interval.ms": "1000",
    }
    file = folder / "server.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    command = [*_java(), "kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(file)]
    done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT)
    if done.returncode:
        raise RuntimeError(f"Kafka's folder is not formatted:\n{done.stderr[-3000:]}")
    broker = Kafka(f"{LOOPBACK}:{port}", folder)
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()


def _java() -> list[str]:
    jars = [jar("org.apache.kafka", artifact, _VERSION) for artifact in _OF_KAFKA]
    jars += [jar(*coordinates) for coordinates in _OTHERS]
    log = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
    return [
        "java",
        "-Xmx256m",
        log,
        *SHORT_LIVED["JAVA_TOOL_OPTIONS"].split(),
        "-cp",
        ":".join(map(str, jars)),
    ]
