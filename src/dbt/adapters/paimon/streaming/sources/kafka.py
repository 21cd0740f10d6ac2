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

SERVERS: Final = "kafka.bootstrap.servers"
_SOURCE_CLASS: Final = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
# Milliseconds that a broker has to answer which topics it has.
_ANSWERS_IN: Final = 15_000
# Uuid.ZERO_UUID, from a broker without topic ids.
_NO_ID: Final = "A" * 22
_DEFAULTS: Final = {"startingOffsets": "earliest", "failOnDataLoss": "true", "maxOffsetsPerTrigger": "1000000"}
_RAW: Final = (
    "key",
    "value",
    "concat(topic, ' partition ', partition, ' offset ', offset) as place",
    "timestamp as received_at",
    *(f"{name[1:]} as {name}" for name in KAFKA_METADATA),
)

Offsets = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class KafkaInput(DescribedInput):
    """The topics of a Kafka cluster.

    Attributes:
        options: Spark's options, including those of the profile.
        topic_ids: the topics' ids when the stream was opened, which identify a recreated topic; empty if the broker has
            none (before Kafka 2.8), and with failOnDataLoss=false.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    topic_ids: str = ""

    @classmethod
    def of(
        cls, call: StreamCall, description: Description, kafka_options: Mapping[str, str], value_format: ValueFormat
    ) -> KafkaInput:
        """The input for a description; raises DbtRuntimeError if no broker is set."""
        given = with_defaults(description.options, kafka_options)
        if not given.get(SERVERS):
            raise DbtRuntimeError(
                f"source '{description.label}': no broker is set. Add kafka_options: {{{SERVERS}: host:9092}} to the "
                "target in profiles.yml, or to external.options of the source."
            )
        return cls(call, description, value_format, with_defaults(given, _DEFAULTS))

    @property
    def identity(self) -> dict[str, str]:
        """See `Input`; without the brokers, whose addresses may change."""
        found = {"source": self.description.label, "kafka": self.description.location}
        return found | ({checkpoints.TOPIC_IDS: self.topic_ids} if self.topic_ids else {})

    def opened(self, session: SparkSession) -> KafkaInput:
        """A copy with the topics' ids; raises DbtRuntimeError if a topic or broker does not exist."""
        ids = self._find_topics(session)
        # With failOnDataLoss=false, a recreated topic is accepted, too.
        return replace(self, topic_ids="" if self._accepts_data_loss else ids)

    def read(self, session: SparkSession) -> DataFrame:
        if self._find_topics(session) != self.topic_ids != "":
            raise DbtRuntimeError(
                f"{self._where}: a topic was recreated since the stream began. Run the model with --full-refresh to "
                "read it from its beginning."
            )
        reader = session.readStream.format("kafka").options(**self.options)
        reader = reader.option("subscribe", self.description.location).option("includeHeaders", "true")
        assert self.value_format is not None
        return parsed(reader.load().selectExpr(*_RAW), self.value_format)

    def check_offset(self, session: SparkSession, offset: str) -> None:
        if self._accepts_data_loss:
            return
        read_to: Offsets = json.loads(offset)
        wanted = [(topic, int(number)) for topic, partitions in read_to.items() for number in partitions]
        first = self._offsets(session, wanted, "earliest")
        last = self._offsets(session, wanted, "latest")
        lost, gone = [], []
        for topic, partition in wanted:
            at = read_to[topic][str(partition)]
            begins = first.get((topic, partition))
            if begins is None or at > last.get((topic, partition), -1):
                gone.append(f"{topic} partition {partition}")
            elif at < begins:
                lost.append(f"{begins - at} of {topic} partition {partition} (offsets {at} to {begins - 1})")
        if lost:
            raise DbtRuntimeError(
                f"{self._where}: messages that were not read yet are gone: {'; '.join(lost)}: the topic's retention "
                "has removed them. Run the model with --full-refresh to read all that is left into a new table; or "
                "continue after the gap with options={'failOnDataLoss': 'false'} in stream(...); and keep messages for "
                "longer than the stream is down (retention.ms of the topic)."
            )
        if gone:
            raise DbtRuntimeError(
                f"{self._where}: it ends before the offset that was read up to in {', '.join(gone)}: the "
                "topic was deleted and recreated, or this is another cluster. Run the model with "
                "--full-refresh to read it from its beginning, or set the right broker."
            )

    def lag(self, session: SparkSession, progress: Mapping[str, Any]) -> int | None:
        """The number of messages between the end of the batch and the newest message."""
        latest, end = _offsets_of(progress.get("latestOffset")), _offsets_of(progress.get("endOffset"))
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
        return redact_text(self.options[SERVERS])

    @property
    def _accepts_data_loss(self) -> bool:
        values = (value for name, value in self.options.items() if name.lower() == "failondataloss")
        return next(values, "").lower() == "false"

    def _find_topics(self, session: SparkSession) -> str:
        """The ids of the topics, as `topic=id`; empty if the broker has none."""
        topics, jvm = self.description.topics, cast("Any", session._jvm)
        with self._admin(session) as admin:
            there = {str(name) for name in admin.listTopics().names().get()}
            if missing := [topic for topic in topics if topic not in there]:
                self._refuse_missing(missing, there)
            asked = jvm.java.util.ArrayList()
            for topic in topics:
                asked.add(topic)
            found = admin.describeTopics(asked).allTopicNames().get()
            ids = {topic: found[topic].topicId().toString() for topic in sorted(topics)}
            return ", ".join(f"{topic}={known}" for topic, known in ids.items() if known != _NO_ID)

    def _refuse_missing(self, missing: Sequence[str], there: Collection[str]) -> NoReturn:
        close = sorted({name for topic in missing for name in get_close_matches(topic, there, n=3)})
        near = f"Did you mean {' or '.join(close)}?" if close else f"There are {_first_names(sorted(there))}."
        raise DbtRuntimeError(
            f"source '{self.description.label}': there is no topic {', '.join(missing)} at {self._servers}. "
            f"{near} Correct external.location of the source, create the topic, or give the user the "
            "permission to see it (DESCRIBE)."
        )

    def _offsets(
        self, session: SparkSession, wanted: Sequence[tuple[str, int]], which: str
    ) -> dict[tuple[str, int], int]:
        """The first or last offset of partitions; missing partitions are left out."""
        jvm: Any = session._jvm
        with self._admin(session) as admin:
            spec = getattr(jvm.org.apache.kafka.clients.admin.OffsetSpec, which)()
            asked = jvm.java.util.HashMap()
            parts = {each: jvm.org.apache.kafka.common.TopicPartition(*each) for each in wanted}
            for part in parts.values():
                asked.put(part, spec)
            answer, found = admin.listOffsets(asked), {}
            for each, part in parts.items():
                offset = _offset(answer.partitionResult(part))
                if offset is not None:
                    found[each] = offset
        return found

    @contextmanager
    def _admin(self, session: SparkSession) -> Iterator[Any]:
        """Kafka's own admin client, in the JVM; its errors become one message."""
        jvm: Any = session._jvm
        self._check_jars(session)
        conf = jvm.java.util.HashMap()
        for name, value in self.options.items():
            if name.startswith("kafka."):
                conf.put(name.removeprefix("kafka."), value)
        for name in ("request.timeout.ms", "default.api.timeout.ms"):
            conf.put(name, str(_ANSWERS_IN))
        admin = None
        try:
            # Kafka loads the classes that its options name with the thread's class loader.
            with _class_loader(jvm, session):
                admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(conf)
            yield admin
        except DbtRuntimeError:
            raise
        except Exception as exc:
            raise self._explained(messages.error_text(exc)) from exc
        finally:
            if admin is not None:
                admin.close(jvm.java.time.Duration.ofSeconds(1))

    def _explained(self, text: str) -> DbtRuntimeError:
        """The error to raise for an error of Kafka's client."""
        if re.search(r"TimeoutException|DisconnectException", text):
            return UnavailableError(
                f"{self._where}: Kafka at {self._servers} does not answer within {_ANSWERS_IN // 1000} seconds. "
                f"Check that the broker is running and that {SERVERS} names it as this machine reaches it "
                "(kafka_options in profiles.yml), and run again: the stream continues where it stopped."
            )
        # A stopped container's host name cannot be resolved; it can once the container is back.
        if "No resolvable bootstrap urls" in text:
            return UnavailableError(f"{self._where}: no such host. Correct {SERVERS} (kafka_options in profiles.yml).")
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
                f"source '{self.description.label}': Spark's reader of Kafka is not among its jars. Set kafka_options "
                f"in profiles.yml to have it downloaded, or add {package} to `packages`; where `jars` are named, add "
                "its jar and those of spark-token-provider-kafka-0-10, kafka-clients and commons-pool2 to them."
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


def _offset(answer: Any) -> int | None:
    try:
        return int(answer.get().offset())
    except Exception as exc:
        if "UnknownTopicOrPartition" in str(exc):
            return None
        raise


def _offsets_of(value: Any) -> dict[str, dict[str, int]]:
    read = json.loads(value) if isinstance(value, str) else value
    return read if isinstance(read, dict) else {}


def _cause(text: str) -> str:
    """The innermost cause in a Java error."""
    causes = re.findall(r"(?:^|Caused by: |: )(?:[\w.$]+(?:Exception|Error)): ([^\n]+)", text)
    return redact_text(causes[-1] if causes else text.strip().splitlines()[0]).strip().rstrip(".")


def _first_names(names: Sequence[str]) -> str:
    shown = [name for name in names if not name.startswith("__")]
    more = f" and {len(shown) - 10} more" if len(shown) > 10 else ""
    return f"{', '.join(shown[:10])}{more}" if shown else "none yet"
