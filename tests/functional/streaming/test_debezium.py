"""Change messages in any order give the rows of their source; other messages become dead letters."""

from __future__ import annotations

import base64
import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt

SOURCES = """
sources:
  - name: tower
    schema: tower
    tables:
      - name: planes
        external: {using: json, value_format: debezium, location: landing/planes}
        columns:
          - {name: id, data_type: bigint, constraints: [{type: not_null}]}
          - {name: name, data_type: string}
      - name: seats
        external: {using: json, value_format: debezium, location: landing/seats}
        columns:
          - {name: plane, data_type: bigint, constraints: [{type: not_null}]}
          - {name: row, data_type: string, constraints: [{type: not_null}]}
          - {name: class, data_type: string, constraints: [{type: not_null}]}
      - name: typed
        external: {using: json, value_format: debezium, location: landing/typed}
        columns:
          - {name: id, data_type: int, constraints: [{type: not_null}]}
          - {name: whole, data_type: bigint}
          - {name: amount, data_type: "decimal(10,2)"}
          - {name: great, data_type: "decimal(38,4)"}
          - {name: "it's {odd}", data_type: "decimal(10,2)"}
          - {name: ratio, data_type: float}
          - {name: day, data_type: date}
          - {name: moment, data_type: timestamp}
          - {name: wall, data_type: timestamp_ntz, meta: {semantic: io.debezium.time.MicroTimestamp}}
          - {name: flag, data_type: boolean}
          - {name: data, data_type: binary}
          - {name: days, data_type: "array<array<date>>"}
          - {name: scores, data_type: "array<bigint>"}
          - {name: walls, data_type: "array<timestamp_ntz>", meta: {semantic: io.debezium.time.MicroTimestamp}}
          - {name: prices, data_type: "array<decimal(10,2)>", meta: {semantic: org.apache.kafka.connect.data.Decimal}}
          - {name: code, data_type: varchar(3)}
          - {name: text, data_type: string}
"""
PLANES = """
{{ config(
    materialized='streaming', incremental_strategy='apply_changes', primary_key='id', bucket=1,
    rowkind_field='_row_kind', sequence_field='_position', on_schema_change='append_new_columns'
) }}
select * from {{ stream(source('tower', 'planes')) }}
"""
SEATS = """
{{ config(
    materialized='streaming', incremental_strategy='apply_changes', primary_key=['plane', 'row'], bucket=1,
    rowkind_field='_row_kind', sequence_field='_position'
) }}
select plane, row, class, _row_kind, _position from {{ stream(source('tower', 'seats')) }}
"""
SEATS_CONTRACT = """
models:
  - name: seats
    config: {contract: {enforced: true}}
    columns:
      - {name: plane, data_type: bigint}
      - {name: row, data_type: string}
      - {name: class, data_type: string, constraints: [{type: not_null}]}
      - {name: _row_kind, data_type: string}
      - {name: _position, data_type: string}
"""
TYPED = """
{{ config(materialized='streaming') }}
select *, cast(moment as timestamp_ntz) as moment_shown from {{ stream(source('tower', 'typed'), row_kind='op') }}
"""

DECIMAL = "org.apache.kafka.connect.data.Decimal"


def change(op: str, lsn: int, row: dict[str, Any] | None, before: dict[str, Any] | None = None) -> dict[str, Any]:
    source = {"connector": "postgresql", "lsn": lsn, "ts_ms": 1_700_000_000_000}
    before, after = (row, None) if op == "d" else (before, row)
    return {"before": before, "after": after, "source": source, "op": op, "ts_ms": 1_700_000_000_001}


def described(message: dict[str, Any], **fields: dict[str, Any]) -> dict[str, Any]:
    """The message with its schema."""
    row = {"type": "struct", "fields": [{"field": name, **kind} for name, kind in fields.items()]}
    parts = [{**row, "field": "before"}, {**row, "field": "after"}]
    return {"schema": {"type": "struct", "fields": parts}, "payload": message}


def put(folder: Path, name: str, messages: list[dict[str, Any] | str]) -> None:
    """Write a file that appears with all its content at once."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{name}"
    lines = (message if isinstance(message, str) else json.dumps(message) for message in messages)
    draft.write_text("".join(f"{line}\n" for line in lines))
    draft.rename(folder / name)


def in_bytes(number: int) -> str:
    return base64.b64encode(number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)).decode()


def typed(number: int, **values: Any) -> dict[str, Any]:
    return change("c", number, {"id": number, **values})


# Messages with one value: (column, schema of the field or None, value as JSON, expected value).
VALUES: list[tuple[str, dict[str, Any] | None, str, Any]] = [
    ("whole", None, "-9223372036854775808", -(2**63)),
    ("whole", {"type": "bytes", "name": DECIMAL, "parameters": {"scale": "0"}}, f'"{in_bytes(-7)}"', -7),
    ("amount", None, '"12.3"', Decimal("12.30")),
    ("amount", None, "12345678.9", Decimal("12345678.90")),
    ("amount", None, "1e3", Decimal("1000.00")),
    ("it's {odd}", None, "1.5", Decimal("1.50")),
    (
        "amount",
        {"type": "bytes", "name": DECIMAL, "parameters": {"scale": "2"}},
        f'"{in_bytes(-12345)}"',
        Decimal("-123.45"),
    ),
    # Base64 may look like a word or a number: "1234" is not the number 1234 (`decimal.format=numeric`).
    ("amount", {"type": "bytes", "name": DECIMAL, "parameters": {"scale": "2"}}, '"AAAB"', Decimal("0.01")),
    (
        "great",
        {"type": "bytes", "name": DECIMAL, "parameters": {"scale": "2"}},
        '"1234"',
        Decimal("-26588.2400"),
    ),
    ("great", {"type": "bytes", "name": DECIMAL, "parameters": {"scale": "2"}}, "1234", Decimal("1234.0000")),
    ("great", None, "1234567890123456.7891", Decimal("1234567890123456.7891")),
    (
        "great",
        {"type": "bytes", "name": DECIMAL, "parameters": {"scale": "4"}},
        f'"{in_bytes(1 - 10**38)}"',
        Decimal("-9999999999999999999999999999999999.9999"),
    ),
    (
        "great",
        {"type": "struct", "name": "io.debezium.data.VariableScaleDecimal"},
        f'{{"scale":3,"value":"{in_bytes(-5)}"}}',
        Decimal("-0.0050"),
    ),
    ("text", {"type": "bytes", "name": DECIMAL, "parameters": {"scale": "3"}}, f'"{in_bytes(-5)}"', "-0.005"),
    ("text", None, '{"a":[1,2]}', '{"a":[1,2]}'),
    ("text", None, "-1.5", "-1.5"),
    ("ratio", None, "0.5", 0.5),
    ("ratio", None, '"-Infinity"', float("-inf")),
    ("day", None, "-1", date(1969, 12, 31)),
    ("day", None, '"2024-02-29"', date(2024, 2, 29)),
    ("moment_shown", None, '"2024-01-01T02:00:00.123456+02:00"', datetime(2024, 1, 1, 0, 0, 0, 123456)),
    (
        "moment_shown",
        {"type": "int64", "name": "io.debezium.time.Timestamp"},
        "1704067200123",
        datetime(2024, 1, 1, 0, 0, 0, 123000),
    ),
    (
        "moment_shown",
        {"type": "int64", "name": "io.debezium.time.NanoTimestamp"},
        "1704067200123456000",
        datetime(2024, 1, 1, 0, 0, 0, 123456),
    ),
    ("wall", None, "-62135596800000000", datetime(1, 1, 1)),
    ("flag", None, "true", True),
    ("data", None, '"AQI="', b"\x01\x02"),
    ("days", None, "[[1,null],null,[]]", [[date(1970, 1, 2), None], None, []]),
    ("scores", None, "[95,95]", [95, 95]),
    ("walls", None, "[1704067200500000,null]", [datetime(2024, 1, 1, 0, 0, 0, 500000), None]),
    ("prices", None, f'["{in_bytes(-225)}",null]', [Decimal("-2.25"), None]),
    ("code", None, '"äbc"', "äbc"),
]
# Values that their columns cannot hold exactly.
MISFITS: list[tuple[str, dict[str, Any] | None, str]] = [
    ("whole", None, "9223372036854775808"),
    ("whole", None, "1.5"),
    ("amount", None, "1.005"),
    ("amount", None, '"12.345"'),
    ("amount", None, '"AQID"'),
    ("amount", None, "123456789.0"),
    ("great", None, "0.12345678901234567890"),
    ("great", {"type": "bytes", "name": DECIMAL, "parameters": {"scale": "4"}}, f'"{in_bytes(10**38)}"'),
    ("ratio", None, "1e39"),
    ("day", None, '"2024-02-30"'),
    ("moment", None, "1704067200123"),
    ("moment", None, '"2024-01-01T00:00:00.1234567Z"'),
    ("moment", {"type": "int64", "name": "io.debezium.time.NanoTimestamp"}, "1704067200123456001"),
    ("wall", None, "9223372036825200000"),
    ("flag", None, '"yes"'),
    ("data", None, '"A!"'),
    ("days", None, '[[1,"x"]]'),
    ("days", None, "1"),
    ("code", None, '"abcd"'),
    ("text", None, "0.1000000000000000055"),
    ("text", None, '"__debezium_unavailable_value"'),
    # Arrays that the database did not send: a `bytea[]` and a `bigint[]`.
    ("text", None, '["X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="]'),
    ("scores", None, f"[{','.join(str(byte) for byte in b'__debezium_unavailable_value')}]"),
    ("id", None, "null"),
]
# Lines that are not a change of a row.
NO_CHANGES = [
    '{"op":"c"',
    "nonsense",
    "[]",
    '{"op":"c","after":{"id":1},"source":{"lsn":1}} {"op":"d"}',
    '{"id":1}',
    '{"op":"x","after":{"id":1},"source":{"lsn":1}}',
    '{"op":"t","source":{"lsn":1}}',
    '{"op":"c","source":{"lsn":1}}',
    '{"op":"d","source":{"lsn":1}}',
    '{"op":"c","after":{"id":1}}',
    '{"op":"c","after":{"id":1},"source":{"connector":"postgresql"}}',
    '{"op":"c","after":{"ID":1},"source":{"lsn":1}}',
    '{"op":"c","after":{"name":"nobody"},"source":{"lsn":1}}',
    '{"op":"c","after":{"id":1,"id":2},"source":{"lsn":1}}',
]


def line(number: int, column: str, field: dict[str, Any] | None, value: str) -> str:
    name = column.removesuffix("_shown")
    message = json.dumps(typed(number, **{name: "?"})).replace('"?"', value)
    if field is None:
        return message
    return json.dumps(described({}, **{name: field})).replace('"payload": {}', f'"payload": {message}')


class TestDebezium:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sources.yml": SOURCES,
            "planes.sql": PLANES,
            "seats.sql": SEATS,
            "seats.yml": SEATS_CONTRACT,
            "typed.sql": TYPED,
        }

    def test_changes_end_as_the_source_is(self, project: Any, rows: Any, warehouse: Path) -> None:
        landing = Path(project.project_root) / "landing"
        first: list[dict[str, Any] | str] = [
            change("r", 10, {"id": 1, "name": "one"}),
            change("r", 10, {"id": 2, "name": "two"}),
            # Changes out of order, and repeated. With the default replica identity, a deletion has only the key.
            change("u", 40, {"id": 1, "name": "one, last"}),
            change("u", 30, {"id": 1, "name": "one, late"}),
            described(change("d", 50, {"id": 2, "name": None}), id={"type": "int64"}, name={"type": "string"}),
            "null",
            change("u", 20, {"id": 2, "name": "before it went"}),
            change("c", 60, {"id": 3, "name": "three"}),
            change("c", 60, {"id": 3, "name": "three"}),
            change("u", 80, {"id": 4, "name": "__debezium_unavailable_value"}, {"id": 4, "name": "long"}),
            change("c", 70, {"id": 4, "name": "long"}),
            # The update is earlier in the log than the snapshot, but was committed later, so the update wins.
            change("r", 66, {"id": 6, "name": "as the snapshot sees it"}),
            change("u", 64, {"id": 6, "name": "six"}),
        ]
        put(landing / "planes", "a.json", [*first, *NO_CHANGES])
        put(
            landing / "typed",
            "a.json",
            [line(n, *value[:3]) for n, value in enumerate([*VALUES, *MISFITS], 1)],
        )
        run_dbt(["run", "--select", "planes", "typed"])
        planes = "select id, name from {schema}.planes order by id"
        assert rows(planes) == [(1, "one, last"), (3, "three"), (4, "long"), (6, "six")]
        dead = rows("select decode(value, 'UTF-8'), reason from {schema}.planes__dead_letters")
        assert sorted(value for value, _ in dead) == sorted(NO_CHANGES)
        assert all(reason for _, reason in dead)

        # New columns, with and without a schema in the message; changes and deletions that arrive a run too late.
        put(
            landing / "planes",
            "b.json",
            [
                change("u", 25, {"id": 2, "name": "older than its end"}),
                change("d", 35, {"id": 1, "name": "older than its update"}),
                change("u", 90, {"id": 3, "name": "three", "seats": 180, "tail": "0042", "nothing": None}),
                # Two new columns that differ only in case become one; the other message is a dead letter.
                change("u", 92, {"id": 6, "name": "six", "Wing": 7}),
                change("u", 93, {"id": 6, "name": "six", "wing": 8}),
                described(
                    change(
                        "c",
                        91,
                        {
                            "id": 5,
                            "name": None,
                            "built": 19723,
                            "price": in_bytes(123456),
                            "seen": 1704067200123,
                        },
                    ),
                    id={"type": "int64"},
                    name={"type": "string"},
                    built={"type": "int32", "name": "io.debezium.time.Date"},
                    price={
                        "type": "bytes",
                        "name": DECIMAL,
                        "parameters": {"scale": "2", "connect.decimal.precision": "12"},
                    },
                    seen={"type": "int64", "name": "io.debezium.time.Timestamp"},
                ),
            ],
        )
        run_dbt(["run", "--select", "planes"])
        assert rows("select id, name, seats, tail, built, price, seen from {schema}.planes order by id") == [
            (1, "one, last", None, None, None, None, None),
            (3, "three", 180, "0042", None, None, None),
            (4, "long", None, None, None, None, None),
            (
                *(5, None, None, None, date(2024, 1, 1), Decimal("1234.56")),
                datetime(2024, 1, 1, 0, 0, 0, 123000),
            ),
            (6, "six", None, None, None, None, None),
        ]
        assert "timestamp_ntz" in [row[1] for row in rows("describe {schema}.planes") if row[0] == "seen"]
        assert rows("select Wing from {schema}.planes where id = 6") == [(7,)]
        assert rows("select count(*) from {schema}.planes__dead_letters") == [(len(NO_CHANGES) + 1,)]

        # As if a process was killed while it replaced the checkpoint's note, which has the new columns.
        table = warehouse / f"{project.test_schema}.db" / "planes"
        (note,) = table.glob("__dbt_checkpoint/*/dbt.json")
        note.rename(note.with_name(".dbt.json.next"))
        put(landing / "planes", "c.json", [change("u", 95, {"id": 4, "name": "long", "seats": 2})])
        run_dbt(["run", "--select", "planes"])
        assert rows("select seats from {schema}.planes where id = 4") == [(2,)]

    def test_a_deletion_with_its_key_alone(self, project: Any, rows: Any) -> None:
        landing = Path(project.project_root) / "landing" / "seats"
        seat = {"plane": 1, "row": "A", "class": "first"}
        put(landing, "a.json", [change("c", 1, seat), change("c", 2, {**seat, "row": "B"})])
        run_dbt(["run", "--select", "seats"])
        no_class = {**seat, "class": None}
        no_row, no_key = change("c", 4, no_class), change("d", 5, {"plane": None, "row": None, "class": None})
        put(landing, "b.json", [change("d", 3, no_class), no_row, no_key])
        run_dbt(["run", "--select", "seats"])
        assert rows("select row, class from {schema}.seats") == [("B", "first")]
        dead = rows("select decode(value, 'UTF-8') from {schema}.seats__dead_letters")
        assert sorted(json.loads(value)["op"] for (value,) in dead) == [no_row["op"], no_key["op"]]

    def test_a_truncation(self, project: Any, rows: Any) -> None:
        """A truncation deletes no rows, but its dead letter says which rows are older."""
        landing = Path(project.project_root) / "landing" / "seats"
        before, since = ({"plane": 2, "row": row, "class": "first"} for row in "CD")
        truncation = {**change("t", 7, None), "before": None}
        # Informix's positions are decimal numbers, so 1000 is after 999.
        seat = {"plane": 3, "row": "A"}
        informix = [
            {**change("u", 9, {**seat, "class": text}), "source": {"commit_lsn": lsn, "change_lsn": lsn}}
            for text, lsn in (("second", "1000"), ("first", "999"))
        ]
        put(landing, "c.json", [change("c", 6, before), truncation, change("c", 8, since), *informix])
        run_dbt(["run", "--select", "seats"])
        seats = "select row from {schema}.seats where plane = 2 order by row"
        assert rows(seats) == [("C",), ("D",)]
        ((reason,),) = rows(
            "select reason from {schema}.seats__dead_letters where get_json_object(decode(value, 'UTF-8'), '$.op') = 't'"
        )
        where = f"_position < '{reason.rsplit(' ', 1)[-1]}'"
        run_dbt(["run-operation", "delete_rows", "--args", json.dumps({"relation": "seats", "where": where})])
        assert rows("select row, class from {schema}.seats order by plane") == [("D", "first"), ("A", "second")]

    def test_values_are_exact_or_dead_letters(self, project: Any, rows: Any) -> None:
        columns = sorted({column for column, *_ in VALUES})
        names = ", ".join(f"`{column}`" for column in columns).replace("{", "{{").replace("}", "}}")
        found = {
            row[0]: dict(zip(columns, row[1:], strict=True))
            for row in rows(f"select id, {names} from {{schema}}.typed")
        }
        assert sorted(found) == list(range(1, len(VALUES) + 1))
        for number, (column, _, value, expected) in enumerate(VALUES, 1):
            assert found[number].pop(column) == expected, (column, value)
            assert set(found[number].values()) <= {None} or column == "moment_shown", (column, value)
        dead = dict(rows("select decode(value, 'UTF-8'), reason from {schema}.typed__dead_letters"))
        wanted = {line(n, *misfit): misfit[0] for n, misfit in enumerate(MISFITS, len(VALUES) + 1)}
        assert set(dead) == set(wanted)
        for message, column in wanted.items():
            assert dead[message].startswith(f"column {column}: "), dead[message]
        assert rows("select distinct op from {schema}.typed") == [("+I",)]
