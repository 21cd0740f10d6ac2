"""Error messages of streams: what failed, where, and the remedy."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.errors.messages import Remedy
from dbt.adapters.paimon.errors.redaction import redact_text
from dbt.adapters.paimon.streaming import checkpoints
from dbt.adapters.paimon.streaming.inputs import Input

# Errors of Structured Streaming and its sources; `errors.messages` has the errors of Spark and Paimon.
_REMEDIES: Final = (
    Remedy(
        # Errors of Spark's Kafka source if failOnDataLoss is true (see KafkaSourceProvider).
        r"Some data may have been lost|OffsetOutOfRangeException|Partition .* offset was changed from",
        "The topic has lost messages that the stream had not read yet: its retention deleted them, or the topic was "
        "recreated. Run the model once with --full-refresh to rebuild the table from the remaining messages, or set "
        "failOnDataLoss: false in the source's options to continue without the lost ones. To prevent this, raise the "
        "topic's retention.ms.",
    ),
    Remedy(
        r"UnknownTopicOrPartitionException|does not host this topic-partition",
        "The topic does not exist (any more): correct `location` of the source, or create the topic.",
    ),
    Remedy(
        r"org\.apache\.kafka\S*TimeoutException|Timed out waiting for a node assignment|No resolvable bootstrap"
        r"|Failed to (?:construct kafka consumer|create new KafkaAdminClient)",
        "The broker does not answer: check kafka.bootstrap.servers (kafka_options of the target). The batches "
        "written so far are complete; run again when the broker is back.",
    ),
    Remedy(
        r"FileNotFoundException|\[FAILED_READ_FILE\.FILE_NOT_EXIST\]|SparkFileNotFoundException",
        "A file was removed after the stream had listed it and before it was read: restore it, and run again. Only add "
        "files to a folder that is read as a stream; remove old ones after they have been read.",
    ),
    Remedy(
        r"CSV file: ",
        "Describe all columns of the files in the source, with the same names in the same order; or correct the file "
        "without renaming it. The batches written so far are complete, and the next run continues with this file.",
    ),
    Remedy(
        r"Concurrent update to the log|Multiple streaming jobs detected",
        "Another process uses the same checkpoint: stop it.",
    ),
)
# The messages of CSVHeaderChecker: their lines name the columns and the file.
_CSV_HEADER: Final = re.compile(r"(?:CSV header does not|Number of column in CSV header).*?CSV file: \S+", re.DOTALL)


def dbt_error(exc: Exception, model: str, inputs: Sequence[Input]) -> Exception:
    """The error to raise for the exception that ended a stream."""
    if isinstance(exc, DbtRuntimeError):
        return exc
    text = messages.error_text(exc)
    sources = "; ".join(
        ", ".join(f"{key} {value}" for key, value in each.identity.items() if key != checkpoints.TOPIC_IDS)
        for each in inputs
    )
    where = f"model '{model}', which reads {sources}"
    # A message about expired files of a table already has its remedy.
    known = () if messages.EXPIRED in text else _REMEDIES
    advice = next((remedy.advice for remedy in known if re.search(remedy.pattern, text)), "")
    header = _CSV_HEADER.search(text)
    shown = redact_text(header[0]) if header else messages.shorten(text)
    return DbtDatabaseError(f"{where}: {shown}\n{advice}".rstrip())


def new_columns(model: str, found: Mapping[str, Mapping[str, str]]) -> DbtRuntimeError:
    """The error for messages with columns that are not described; `found`: see NewColumnsError."""
    listed = "; ".join(f"{name} {data_type}" for columns in found.values() for name, data_type in columns.items())
    return DbtRuntimeError(
        f"model '{model}': messages have columns that are not described ({listed}), and on_schema_change='fail' "
        "stops the stream before their batch is written. Add them to the columns of the source and to the "
        "model, or set on_schema_change='append_new_columns'."
    )
