"""Each strategy and materialization writes rows correctly, or fails without changing the table."""

from __future__ import annotations

import itertools

import pytest
from dbt.tests.util import get_connection, run_dbt, write_file

from dbt.adapters.paimon.sql.assignment import misfits
from dbt.adapters.paimon.sql.type_trees import type_tree

WINDOW = ["--event-time-start", "2024-01-01", "--event-time-end", "2024-01-02"]
KEYED = "primary_key='id', "
# strategy -> config
WITHOUT_KEY = {
    "append": "incremental_strategy='append'",
    "merge_by_column": "incremental_strategy='merge', unique_key='id'",
    "replace_by_column": "incremental_strategy='delete+insert', unique_key='id'",
    "overwrite": "incremental_strategy='insert_overwrite', partition_by='p'",
    "microbatch": "incremental_strategy='microbatch', event_time='at', batch_size='day', begin='2024-01-01', "
    "partition_by='p'",
}
WITH_KEY = {
    "upsert": KEYED + "incremental_strategy='upsert'",
    "merge_by_key": KEYED + "incremental_strategy='merge'",
    "replace_by_key": KEYED + "incremental_strategy='delete+insert'",
    "overwrite_by_key": "primary_key=['p', 'id'], partition_by='p', incremental_strategy='insert_overwrite'",
    "partial": KEYED + "incremental_strategy='partial_update', merge_engine='partial-update'",
    "batch_by_key": KEYED + "incremental_strategy='microbatch', event_time='at', batch_size='day', begin='2024-01-01'",
    "changes": KEYED + "incremental_strategy='apply_changes', rowkind_field='kind', sequence_field='at'",
    "across": KEYED + "partition_by='p', bucket=-1",
    "audited": KEYED + "wap=true",
}
STRATEGIES = WITHOUT_KEY | WITH_KEY
# Run 0 is the first; run 1 has struct fields in another order; later runs have rows that must be refused.
MODEL = """
{{{{ config(materialized='incremental', {config}) }}}}
{{% set run = var('run', 0) %}}
select
  {{% if run == 4 %}}cast(null as int){{% else %}}{{{{ run }}}}{{% endif %}} as id,
  'p{{{{ run }}}}' as p, timestamp'2024-01-01 00:00:00' + interval {{{{ run }}}} hours as at, '+I' as kind,
  {{{{ '1.9D' if run == 2 else '7' }}}} as n,
  {{% if run == 0 %}}
  named_struct('a', 1, 'b', 2, 'in', named_struct('x', 3, 'y', 4)) as s,
  array(named_struct('a', 1, 'b', 2), null) as l,
  map('k', named_struct('a', 1, 'b', 2)) as m,
  named_struct('a', 1, 'b', 2) as f
  {{% else %}}
  named_struct({{% if run == 3 %}}'new', 0, {{% endif %}}'b', 2, 'in', named_struct('y', 4, 'X', 3), 'a', 1) as s,
  array(named_struct('b', 2, 'a', 1), null) as l,
  map('k', named_struct('b', 2, 'a', 1)) as m,
  named_struct('b', 2, 'a', 1) as f
  {{% endif %}}
{{% if run == 1 %}}
union all
select 10, 'p1', timestamp'2024-01-01 03:00:00', '+I', null, named_struct('b', 5, 'in', null, 'a', 6), array(), map('k', null), null
{{% endif %}}
"""
READ = (
    "select id, n, s.a, s.b, s.in.x, s.in.y, f is null, f.a, f.b, get(l, 0).a, get(l, 0).b, size(l), m['k'].a, m['k'].b "
    "from {{schema}}.{} order by id"
)
GOOD = (7, 1, 2, 3, 4, False, 1, 2, 1, 2, 2, 1, 2)
EMPTY = (None, 6, 5, None, None, True, None, None, None, None, 0, None, None)


def run(number: int, *arguments: str, expect_pass: bool = True):
    return run_dbt(["run", *WINDOW, *arguments, "--vars", f"run: {number}"], expect_pass=expect_pass)


class TestStrategies:
    """Each test continues from the state that the previous one left."""

    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": MODEL.format(config=config) for name, config in STRATEGIES.items()}

    @pytest.fixture(scope="class")
    def kept(self, rows):
        def read(name: str):
            return rows(READ.format(name))

        return read

    def refused(self, kept, number: int, names, parts) -> None:
        before = {name: kept(name) for name in names}
        results = run(number, "--select", *names, expect_pass=False)
        assert len(results) == len(before)
        for result in results:
            assert result.status == "error", result.node.name
            # dbt only logs the messages of a microbatch model's batches.
            for part in (f"model '{result.node.name}'", *parts) if result.batch_results is None else ():
                assert part in result.message, result.message
        assert {name: kept(name) for name in names} == before

    def test_fields_of_structs_go_by_name(self, project, kept):
        run(0)
        run(1)
        for name in STRATEGIES:
            # With a key, a microbatch replaces its whole day; otherwise partitions without new rows stay.
            first = [] if name == "batch_by_key" else [(0, *GOOD)]
            assert kept(name) == [*first, (1, *GOOD), (10, *EMPTY)], name

    def test_a_type_that_loses_is_refused(self, project, kept):
        self.refused(kept, 2, STRATEGIES, ["column n is int in the table and double", "cast(`n` as int)"])

    def test_a_field_that_the_table_has_not_is_refused(self, project, kept):
        self.refused(kept, 3, STRATEGIES, ["column s is struct<", " struct: new", "--full-refresh"])

    def test_a_key_without_a_value_is_refused(self, project, kept, rows):
        self.refused(kept, 4, WITH_KEY, ["id", "key", "ilter such rows out"])
        assert rows("select count(*) from {schema}.changes__dbt_deletes") == [(0,)]


# Values that Paimon's cast would change: name -> (column's expression, increment's expression)
LOSSY = {
    "fraction": ("1", "1.9"),
    "two": ("true", "2"),
    "seconds": ("timestamp'2024-01-01 00:00:00'", "20240102"),
    "seconds_too": ("timestamp'2024-01-01 00:00:00'", "20240102L"),
    "micros": ("1L", "timestamp'2024-01-01 00:00:00.5'"),
    "clock": ("date'2024-01-01'", "timestamp'2024-01-01 10:00:00'"),
    "day_of_text": ("date'2024-01-01'", "'2024-01-01'"),
    "great": ("float(1)", "1e300D"),
    "elements": ("array(1)", "array(5000000000)"),
    "map_values": ("map('k', 1)", "map('k', 5000000000)"),
    "fields": ("named_struct('f', 1)", "named_struct('f', 5000000000)"),
    "total": ("1", "sum(n) from (select explode(array(2147483647, 1)) as n)"),
    "decimal": ("cast(1 as decimal(3,1))", "cast(100 as decimal(9,1))"),
    "scale": ("cast(1 as decimal(9,1))", "cast(1.25 as decimal(9,2))"),
    "word": ("1", "'two'"),
    "text": ("array(1)", "'[1]'"),
}
# Types that fit except for some values: name -> (column's expression, a value that does not fit, one that does)
ROUNDED = {
    "odd": ("1D", "9007199254740993L", "9007199254740992L"),
    "greatest": ("1D", "9223372036854775807L", "1152921504606846976L"),
    "in_array": ("array(1D)", "array(null, 9007199254740993L)", "array(null, 3L)"),
    "small": ("float(1)", "16777217", "16777216"),
}
# (from, to) of casts that Spark's rule allows and the adapter's does not; for example, numbers are not times.
NARROWER = {
    ("bigint", "timestamp"),
    ("timestamp", "bigint"),
    ("interval day to second", "string"),
}
# Types that fit: name -> (column's expression, increment's expression, the value read back as text)
WIDER = {
    "longer": ("1L", "2", "2"),
    "precise": ("cast(1 as decimal(20,2))", "2", "2.00"),
    "written": ("'a'", "2.5", "2.5"),
    "nothing": ("1", "null", None),
    "nested": ("array(map('k', 1L))", "array(map('k', 2), null)", "[{k -> 2}, null]"),
}


class TestTypes:
    @pytest.fixture(scope="class")
    def models(self):
        cases = LOSSY | ROUNDED | {name: values[:2] for name, values in WIDER.items()}
        return {f"{name}.sql": self.model(values) for name, values in cases.items()}

    @staticmethod
    def model(values) -> str:
        # The expression with an aggregate has its own FROM.
        selects = [
            f"select {number} as id, "
            + (value.replace(" from ", " as v from ") if " from " in value else f"{value} as v")
            for number, value in enumerate(values)
        ]
        return f"{{{{ config(materialized='incremental', primary_key='id') }}}}\n{{{{ {selects}[var('run', 0)] }}}}"

    def test_what_loses_is_refused_and_what_does_not_is_written(self, project, rows):
        run_dbt(["run"])
        results = {r.node.name: r for r in run_dbt(["run", "--vars", "run: 1"], expect_pass=False)}
        for name in LOSSY | ROUNDED:
            assert results[name].status == "error", name
            assert f"model '{name}': column v" in results[name].message, results[name].message
            assert rows(f"select id from {{schema}}.{name}") == [(0,)], name
        for name, (_, _, expected) in WIDER.items():
            assert results[name].status == "success", results[name].message
            assert rows(f"select cast(v as string) from {{schema}}.{name} where id = 1") == [(expected,)], name
        run_dbt(["run", "--vars", "run: 2", "--select", *ROUNDED])
        for name in ROUNDED:
            assert rows(f"select count(*) from {{schema}}.{name} where id = 2") == [(1,)], name

    def test_the_rule_is_that_of_spark(self, project):
        atoms = (
            *(
                "boolean",
                "tinyint",
                "smallint",
                "int",
                "bigint",
                "float",
                "double",
                "string",
                "binary",
                "date",
            ),
            *(
                "timestamp",
                "timestamp_ntz",
                "void",
                "decimal(2,0)",
                "decimal(3,0)",
                "decimal(9,0)",
                "decimal(10,0)",
            ),
            *("decimal(20,0)", "decimal(21,1)", "decimal(5,2)", "decimal(38,18)", "interval day to second"),
        )
        shapes = (
            "{}",
            "array<{}>",
            "map<string,{}>",
            "map<{},int>",
            "struct<a:{}>",
            "array<struct<a:map<int,{}>>>",
        )
        with get_connection(project.adapter):
            jvm = project.adapter.handle.session._jvm
            read, can_up_cast = (
                jvm.org.apache.spark.sql.types.DataType.fromDDL,
                jvm.org.apache.spark.sql.catalyst.expressions.Cast.canUpCast,
            )
            types = {text: read(text) for text in (shape.format(atom) for shape in shapes for atom in atoms)}
            for shape in shapes:
                for source, target in itertools.product(atoms, repeat=2):
                    told = shape.format(source), shape.format(target)
                    expected = can_up_cast(types[told[0]], types[told[1]]) and (source, target) not in NARROWER
                    assert (not misfits(*map(type_tree, told))) is expected, told
            for plain, nested in itertools.product(atoms, ("array<int>", "struct<a:int>")):
                assert (not misfits(type_tree(plain), type_tree(nested))) is can_up_cast(types[plain], read(nested)), (
                    plain
                )
                assert (not misfits(type_tree(nested), type_tree(plain))) is can_up_cast(read(nested), types[plain]), (
                    plain
                )


# Partition columns outside the key. Paimon would store their NULLs as '', 0, false and 1970-01-01.
PARTITIONS = {
    "text": ("string", "'a'"),
    "number": ("int", "7"),
    "truth": ("boolean", "true"),
    "day": ("date", "date'2024-01-01'"),
}
ACROSS = """
{{{{ config(materialized='{kind}', primary_key='id', partition_by='p') }}}}
select 1 as id, {{% if var('run', 1) == 0 %}}{value}{{% else %}}cast(null as {type}){{% endif %}} as p
"""
CONTRACT = """
models:
  - name: contracted
    config: {contract: {enforced: true}}
    columns:
      - {name: id, data_type: int}
      - {name: n, data_type: int, constraints: [{type: not_null}]}
      - {name: word, data_type: varchar(3)}
snapshots:
  - name: kept
    relation: ref('to_keep')
    config: {unique_key: id, strategy: timestamp, updated_at: at, primary_key: [k, dbt_scd_id], hard_deletes: invalidate}
"""
CONTRACTED = """
{{ config(materialized='incremental', primary_key='id', on_schema_change='fail') }}
{% set run = var('run', 0) %}
select 1 as id, {{ 'cast(null as int)' if run == 1 else 1 }} as n,
  '{{ 'long' if run == 2 else 'abc' }}' as word
"""
TO_KEEP = """
{{ config(materialized='view') }}
{% set run = var('run', 0) %}
select 1 as id, {{ "'k' as k, " if run != 5 else '' }}named_struct({{ "'b', 2, 'a', 1" if run > 0 else "'a', 1, 'b', 2" }}) as s,
  {{ '1.5D' if run == 3 else 1 }} as n, timestamp'2024-01-01 00:00:00' as at
where {{ run }} <> 4
union all
select 2, {{ 'cast(null as string), ' if run == 2 else "'k', " if run != 5 else '' }}named_struct({{ "'b', 2, 'a', 1" if run > 0 else "'a', 1, 'b', 2" }}), {{ run }},
  timestamp'2024-01-01 00:00:00' + interval {{ run }} hours
"""
PYTHON = """
def model(dbt, session):
    dbt.config(materialized="incremental", primary_key="id")
    run = dbt.config.get("run")
    value = {0: "1", 1: "1.5D", 2: "2"}[run]
    return session.sql(f"select {'cast(null as int)' if run == 2 else 1} as id, {value} as n")
"""


class TestMaterializations:
    @pytest.fixture(scope="class")
    def models(self):
        across = {
            f"{kind}_{name}.sql": ACROSS.format(kind=kind, type=data_type, value=value)
            for kind in ("table", "incremental")
            for name, (data_type, value) in PARTITIONS.items()
        }
        return across | {
            "schema.yml": CONTRACT,
            "contracted.sql": CONTRACTED,
            "to_keep.sql": TO_KEEP,
            "by_python.py": PYTHON,
            "properties.yml": "models: [{name: by_python, config: {run: \"{{ var('run', 0) }}\"}}]",
        }

    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "seeded.csv": "id,n\n1,1\n,2\n",
            "seeded.yml": "seeds: [{name: seeded, config: {primary_key: id}}]",
            "rounded.csv": "d\n1.25\n",
            "rounded.yml": "seeds: [{name: rounded, config: {column_types: {d: 'decimal(3,1)'}}}]",
        }

    def test_a_null_partition_outside_of_the_key_is_refused(self, project, rows):
        names = [f"{kind}_{name}" for kind in ("table", "incremental") for name in PARTITIONS]
        for before in (set(), set(names)):
            results = run_dbt(["run", "--select", *names], expect_pass=False)
            assert {str(result.status) for result in results} == {"error"}
            for result in results:
                assert f"non-null column(p) of model '{result.node.name}'" in result.message, result.message
                assert "coalesce" in result.message
            assert {row[1] for row in rows("show tables in {schema}")} == before
            if not before:
                run_dbt(["run", "--select", *names, "--vars", "run: 0"])
        for name in names:
            assert rows(f"select id, p is null from {{schema}}.{name}") == [(1, False)]

    def test_contract(self, project, rows):
        run_dbt(["run", "--select", "contracted"])
        for number, said in ((1, "non-null column(n)"), (2, "longer than 3 characters")):
            (result,) = run_dbt(["run", "--select", "contracted", "--vars", f"run: {number}"], expect_pass=False)
            assert said in result.message and "model 'contracted'" in result.message, result.message
        run_dbt(["run", "--select", "contracted"])
        assert rows("select id, n, word from {schema}.contracted") == [(1, 1, "abc")]

    def test_snapshot(self, project, rows):
        def snapshot(number: int, expect_pass: bool = True):
            run_dbt(["run", "--select", "to_keep", "--vars", f"run: {number}"])
            return run_dbt(["snapshot"], expect_pass=expect_pass)[0]

        read = "select id, s.a, s.b, n, dbt_valid_to is null from {schema}.kept order by id, n"
        snapshot(0)
        snapshot(1)
        versions = [(1, 1, 2, 1, True), (2, 1, 2, 0, False), (2, 1, 2, 1, True)]
        assert rows(read) == versions
        assert "non-null column(k) of snapshot 'kept'" in snapshot(2, expect_pass=False).message
        assert "snapshot 'kept': column n is int in the table" in snapshot(3, expect_pass=False).message
        assert "primary_key=['k', 'dbt_scd_id']: the query has no column 'k'" in snapshot(5, False).message
        assert rows(read) == versions
        # For a deleted row, only the end of its version is written, so its values are not checked.
        snapshot(4)
        assert [row[4] for row in rows(read) if row[0] == 1] == [False]

    def test_python_model(self, project, rows):
        run_dbt(["run", "--select", "by_python"])
        for number, said in ((1, "column n is int in the table"), (2, "non-null column(id)")):
            (result,) = run_dbt(["run", "--select", "by_python", "--vars", f"run: {number}"], expect_pass=False)
            assert said in result.message, result.message
        assert rows("select id, n from {schema}.by_python") == [(1, 1)]

    def test_seeds(self, project, rows):
        results = {r.node.name: r for r in run_dbt(["seed"], expect_pass=False)}
        assert "non-null column(id) of seed 'seeded'" in results["seeded"].message
        assert "column d: '1.25' is not a valid decimal(3,1)" in results["rounded"].message
        assert not {"seeded", "rounded"} & {row[1] for row in rows("show tables in {schema}")}
        write_file("id,n\n1,1\n2,2\n", project.project_root, "seeds", "seeded.csv")
        run_dbt(["seed", "--select", "seeded"])
        assert rows("select id, n from {schema}.seeded order by id") == [(1, 1), (2, 2)]
