"""Kafka topics as inputs of a stream, read by Spark's own source."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon import capabilities
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
_ADMIN_TIMEOUT_MS: Final = 15_000
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
        topic_ids: the topics' ids when the stream was opened; a different id means that a topic was recreated. Empty if
            the broker does not have ids (before Kafka 2.8), and with failOnDataLoss=false.
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
                f"kafka_options: {{{BOOTSTRAP_SERVERS}: host:9092}} to the target in profiles.yml, or to "
                "external.options of the source."
            )
        return cls(call, description, value_format, with_defaults(given, _DEFAULTS))

    @property
    def identity(self) -> dict[str, str]:
        """See `Input`; without the brokers, whose addresses may change."""
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
                f"{self._where}: a topic was recreated since the stream began. Run the model with --full-refresh to "
                "read it from its beginning."
            )
        reader = session.readStream.format("kafka").options(**self.options)
        reader = reader.option("subscribe", self.description.location).option("includeHeaders", "true")
        assert self.value_format is not None
        return parsed(reader.load().selectExpr(*_RAW_COLUMNS), self.value_format)

    def check_offset(self, session: SparkSession, offset: str) -> None:
        if self._accepts_data_loss:
            return
        read_to: Mapping[str, Mapping[str, int]] = json.loads(offset)
        wanted = [(topic, int(number)) for topic, partitions in read_to.items() for number in partitions]
        first = self._partition_offsets(session, wanted, "earliest")
        last = self._partition_offsets(session, wanted, "latest")
        expired, recreated = [], []
        for topic, partition in wanted:
            at = read_to[topic][str(partition)]
            begins = first.get((topic, partition))
            if begins is None or at > last.get((topic, partition), -1):
                recreated.append(f"{topic} partition {partition}")
            elif at < begins:
                expired.append(f"{begins - at} of {topic} partition {partition} (offsets {at} to {begins - 1})")
        if expired:
            raise DbtRuntimeError(
                f"{self._where}: the topic's retention deleted messages before the stream read them: "
                f"{'; '.join(expired)}. Either run the model with --full-refresh to rebuild the table from what is "
                "left, or set options={'failOnDataLoss': 'false'} in stream(...) to continue after the gap. To prevent "
                "this, raise the topic's retention.ms."
            )
        if recreated:
            raise DbtRuntimeError(
                f"{self._where}: these partitions are missing or end before the stream's last offset: "
                f"{', '.join(recreated)}. The topic was deleted and recreated, or this is a different cluster. Run the "
                "model with --full-refresh to read the topic from its beginning, or set the right broker."
            )

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
        """The ids of the topics, as `topic=id`, or empty without ids. Refuses a topic that does not exist."""
        topics, jvm = self.description.topics, cast("Any", session._jvm)
        with self._admin(session) as admin:
            existing = {str(name) for name in admin.listTopics().names().get()}
            if missing := [topic for topic in topics if topic not in existing]:
                self._refuse_missing(missing, existing)
            requested = jvm.java.util.ArrayList()
            for topic in topics:
                requested.add(topic)
            found = admin.describeTopics(requested).allTopicNames().get()
            ids = {topic: found[topic].topicId().toString() for topic in sorted(topics)}
            return ", ".join(f"{topic}={known}" for topic, known in ids.items() if known != _NO_ID)

    def _refuse_missing(self, missing: Sequence[str], existing: Collection[str]) -> NoReturn:
        close = sorted({name for topic in missing for name in get_close_matches(topic, existing, n=3)})
        near = f"Did you mean {' or '.join(close)}?" if close else f"Existing topics: {_listed_topics(existing)}."
        raise DbtRuntimeError(
            f"source '{self.description.label}': there is no topic {', '.join(missing)} at {self._servers}. "
            f"{near} Correct external.location of the source, create the topic, or give the user the "
            "permission to see it (DESCRIBE)."
        )

    def _partition_offsets(
        self, session: SparkSession, wanted: Sequence[tuple[str, int]], which: str
    ) -> dict[tuple[str, int], int]:
        """The 'earliest' or 'latest' offset of each partition that exists."""
        jvm: Any = session._jvm
        with self._admin(session) as admin:
            spec = getattr(jvm.org.apache.kafka.clients.admin.OffsetSpec, which)()
            requested = jvm.java.util.HashMap()
            parts = {each: jvm.org.apache.kafka.common.TopicPartition(*each) for each in wanted}
            for part in parts.values():
                requested.put(part, spec)
            answer = admin.listOffsets(requested)
            offsets = {each: _offset_or_none(answer.partitionResult(part)) for each, part in parts.items()}
        return {each: offset for each, offset in offsets.items() if offset is not None}

    @contextmanager
    def _admin(self, session: SparkSession) -> Iterator[Any]:
        """Kafka's admin client in the JVM; its exceptions are raised as DbtRuntimeError."""
        jvm: Any = session._jvm
        self._check_jars(session)
        conf = jvm.java.util.HashMap()
        for name, value in self.options.items():
            if name.startswith("kafka."):
                conf.put(name.removeprefix("kafka."), value)
        for name in ("request.timeout.ms", "default.api.timeout.ms"):
            conf.put(name, str(_ADMIN_TIMEOUT_MS))
        admin = None
        try:
            # Kafka uses the thread's context class loader for the classes named in its options.
            with _class_loader(jvm, session):
                admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(conf)
            yield admin
        except DbtRuntimeError:
            raise
        except Exception as exc:
            raise self._dbt_error(messages.error_text(exc)) from exc
        finally:
            if admin is not None:
                admin.close(jvm.java.time.Duration.ofSeconds(1))

    def _dbt_error(self, text: str) -> DbtRuntimeError:
        if re.search(r"TimeoutException|DisconnectException", text):
            return UnavailableError(
                f"{self._where} does not answer within {_ADMIN_TIMEOUT_MS // 1000} seconds. "
                f"Check that the broker is running and that {BOOTSTRAP_SERVERS} is an address that this machine can "
                "reach (kafka_options in profiles.yml), and run again: the stream continues where it stopped."
            )
        # The host name of a stopped container does not resolve until the container restarts: a retry may succeed.
        if "No resolvable bootstrap urls" in text:
            return UnavailableError(
                f"{self._where}: no such host. Correct {BOOTSTRAP_SERVERS} (kafka_options in profiles.yml)."
            )
        if re.search(r"AuthorizationException|AuthenticationException", text):
            return DbtRuntimeError(
                f"{self._where}: the broker rejects this user: {_cause(text)}. Check kafka.security.protocol and "
                "kafka.sasl.* in kafka_options of profiles.yml, and the user's permissions on the topic."
            )
        return DbtRuntimeError(
            f"{self._where}: {_cause(text)}. Check kafka_options in profiles.yml and external.options of the source."
        )

    def _check_jars(self, session: SparkSession) -> None:
        try:
            session._jvm.org.apache.spark.util.Utils.classForName(_SOURCE_CLASS, True, False)  # type: ignore[union-attr]
        except Exception as exc:
            if "ClassNotFoundException" not in str(exc):
                raise
            package = capabilities.kafka_artifact(session.version)
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


def _offset_or_none(answer: Any) -> int | None:
    try:
        return int(answer.get().offset())
    except Exception as exc:
        if "UnknownTopicOrPartition" in str(exc):
            return None
        raise


def _parse_offsets(value: Any) -> dict[str, dict[str, int]]:
    read = json.loads(value) if isinstance(value, str) else value
    return read if isinstance(read, dict) else {}


def _cause(text: str) -> str:
    causes = re.findall(r"(?:^|Caused by: |: )(?:[\w.$]+(?:Exception|Error)): ([^\n]+)", text)
    return redact_text(causes[-1] if causes else text.strip().splitlines()[0]).strip().rstrip(".")


def _listed_topics(names: Collection[str]) -> str:
    shown = sorted(name for name in names if not name.startswith("__"))
    more = f" and {len(shown) - 10} more" if len(shown) > 10 else ""
    return f"{', '.join(shown[:10])}{more}" if shown else "none yet"
