"""Types of Paimon that Spark cannot declare, and types of Spark that Paimon cannot store."""

from __future__ import annotations

import pytest
from dbt.tests.util import get_connection, run_dbt

from functional.conftest import VERSIONS

# Column -> (Paimon's type, Spark's type)
FOREIGN = {
    "time0": ("TIME(0)", "int"),
    "time3": ("TIME(3)", "int"),
    "bin": ("BINARY(4)", "binary"),
    "varbin": ("VARBINARY(4)", "binary"),
    "ts0": ("TIMESTAMP(0)", "timestamp_ntz"),
    "ts3": ("TIMESTAMP(3)", "timestamp_ntz"),
    "ts9": ("TIMESTAMP(9)", "timestamp_ntz"),
    "ltz3": ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "timestamp"),
    "ltz9": ("TIMESTAMP(9) WITH LOCAL TIME ZONE", "timestamp"),
}
CASTS = (
    "Paimon's own INSERT casts as Spark does without ANSI (PaimonAnalysis.cast): 128 becomes -128, and 100 in a "
    "decimal(3,1) NULL. What dbt writes is checked by the adapter (test_narrower_columns.py)"
)
UNKEPT = {
    "year_month": "interval '1' year as c",
    "day_time": "interval '1' day as c",
    "nested": "array(interval '1' day) as c",
}


ADDED = """
{{ config(materialized='incremental', alias='foreign_types') }}
select 2 as id, time0, time3, bin, varbin, timestamp_ntz'2024-01-01 00:00:00{{ var('finer0', '') }}' as ts0,
  timestamp_ntz'2024-01-01 00:00:00.123{{ var('finer3', '') }}' as ts3, ts9,
  timestamp'2024-01-01 00:00:00.123{{ var('finer_ltz', '') }}' as ltz3, ltz9
from {{ target.schema }}.foreign_types where id = 1
"""


class TestTypesOfPaimon:
    """A table as Flink or Paimon's API may create it. Here, Paimon's API creates it in Spark's JVM."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "copied.sql": "{{ config(materialized='table') }} select * from {{ target.schema }}.foreign_types",
            "added.sql": ADDED,
            "in_orc.sql": "{{ config(materialized='table', file_format='orc') }} "
            "select id, if(id % 10 = 0, double('nan'), double(id)) as d, if(id = 0, float('nan'), float(id)) as f from range(100)",
            "partly_orc.sql": "{{ config(materialized='table', primary_key='id', bucket=1, file_format='parquet', "
            "tblproperties={'file.format.per.level': '0:orc,5:orc'}) }} "
            "select id, if(id % 10 = 0, double('nan'), double(id)) as d, if(id = 0, float('nan'), float(id)) as f from range(100)",
        }

    @pytest.fixture(scope="class")
    def made(self, project, warehouse, rows):
        with get_connection(project.adapter):
            handle = project.adapter.connections.get_thread_connection().handle
            jvm = handle.session._jvm
            paimon = jvm.org.apache.paimon
            builder = paimon.schema.Schema.newBuilder().column("id", paimon.types.DataTypes.INT())
            for name, (data_type, _) in FOREIGN.items():
                parsed = paimon.types.DataTypeJsonParser.parseDataType(
                    jvm.org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.TextNode(data_type)
                )
                builder = builder.column(name, parsed)
            catalog = paimon.catalog.CatalogFactory.createCatalog(
                paimon.catalog.CatalogContext.create(paimon.fs.Path(str(warehouse)))
            )
            identifier = paimon.catalog.Identifier.create(project.test_schema, "foreign_types")
            catalog.createTable(identifier, builder.build(), False)
            table = catalog.getTable(identifier)
            nanos = paimon.data.Timestamp.fromEpochMillis(1_700_000_000_123, 456_789)
            millis = paimon.data.Timestamp.fromEpochMillis(1_700_000_000_123)
            seconds = paimon.data.Timestamp.fromEpochMillis(1_700_000_000_000)
            values = [
                *(1, 86_399_000, 86_399_999, bytearray(b"\x00\xff\x80\x7f"), bytearray(b"\x00")),
                *(seconds, millis, nanos, millis, nanos),
            ]
            row = paimon.data.GenericRow(len(values))
            for index, value in enumerate(values):
                row.setField(index, value)
            write_builder = paimon.table.sink.BatchWriteBuilderImpl(table)
            write = write_builder.newWrite()
            write.write(row)
            write_builder.newCommit().commit(write.prepareCommit())
            write.close()
        return rows(
            "select id, " + ", ".join(SHOWN.get(name, name) for name in FOREIGN) + " from {schema}.foreign_types"
        )

    def test_types(self, made, project, rows):
        relation = project.adapter.Relation.create(
            database="paimon", schema=project.test_schema, identifier="foreign_types", type="table"
        )
        with get_connection(project.adapter):
            columns = {c.name: c.data_type for c in project.adapter.tables.existing(relation).columns}
        described = {row[0]: row[1] for row in rows("describe table {schema}.foreign_types")}
        expected = {"id": "int"} | {name: spark for name, (_, spark) in FOREIGN.items()}
        assert described == columns == expected

    def test_values(self, made):
        # Spark reads TIMESTAMP(9) to the microsecond, and TIME as a number of milliseconds.
        assert made == [
            (
                *(1, 86_399_000, 86_399_999, "00FF807F", "00"),
                *("2023-11-14 22:13:20", "2023-11-14 22:13:20.123", "2023-11-14 22:13:20.123456"),
                *("2023-11-14 22:13:20.123", "2023-11-14 22:13:20.123456"),
            )
        ]

    def test_a_model_of_it(self, made, project, rows):
        run_dbt(["run", "--select", "copied"])
        shown = ", ".join(SHOWN.get(name, name) for name in FOREIGN)
        assert rows(f"select id, {shown} from {{schema}}.copied") == made

    @pytest.mark.parametrize("table", ["in_orc", "partly_orc"])
    def test_filters_find_numbers_next_to_nan(self, project, rows, table):
        run_dbt(["run", "--select", table])
        assert rows(f"select count(*) from {{schema}}.{table} where d <= 50") == [(45,)]
        assert rows(f"select count(*) from {{schema}}.{table} where f = 5") == [(1,)]

    def test_digits_that_a_column_does_not_keep(self, made, project, rows):
        for finer, name in (("finer0", "ts0"), ("finer3", "ts3"), ("finer_ltz", "ltz3")):
            digits = ".5" if finer == "finer0" else "4"
            run = ["run", "--select", "added", "--vars", f"{{{finer}: '{digits}'}}"]
            (result,) = run_dbt(run, expect_pass=False)
            assert f"model 'added': column {name}: timestamp" in result.message, result.message
            assert rows("select id from {schema}.foreign_types") == [(1,)]
        run_dbt(["run", "--select", "added"])
        shown = "cast(ts0 as string), cast(ts3 as string), cast(ltz3 as string)"
        second = "2024-01-01 00:00:00"
        read = f"select {shown} from {{schema}}.foreign_types where id = "
        assert rows(f"{read} 2") == [(second, f"{second}.123", f"{second}.123")]
        # A full refresh creates the columns with the precision of Spark's types.
        finer = "{finer0: '.5', finer3: '456', finer_ltz: '456'}"
        run_dbt(["run", "--select", "added", "--full-refresh", "--vars", finer])
        assert rows(f"{read} 2") == [(f"{second}.5", f"{second}.123456", f"{second}.123456")]


SHOWN = {
    **{name: f"hex({name})" for name in ("bin", "varbin")},
    **{name: f"cast({name} as string)" for name in ("ts0", "ts3", "ts9", "ltz3", "ltz9")},
}


class TestTypesOfSpark:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name}.sql": f"{{{{ config(materialized='table') }}}} select 1 as id, {sql}"
            for name, sql in UNKEPT.items()
        } | {
            "void.sql": "{{ config(materialized='table') }} select 1 as id, null as c, array(null) as a",
            "emptied.sql": "{{ config(materialized='table') }} select 1 as id, {% if var('empty', false) %}null as n, "
            "null as tags{% else %}2 as n, array('a') as tags{% endif %}",
            "sized.sql": "{{ config(materialized='table') }} select cast('abc' as varchar(3)) as v, "
            "cast('a' as char(3)) as c",
            "contracted.sql": "{{ config(materialized='table', contract={'enforced': true}) }} "
            "select cast('{{ var('word', 'abc') }}' as string) as v",
            "contracted.yml": "{version: 2, models: [{name: contracted, columns: [{name: v, data_type: varchar(3)}]}]}",
        }

    @pytest.fixture(scope="class")
    def ran(self, project):
        return {result.node.name: result for result in run_dbt(["run"], expect_pass=False)}

    @pytest.mark.parametrize("name", UNKEPT)
    def test_refused_and_nothing_left(self, ran, rows, name):
        assert ran[name].status == "error"
        assert "interval" in ran[name].message.lower()
        assert "\tat " not in ran[name].message
        assert not [row for row in rows("show tables in {schema}") if row[1].startswith(name)]

    def test_an_untyped_null_is_a_string(self, ran, rows):
        assert [row[:2] for row in rows("describe table {schema}.void")] == [
            ("id", "int"),
            ("c", "string"),
            ("a", "array<string>"),
        ]
        assert rows("select c, a[0] from {schema}.void") == [(None, None)]

    def test_an_untyped_null_keeps_the_type_of_the_column(self, ran, rows):
        for more in ([], ["--full-refresh"]):
            run_dbt(["run", "--select", "emptied", "--vars", "empty: true", *more])
            assert rows("select n, tags from {schema}.emptied") == [(None, None)]
            types = [row[:2] for row in rows("describe table {schema}.emptied")]
            assert types == [("id", "int"), ("n", "int"), ("tags", "array<string>")]

    def test_a_query_has_strings_without_length(self, ran, rows):
        assert [row[:2] for row in rows("describe table {schema}.sized")] == [
            ("v", "string"),
            ("c", "string"),
        ]

    def test_too_long_for_its_column(self, project, rows):
        rows("create table {schema}.narrow (v varchar(3), c char(3), d decimal(3,1), t tinyint) using paimon")
        rows("insert into {schema}.narrow values ('ab ', 'a', 12.34, 1)")
        # A char is padded with blanks; a decimal is rounded to its scale.
        assert rows("select v, c, cast(d as string), t from {schema}.narrow") == [("ab ", "a  ", "12.3", 1)]
        for values in ("'abcd', 'a', 1, 1", "'a', 'abcd', 1, 1"):
            with pytest.raises(Exception, match="EXCEED_LIMIT_LENGTH"):
                rows(f"insert into {{schema}}.narrow values ({values})")
        assert rows("select count(*) from {schema}.narrow") == [(1,)]

    # Spark 4 checks the values itself.
    @pytest.mark.xfail(VERSIONS.spark.major < 4, strict=True, raises=pytest.fail.Exception, reason=CASTS)
    @pytest.mark.parametrize("values", ["100, 1", "1, 128"])
    def test_too_great_for_its_column(self, project, rows, values):
        rows("create table if not exists {schema}.small (d decimal(3,1), t tinyint) using paimon")
        with pytest.raises(Exception, match=r"OVERFLOW|OUT_OF_RANGE"):
            rows(f"insert into {{schema}}.small values ({values})")
