"""Changes of tables in a real PostgreSQL as Debezium's messages, from logical decoding (pgoutput).

A small part of Debezium's PostgreSQL connector, with its defaults: decimals as bytes, times as numbers.

Sources: https://www.postgresql.org/docs/15/protocol-logicalrep-message-formats.html and Debezium's documentation of the
data types.
"""

from __future__ import annotations

import base64
import json
import os
import struct
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, Final

from integration.services.postgres import PACKAGES, Postgres

_SLOT: Final = "feed"
_PUBLICATION: Final = "feed"
# An unchanged TOAST value, which PostgreSQL does not send.
_UNSENT: Final = "__debezium_unavailable_value"
_EPOCH: Final = datetime(1970, 1, 1)

# OIDs of pg_type.
_BOOL, _BYTEA, _INT8, _INT2, _INT4, _TEXT = 16, 17, 20, 21, 23, 25
_JSON, _JSONB, _FLOAT4, _FLOAT8, _VARCHAR, _UUID = 114, 3802, 700, 701, 1043, 2950
_DATE, _TIMESTAMP, _TIMESTAMPTZ, _NUMERIC, _INT4_ARRAY = 1082, 1114, 1184, 1700, 1007
_PLAIN: Final = {
    _BOOL: {"type": "boolean"},
    _BYTEA: {"type": "bytes"},
    _INT2: {"type": "int16"},
    _INT4: {"type": "int32"},
    _INT8: {"type": "int64"},
    _FLOAT4: {"type": "float"},
    _FLOAT8: {"type": "double"},
    _JSON: {"type": "string", "name": "io.debezium.data.Json"},
    _JSONB: {"type": "string", "name": "io.debezium.data.Json"},
    _UUID: {"type": "string", "name": "io.debezium.data.Uuid"},
    _DATE: {"type": "int32", "name": "io.debezium.time.Date"},
    _TIMESTAMPTZ: {"type": "string", "name": "io.debezium.time.ZonedTimestamp"},
    _INT4_ARRAY: {"type": "array", "items": {"type": "int32", "optional": True}},
}

Row = dict[str, Any]
# Key and value; the value of a tombstone is None.
Message = tuple[str, "str | None"]


class Psql:
    """psql, one process per script."""

    def __init__(self, server: Postgres) -> None:
        address = server.uri.removeprefix("jdbc:postgresql://")
        host, _, rest = address.partition(":")
        port, _, database = rest.partition("/")
        self._command = [
            str(max(PACKAGES.glob("*/bin/psql"))),
            *("-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-"),
        ]
        self._environment = os.environ | {
            "PGHOST": host,
            "PGPORT": port,
            "PGDATABASE": database,
            "PGUSER": server.user,
            "PGPASSWORD": server.password,
            "PGTZ": "UTC",
            "PGCLIENTENCODING": "UTF8",
        }

    def lines(self, script: str) -> list[str]:
        """Run a script; returns the lines of its results.

        Raises:
            RuntimeError: the script failed; with PostgreSQL's message.
        """
        done = subprocess.run(
            self._command, input=script, env=self._environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.splitlines()

    def rows(self, query: str) -> list[Row]:
        """The rows of a query, converted to JSON; numbers with a decimal point are Decimals."""
        lines = self.lines(f"select row_to_json(t) from ({query}) as t;")
        return [json.loads(line, parse_float=Decimal) for line in lines]


@dataclass
class _Column:
    name: str
    oid: int
    modifier: int
    is_key: bool

    @property
    def schema(self) -> dict[str, Any]:
        """Kafka Connect's schema of the column."""
        if self.oid == _NUMERIC and self.modifier < 0:
            return {"type": "struct", "name": "io.debezium.data.VariableScaleDecimal"}
        if self.oid == _NUMERIC:
            precision, scale = (self.modifier - 4) >> 16, (self.modifier - 4) & 0xFFFF
            parameters = {"scale": str(scale), "connect.decimal.precision": str(precision)}
            return {
                "type": "bytes",
                "name": "org.apache.kafka.connect.data.Decimal",
                "parameters": parameters,
            }
        if self.oid == _TIMESTAMP:
            name = "Timestamp" if 0 <= self.modifier <= 3 else "MicroTimestamp"
            return {"type": "int64", "name": f"io.debezium.time.{name}"}
        return _PLAIN.get(self.oid, {"type": "string"})

    def value(self, text: str) -> Any:
        """Debezium's value for the text that PostgreSQL shows."""
        if self.oid == _BOOL:
            return text == "t"
        if self.oid in (_INT2, _INT4, _INT8):
            return int(text)
        if self.oid in (_FLOAT4, _FLOAT8):
            return float(text)
        if self.oid == _BYTEA:
            return base64.b64encode(bytes.fromhex(text.removeprefix("\\x"))).decode()
        if self.oid == _DATE:
            return (date.fromisoformat(text) - _EPOCH.date()).days
        if self.oid == _TIMESTAMP:
            micros = (_moment(text) - _EPOCH) // (datetime.resolution)
            return micros // 1000 if self.schema["name"].endswith(".Timestamp") else micros
        if self.oid == _TIMESTAMPTZ:
            return _moment(text.removesuffix("+00")).replace(tzinfo=timezone.utc).isoformat().replace("+00:00", "Z")
        if self.oid == _NUMERIC:
            return self._number(Decimal(text))
        if self.oid == _INT4_ARRAY:
            return [None if part == "NULL" else int(part) for part in text[1:-1].split(",") if part]
        return text

    def _number(self, number: Decimal) -> Any:
        sign, digits, exponent = number.as_tuple()
        assert isinstance(exponent, int)
        scale = -exponent if self.modifier < 0 else (self.modifier - 4) & 0xFFFF
        whole = int("".join(map(str, digits))) * (-1 if sign else 1)
        whole *= 10 ** (scale + exponent)
        size = whole.bit_length() // 8 + 1
        unscaled = base64.b64encode(whole.to_bytes(size, "big", signed=True)).decode()
        return {"scale": scale, "value": unscaled} if self.modifier < 0 else unscaled


@dataclass
class _Table:
    schema: str
    name: str
    columns: list[_Column] = field(default_factory=list)

    def row(self, values: list[Any], *, key_only: bool = False) -> Row:
        return {
            column.name: None if value is None or (key_only and not column.is_key) else value
            for column, value in zip(self.columns, values, strict=True)
        }

    def key(self, row: Row) -> str:
        return json.dumps({column.name: row[column.name] for column in self.columns if column.is_key})


class _Reader:
    """Reads the bytes of a message from left to right."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, form: str) -> Any:
        (value,) = struct.unpack_from(f">{form}", self._data, self._at)
        self._at += struct.calcsize(f">{form}")
        return value

    def letter(self) -> str:
        return str(self.take("c").decode())

    def text(self) -> str:
        end = self._data.index(b"\0", self._at)
        found = self._data[self._at : end].decode()
        self._at = end + 1
        return found

    def tuple(self, table: _Table) -> list[Any]:
        values: list[Any] = []
        for _, column in zip(range(self.take("h")), table.columns, strict=True):
            kind = self.letter()
            if kind == "t":
                values.append(column.value(self.take(f"{self.take('i')}s").decode()))
            else:
                values.append(_UNSENT if kind == "u" else None)
        return values


@dataclass
class Feed:
    """The changes of some tables since the feed was made, as messages.

    Attributes:
        client: for the server, whose wal_level must be logical.
        with_schema: whether messages contain their schema.
    """

    client: Psql
    with_schema: bool = False
    _tables: dict[int, _Table] = field(default_factory=dict)
    # The primary keys of the followed tables: they are the messages' keys, whatever the replica identity.
    _keys: dict[str, set[str]] = field(default_factory=dict)
    _committed_at: int = 0
    _transaction: int = 0

    def begin(self, *tables: str) -> list[Message]:
        """Follow tables; returns their present rows as messages. No other session may write during the call."""
        (lsn,) = self.client.lines(
            f"create publication {_PUBLICATION} for table {', '.join(tables)};\n"
            f"select lsn - '0/0'::pg_lsn from pg_create_logical_replication_slot('{_SLOT}', 'pgoutput');"
        )
        found: list[Message] = []
        for name in tables:
            # Values are converted as in changes; pgoutput describes a table only before its first change.
            table = self._described(name)
            self._keys[table.name] = {column.name for column in table.columns if column.is_key}
            for line in self.client.lines(f"select row_to_json(t) from (select {_as_texts(table)} from {name}) as t;"):
                texts = json.loads(line)
                values = [
                    None if texts[column.name] is None else column.value(texts[column.name]) for column in table.columns
                ]
                row = table.row(values)
                found.append((table.key(row), self._envelope(table, "r", int(lsn), None, row)))
        return found

    def messages(self, *, keep: bool = False) -> list[Message]:
        """The messages of the commits since the last call; with `keep`, the next call returns them again.

        This is what Debezium does if it dies before it stores its offset.
        """
        call = f"'{_SLOT}', null, null, 'proto_version', '1', 'publication_names', '{_PUBLICATION}'"
        how = "peek" if keep else "get"
        lines = self.client.lines(
            f"select lsn - '0/0'::pg_lsn, encode(data, 'hex') from pg_logical_slot_{how}_binary_changes({call});"
        )
        found: list[Message] = []
        for line in lines:
            lsn, _, data = line.partition("|")
            found.extend(self._of(int(lsn), _Reader(bytes.fromhex(data))))
        return found

    def _of(self, lsn: int, reader: _Reader) -> Iterator[Message]:
        kind = reader.letter()
        if kind == "B":
            reader.take("q")
            # Microseconds since 2000.
            self._committed_at, self._transaction = reader.take("q") + 946_684_800_000_000, reader.take("i")
        elif kind == "R":
            self._describe(reader)
        elif kind in "IUD":
            table, before, after = self._change(kind, reader)
            yield from self._messages(table, lsn, kind, before, after)
        elif kind == "T":
            count = reader.take("i")
            reader.take("b")
            for _ in range(count):
                table = self._tables[reader.take("i")]
                yield "null", self._envelope(table, "t", lsn, None, None)

    def _describe(self, reader: _Reader) -> None:
        oid, schema, name = reader.take("i"), reader.text(), reader.text()
        reader.take("c")
        table = _Table(schema, name)
        for _ in range(reader.take("h")):
            reader.take("b")
            column, kind, modifier = reader.text(), reader.take("i"), reader.take("i")
            table.columns.append(_Column(column, kind, modifier, column in self._keys[name]))
        self._tables[oid] = table

    def _change(self, kind: str, reader: _Reader) -> tuple[_Table, Row | None, Row | None]:
        table = self._tables[reader.take("i")]
        before = None
        part = reader.letter()
        if part in "KO":
            before = table.row(reader.tuple(table), key_only=part == "K")
            if kind == "D":
                return table, before, None
            part = reader.letter()
        assert part == "N"
        return table, before, table.row(reader.tuple(table))

    def _messages(self, table: _Table, lsn: int, kind: str, before: Row | None, after: Row | None) -> Iterator[Message]:
        if before is not None and after is not None and table.key(before) != table.key(after):
            # A row with a new key: a delete of the old key and an insert of the new one.
            yield table.key(before), self._envelope(table, "d", lsn, before, None)
            yield table.key(before), None
            yield table.key(after), self._envelope(table, "c", lsn, None, after)
        elif after is not None:
            yield table.key(after), self._envelope(table, "c" if kind == "I" else "u", lsn, before, after)
        else:
            assert before is not None
            yield table.key(before), self._envelope(table, "d", lsn, before, None)
            yield table.key(before), None

    def _envelope(self, table: _Table, op: str, lsn: int, before: Row | None, after: Row | None) -> str:
        source = {
            "connector": "postgresql",
            "schema": table.schema,
            "table": table.name,
            "lsn": lsn,
            "txId": self._transaction,
            "ts_ms": self._committed_at // 1000,
            "snapshot": "true" if op == "r" else "false",
        }
        now = time.time_ns() // 1_000_000
        payload = {"before": before, "after": after, "source": source, "op": op, "ts_ms": now}
        if not self.with_schema:
            return json.dumps(payload)
        row = {"type": "struct", "fields": [{"field": c.name, **c.schema} for c in table.columns]}
        fields = [{**row, "field": "before"}, {**row, "field": "after"}]
        return json.dumps({"schema": {"type": "struct", "fields": fields}, "payload": payload})

    def _described(self, name: str) -> _Table:
        schema, _, bare = name.rpartition(".")
        lines = self.client.lines(
            "select attname, atttypid::int, atttypmod, attnum = any(coalesce(indkey::int2[], '{}'))\n"
            "from pg_attribute left join pg_index on indrelid = attrelid and indisprimary\n"
            f"where attrelid = '{name}'::regclass and attnum > 0 and not attisdropped order by attnum;"
        )
        parts = (line.split("|") for line in lines)
        columns = [_Column(part[0], int(part[1]), int(part[2]), part[3] == "t") for part in parts]
        return _Table(schema or "public", bare, columns)


def _as_texts(table: _Table) -> str:
    return ", ".join(
        # Cast to text, a boolean is `true`; in the protocol it is `t`.
        f'case when "{column.name}" then \'t\' when not "{column.name}" then \'f\' end as "{column.name}"'
        if column.oid == _BOOL
        else f'"{column.name}"::text'
        for column in table.columns
    )


def _moment(text: str) -> datetime:
    head, _, fraction = text.partition(".")
    return datetime.fromisoformat(head).replace(microsecond=int(fraction.ljust(6, "0") or 0))
