"""Which messages become rows, and why the others do not; one data frame has every kind of message."""

from __future__ import annotations

import datetime
import json
import random
from decimal import Decimal
from typing import Any

import pytest
from dbt.tests.util import get_connection

from dbt.adapters.paimon.streaming.descriptions import SourceColumn
from dbt.adapters.paimon.streaming.formats.messages import JsonMessages, parsed
from dbt.adapters.paimon.streaming.query import reads_every_row

COLUMNS = {
    "id": "bigint",
    "s": "string",
    "b": "boolean",
    "t": "tinyint",
    "d": "decimal(10,2)",
    "w": "decimal(38,18)",
    "f": "double",
    "g": "float",
    "day": "date",
    "at": "timestamp",
    "local": "timestamp_ntz",
    "bin": "binary",
    "v": "varchar(3)",
    "list": "array<int>",
    "st": "struct<a:int,p:decimal(5,2),`x y`:date>",
    "m": "map<string,tinyint>",
    "l": "array<struct<k:string,n:bigint>>",
    "ev": "struct<at:timestamp,x:float,more:array<struct<timestamp:timestamp_ntz,y:double>>>",
}
JSON = JsonMessages(tuple(SourceColumn(name, kind, name != "id") for name, kind in COLUMNS.items()), ("_key",))

# Long enough to break careless regular expressions in Java.
LONG = 'a "quoted" \\ 12.50 , ' * 20_000

# (message, why it is not a row)
FAULTS: list[tuple[str | bytes | None, str]] = [
    (None, "there is no value"),
    ("", "the value is empty"),
    (" \n", "the value is empty"),
    (b'{"id":1,"s":"\xff"}', "not valid UTF-8"),
    ('{"id":1', "not one JSON object"),
    ('{"id":01}', "not one JSON object"),
    ('{"id":1.}', "not one JSON object"),
    ('{"id":1,"x":tru}', "not one JSON object"),
    ('{"id":1,}', "not one JSON object"),
    ("{'id':1}", "not one JSON object"),
    ("{id:1}", "not one JSON object"),
    ('{"id":NaN}', "not one JSON object"),
    ('{"id":1 /*c*/}', "not one JSON object"),
    ('{"id":1,"s":"a\tb"}', "not one JSON object"),
    ('{"id":1,"s":"a\\x"}', "not one JSON object"),
    ('\ufeff{"id":1}', "not one JSON object"),
    ('{"id":1],"e"', "not one JSON object"),
    ("5", "not one JSON object"),
    ('"x"', "not one JSON object"),
    ("null", "not one JSON object"),
    ('[{"id":1}]', "not one JSON object"),
    ('{"id":1}{"id":2}', "not one JSON object"),
    ('{"id":1},{"id":2}', "not one JSON object"),
    ('{"id":1} x', "not one JSON object"),
    ('{"id":1}]', "not one JSON object"),
    ('{"id":1},{"end":null}] x', "not one JSON object"),
    ('{"id":1,"id":2}', "a key occurs twice: id"),
    ('{"id":1,"x":1,"x":2}', "a key occurs twice: x"),
    ('{"":1,"id":1}', "a key is empty"),
    ("{}", "it has none of the described columns"),
    ('{"x":1}', "it has none of the described columns"),
    ('{"ID":1}', "the key ID differs from a described column in upper and lower case"),
    ('{"id":1,"s":"\\ud800"}', "half of a surrogate pair, which is not a character"),
    ('{"id":1,"s":"\\ude00"}', "half of a surrogate pair, which is not a character"),
    ('{"id":null}', "id: there is no value, and the column is not_null"),
    ('{"s":"a"}', "id: there is no value, and the column is not_null"),
    ('{"id":"1"}', 'id: "1" does not fit bigint'),
    ('{"id":1.5}', "id: 1.5 does not fit bigint"),
    ('{"id":1e3}', "id: 1e3 does not fit bigint"),
    ('{"id":9223372036854775808}', "id: 9223372036854775808 does not fit bigint"),
    ('{"id":1,"t":200,"b":"true"}', 'b: "true" does not fit boolean; t: 200 does not fit tinyint'),
    ('{"id":1,"d":1.239}', "d: 1.239 does not fit decimal(10,2)"),
    ('{"id":1,"d":1e-3}', "d: 1e-3 does not fit decimal(10,2)"),
    ('{"id":1,"d":123456789.1}', "d: 123456789.1 does not fit decimal(10,2)"),
    ('{"id":1,"w":0.1234567890123456789}', "w: 0.1234567890123456789 does not fit decimal(38,18)"),
    ('{"id":1,"f":1e400}', "f: 1e400 does not fit double"),
    ('{"id":1,"f":"1"}', 'f: "1" does not fit double'),
    ('{"id":1,"g":1e39}', "g: 1e39 does not fit float"),
    ('{"id":1,"day":"2024-02-31"}', 'day: "2024-02-31" does not fit date'),
    ('{"id":1,"day":"2024-01-31T10:00:00"}', 'day: "2024-01-31T10:00:00" does not fit date'),
    ('{"id":1,"day":"2024"}', 'day: "2024" does not fit date'),
    ('{"id":1,"at":1700000000}', "at: 1700000000 does not fit timestamp"),
    (
        '{"id":1,"at":"2024-01-31T10:00:00.1234567Z"}',
        'at: "2024-01-31T10:00:00.1234567Z" does not fit timestamp',
    ),
    ('{"id":1,"local":"2024-01-31T10:00:00Z"}', 'local: "2024-01-31T10:00:00Z" does not fit timestamp_ntz'),
    ('{"id":1,"bin":"!!"}', 'bin: "!!" does not fit binary'),
    ('{"id":1,"v":"abcd"}', 'v: "abcd" does not fit varchar(3)'),
    ('{"id":1,"list":[1,"x"]}', 'list: [1,"x"] does not fit array<int>'),
    ('{"id":1,"list":5}', "list: 5 does not fit array<int>"),
    ('{"id":1,"st":{"a":1,"q":5}}', f'st: {{"a":1,"q":5}} does not fit {COLUMNS["st"]}'),
    ('{"id":1,"st":{"p":1.555}}', f'st: {{"p":1.555}} does not fit {COLUMNS["st"]}'),
    ('{"id":1,"st":{"x y":"2024-1-1"}}', f'st: {{"x y":"2024-1-1"}} does not fit {COLUMNS["st"]}'),
    ('{"id":1,"m":{"a":200}}', f'm: {{"a":200}} does not fit {COLUMNS["m"]}'),
    ('{"id":1,"ev":{"at":1700000000000}}', f'ev: {{"at":1700000000000}} does not fit {COLUMNS["ev"]}'),
    ('{"id":1,"ev":{"at":"12:00"}}', f'ev: {{"at":"12:00"}} does not fit {COLUMNS["ev"]}'),
    ('{"id":1,"ev":{"x":1e39}}', f'ev: {{"x":1e39}} does not fit {COLUMNS["ev"]}'),
    ('{"id":1,"ev":{"more":[{"y":1e400}]}}', f'ev: {{"more":[{{"y":1e400}}]}} does not fit {COLUMNS["ev"]}'),
    (
        '{"id":1,"ev":{"more":[null,{"timestamp":"2024-01-31 10:00:00.1234567"}]}}',
        f'ev: {{"more":[null,{{"timestamp":"2024-01-31 10:00:00.1234567"}}]}} does not fit {COLUMNS["ev"]}',
    ),
    ('{"id":1,"m":{"a":1,"a":2}}', f'm: {{"a":1,"a":2}} does not fit {COLUMNS["m"]}'),
    (
        '{"id":1,"l":[{"k":1.23456789012345678}]}',
        f'l: [{{"k":1.23456789012345678}}] does not fit {COLUMNS["l"]}',
    ),
]
# (message, values of its row in addition to id = 1)
ROWS: list[tuple[str, dict[str, Any]]] = [
    (' {"id" : 1 }\r\n', {}),
    ('{"id":1,"s":null,"d":null,"st":null}', {}),
    ('{"id":1,"s":5}', {"s": "5"}),
    ('{"id":1,"s":1.10}', {"s": "1.10"}),
    ('{"id":1,"s":12345678901234567890.1230}', {"s": "12345678901234567890.1230"}),
    ('{"id":1,"s":true}', {"s": "true"}),
    ('{"id":1,"s":{"a": [1.10, "q\\"n1\\\\", null]}}', {"s": '{"a":[1.10,"q\\"n1\\\\",null]}'}),
    ('{"id":1,"s":"q\\"n1\\\\u0022\\u0041\\n"}', {"s": 'q"n1\\u0022A\n'}),
    ('{"id":1,"s":"\\ud83d\\ude00 \\\\ud800 é"}', {"s": "\U0001f600 \\ud800 é"}),
    ('{"id":1,"s":"\ufffd"}', {"s": "\ufffd"}),
    ('{"id":1,"b":true,"t":-128}', {"b": True, "t": -128}),
    ('{"id":1,"d":1.2300}', {"d": Decimal("1.23")}),
    ('{"id":1,"d":12e1}', {"d": Decimal(120)}),
    ('{"id":1,"d":"1.5"}', {"d": Decimal("1.5")}),
    (
        '{"id":1,"w":12345678901234567890.123456789012345678}',
        {"w": Decimal("12345678901234567890.123456789012345678")},
    ),
    ('{"id":1,"f":1,"g":0.5}', {"f": 1.0, "g": 0.5}),
    ('{"id":1,"day":"2024-01-31"}', {"day": datetime.date(2024, 1, 31)}),
    (
        '{"id":1,"local":"2024-01-31T10:00:00.5"}',
        {"local": datetime.datetime(2024, 1, 31, 10, 0, 0, 500_000)},
    ),
    ('{"id":1,"bin":"aGk=","v":"abc"}', {"bin": bytearray(b"hi"), "v": "abc"}),
    (
        '{"id":1,"ev":{"x":1.5,"more":[null,{"timestamp":"2024-01-31T10:00:00.5","y":1e300}]}}',
        {
            "ev": {
                "at": None,
                "x": 1.5,
                "more": [None, {"timestamp": datetime.datetime(2024, 1, 31, 10, 0, 0, 500_000), "y": 1e300}],
            }
        },
    ),
    ('{"id":1,"list":[1,null]}', {"list": [1, None]}),
    (
        '{"id":1,"st":{"a":1,"p":1.5,"x y":"2024-01-01","q":null}}',
        {"st": {"a": 1, "p": Decimal("1.5"), "x y": datetime.date(2024, 1, 1)}},
    ),
    ('{"id":1,"m":{"a":1,"b":null}}', {"m": {"a": 1, "b": None}}),
    (
        '{"id":1,"l":[{"k":"a:b\\"c","n":1},{"k":"x"}]}',
        {"l": [{"k": 'a:b"c', "n": 1}, {"k": "x", "n": None}]},
    ),
    (json.dumps({"id": 1, "s": LONG, "n5": [LONG, *range(20_000)]}), {"s": LONG}),
    ('{"id":1,"at":"2024-01-31T10:00:00.123456+02:00"}', {"at": 1_706_688_000_123_456}),
    ('{"id":1,"new":1,"n2":true,"n3":1.5,"n4":"x","n5":{"a":1},"n6":null,"_key":5}', {}),
    ('{"id":1,"new":2,"n2":null,"n3":2,"n4":5,"n7":123456789012345678901}', {}),
]
NEW = {"new": "bigint", "n2": "boolean", "n3": "double", "n4": "string", "n5": "string", "n7": "string"}
# Values as a sender may write them, for any of the columns.
VALUES = (
    "0 1 -1 -0 7 127 128 300 2147483648 9223372036854775808 0.0 -0.0 0.5 1.0 1.10 12.5 1e3 1.0E10 1E-7 0.1 1.1 16777217.0 3.4e38 "
    '3.5E38 1.7976931348623157E308 1e400 123456789.12 12345678.125 0.30000000000000004 true false null "" "a" "a b" "abcd" "1" '
    '"1.5" "12.50" "NaN" "Infinity" "-Infinity" "INF" "true" "null" "2024-01-31" "2024-02-31" "2024-1-1" "2024-01-31T10:00:00" '
    '"2024-01-31T10:00:00.123456Z" "aGk=" "!!" "é" "\\u00e9" "\\/" "/" "\\"" "\\\\" "\\n" "\U0001f600" "\\ud83d\\ude00" "\\ud800" "{}" '
    '"[1]" [] [1] [1,2] {} {"a":1} {"a":1,"p":1.50} {"a":200} [{"k":"x","n":1}] [{"k":1}]'
).split(" ")


def of_any_kind(seed: int, count: int) -> list[str]:
    """Random messages, most of which have each key once, in the order of the columns."""
    chosen = random.Random(seed)
    messages = []
    for _ in range(count):
        keys = [key for key in COLUMNS if chosen.random() < 0.1 and key != "id"]
        if chosen.random() < 0.1:
            keys = [*keys, chosen.choice([*COLUMNS, "x", "ID", "i d"])]
        values = [("id", chosen.choice(VALUES) if chosen.random() < 0.1 else "1")]
        values += [(key, chosen.choice(VALUES)) for key in keys]
        colon, comma = chosen.choice([(":", ","), (": ", ", "), (" : ", " ,")])
        pairs = [f'"{key}"{colon}{value}' for key, value in values]
        messages.append(f"{{{comma.join(pairs if chosen.random() < 0.9 else chosen.sample(pairs, len(pairs)))}}}")
    return messages


# (a query of the stream `numbers`, whether it is sure to read each message once)
QUERIES = [
    ("select * from numbers", True),
    ("with big as (select value from numbers where value > 5) select * from big", True),
    ("with big as (select value from numbers) select a.value from big as a join big as b using (value)", False),
    ("select distinct value from numbers", True),
    ("select value, count(*) from (select value from numbers order by value) group by value having count(*) > 1", True),
    ("select explode(sequence(1, value)) as one from numbers", True),
    ("select value from numbers limit 5", False),
    ("select value from numbers union all select value from numbers", False),
    ("select value from numbers join range(9) as r on r.id = value", False),
    ("select value from numbers where value in (select id from range(9))", True),
    ("select id as value from range(9)", False),
]


class TestMessages:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {}

    def test_nothing_is_lost_and_nothing_is_changed(self, project: Any) -> None:
        with get_connection(project.adapter):
            session = project.adapter.handle.session
            messages = [*(message for message, _ in FAULTS), *(message for message, _ in ROWS)]
            values = [
                (index, bytearray(message.encode() if isinstance(message, str) else message))
                if message is not None
                else (index, None)
                for index, message in enumerate(messages)
            ]
            frame = session.createDataFrame(values, "i int, value binary").coalesce(1)
            frame = frame.selectExpr("*", "value as key", "'here' as place", "current_timestamp() as received_at")
            # Persisted like a batch, so that the queries below do not parse the messages again.
            raw = parsed(frame, JSON).persist()
            raw.createOrReplaceTempView("raw_messages")
            faults = session.sql(JSON.faults_sql("raw_messages")).collect()
            rows = session.sql(JSON.rows_sql("raw_messages", ["i", "unix_micros(`__row`.`at`) as at_micros"]))
            found = {row.i: row.asDict(recursive=True) for row in rows.collect()}
            new = {row.name: row.data_type for row in session.sql(JSON.new_columns_sql("raw_messages")).collect()}
            raw.unpersist()

        told = [(row.key if row.key is None else bytes(row.key), row.reason) for row in faults]
        wanted = [(m.encode() if isinstance(m, str) else m, reason) for m, reason in FAULTS]
        assert told == wanted
        for index, (message, expected) in enumerate(ROWS, start=len(FAULTS)):
            row = found.pop(index)
            row.pop("i")
            row["at"] = row.pop("at_micros")
            assert {k: v for k, v in row.items() if v is not None} == {"id": 1, **expected}, message
        assert not found
        assert new == NEW

    def test_an_exact_message_gives_the_row_of_any_other(self, project: Any) -> None:
        """A tab before a message changes no value, but the message is no longer exact, so its values are marked."""
        given = [*of_any_kind(20261129, 3_000), *(message for message, _ in ROWS)]
        with get_connection(project.adapter):
            session = project.adapter.handle.session

            def results(prefix: str) -> list[Any]:
                frame = session.createDataFrame(list(enumerate(given)), "i int, message string").coalesce(1)
                frame = frame.selectExpr("i", f"cast(concat('{prefix}', message) as binary) as value")
                raw = parsed(frame, JSON).selectExpr("i", "__problem", "to_json(__row) as __row", "__undeclared")
                return [row.asDict() for row in raw.orderBy("i").collect()]

            direct, marked = results(""), results("\\t")
        assert sum(each["__problem"] is None for each in direct) > 500
        for message, one, other in zip(given, direct, marked, strict=True):
            assert one == other, message

    @pytest.mark.parametrize(("sql", "every"), QUERIES)
    def test_queries_that_read_every_message(self, project: Any, sql: str, every: bool) -> None:
        with get_connection(project.adapter):
            session = project.adapter.handle.session
            session.readStream.format("rate").load().createOrReplaceTempView("numbers")
            assert reads_every_row(session.sql(sql)._jdf.queryExecution().analyzed()) is every
