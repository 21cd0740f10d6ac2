"""Tables with many columns, with deep types, without rows, and with only NULLs."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.sql.data_types import typed_nulls

pytestmark = pytest.mark.full

COLUMNS = 2000


def view_schema(project) -> str:
    """The catalog (Paimon's or Spark's) and schema of a test's views, for the test's own queries."""
    return f"{project.adapter.view_catalog}.{project.test_schema}"


WIDE = """
{{ config(CONFIG) }}
select cast(1 as int) as id
{% for i in range(2000) -%}
, cast({{ i }} + {{ var('run', 0) }} as {{ ['int', 'bigint', 'string', 'double'][i % 4] }}) as column_{{ i }}
{% endfor %}
"""
WIDE_CONFIGS = {
    "replaced": "materialized='table'",
    "upserted": "materialized='incremental', primary_key='id', bucket=1",
}


class TestWide:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": WIDE.replace("CONFIG", config) for name, config in WIDE_CONFIGS.items()}

    # No MERGE: Paimon 0.9 takes minutes to plan it, with or without the adapter.
    def test_two_thousand_columns(self, project, rows):
        run_dbt(["run", "--vars", "run: 1"])
        run_dbt(["run", "--vars", "run: 2", "--select", "upserted"])
        for name, run in (("replaced", 1), ("upserted", 2)):
            fields = rows(f"select fields from {{schema}}.`{name}$schemas` order by schema_id desc")
            assert len(fields) == 1
            assert len(json.loads(fields[0][0])) == COLUMNS + 1
            (row,) = rows(f"select * from {{schema}}.{name}")
            values = (i + run for i in range(COLUMNS))
            kinds = (int, int, str, float)
            assert row == (1, *(kinds[i % 4](value) for i, value in enumerate(values)))


# Name -> (type, SQL of a value, its Python value). `avoid` must not be mistaken for `void`; names need backticks.
NESTED: dict[str, tuple[str, str, Any]] = {
    "arrays": (
        "array<array<array<int>>>",
        "array(array(array(1, null), array()), null)",
        [[[1, None], []], None],
    ),
    "maps": ("map<string,map<int,array<date>>>", "map('a', map(1, array(date'2024-02-29')))", None),
    "structs": (
        "struct<avoid:int,void:string,`a b`:struct<`c.d`:array<struct<`e'f`:int,n:decimal(38,10)>>>,`漢`:boolean>",
        "named_struct('avoid', 1, 'void', 'v', 'a b', named_struct('c.d', array(named_struct('e\\'f', "
        "1, 'n', cast(1.5 as decimal(38,10))))), '漢', true)",
        None,
    ),
    "deep": (
        "struct<a:" * 12 + "array<map<string,binary>>" + ">" * 12,
        "named_struct('a', " * 12 + "array(map('k', X'00FF'))" + ")" * 12,
        None,
    ),
    "wide": (
        "struct<" + ",".join(f"f{i}:int" for i in range(60)) + ">",
        "named_struct(" + ", ".join(f"'f{i}', {i}" for i in range(60)) + ")",
        tuple(range(60)),
    ),
    "nothing": ("array<struct<a:map<int,string>>>", "cast(null as array<struct<a:map<int,string>>>)", None),
}
NESTED_QUERY = "select 1 as id, " + ", ".join(f"{sql} as {name}" for name, (_, sql, _) in NESTED.items())
NESTED_CONFIGS = {
    "nested_table": "materialized='table'",
    "nested_keyed": "materialized='incremental', primary_key='id', on_schema_change='sync_all_columns'",
    "nested_merged": "materialized='incremental', primary_key='id', incremental_strategy='merge', on_schema_change='fail'",
    "nested_orc": "materialized='table', file_format='orc'",
    "nested_view": "materialized='view'",
}
NESTED_SNAPSHOT = (
    "{% snapshot nested_versions %}{{ config(unique_key='id', strategy='check', check_cols=['id']) }} "
    f"{NESTED_QUERY} {{% endsnapshot %}}"
)
NESTED_UNIT_TEST = {
    "version": 2,
    "unit_tests": [
        {
            "name": "of_structs",
            "model": "reader",
            "given": [
                {
                    "input": "ref('nested_table')",
                    "rows": [{"id": 1, "structs": {"avoid": 7, "a b": {"c.d": [{"e'f": 2}]}}}],
                }
            ],
            "expect": {"rows": [{"avoid": 7, "inner": 2}]},
        }
    ],
}


class TestNested:
    @pytest.fixture(scope="class")
    def models(self):
        files: dict[str, str] = {
            f"{name}.sql": f"{{{{ config({config}) }}}} {NESTED_QUERY}" for name, config in NESTED_CONFIGS.items()
        }
        files["reader.sql"] = (
            "select structs.avoid, structs.`a b`.`c.d`[0].`e'f` as inner from {{ ref('nested_table') }}"
        )
        files["tests.yml"] = json.dumps(NESTED_UNIT_TEST)
        return files

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": NESTED_SNAPSHOT}

    def test_deep_types(self, project, rows):
        for _ in range(2):
            run_dbt(["build"])
        names = ", ".join(NESTED)
        (expected,) = rows(f"select {names} from ({NESTED_QUERY})".replace("{", "{{").replace("}", "}}"))
        for name, (_, _, value) in NESTED.items():
            if value is not None:
                assert expected[list(NESTED).index(name)] == value
        for name in (*NESTED_CONFIGS, "nested_versions"):
            home = view_schema(project) if name == "nested_view" else "{schema}"
            assert rows(f"select {names} from {home}.{name}") == [expected], name
            if name != "nested_view":
                # The types read back are those that were written: nothing was altered or rebuilt.
                assert len(rows(f"select * from {{schema}}.`{name}$schemas`")) == 1, name
        with project.adapter.connection_named("types"):
            relation = project.adapter.Relation.create(
                database="paimon", schema=project.test_schema, identifier="nested_table", type="table"
            )
            types = {c.name: c.dtype for c in project.adapter.get_columns_in_relation(relation)}
        assert types == {"id": "int"} | {name: data_type for name, (data_type, _, _) in NESTED.items()}


DECIMAL_FIRST = (
    "{{ config(materialized='table', file_format='%s') }} select named_struct('d', 1.5, 'i', 1) as of_decimal"
)


class TestDecimalFirst:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"in_{name}.sql": DECIMAL_FIRST % name for name in ("parquet", "orc", "avro")}

    def test_what_would_be_written_and_never_read(self, project, rows):
        """Paimon 0.9 cannot read a struct that begins with a decimal from Parquet, so the adapter refuses it."""
        results = run_dbt(["run"], expect_pass=None)
        written = {result.node.name for result in results if result.status == "success"}
        assert written >= {"in_orc", "in_avro"}
        for result in results:
            if result.node.name in written:
                assert rows(f"select * from {{schema}}.{result.node.name}") == [((Decimal("1.5"), 1),)]
            else:
                assert "'of_decimal' is struct<d:decimal(2,1),i:int>" in result.message
                assert "file_format = 'orc'" in result.message
        assert {row[1] for row in rows("show tables in {schema}")} == written


EMPTY = "select cast(1 as int) as id, 'a' as word, array(1.5) as list where false"
EMPTY_CONFIGS = {
    "empty_table": "materialized='table'",
    "empty_partitioned": "materialized='table', partition_by='word'",
    "empty_append": "materialized='incremental'",
    "empty_upsert": "materialized='incremental', primary_key='id'",
    "empty_merge": "materialized='incremental', primary_key='id', incremental_strategy='merge'",
    "empty_delete": "materialized='incremental', primary_key='id', incremental_strategy='delete+insert', unique_key='word'",
    "empty_overwrite": "materialized='incremental', incremental_strategy='insert_overwrite', partition_by='word'",
    "empty_view": "materialized='view'",
}


class TestEmpty:
    @pytest.fixture(scope="class")
    def models(self):
        files = {f"{n}.sql": f"{{{{ config({config}) }}}} {EMPTY}" for n, config in EMPTY_CONFIGS.items()}
        files["empty_python.py"] = "def model(dbt, session):\n    return dbt.ref('empty_table')\n"
        files["emptied.sql"] = (
            "{{ config(materialized='table') }} select 1 as id {% if var('run') == 2 %} where false {% endif %}"
        )
        return files

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"empty_seed.csv": "id,word\n"}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            "versions.sql": "{% snapshot empty_versions %}{{ config(unique_key='id', strategy='check', check_cols='all') }} "
            "select * from {{ ref('empty_table') }} {% endsnapshot %}"
        }

    def test_no_rows(self, project, rows):
        for run in (1, 2):
            run_dbt(["build", "--vars", f"run: {run}"])
        for name in (*EMPTY_CONFIGS, "empty_python", "empty_seed", "empty_versions", "emptied"):
            home = view_schema(project) if name == "empty_view" else "{schema}"
            assert rows(f"select * from {home}.{name}") == [], name
        for name in (*EMPTY_CONFIGS, "empty_python"):
            home = view_schema(project) if name == "empty_view" else "{schema}"
            types = {row[0]: row[1] for row in rows(f"describe {home}.{name}")}
            expected = {"id": "int", "word": "string", "list": "array<decimal(2,1)>"}
            assert {column: types[column] for column in expected} == expected, name


NULLS = """
select 1 as id, null as bare, cast(null as int) as typed, array(null) as in_array, map('k', null) as in_map,
  named_struct('avoid', 1, 'void', null) as in_struct, array() as no_elements
"""
NULL_TYPES = {
    "bare": "string",
    "typed": "int",
    "in_array": "array<string>",
    "in_map": "map<string,string>",
    "in_struct": "struct<avoid:int,void:string>",
    "no_elements": "array<string>",
}
NULL_CONFIGS = {
    "null_table": "materialized='table'",
    "null_keyed": "materialized='incremental', primary_key='id', on_schema_change='fail'",
    "null_merged": "materialized='incremental', primary_key='id', incremental_strategy='merge'",
    "null_overwrite": "materialized='incremental', incremental_strategy='insert_overwrite', partition_by='typed'",
}
CONTRACT = {
    "version": 2,
    "models": [
        {
            "name": "null_contract",
            "config": {"contract": {"enforced": True}, "materialized": "table"},
            "columns": [
                {"name": "id", "data_type": "int"},
                {"name": "amount", "data_type": "decimal(10,2)"},
                {"name": "items", "data_type": "array<struct<a:int>>"},
            ],
        }
    ],
}


class TestNulls:
    @pytest.fixture(scope="class")
    def models(self):
        files = {f"{n}.sql": f"{{{{ config({config}) }}}} {NULLS}" for n, config in NULL_CONFIGS.items()}
        files["null_python.py"] = "def model(dbt, session):\n    return session.sql('select 1 as id, null as bare')\n"
        files["null_contract.sql"] = (
            "select 1 as id, cast(null as decimal(10,2)) as amount, cast(null as array<struct<a:int>>) as items"
        )
        files["contract.yml"] = json.dumps(CONTRACT)
        files["filled.sql"] = (
            "{{ config(materialized='table') }} select 1 as id, {{ 'null' if var('run') == 1 else 42 }} as later"
        )
        return files

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"null_seed.csv": "id,nothing\n1,\n2,\n"}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            "versions.sql": "{% snapshot null_versions %}{{ config(unique_key='id', strategy='check', check_cols=['bare']) }} "
            f"{NULLS} {{% endsnapshot %}}"
        }

    @pytest.fixture(scope="class")
    def tests(self):
        return {"stored.sql": "{{ config(store_failures=true, severity='warn', alias='null_stored') }} " + NULLS}

    def test_columns_of_nothing_but_null(self, project, rows):
        for run in (1, 2):
            run_dbt(["build", "--vars", f"run: {run}"])
        for name in (*NULL_CONFIGS, "null_versions"):
            described = {row[0]: row[1] for row in rows(f"describe {{schema}}.{name}")}
            assert {column: described[column] for column in NULL_TYPES} == NULL_TYPES, name
            assert len(rows(f"select * from {{schema}}.`{name}$schemas`")) == 1
            assert rows(f"select id, bare, typed, in_array, in_map, in_struct, no_elements from {{schema}}.{name}") == [
                (1, None, None, [None], {"k": None}, (1, None), [])
            ]
        assert rows("select * from {schema}.null_python") == [(1, None)]
        assert rows("select * from {schema}.null_contract") == [(1, None, None)]
        assert rows("select * from {schema}.filled") == [(1, 42)]
        assert rows("select id, nothing from {schema}.null_seed order by id") == [(1, None), (2, None)]
        for table in (
            f"{project.test_schema}.null_seed",
            f"{project.test_schema}_dbt_test__audit.null_stored",
        ):
            described = [row[1] for row in rows(f"describe paimon.{table}")]
            assert described == [typed_nulls(data_type) for data_type in described]
