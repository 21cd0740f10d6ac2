"""Values of each type are equal in Paimon and the database: from snapshot and log, with each connector setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import pytest
import yaml
from dbt.tests.util import run_dbt

from integration.cdc.feeds import Feed, MariaDbFeed, PostgresFeed
from integration.cdc.kinds import ALL, Kind, Settings, inserted, plain, texts_here, texts_there
from integration.services.connect import Connect
from integration.services.kafka import Kafka
from integration.services.mariadb import DATABASE, MariaDb, mariadb
from integration.services.postgres import Postgres

pytestmark = pytest.mark.full

MICROS = "unix_micros({})"
HEX = "lower(hex({}))"
ITEMS = "to_json(transform({}, e -> cast(e as string)))"


class Types:
    """Subclasses define the database and its columns."""

    KINDS: ClassVar[Sequence[Kind]]
    SCHEMA: ClassVar[str]
    PREPARED: ClassVar[str] = ""

    @pytest.fixture(scope="class")
    def server(self) -> Any:
        raise NotImplementedError

    def feed(self, settings: Settings, worker: Connect, server: Any, broker: Kafka) -> Feed:
        raise NotImplementedError

    def text(self, expression: str) -> str:
        """The expression, cast to text in the database's SQL."""
        return f"({expression})::text"

    def query(self, columns: dict[str, str]) -> str:
        """A query whose rows the server's client can parse."""
        listed = ", ".join(f"{sql} as {name}" for name, sql in columns.items())
        return f"select id, {listed} from kinds"

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target: dict[str, Any]) -> dict[str, Any]:
        # The session's time zone is neither UTC nor the database's.
        zone = {"spark.sql.session.timeZone": "Asia/Kolkata"}
        return dbt_profile_target | {"spark_config": dbt_profile_target["spark_config"] | zone}

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        tables = [each.source(self.KINDS, f"{each.name}.{self.SCHEMA}.kinds") for each in ALL]
        sources = {"sources": [{"name": "types", "schema": "types", "tables": tables}]}
        return {
            "sources.yml": yaml.safe_dump(sources),
            **{f"{each.name}.sql": each.model(self.KINDS) for each in ALL},
        }

    def test_values(self, project: Any, rows: Any, server: Any, worker: Connect, broker: Kafka) -> None:
        columns = ", ".join(f"{kind.name} {kind.there}" for kind in self.KINDS)
        server.lines(f"{self.PREPARED}\ncreate table kinds (id int primary key, {columns});")
        server.lines(inserted(self.KINDS, first=1))
        feeds = [self.feed(settings, worker, server, broker) for settings in ALL]
        for feed, settings in zip(feeds, ALL, strict=True):
            # If not set, the default applies; its name differs between the connectors.
            times = {"time_precision_mode": "connect"} if settings.in_millis else {}
            feed.begin(
                "kinds",
                decimal_handling_mode=settings.decimals,
                bigint_unsigned_handling_mode="precise",
                **times,
            )
            feed.wait()
        server.lines(inserted(self.KINDS, first=101))
        server.lines("update kinds set id = id + 500 where id = 102; delete from kinds where id = 103;")
        for feed in feeds:
            feed.wait()
        run_dbt(["run"])
        different = []
        for settings in ALL:
            assert rows(f"select reason from {{schema}}.{settings.name}__dead_letters") == []
            here = {
                row[0]: dict(zip([kind.name for kind in self.KINDS], row[1:], strict=True))
                for row in rows(texts_here(self.KINDS, f"{{schema}}.{settings.name}"))
            }
            shown = {name: self.text(sql) for name, sql in texts_there(self.KINDS, settings).items()}
            there = {row["id"]: row for row in server.rows(self.query(shown))}
            assert sorted(here) == sorted(there), settings
            different += [
                (settings.name, number, kind.name, there[number][kind.name], values[kind.name])
                for number, values in here.items()
                for kind in self.KINDS
                if plain(kind, there[number][kind.name]) != plain(kind, values[kind.name])
            ]
        assert different == []


class TestPostgresTypes(Types):
    SCHEMA = "public"
    PREPARED = "create type mood as enum ('sad', 'happy'); create domain grade as int check (value > 5);"
    KINDS = (
        Kind("flag", "boolean", "boolean", ["true", "false"]),
        Kind("switch", "bit(1)", "boolean", ["B'1'", "B'0'"], "({}::int = 1)"),
        Kind("small", "smallint", "smallint", ["'-32768'", "32767"]),
        Kind("whole", "int", "int", ["'-2147483648'", "2147483647"]),
        Kind("big", "bigint", "bigint", ["'-9223372036854775808'", "9223372036854775807"]),
        Kind("object", "oid", "bigint", ["4294967295", "0"]),
        Kind("graded", "grade", "int", ["7"]),
        Kind(
            "amount",
            "numeric(20,4)",
            "decimal(20,4)",
            ["-1234567890123456.7891", "0", "0.0001"],
            decimal="Decimal",
        ),
        Kind(
            "huge",
            "numeric(38,0)",
            "decimal(38,0)",
            ["'-99999999999999999999999999999999999999'", "12"],
            decimal="Decimal",
        ),
        Kind("free", "numeric", "decimal(38,10)", ["12345.678901", "-0.5", "'1e20'"], "{}::numeric(38,10)"),
        Kind("free_text", "numeric", "string", ["12345.678901", "-0.5", "100"], decimal="VariableScaleDecimal"),
        Kind("cost", "money", "decimal(19,2)", ["'-12.34'", "'9999.99'"], "{}::numeric", decimal="Decimal"),
        Kind("ratio", "real", "float", ["1.1", "'-Infinity'", "'NaN'"]),
        Kind("wear", "float8", "double", ["-0.1", "'Infinity'", "123456.789"]),
        # PostgreSQL's cast to text drops trailing blanks.
        Kind("code", "char(5)", "string", ["'ab'"], "rpad({}, 5)"),
        Kind("name", "varchar(10)", "varchar(10)", ["'é\"\\'", "''"]),
        Kind("tale", "text", "string", ["E'line\\nbreak\\ttab'", "'😀'", "'null'", "'12'"]),
        Kind(
            "day",
            "date",
            "date",
            ["'1969-12-31'", "'0001-01-01'", "'9999-12-31'", "'1500-03-01'", "'2024-02-29'"],
            moment="Date",
        ),
        Kind(
            "clock",
            "time",
            "bigint",
            ["'23:59:59.123456'", "'00:00'"],
            "(extract(epoch from {}) * 1000000)::bigint",
            shown_in_millis="trunc(extract(epoch from {}) * 1000)::bigint",
        ),
        Kind(
            "clock3",
            "time(3)",
            "bigint",
            ["'23:59:59.123'", "'00:00'"],
            "(extract(epoch from {}) * 1000)::bigint",
        ),
        Kind(
            "zoned_clock",
            "timetz",
            "string",
            ["'23:59:59.5+02'", "'12:00:00Z'"],
            "({} at time zone 'UTC')::time::text || 'Z'",
        ),
        Kind(
            "seen",
            "timestamp",
            "timestamp_ntz",
            ["'1999-12-31 23:59:59.123456'", "'1960-02-29 00:00:00.000001'", "'9999-12-31 23:59:59.999999'"],
            shown_in_millis="date_trunc('milliseconds', {})",
            moment="MicroTimestamp",
        ),
        Kind(
            "seen3",
            "timestamp(3)",
            "timestamp_ntz",
            ["'2024-02-29 12:00:00.123'", "'1969-12-31 23:59:59.999'"],
            moment="Timestamp",
        ),
        Kind("seen0", "timestamp(0)", "timestamp_ntz", ["'2024-02-29 12:00:00'"], moment="Timestamp"),
        Kind(
            "instant",
            "timestamp",
            "timestamp",
            ["'1999-12-31 23:59:59.123'"],
            "(extract(epoch from {} at time zone 'UTC') * 1000000)::bigint",
            MICROS,
            moment="MicroTimestamp",
        ),
        Kind(
            "landed",
            "timestamptz",
            "timestamp",
            ["'2024-03-31 01:30:00.123456+01'", "'1960-01-01 00:00:00.000001Z'"],
            "(extract(epoch from {}) * 1000000)::bigint",
            MICROS,
        ),
        Kind(
            "span",
            "interval",
            "bigint",
            ["'3 days 04:05:06.7'", "'-1 second'"],
            "(extract(epoch from {}) * 1000000)::bigint",
        ),
        Kind("photo", "bytea", "binary", ["'\\x00ff10'", "''"], "encode({}, 'hex')", HEX),
        Kind("about", "jsonb", "string", ["""'{"a": [1, 2.50], "é": null}'""", "'[]'"]),
        Kind("raw", "json", "string", ["""'{"b":  1}'"""]),
        Kind("mark", "uuid", "string", ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"]),
        Kind("page", "xml", "string", ["'<a>é</a>'"]),
        Kind("mood", "mood", "string", ["'sad'", "'happy'"]),
        Kind("moods", "mood[]", "array<string>", ["'{sad,happy}'", "'{}'"], "array_to_json({})", ITEMS),
        Kind("place", "inet", "string", ["'10.0.0.1/8'", "'::1/64'"]),
        Kind("reach", "int4range", "string", ["'[1,5)'"]),
        Kind("numbers", "int[]", "array<int>", ["'{1,null,3}'", "'{}'"], "array_to_json({})", "to_json({})"),
        Kind("words", "text[]", "array<string>", ["""'{"a b",null,"é"}'"""], "array_to_json({})", "to_json({})"),
        Kind(
            "prices",
            "numeric(10,2)[]",
            "array<decimal(10,2)>",
            ["'{1.50,-2.25,null}'"],
            "array_to_json({}::text[])",
            ITEMS,
            decimal="Decimal",
        ),
        Kind(
            "days",
            "date[]",
            "array<date>",
            ["'{2024-02-29,1969-12-31}'"],
            "array_to_json({})",
            ITEMS,
            moment="Date",
        ),
        Kind(
            "walls",
            "timestamp[]",
            "array<timestamp_ntz>",
            ["'{2024-02-29 12:00:00.5}'"],
            "array_to_json({}::text[])",
            ITEMS,
            moment="MicroTimestamp",
        ),
    )

    @pytest.fixture(scope="class")
    def server(self, database: Postgres) -> Postgres:
        return database

    def feed(self, settings: Settings, worker: Connect, server: Any, broker: Kafka) -> Feed:
        return PostgresFeed(worker=worker, server=server, name=settings.name, with_schema=settings.with_schema)


_WALL = "cast({} as char)"
_SINCE = "timestampdiff(microsecond, '1970-01-01 00:00:00', {})"
_MILLIS = "{} - interval (microsecond({}) mod 1000) microsecond"


class TestMariaDbTypes(Types):
    SCHEMA = DATABASE
    PREPARED = "set sql_mode = '';"
    KINDS = (
        Kind("flag", "tinyint(1)", "boolean", ["1", "0"], "if({0} is null, null, if({0}, 'true', 'false'))"),
        Kind("flag_number", "boolean", "tinyint", ["1", "0", "7"]),
        Kind("switch", "bit(1)", "boolean", ["b'1'", "b'0'"], "if({0} is null, null, if({0}, 'true', 'false'))"),
        Kind("tiny", "tinyint", "tinyint", ["-128", "127"]),
        Kind("tiny_u", "tinyint unsigned", "smallint", ["255", "0"]),
        Kind("small_u", "smallint unsigned", "int", ["65535", "0"]),
        Kind("medium_u", "mediumint unsigned", "int", ["16777215", "0"]),
        Kind("whole_u", "int unsigned", "bigint", ["4294967295", "0"]),
        Kind(
            "big_u",
            "bigint unsigned",
            "decimal(20,0)",
            ["18446744073709551615", "0", "9223372036854775808"],
            decimal="Decimal",
            always_decimal=True,
        ),
        Kind("big", "bigint", "bigint", ["-9223372036854775808", "9223372036854775807"]),
        Kind("filled", "int(6) zerofill", "int", ["42"], "{} + 0"),
        Kind(
            "amount",
            "decimal(20,4)",
            "decimal(20,4)",
            ["-1234567890123456.7891", "0", "0.0001"],
            decimal="Decimal",
        ),
        Kind("amount_u", "decimal(12,2) unsigned", "decimal(12,2)", ["1.5"], decimal="Decimal"),
        Kind(
            "huge",
            "decimal(38,0)",
            "decimal(38,0)",
            ["-99999999999999999999999999999999999999", "12"],
            decimal="Decimal",
        ),
        Kind("ratio", "float", "float", ["1.5", "-0.25"]),
        Kind("wear", "double", "double", ["-0.1", "123456.789"]),
        Kind("code", "char(5)", "string", ["'ab'"]),
        Kind("name", "varchar(10)", "varchar(10)", ["'é\"\\\\'", "''"]),
        Kind("latin", "varchar(10) character set latin1", "string", ["'é'"]),
        Kind("tale", "text", "string", ["'line\\nbreak\\ttab'", "'😀'", "'null'", "'12'"]),
        Kind(
            "day",
            "date",
            "date",
            ["'1969-12-31'", "'1000-01-01'", "'9999-12-31'", "'1500-03-01'"],
            moment="Date",
        ),
        # Debezium sends an invalid date as NULL.
        Kind("no_day", "date", "date", ["'0000-00-00'", "'2024-02-29'"], "nullif({}, 0)", moment="Date"),
        Kind(
            "clock",
            "time(6)",
            "bigint",
            ["'23:59:59.123456'", "'00:00'"],
            "cast(time_to_sec({}) * 1000000 as signed)",
            shown_in_millis="cast(truncate(time_to_sec({}) * 1000, 0) as signed)",
        ),
        Kind(
            "seen",
            "datetime(6)",
            "timestamp_ntz",
            ["'1999-12-31 23:59:59.123456'", "'1960-02-29 00:00:00.000001'", "'9999-12-31 23:59:59.999999'"],
            shown_in_millis=_MILLIS.replace("{}", "{0}"),
            moment="MicroTimestamp",
        ),
        Kind(
            "seen3",
            "datetime(3)",
            "timestamp_ntz",
            ["'2024-02-29 12:00:00.123'", "'1969-12-31 23:59:59.999'"],
            moment="Timestamp",
        ),
        Kind("seen0", "datetime", "timestamp_ntz", ["'2024-02-29 12:00:00'"], moment="Timestamp"),
        Kind(
            "instant",
            "datetime(3)",
            "timestamp",
            ["'1999-12-31 23:59:59.123'"],
            _SINCE,
            MICROS,
            moment="Timestamp",
        ),
        Kind("landed", "timestamp(6) null", "timestamp", ["'2024-03-31 01:30:00.123456'"], _SINCE, MICROS),
        Kind("landed0", "timestamp null", "timestamp", ["'2024-10-27 01:30:00'"], _SINCE, MICROS),
        Kind("built", "year", "int", ["2024", "1901"]),
        Kind("photo", "varbinary(10)", "binary", ["x'00ff10'", "''"], "lower(hex({}))", HEX),
        Kind("padded", "binary(4)", "binary", ["x'01ff'"], "lower(hex({}))", HEX),
        Kind("about", "json", "string", ["""'{"a": [1, 2.50], "é": null}'""", "'[]'"]),
        Kind("mood", "enum('sad', 'happy', 'é')", "string", ["'é'", "'happy'"]),
        Kind("extras", "set('a', 'b', 'c')", "string", ["'c,a'", "''"]),
        Kind("twice", "int as (id * 2) stored", "int", ["default"]),
    )

    @pytest.fixture(scope="class")
    def server(self) -> Iterator[MariaDb]:
        # The server's time zone is neither UTC nor the session's.
        with mariadb(log_bin="log", binlog_format="row", server_id="1", default_time_zone="+02:00") as server:
            yield server

    def feed(self, settings: Settings, worker: Connect, server: Any, broker: Kafka) -> Feed:
        return MariaDbFeed(
            worker=worker,
            server=server,
            name=settings.name,
            with_schema=settings.with_schema,
            broker=broker.address,
        )

    def text(self, expression: str) -> str:
        return f"cast({expression} as char)"

    def query(self, columns: dict[str, str]) -> str:
        listed = ", ".join(f"'{name}', {sql}" for name, sql in columns.items())
        return f"select json_object('id', id, {listed}) from kinds"
