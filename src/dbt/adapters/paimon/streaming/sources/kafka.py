"""Kafka topics as inputs of a stream, read by Spark's own source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import artifacts
from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.errors.redaction import redact_text
from dbt.adapters.paimon.streaming import checkpoints
from dbt.adapters.paimon.streaming.descriptions import KAFKA_METADATA, Description, with_defaults
from dbt.adapters.paimon.streaming.formats.messages import ValueFormat, parsed
from dbt.adapters.paimon.streaming.inputs import DescribedInput, StreamCall, UnavailableError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BOOTSTRAP_SERVERS: Final = "kafka.bootstrap.servers"
_SOURCE_CLASS: Final = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
# The timeout for requests of Kafka's admin client, in milliseconds.
_ADMIN_TIMEOUT_MS: Final = "15000"
# Uuid.ZERO_UUID, from a broker without topic ids.
_NO_ID: Final = "A" * 22
_DEFAULTS: Final = {"startingOffsets": "earliest", "failOnDataLoss": "true", "maxOffsetsPerTrigger": "1000000"}
_RAW_COLUMNS: Final = (
    "key",
    "value",
    "concat(topic, ' partition ', partition, ' offset ', offset) as place",
    "timestamp as received_at",
    *(f"{name[1:]} as {name}" for name in KAFKA_METADATA),
)


@dataclass(frozen=True)
class KafkaInput(DescribedInput):
    """The topics of a Kafka cluster.

    Attributes:
        options: Spark's options, including those of the profile.
        topic_ids: the topics' ids when the stream was opened; a different id means that a topic was recreated. Empty
            with failOnDataLoss=false, or if the broker has no ids (before Kafka 2.8).
    """

    options: Mapping[str, str] = field(default_factory=dict)
    topic_ids: str = ""

    @classmethod
    def of(
        cls, call: StreamCall, description: Description, kafka_options: Mapping[str, str], value_format: ValueFormat
    ) -> KafkaInput:
        """The input for a description; raises DbtRuntimeError if no broker is set."""
        given = with_defaults(description.options, kafka_options)
        if not given.get(BOOTSTRAP_SERVERS):
            raise DbtRuntimeError(
                f"source '{description.label}': no broker is set. Add "
                f"kafka_options: {{{BOOTSTRAP_SERVERS}: host:9092}} to the target in profiles.yml, or "
                f"{BOOTSTRAP_SERVERS}: host:9092 to external.options of the source."
            )
        return cls(call, description, value_format, with_defaults(given, _DEFAULTS))

    @property
    def identity(self) -> dict[str, str]:
        """See `Input`; the brokers are left out, because their addresses may change."""
        found = {"source": self.description.label, "kafka": self.description.location}
        return found | ({checkpoints.TOPIC_IDS: self.topic_ids} if self.topic_ids else {})

    def with_topic_ids(self, session: SparkSession) -> KafkaInput:
        """A copy with the topics' ids; raises DbtRuntimeError if a topic or broker does not exist."""
        ids = self._topic_ids(session)
        # With failOnDataLoss=false, a recreated topic is accepted, too.
        return replace(self, topic_ids="" if self._accepts_data_loss else ids)

    def read(self, session: SparkSession) -> DataFrame:
        if self._topic_ids(session) != self.topic_ids != "":
            raise DbtRuntimeError(
                f"{self._where}: a topic has been recreated since the stream began. Run the model with --full-refresh "
                "to read it from its beginning."
            )
        reader = session.readStream.format("kafka").options(**self.options)
        reader = reader.option("subscribe", self.description.location).option("includeHeaders", "true")
        assert self.value_format is not None
        return parsed(reader.load().selectExpr(*_RAW_COLUMNS), self.value_format)

    def lag(self, session: SparkSession, progress: Mapping[str, Any]) -> int | None:
        """The number of messages between the end of the batch and the newest message."""
        latest, end = _parse_offsets(progress.get("latestOffset")), _parse_offsets(progress.get("endOffset"))
        if not latest or not end:
            return None
        return sum(
            max(0, offset - end.get(topic, {}).get(partition, 0))
            for topic, partitions in latest.items()
            for partition, offset in partitions.items()
        )

    @property
    def _where(self) -> str:
        return f"source '{self.description.label}' (topic {self.description.location} at {self._servers})"

    @property
    def _servers(self) -> str:
        return redact_text(self.options[BOOTSTRAP_SERVERS])

    @property
    def _accepts_data_loss(self) -> bool:
        values = (value for name, value in self.options.items() if name.lower() == "failondataloss")
        return next(values, "").lower() == "false"

    def _topic_ids(self, session: SparkSession) -> str:
        """The topics' ids as `topic=id`, or '' if they have no ids; raises DbtRuntimeError if a topic is missing."""
        self._check_jars(session)
        jvm = cast("Any", session._jvm)
        conf, topics, admin = jvm.java.util.HashMap(), jvm.java.util.ArrayList(), None
        for name, value in self.options.items():
            if name.startswith("kafka."):
                conf.put(name.removeprefix("kafka."), value)
        for name in ("request.timeout.ms", "default.api.timeout.ms"):
            conf.put(name, _ADMIN_TIMEOUT_MS)
        for topic in self.description.topics:
            topics.add(topic)
        try:
            # Kafka uses the thread's context class loader for the classes named in its options.
            with _class_loader(jvm, session):
                admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(conf)
            found = admin.describeTopics(topics).allTopicNames().get()
            ids = {topic: found[topic].topicId().toString() for topic in sorted(self.description.topics)}
        except Exception as exc:
            raise self._dbt_error(messages.error_text(exc)) from exc
        finally:
            if admin is not None:
                admin.close(jvm.java.time.Duration.ofSeconds(1))
        return ", ".join(f"{topic}={known}" for topic, known in ids.items() if known != _NO_ID)

    def _dbt_error(self, text: str) -> DbtRuntimeError:
        # The host name of a stopped container does not resolve until the container restarts: a retry may succeed.
        if re.search(r"TimeoutException|DisconnectException|No resolvable bootstrap urls", text):
            return UnavailableError(
                f"{self._where} does not answer. Check that the broker is running and that {BOOTSTRAP_SERVERS} is an "
                "address that this machine can reach (kafka_options in profiles.yml), and run again: the stream "
                "continues where it stopped."
            )
        if "UnknownTopicOrPartitionException" in text:
            return DbtRuntimeError(
                f"{self._where}: there is no such topic. Correct external.location of the source, or create the topic."
            )
        return DbtRuntimeError(
            f"{self._where}: {_cause(text)}. Check kafka_options in profiles.yml, external.options of the source, and "
            "the user's permissions on the topic."
        )

    def _check_jars(self, session: SparkSession) -> None:
        try:
            session._jvm.org.apache.spark.util.Utils.classForName(_SOURCE_CLASS, True, False)  # type: ignore[union-attr]
        except Exception as exc:
            if "ClassNotFoundException" not in str(exc):
                raise
            package = artifacts.kafka_artifact(session.version)
            raise DbtRuntimeError(
                f"source '{self.description.label}': Spark's Kafka connector is not on the classpath. Set "
                f"kafka_options in profiles.yml to have it downloaded, or add {package} to `packages`. If the "
                f"profile sets `jars`, add the jars of {package}, spark-token-provider-kafka-0-10, kafka-clients and "
                "commons-pool2."
            ) from exc


@contextmanager
def _class_loader(jvm: Any, session: SparkSession) -> Iterator[None]:
    thread = jvm.java.lang.Thread.currentThread()
    before = thread.getContextClassLoader()
    thread.setContextClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
    try:
        yield
    finally:
        thread.setContextClassLoader(before)


def _parse_offsets(value: Any) -> dict[str, dict[str, int]]:
    read = json.loads(value) if isinstance(value, str) else value
    return read if isinstance(read, dict) else {}


def _cause(text: str) -> str:
    causes = re.findall(r"(?:^|Caused by: |: )(?:[\w.$]+(?:Exception|Error)): ([^\n]+)", text)
    return redact_text(causes[-1] if causes else text.strip().splitlines()[0]).strip().rstrip(".")
