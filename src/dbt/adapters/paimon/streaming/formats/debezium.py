"""SQL that turns Debezium's change messages into rows: the changed row, its row kind, and the time of the change.

A message is an envelope `{before, after, source, op, ts_ms}`, bare or with its schema (`{schema, payload}`). A message
that cannot be read in full becomes a fault with a reason.

Source: https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-change-events-value
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.streaming.descriptions import Description, SourceColumn
from dbt.adapters.paimon.streaming.formats import debezium_types, messages
from dbt.adapters.paimon.streaming.formats.debezium_types import MessageValue, Target, UnknownTypeError, let, literals
from dbt.adapters.paimon.streaming.formats.messages import PROBLEM, ROW, UNDECLARED, ValueFormat, value_column

ROW_KIND: Final = "_row_kind"
POSITION: Final = "_position"
SOURCE_TIME: Final = "_source_time"
# The metadata columns of a row when the model does not name a row kind column: name -> Spark's type.
METADATA: Final[Mapping[str, str]] = {ROW_KIND: "string", POSITION: "string", SOURCE_TIME: "timestamp"}

# The tombstone that follows a delete on a compacted Kafka topic; in a file it can only be written as `null`.
_IS_TOMBSTONE: Final = "(value is null or trim(__tmp_text) = 'null')"

# op -> Paimon's row kind; `r` is a row of Debezium's initial snapshot.
_KINDS: Final = {"c": "+I", "r": "+I", "u": "+U", "d": "-D"}
_TRUNCATION: Final = (
    "op 't' has no row: the source's table was truncated. The target table keeps its rows: delete older ones with "
    f"`dbt run-operation delete_rows` where {POSITION} is less than "
)
# Debezium's placeholder for a value that the database did not send (`unavailable.value.placeholder`): as a string, as
# base64 bytes, in a map, and in arrays of strings, of bytes, of numbers or dates, and of UUIDs.
# Source: io.debezium.connector.postgresql.UnchangedToastedPlaceholder.
_UNSENT: Final = "__debezium_unavailable_value"
_UNSENT_BYTES: Final = "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="
_UNSENT_TEXTS: Final = literals(
    (
        _UNSENT,
        _UNSENT_BYTES,
        f'{{"{_UNSENT}":"{_UNSENT}"}}',
        f'["{_UNSENT}"]',
        f'["{_UNSENT_BYTES}"]',
        f"[{','.join(str(byte) for byte in _UNSENT.encode())}]",
        f'["{uuid.UUID(bytes=hashlib.md5(_UNSENT.encode(), usedforsecurity=False).digest(), version=3)}"]',
    )
)

# Strict JSON: Spark's default accepts more.
_STRICT: Final = "map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false')"
_ENVELOPE: Final = "before: map<string,string>, after: map<string,string>, source: map<string,string>, op: string"
# Put around a number, so that a search for it in a message does not find longer numbers that contain it.
_BEFORE_NUMBER: Final = string_literal(r"(?<![0-9.+-])\Q")
_AFTER_NUMBER: Final = string_literal(r"\E(?![0-9.eE])")
_TYPE: Final = "type: string, name: string, parameters: map<string,string>"
_FIELD: Final = f"field: string, {_TYPE}, items: struct<{_TYPE}>"
_MESSAGE: Final = (
    f"array<struct<{_ENVELOPE}, payload: struct<{_ENVELOPE}>, "
    f"schema: struct<fields: array<struct<field: string, fields: array<struct<{_FIELD}>>>>>>>"
)
_KEY: Final = "array<struct<schema: string, payload: map<string,string>>>"


@dataclass(frozen=True)
class DebeziumColumn(SourceColumn):
    """A column of the rows.

    Attributes:
        semantic: the logical type of the values in messages without schema; empty if the data type is sufficient.
        scale: the scale of a Decimal in messages without schema; None for the data type's scale.
    """

    semantic: str = ""
    scale: int | None = None

    @property
    def target(self) -> Target:
        return debezium_types.target(self.data_type)


@dataclass(frozen=True)
class DebeziumMessages(ValueFormat):
    """The Debezium format: each value is an envelope with a row and what happened to it.

    Attributes:
        row_kind: the name of the column with the row kind (`+I`, `+U` or `-D`).
        reserved: names that a new column cannot have.
    """

    # A tombstone is neither a row nor a fault.
    is_row: ClassVar[str] = f"{ROW} is not null"
    column_type: ClassVar[type[SourceColumn]] = DebeziumColumn
    columns: tuple[DebeziumColumn, ...]
    row_kind: str = ROW_KIND
    reserved: tuple[str, ...] = ()

    @classmethod
    def of(cls, description: Description, source: Mapping[str, Any], row_kind: str | None = None) -> DebeziumMessages:
        """The format of a source whose node in the manifest is `source`; raises DbtRuntimeError with every problem.

        The `meta` of a column in the YAML may have `semantic` and `scale`.
        """
        problems: list[str] = []
        row_kind = row_kind or ROW_KIND
        own = (row_kind, POSITION, SOURCE_TIME)
        described = source.get("columns") or {}
        columns = tuple(
            _column(column, _meta(described.get(column.name) or {}), problems) for column in description.columns
        )
        taken = {name.lower() for name in own}
        problems += [
            f"columns: {column.name}: rows of change messages have a column of this name already; remove it, or "
            "rename the row kind with stream(…, row_kind='…')"
            for column in columns
            if column.name.lower() in taken
        ]
        if problems:
            listed = "".join(f"\n  - {problem}" for problem in problems)
            raise DbtRuntimeError(f"source '{description.label}' cannot be read as change messages:{listed}")
        return cls(columns, row_kind, (*own, *description.metadata))

    def stages(self) -> Sequence[Sequence[str]]:
        with_schema = "get(__tmp_key_parsed, 0)"
        bare = ", ".join(f"'{name}', __tmp_one.{name}" for name in ("before", "after", "source", "op"))
        image = "if(__tmp_op = 'd', coalesce(__tmp_before, __tmp_keys), __tmp_envelope.after)"
        values = [f"{self._value_sql(index, each)} as {value_column(index)}" for index, each in enumerate(self.columns)]
        return (
            ("cast(value as string) as __tmp_text", "cast(key as string) as __tmp_key_text"),
            # Wrapped in an array, because Spark ignores whatever follows the end of an object.
            (
                f"{_read('__tmp_text', _MESSAGE)} as __tmp_parsed",
                f"{self._numbers_sql()} as __tmp_digits",
                f"{_read('__tmp_key_text', _KEY)} as __tmp_key_parsed",
                f"{_read('__tmp_key_text', 'array<map<string,string>>')} as __tmp_key_bare",
            ),
            (
                "get(__tmp_parsed, 0) as __tmp_one",
                f"if({with_schema}.schema is not null, {with_schema}.payload, get(__tmp_key_bare, 0)) as __tmp_keys",
            ),
            (
                f"coalesce(__tmp_one.payload, named_struct({bare})) as __tmp_envelope",
                f"{_fields_sql('__tmp_one.schema.fields')} as __tmp_fields",
            ),
            tuple(f"__tmp_envelope.{name} as __tmp_{name}" for name in ("op", "before", "source")),
            (
                f"{image} as __tmp_image",
                "__tmp_op = 'd' and __tmp_before is null as __tmp_is_key",
                f"{_position_sql()} as __tmp_position",
                f"case __tmp_op {debezium_types.cases(_KINDS)} end as __tmp_kind",
            ),
            tuple(self._text_columns()),
            tuple(values),
            (f"{self._problem_sql()} as {PROBLEM}",),
            (f"{self._row_sql()} as {ROW}", f"{self._undeclared_sql()} as {UNDECLARED}"),
        )

    def rows_sql(self, raw: str, extra: Sequence[str]) -> str:
        own = (f"{ROW}.{quoted(name)} as {quoted(name)}" for name in (self.row_kind, POSITION, SOURCE_TIME))
        return super().rows_sql(raw, [*own, *extra])

    def new_columns_sql(self, raw: str) -> str:
        each = f"select explode({UNDECLARED}) as new from {raw}"
        found = f"select min(new.name) as name, collect_set(new.kind) as kinds\nfrom ({each})\ngroup by lower(new.name)"
        whole = "'tinyint', 'smallint', 'int', 'bigint'"
        return (
            "select name, case when size(kinds) = 1 then kinds[0] "
            f"when forall(kinds, k -> k in ({whole})) then 'bigint' "
            f"when forall(kinds, k -> k in ({whole}, 'float', 'double')) then 'double' "
            f"else 'string' end as data_type\nfrom ({found})\norder by name"
        )

    def _row_sql(self) -> str:
        values = {column.name: value_column(index) for index, column in enumerate(self.columns)}
        values |= {self.row_kind: "__tmp_kind", POSITION: "__tmp_position", SOURCE_TIME: _source_time_sql()}
        fields = ", ".join(f"{string_literal(name)}, {sql}" for name, sql in values.items())
        return f"if({PROBLEM} is null and not {_IS_TOMBSTONE}, named_struct({fields}), null)"

    def _undeclared_sql(self) -> str:
        """The names and types of undescribed fields that have a value."""
        names = (*(column.name for column in self.columns), *self.reserved)
        known = literals(name.lower() for name in names)
        new = f"filter(map_entries(__tmp_image), e -> lower(e.key) not in ({known}) and e.value is not null)"
        # As in `_value_sql`, `\E` is removed from a key, because it would end the quotation.
        in_quotes = "concat('\"\\\\Q', replace(e.key, '\\\\E', ''), '\\\\E\"\\\\s*:\\\\s*\"')"
        guessed = (
            f"case when __tmp_text rlike {in_quotes} then 'string' "
            "when e.value in ('true', 'false') then 'boolean' "
            "when try_cast(e.value as bigint) is not null then 'bigint' "
            "when e.value rlike '^-?[0-9]+[.][0-9]+(E-?[0-9]+)?$' then 'double' else 'string' end"
        )
        field = "__tmp_fields[e.key]"
        kind = f"if({field} is null, {guessed}, {debezium_types.spark_type_sql(field)})"
        typed = f"transform({new}, e -> struct(e.key as name, {kind} as kind))"
        return f"if(__tmp_kind in ('+I', '+U') and {PROBLEM} is null, {typed}, null)"

    def _numbers_sql(self) -> str:
        """The exact digits of the decimals in before and after: a string would have only a double's digits."""
        numbers = [
            f"{quoted(column.name)}: {column.target.number_type}"
            for column in self.columns
            if column.target.kind == "decimal"
        ]
        if not numbers:
            return "null"
        row = f"struct<{', '.join(numbers)}>"
        envelope = f"before: {row}, after: {row}"
        return _read("__tmp_text", f"array<struct<{envelope}, payload: struct<{envelope}>>>")

    def _text_columns(self) -> Iterator[str]:
        for index, column in enumerate(self.columns):
            name = string_literal(column.name)
            sent = f"__tmp_image[{name}]"
            # An unchanged value that was not sent may be found in `before`.
            yield f"if({sent} in ({_UNSENT_TEXTS}), coalesce(__tmp_before[{name}], {sent}), {sent}) as {_text(index)}"

    def _value_sql(self, index: int, column: DebeziumColumn) -> str:
        name, text = string_literal(column.name), _text(index)
        field = f"__tmp_fields[{name}]"
        number = f"try_cast({text} as {column.target.number_type})"
        if column.target.kind == "decimal":
            member, whole = quoted(column.name), "get(__tmp_digits, 0)"
            digits = ", ".join(
                f"(if(__tmp_op = 'd', {image}.before, {image}.after)).{member}" for image in (f"{whole}.payload", whole)
            )
            digits = f"coalesce({digits})"
            number = f"if(__tmp_is_key, {number}, {digits})"
        # A value of digits alone may be a number or base64 bytes: bytes are in quotes in the message.
        pattern = string_literal('"\\Q' + column.name.replace("\\E", "") + '\\E"\\s*:\\s*"')
        in_message = f"__tmp_text rlike concat({pattern}, {text}, '\"')"
        in_quotes = f"if({text} rlike '^[0-9]+$', {in_message}, not {text} rlike '[-.]')"
        as_written = f"__tmp_text rlike concat({_BEFORE_NUMBER}, {text}, {_AFTER_NUMBER})"
        own, item = ((f"{each}.name", f"{each}.parameters['scale']") for each in (field, f"{field}.items"))
        value = MessageValue(text, number, in_quotes, as_written, *own, *item)
        return debezium_types.value_sql(value, column.target, column.semantic, column.scale)

    def _problem_sql(self) -> str:
        cases = [*self._envelope_reasons(), *self._column_reasons(), *self._null_reasons()]
        lines = "\n".join(f"when {condition} then {reason}" for condition, reason in cases)
        return f"case when {_IS_TOMBSTONE} then null\n{lines} end"

    def _envelope_reasons(self) -> Iterator[tuple[str, str]]:
        """(condition, reason) pairs about the message as a whole, both as SQL."""
        one_object = "size(__tmp_parsed) = 1 and startswith(ltrim(' \\t\\r\\n', __tmp_text), '{')"
        yield "trim(__tmp_text) = ''", "'the message is empty'"
        yield f"not {messages.is_utf8_sql('__tmp_text')}", "'not valid UTF-8'"
        yield f"not coalesce({one_object}, false)", "'the message is not one JSON object'"
        yield (
            "__tmp_op is null",
            "'no Debezium envelope: op is missing. The message may be flattened, or of a different topic'",
        )
        yield "__tmp_op = 't'", f"concat({string_literal(_TRUNCATION)}, coalesce(__tmp_position, 'its own'))"
        yield ("__tmp_kind is null", "concat('unknown op \\'', left(__tmp_op, 100), '\\': known are c, u, d and r')")
        yield (
            "__tmp_image is null and __tmp_op = 'd'",
            "'op \\'d\\' has neither before nor a message key: the deleted row is unknown'",
        )
        yield "__tmp_image is null", "concat('op \\'', __tmp_op, '\\' has no after, which is the row')"
        yield (
            "__tmp_position is null",
            "'source has no log position (lsn, file and pos, commit_lsn, scn or ts_ms), so the order of changes is "
            "unknown'",
        )
        keys = "map_keys(__tmp_image)"
        yield f"size({keys}) <> size(array_distinct({keys}))", "'a key of the row occurs twice'"
        names = literals(column.name for column in self.columns)
        small = literals(column.name.lower() for column in self.columns)
        misspelt = f"filter({keys}, k -> k not in ({names}) and lower(k) in ({small}))"
        hint = string_literal("it differs from the described column only in case: write the column as in the messages")
        yield f"size({misspelt}) > 0", f"concat('column ', array_join({misspelt}, ', '), ': ', {hint})"

    def _null_reasons(self) -> Iterator[tuple[str, str]]:
        required = [_text(index) for index, column in enumerate(self.columns) if not column.nullable]
        # For a deleted row the database may send only the key (PostgreSQL's REPLICA IDENTITY DEFAULT).
        is_row = f"(__tmp_op <> 'd' or __tmp_keys is null and coalesce({', '.join([*required, 'null'])}) is null)"
        for index, column in enumerate(self.columns):
            in_key = f"map_contains_key(__tmp_keys, {string_literal(column.name)})"
            missing = f"{_text(index)} is null"
            where = f"column {column.name}: there is no value, and it is "
            yield f"{missing} and {in_key}", string_literal(f"{where}part of the message's key")
            if not column.nullable:
                yield f"{missing} and {is_row}", string_literal(f"{where}not null")

    def _column_reasons(self) -> Iterator[tuple[str, str]]:
        for index, column in enumerate(self.columns):
            text = _text(index)
            yield (
                f"{text} in ({_UNSENT_TEXTS})",
                string_literal(
                    f"column {column.name}: its value was not sent, because it did not change (TOAST): set REPLICA "
                    "IDENTITY FULL on the source's table"
                ),
            )
            yield (
                f"{text} is not null and {value_column(index)} is null",
                f"concat({string_literal(f'column {column.name}: ')}, left({text}, 200), {self._misfit(column)})",
            )

    def _misfit(self, column: DebeziumColumn) -> str:
        """SQL for the rest of a message about a value that does not fit."""
        plain = f" cannot be stored exactly as {column.data_type}"
        if column.semantic or column.target.kind not in ("timestamp", "timestamp_ntz", "decimal"):
            return string_literal(plain)
        unknown = (
            f"{plain}; the message has no schema, so a number of time units needs `meta: {{semantic: "
            "io.debezium.time.MicroTimestamp}}` in the column (or io.debezium.time.Timestamp for milliseconds), and "
            f"bytes need `meta: {{semantic: {debezium_types.DECIMAL}}}`"
        )
        has_schema = f"__tmp_fields[{string_literal(column.name)}] is not null"
        return f"if({has_schema}, {string_literal(plain)}, {string_literal(unknown)})"


def _meta(described: Mapping[str, Any]) -> Mapping[str, Any]:
    config = described.get("config") or {}
    return {**(config.get("meta") or {}), **(described.get("meta") or {})}


def _column(column: SourceColumn, meta: Mapping[str, Any], problems: list[str]) -> DebeziumColumn:
    semantic = str(meta.get("semantic") or "")
    digits: Any = meta.get("scale")
    scale, kind = None, ""
    try:
        kind = debezium_types.innermost(debezium_types.target(column.data_type)).kind
    except UnknownTypeError as exc:
        problems.append(f"columns: {column.name}: {exc}")
    if semantic and semantic not in debezium_types.SEMANTICS:
        problems.append(
            f"columns: {column.name}: meta.semantic: {semantic!r} is not one of {', '.join(debezium_types.SEMANTICS)}"
        )
    if re.fullmatch(r"-?\d{1,3}", str(digits)):
        scale = int(digits)
    elif digits is not None:
        problems.append(f"columns: {column.name}: meta.scale: {digits!r} is not a number of digits")
    if semantic == debezium_types.DECIMAL and scale is None and kind not in ("decimal", ""):
        problems.append(f"columns: {column.name}: meta.scale: missing; write the digits after the decimal point")
    return DebeziumColumn(column.name, column.data_type, column.nullable, semantic, scale)


def _read(text: str, data_type: str) -> str:
    return f"from_json(concat('[', {text}, ']'), {string_literal(data_type)}, {_STRICT})"


def _fields_sql(fields: str) -> str:
    """The fields of the row in a message's schema, by name; NULL if the message has no schema."""
    rows = f"filter({fields}, f -> f.field in ('after', 'before') and f.fields is not null)"
    named = "filter(get({0}, 0).fields, f -> f.field is not null)"
    return let("r", rows, f"map_from_entries(transform({named.format('r')}, f -> struct(f.field, f)))")


def _position_sql() -> str:
    """The position of a change in its source's log, as a sortable string, or NULL."""
    # The positions of a key's changes increase, because a row stays locked until its change is in the log. PostgreSQL
    # logs a change when it is made, not when it is committed, so a change that a snapshot does not see may have a lower
    # position than the snapshot. So for PostgreSQL, rows of snapshots sort before all changes.
    source = "__tmp_source['{}']".format

    def number(name: str, digits: int = 20) -> str:
        return f"if({source(name)} rlike '^[0-9]{{1,{digits}}}$', lpad({source(name)}, {digits}, '0'), null)"

    def text(name: str) -> str:
        return f"nullif({source(name)}, '')"

    # The positions of SQL Server and Db2 are hexadecimal numbers of a fixed width, which sort correctly as strings.
    # Those of Informix are decimal. Their prefix sorts them after positions that an older adapter has stored without
    # zeros.
    def log_number(name: str) -> str:
        return f"coalesce(concat('n', {number(name)}), {text(name)})"

    serial = f"coalesce({number('event_serial_no', 10)}, '0000000000')"
    log_file = f"lpad(regexp_extract({source('file')}, '([0-9]+)$', 1), 10, '0')"
    orders = [
        f"concat(if(__tmp_op = 'r', '0', '1'), '.', {number('lsn')})",
        f"if({source('file')} rlike '[0-9]{{1,10}}$', "
        f"concat_ws('.', {log_file}, {number('pos')}, coalesce({number('row', 10)}, '0000000000')), null)",
        f"concat({log_number('commit_lsn')}, '.', coalesce({log_number('change_lsn')}, ''), '.', {serial})",
        f"concat({number('scn')}, '.', coalesce({number('ssn')}, ''))",
        f"lpad({source('ts_ns')}, 20, '0')",
        f"lpad(concat({source('ts_us')}, '000'), 20, '0')",
        f"lpad(concat({source('ts_ms')}, '000000'), 20, '0')",
    ]
    return f"coalesce({', '.join(orders)})"


def _source_time_sql() -> str:
    micros = "try_cast(__tmp_source['{}'] as bigint)".format
    return f"timestamp_micros(coalesce({micros('ts_us')}, try_multiply({micros('ts_ms')}, 1000L)))"


def _text(index: int) -> str:
    return f"__tmp_text_{index}"
