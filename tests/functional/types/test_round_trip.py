"""Extreme values of every type: Spark and other readers read exactly what Spark wrote."""

from __future__ import annotations

import json
import math
from decimal import Decimal

import pyarrow.parquet
import pytest
from dbt.tests.util import get_connection, run_dbt
from pypaimon import CatalogFactory
from tests.functional.conftest import CONNECTOR

from dbt.adapters.paimon.capabilities.version_numbers import parse_version

LONG = "x" * 100_000
DEEP = "array<map<string,struct<a:array<decimal(38,18)>,t:timestamp,n:struct<b:binary>>>>"
# column -> (Spark's type, Paimon's type, the values of the rows as SQL)
TYPES: dict[str, tuple[str, str, list[str]]] = {
    "bool": ("boolean", "BOOLEAN", ["true", "false"]),
    "i8": ("tinyint", "TINYINT", ["-128", "127"]),
    "i16": ("smallint", "SMALLINT", ["-32768", "32767"]),
    "i32": ("int", "INT", ["-2147483648", "2147483647"]),
    "i64": ("bigint", "BIGINT", ["-9223372036854775808", "9223372036854775807"]),
    "f32": (
        "float",
        "FLOAT",
        [f"float('{value}')" for value in ("NaN", "Infinity", "-Infinity", "3.4028235E38", "1.4E-45", "-0.0", "0.1")],
    ),
    "f64": (
        "double",
        "DOUBLE",
        [
            f"double('{value}')"
            for value in ("NaN", "Infinity", "-Infinity", "1.7976931348623157E308", "4.9E-324", "-0.0", "0.1")
        ],
    ),
    "dec1": ("decimal(1,0)", "DECIMAL(1, 0)", ["-9", "9"]),
    "dec18": ("decimal(18,18)", "DECIMAL(18, 18)", ["0." + "9" * 18, "-0." + "0" * 17 + "1"]),
    "dec19": ("decimal(19,2)", "DECIMAL(19, 2)", ["-" + "9" * 17 + ".99", "0.01"]),
    "dec38": ("decimal(38,0)", "DECIMAL(38, 0)", ["9" * 38, "-" + "9" * 38]),
    "dec3838": ("decimal(38,38)", "DECIMAL(38, 38)", ["0." + "9" * 38, "-0." + "0" * 37 + "1"]),
    "text": ("string", "STRING", ["''", "' a '", "'ünï 表 🛫 e\\u0301'", "'a\\u0000b'", f"'{LONG}'"]),
    "vc": ("varchar(3)", "VARCHAR(3)", ["''", "'表🛫e'", "'ab '"]),
    "ch": ("char(3)", "CHAR(3)", ["'abc'", "'表🛫e'"]),
    "bytes": ("binary", "BYTES", ["X''", "X'00FF80'", "X'C328'"]),
    "day": (
        "date",
        "DATE",
        [f"date'{day}'" for day in ("0001-01-01", "1582-10-04", "1582-10-15", "1969-12-31", "9999-12-31")],
    ),
    "ltz": (
        "timestamp",
        "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        [
            f"timestamp'{at}'"
            for at in (
                "0001-01-02 00:00:00.000001",
                "1582-10-04 23:59:59.999999",
                "1969-12-31 23:59:59.999999",
                "2024-03-31 02:30:00 Europe/Berlin",  # an hour that clocks skip
                "2024-10-27 02:30:00+02:00",
                "9999-12-30 23:59:59.999999",
            )
        ],
    ),
    "ntz": (
        "timestamp_ntz",
        "TIMESTAMP(6)",
        [
            f"timestamp_ntz'{at}'"
            for at in (
                "0001-01-01 00:00:00.000001",
                "1582-10-04 23:59:59.999999",
                "1969-12-31 23:59:59.999999",
                "2024-03-31 02:30:00",
                "9999-12-31 23:59:59.999999",
            )
        ],
    ),
    "arr": ("array<int>", "ARRAY<INT>", ["array()", "array(1, null, -1)"]),
    "arrs": ("array<array<string>>", "ARRAY<ARRAY<STRING>>", ["array(array(), null, array('', null))"]),
    "dict": ("map<string,int>", "MAP<STRING NOT NULL, INT>", ["map()", "map('', 1, 'ü', null)"]),
    "dicts": (
        "map<int,map<date,double>>",
        "MAP<INT NOT NULL, MAP<DATE NOT NULL, DOUBLE>>",
        ["map(1, map(date'1582-10-04', double('NaN')), 2, null)"],
    ),
    "obj": (
        "struct<a:int,b_c:string>",
        "ROW<`a` INT, `b_c` STRING>",
        ["named_struct('a', null, 'b_c', null)", "named_struct('a', 1, 'b_c', '')"],
    ),
    "deep": (
        DEEP,
        "ARRAY<MAP<STRING NOT NULL, ROW<`a` ARRAY<DECIMAL(38, 18)>, `t` TIMESTAMP(6) WITH LOCAL TIME ZONE, "
        "`n` ROW<`b` BYTES>>>>",
        [
            "array(map('k', named_struct('a', array(0.000000000000000001bd, null), "
            "'t', timestamp'1582-10-04 23:59:59.999999', 'n', named_struct('b', X'00'))), null)"
        ],
    ),
}
ROWS = max(len(values) for *_, values in TYPES.values()) + 1  # the last row has only NULLs


def query() -> str:
    """A Spark query with all rows; a column with fewer values than rows is NULL in the rest."""
    selects = [
        f"select {row} as id, "
        + ", ".join(
            f"cast({values[row] if row < len(values) else 'null'} as {spark}) as `{name}`"
            for name, (spark, _, values) in TYPES.items()
        )
        for row in range(ROWS)
    ]
    return "\nunion all ".join(selects)


# table -> its options
TABLES = {
    "appended": "",
    "keyed": "tblproperties ('primary-key' = 'id', 'bucket' = '1')",
    "appended_orc": "tblproperties ('file.format' = 'orc')",
    "keyed_orc": "tblproperties ('primary-key' = 'id', 'bucket' = '1', 'file.format' = 'orc')",
    "appended_avro": "tblproperties ('file.format' = 'avro')",
}
# Known losses and their reasons, as in docs/data-types.md.
NULL_STRUCTS = pytest.mark.xfail(
    parse_version("1.0") > CONNECTOR,
    strict=True,
    reason="Paimon 0.9 reads a struct whose fields are all NULL as NULL from Parquet",
)
JULIAN = pytest.mark.xfail(
    strict=True,
    reason="Paimon writes ORC's timestamps through java.sql.Timestamp (FieldWriterFactory), whose calendar is the "
    "Julian one before 15 October 1582: they are read back days off",
)
LOSSES = {
    **{(table, "obj"): NULL_STRUCTS for table in ("appended", "keyed")},
    **{(table, name): JULIAN for table in ("appended_orc", "keyed_orc") for name in ("ltz", "ntz", "deep")},
}

# How to read a column as text: different values give different strings, also beyond Python's range of dates.
SHOWN = {
    "bytes": "hex(`bytes`)",
    # A map has no order.
    "dict": "cast(array_sort(map_entries(`dict`)) as string)",
    "dicts": "concat(cast(dicts[1] as string), ' ', size(dicts), ' ', map_contains_key(dicts, 2), dicts[2] is null)",
}


def texts(source: str) -> str:
    columns = ", ".join(f"{SHOWN.get(name, f'cast(`{name}` as string)')} as `{name}`" for name in TYPES)
    return f"select id, {columns} from {source} order by id"


def paimon_text(data_type) -> str:
    """A type from `$schemas` as text."""
    if not isinstance(data_type, dict):
        return data_type
    kind, null = data_type["type"].partition(" ")[0], " NOT NULL" if "NOT NULL" in data_type["type"] else ""
    if kind == "ARRAY":
        return f"ARRAY<{paimon_text(data_type['element'])}>{null}"
    if kind == "MAP":
        return f"MAP<{paimon_text(data_type['key'])}, {paimon_text(data_type['value'])}>{null}"
    fields = ", ".join(f"`{field['name']}` {paimon_text(field['type'])}" for field in data_type["fields"])
    return f"ROW<{fields}>{null}"


def by_column(rows) -> dict[str, list[str]]:
    return {name: [row[index] for row in rows] for index, name in enumerate(TYPES, start=1)}


class TestRoundTrip:
    @pytest.fixture(scope="class")
    def models(self):
        read = "select * from {{ target.schema }}.appended_avro"
        return {
            "model_append.sql": "{{ config(materialized='table', file_format='avro') }} " + read,
            "model_keyed.sql": "{{ config(materialized='incremental', primary_key='id', bucket=1, file_format='avro') }} "
            + read,
        }

    @pytest.fixture(scope="class")
    def written(self, project):
        """Write the tables; returns each column as Spark reads it without Paimon, as text."""
        columns = ", ".join(f"`{name}` {spark}" for name, (spark, *_) in TYPES.items())
        with get_connection(project.adapter):
            # The cached view is planned once, without Paimon.
            project.adapter.query(f"cache table given as {query()}")
            for table, options in TABLES.items():
                name = f"paimon.{project.test_schema}.{table}"
                project.adapter.query(f"create table {name} (id int not null, {columns}) using paimon {options}")
                project.adapter.query(f"insert into {name} select * from given")
            values = project.adapter.query(texts("given"))
            project.adapter.query("drop view given")
        return by_column(values)

    @pytest.fixture(scope="class")
    def read(self, written, rows):
        return {table: by_column(rows(texts(f"{{schema}}.{table}"))) for table in TABLES}

    @pytest.mark.parametrize(
        ("table", "column"),
        [pytest.param(table, column, marks=LOSSES.get((table, column), ())) for table in TABLES for column in TYPES],
    )
    def test_spark_reads_what_it_wrote(self, written, read, table, column):
        assert read[table][column] == written[column]

    def test_paimons_types(self, written, rows):
        (fields,) = rows("select fields from {schema}.`keyed$schemas`")[0]
        got = {field["name"]: paimon_text(field["type"]) for field in json.loads(fields)}
        assert got == {"id": "INT NOT NULL"} | {name: paimon for name, (_, paimon, _) in TYPES.items()}

    def test_sparks_types(self, written, project, rows):
        described = {row[0]: row[1] for row in rows("describe table {schema}.keyed")}
        relation = project.adapter.Relation.create(
            database="paimon", schema=project.test_schema, identifier="keyed", type="table"
        )
        with get_connection(project.adapter):
            existing = project.adapter.tables.existing(relation)
            columns = {c.name: c.dtype for c in project.adapter.get_columns_in_relation(relation)}
        adapters = {column.name: column.data_type for column in existing.columns}
        for name, (spark, *_) in TYPES.items():
            assert adapters[name] == spark, name
            assert columns[name] == spark or name in ("vc", "ch"), name
            assert described[name] == spark, name

    def test_models(self, written, rows):
        # Avro loses nothing, so the models read what was written. They store -0.0 as 0.0, which filters find.
        for _ in range(2):
            run_dbt(["run"])
        zeros = {name: ["0.0" if text == "-0.0" else text for text in written[name]] for name in ("f32", "f64")}
        for model in ("model_append", "model_keyed"):
            assert by_column(rows(texts(f"{{schema}}.{model}"))) == written | zeros

    def test_pyarrow(self, written, project, rows, warehouse):
        got = []
        for bucket, path in rows("select bucket, file_path from {schema}.`appended$files`"):
            file = path if "/" in path else f"{warehouse}/{project.test_schema}.db/appended/bucket-{bucket}/{path}"
            got += pyarrow.parquet.ParquetFile(file.removeprefix("file:")).read().to_pylist()
        self.check_python(got)

    @pytest.mark.xfail(
        parse_version("1.0") > CONNECTOR,
        raises=KeyError,
        strict=True,
        reason="pypaimon 1.3 and later expect the manifest field _VALUE_STATS_COLS, which Paimon 0.9 does not write",
    )
    def test_pypaimon(self, written, project, warehouse):
        table = CatalogFactory.create({"warehouse": str(warehouse)}).get_table(f"{project.test_schema}.appended")
        builder = table.new_read_builder()
        self.check_python(builder.new_read().to_arrow(builder.new_scan().plan().splits()).to_pylist())

    def check_python(self, got):
        assert len(got) == ROWS
        got = sorted(got, key=lambda row: row["id"])
        assert all(value is None for name, value in got[-1].items() if name != "id")

        def column(name, count):
            return [row[name] for row in got[:count]]

        assert column("i64", 2) == [-(2**63), 2**63 - 1]
        assert math.isnan(got[0]["f64"])
        assert column("f64", 7)[1:] == [math.inf, -math.inf, 1.7976931348623157e308, 5e-324, 0.0, 0.1]
        assert math.copysign(1, got[5]["f64"]) == -1
        assert column("dec38", 2) == [Decimal("9" * 38), Decimal("-" + "9" * 38)]
        assert column("dec18", 2) == [Decimal("0." + "9" * 18), Decimal("-0." + "0" * 17 + "1")]
        assert column("text", 5) == ["", " a ", "ünï 表 🛫 e\u0301", "a\0b", LONG]
        assert column("vc", 3) == ["", "表🛫e", "ab "]
        assert column("bytes", 3) == [b"", b"\x00\xff\x80", b"\xc3\x28"]
        assert [str(day) for day in column("day", 5)] == [
            "0001-01-01",
            "1582-10-04",
            "1582-10-15",
            "1969-12-31",
            "9999-12-31",
        ]
        assert [at.replace(tzinfo=None).isoformat(" ") for at in column("ltz", 5)] == [
            "0001-01-02 00:00:00.000001",
            "1582-10-04 23:59:59.999999",
            "1969-12-31 23:59:59.999999",
            "2024-03-31 01:30:00",
            "2024-10-27 00:30:00",
        ]
        assert str(got[4]["ntz"]) == "9999-12-31 23:59:59.999999"
        assert column("arr", 2) == [[], [1, None, -1]]
        assert column("dict", 2) == [[], [("", 1), ("ü", None)]]
        assert column("obj", 2) == [{"a": None, "b_c": None}, {"a": 1, "b_c": ""}]
        assert got[0]["deep"][0][0][1]["a"] == [Decimal("0.000000000000000001"), None]
