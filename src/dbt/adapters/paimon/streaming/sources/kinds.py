"""Opens the right kind of input for a `stream(...)`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql.data_types import type_text
from dbt.adapters.paimon.streaming.descriptions import CSV, DEBEZIUM, JSON, KAFKA, Description, describe
from dbt.adapters.paimon.streaming.formats import debezium
from dbt.adapters.paimon.streaming.formats.debezium import DebeziumMessages
from dbt.adapters.paimon.streaming.formats.messages import JsonMessages, ValueFormat
from dbt.adapters.paimon.streaming.inputs import Access, Input, StreamCall
from dbt.adapters.paimon.streaming.sources import scan_modes
from dbt.adapters.paimon.streaming.sources.files import CsvLines, FileInput, csv_options
from dbt.adapters.paimon.streaming.sources.kafka import KafkaInput
from dbt.adapters.paimon.streaming.sources.paimon_tables import PaimonTableInput

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_input(call: StreamCall, access: Access) -> Input:
    """The input for a `stream(...)`; raises DbtRuntimeError if the table does not exist or the YAML is invalid."""
    if not call.source.get("external"):
        return PaimonTableInput.open(call, access)
    description = _description(call.source, access, call.options)
    _refuse_arguments_of_tables(call, description)
    value_format = _value_format(description, call)
    if description.using == KAFKA:
        options = access.adapter.credentials.kafka_options
        assert value_format is not None
        return KafkaInput.of(call, description, options, value_format).with_topic_ids(access.adapter.handle.session)
    return FileInput(call, description, value_format)


def has_beginning(call: StreamCall) -> bool:
    """Whether the model or the YAML sets where the first run begins; always true for files, which are all read."""
    external = call.source.get("external") or {}
    options = {**(external.get("options") or {}), **call.options}
    if external:
        return external.get("using") != KAFKA or any(name.startswith("starting") for name in options)
    return call.scan_mode is not None or not options.keys().isdisjoint(scan_modes.OPTIONS)


def _refuse_arguments_of_tables(call: StreamCall, description: Description) -> None:
    """Refuse arguments that this kind of source would ignore."""
    where = f"stream({call.label}): the source is not a Paimon table"
    if call.scan_mode is not None:
        remedy = (
            "Set options={'startingOffsets': 'latest'}, or 'startingTimestamp'"
            if description.using == KAFKA
            else "All files are read; move away the ones to skip"
        )
        raise DbtRuntimeError(f"{where} and does not support scan_mode. {remedy}.")
    if call.watermark is not None:
        raise DbtRuntimeError(
            f"{where}, and only Paimon tables keep the rows of open windows. Write its messages into a table with a "
            "separate streaming model, and use stream(ref('that model'), watermark=…)."
        )
    if call.row_kind is not None and description.value_format != DEBEZIUM:
        raise DbtRuntimeError(
            f"{where}, and only value_format: debezium gives its rows a row kind. Remove row_kind: every "
            "row is an insert."
        )


def described_columns(source: Mapping[str, Any], access: Access) -> dict[str, str]:
    """The columns of a source that is not a table: name -> data type; raises DbtRuntimeError if its YAML is invalid."""
    description = _description(source, access)
    own = debezium.METADATA if description.value_format == DEBEZIUM else {}
    columns = {column.name: column.data_type for column in description.columns}
    return {**columns, **own, **description.metadata}


def _description(source: Mapping[str, Any], access: Access, options: Mapping[str, Any] | None = None) -> Description:
    session = access.adapter.handle.session
    return describe(source, Path(access.adapter.config.project_root), lambda text: _type_of(session, text), options)


def _value_format(description: Description, call: StreamCall) -> ValueFormat | None:
    if description.value_format == DEBEZIUM:
        return DebeziumMessages.of(description, call.source, call.row_kind)
    if description.value_format == JSON:
        return JsonMessages(description.columns, tuple(description.metadata))
    if description.using == CSV:
        return CsvLines(description.columns, csv_options(description.options))
    return None


def _type_of(session: SparkSession, text: str) -> str:
    """The Spark type for a type in the YAML; raises ValueError if Spark does not know it."""
    from pyspark.sql.types import _parse_datatype_json_string

    parser: Any = session._jsparkSession.sessionState().sqlParser()
    try:
        parsed = parser.parseDataType(text)
    except Exception as exc:
        raise ValueError(text) from exc
    return type_text(_parse_datatype_json_string(parsed.json()))
