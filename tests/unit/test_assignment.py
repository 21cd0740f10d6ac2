"""Which types fit into which columns, and the SQL of the casts; functional tests check these rules on Spark."""

from __future__ import annotations

from dataclasses import replace

import pytest
from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.assignment import can_alter_type, cast_sql, misfits
from dbt.adapters.paimon.sql.type_trees import type_tree
from dbt.adapters.paimon.tables.column_changes import compare_columns
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable
from dbt.adapters.paimon.writing.row_checks import checked_columns, destination, lossy_columns

SPEC = TableSpec(primary_key=("id",), partition_by=("p",), options={})


def tree(text: str):
    found = type_tree(text)
    assert found is not None, text
    return found


@pytest.mark.parametrize(
    "text",
    [
        "int",
        "decimal(10,2)",
        "varchar(3)",
        "interval day to second",
        "string collate UTF8_LCASE".lower(),
        "array<map<string,struct<a:int,`b c`:array<decimal(3,1)>,`d``e:<>`:timestamp_ntz>>>",
        "struct<`İ`:int,b:array<int>>",
        "struct<>",
        "struct<int:int,Name:string>",
    ],
)
def test_a_text_is_read_and_written_back(text):
    assert str(tree(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "array<int",
        "map<int>",
        "struct<a:int,... 3 more fields>",
        "struct<a b>",
        "int>",
        "struct<a,b:int>",
        "struct<a:b:int>",
    ],
)
def test_incomplete_types(text):
    assert type_tree(text) is None


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("struct<b:int,a:int>", "struct<A:int,B:int>", []),
        ("struct<a:int>", "struct<a:int,b:int>", ["the query's struct lacks fields of the table's struct: b"]),
        ("struct<a:int,b:int>", "struct<a:int>", ["the table's struct lacks fields of the query's struct: b"]),
        ("array<struct<a:bigint>>", "array<struct<a:int>>", ["[].a: bigint does not fit into int"]),
        ("map<bigint,bigint>", "map<int,int>", ["[key]", "[value]"]),
        ("struct<a:int,A:int>", "struct<A:int,a:int>", ["differ only in case"]),
        ("void", "array<int>", []),
        ("array<void>", "array<int>", []),
        ("string", "varchar(3)", []),
        ("int", "array<int>", ["does not fit"]),
        ("array<decimal(18,0)>", "array<bigint>", []),
        # 9,999,999,999,999,999,999 exceeds a bigint.
        ("array<decimal(19,0)>", "array<bigint>", ["does not fit"]),
    ],
)
def test_nested_types(source, target, said):
    found = [str(misfit) for misfit in misfits(tree(source), tree(target))]
    assert len(found) == len(said)
    for message, part in zip(found, said, strict=True):
        assert part in message


def refuse(_: str, value: str) -> str:
    return f"raise_error({value})"


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("int", "int", "c"),
        ("int", "bigint", "cast(c as bigint)"),
        ("void", "array<int>", "cast(c as array<int>)"),
        ("array<int>", "array<int>", "c"),
        ("array<int>", "array<bigint>", "transform(c, __dbt_0 -> cast(__dbt_0 as bigint))"),
        ("struct<A:int,b:int>", "struct<a:int,b:int>", "c"),
        (
            "struct<b:int,a:int>",
            "struct<a:bigint,b:int>",
            "if(c is null, null, named_struct('a', cast(c.`a` as bigint), 'b', c.`b`))",
        ),
        (
            "map<int,array<int>>",
            "map<bigint,array<bigint>>",
            "transform_keys(transform_values(c, (__dbt_0_key, __dbt_0_value) -> "
            "transform(__dbt_0_value, __dbt_1 -> cast(__dbt_1 as bigint))), "
            "(__dbt_0_key, __dbt_0_value) -> cast(__dbt_0_key as bigint))",
        ),
        ("void", "array<timestamp(3)>", "cast(c as array<timestamp>)"),
        (
            "timestamp",
            "timestamp(3)",
            "case when c is null or date_format(c, 'SSSSSS') like '%000' then c "
            "else raise_error(cast(c as string)) end",
        ),
        ("string", "varchar(3)", "case when length(c) > 3 then raise_error(c) else c end"),
        ("string", "char(3)", "case when length(rtrim(c)) > 3 then raise_error(c) else rpad(c, 3, ' ') end"),
    ],
)
def test_sql(source, target, expected):
    assert cast_sql("c", tree(source), tree(target), refuse) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("int", "bigint", True),
        ("bigint", "int", False),
        ("bigint", "double", False),  # some values are rounded
        ("int", "string", True),
        ("string", "varchar(3)", False),
        ("varchar(3)", "varchar(5)", True),
        ("varchar(3)", "string", True),
        ("varchar(5)", "varchar(3)", False),
        ("array<int>", "array<bigint>", False),  # ALTER refuses this change
    ],
)
def test_whether_alter_loses_values(old, new, expected):
    assert can_alter_type(tree(old), tree(new)) is expected


def columns(*given: tuple[str, str]) -> list[PaimonColumn]:
    return [PaimonColumn(column=name, dtype=data_type) for name, data_type in given]


def to(*table: ExistingColumn, wanted=(), kind="model", **config):
    model = {"name": "m", "resource_type": kind, "config": {"materialized": "incremental", **config}}
    return destination(model, table, wanted, SPEC, "", lossless=True, versions=Versions.of("0.9.0"))


def test_all_columns_that_do_not_fit_are_in_one_error():
    table = (
        ExistingColumn("id", "int", False),
        ExistingColumn("n", "int"),
        ExistingColumn("s", "struct<a:int>"),
    )
    query = columns(("id", "int"), ("N", "double"), ("s", "struct<b:int>"))
    with pytest.raises(CompilationError) as raised:
        checked_columns(query, to(*table))
    for part in (
        "model 'm'",
        "column n is int",
        "cast(`n` as int)",
        "sync_all_columns",
        "struct: a",
        "--full-refresh",
    ):
        assert part in str(raised.value)
    with pytest.raises(CompilationError) as raised:
        checked_columns(query, to(*table, kind="snapshot"))
    assert "--full-refresh" not in str(raised.value)


def test_a_type_that_cannot_be_read_is_refused():
    """A Thrift server does not quote field names; such fields would be assigned by position, unchecked."""
    table = ExistingColumn("s", "struct<`x,y`:int,`a:b`:int>")
    for told in ("struct<x,y:int,a:b:int>", "array<struct<a:b:int>>", "struct<a<b>:int>"):
        with pytest.raises(CompilationError, match=r"model 'm': column s is .* cannot be parsed"):
            checked_columns(columns(("s", told)), to(table))
    assert checked_columns(columns(("s", table.data_type)), to(table)) == ["`s`"]


def test_a_missing_required_column_is_refused():
    table = (
        ExistingColumn("id", "int", False),
        ExistingColumn("n", "int", False),
        ExistingColumn("v", "int"),
    )
    query = columns(("ID", "int"))

    def said(**config) -> str:
        with pytest.raises(CompilationError) as raised:
            checked_columns(query, to(*table, **config))
        assert "column n is NOT NULL in the table" in str(raised.value) and "column v" not in str(raised.value)
        return str(raised.value)

    assert "sync_all_columns" in said() and "--full-refresh" in said()
    assert "sync_all_columns" not in said(contract={"enforced": True})
    assert "--full-refresh" not in said(kind="snapshot")


def test_not_null_of_the_table_or_the_model_is_checked():
    table = (ExistingColumn("id", "int", False), ExistingColumn("p", "int"), ExistingColumn("n", "int"))
    wanted = (ExistingColumn("P", "int", False),)
    query = columns(("id", "int"), ("p", "int"), ("n", "int"), ("not_there", "int"))
    selected = checked_columns(query, to(*table, wanted=wanted))
    assert [
        text.startswith(f"case when {quoted} is null then raise_error(")
        for text, quoted in zip(selected, ("`id`", "`p`", "`n`", "`not_there`"), strict=True)
    ] == [True, True, False, False]
    assert selected[2:] == ["`n`", "`not_there`"]


def test_sync_skips_lossy_types_and_columns_that_place_rows():
    table = ExistingTable(
        primary_key=("id",),
        options={"bucket-key": "id", "sequence.field": "at"},
        columns=(
            *(ExistingColumn(name, "int") for name in ("id", "at", "wider", "as_text", "other")),
            ExistingColumn("narrower", "bigint"),
        ),
    )
    types = {
        "id": "bigint",
        "at": "string",
        "wider": "bigint",
        "as_text": "string",
        "other": "date",
        "narrower": "int",
    }
    wanted = [ExistingColumn(name, data_type) for name, data_type in types.items()]
    changes = compare_columns(wanted, table, comments=False)
    assert [column.name for column in changes.alterable_in_place] == ["wider", "as_text"]
    synced = {
        column.name: column.data_type for column in changes.columns_during_increment(table.columns, "sync_all_columns")
    }
    assert synced == {
        "id": "int",
        "at": "int",
        "wider": "bigint",
        "as_text": "string",
        "other": "int",
        "narrower": "bigint",
    }
    for mode in ("ignore", "append_new_columns"):
        assert changes.columns_during_increment(table.columns, mode) == table.columns


@pytest.mark.parametrize(
    ("old", "new", "altered"),
    [
        ("int", "string", True),
        ("double", "string", True),
        ("date", "string", True),
        ("date", "timestamp_ntz", True),
        # Paimon casts the existing rows differently from Spark.
        ("decimal(10,7)", "string", False),
        ("timestamp", "string", False),
        ("timestamp_ntz", "string", False),
        ("date", "timestamp", False),
    ],
)
def test_sync_alters_where_paimon_casts_as_spark_does(old, new, altered):
    table = ExistingTable(columns=(ExistingColumn("n", old),))
    changes = compare_columns([ExistingColumn("n", new)], table, comments=False)
    assert bool(changes.alterable_in_place) is altered
    assert [column.data_type for column in changes.columns_during_increment(table.columns, "sync_all_columns")] == [
        new if altered else old
    ]


@pytest.mark.parametrize(
    ("option", "value", "compared"),
    [
        ("sequence.field", "a,N", True),
        ("fields.a,N.sequence-group", "b", True),
        ("fields.a.sequence-group", "N", False),
        ("fields.n.aggregate-function", "max", True),
        ("fields.N.aggregate-function", "min", True),
        ("fields.n.aggregate-function", "last_value", False),
        ("fields.default-aggregate-function", "max", True),
        ("fields.default-aggregate-function", "last_value", False),
    ],
)
def test_columns_that_order_rows_do_not_become_text(option, value, compared):
    table = ExistingTable(columns=(ExistingColumn("N", "int"),), options={option: value})
    for new, altered in (("string", not compared), ("bigint", True)):
        changes = compare_columns([ExistingColumn("N", new)], table, comments=False)
        assert bool(changes.alterable_in_place) is altered, new
    table = ExistingTable(columns=(ExistingColumn("N", "varchar(5)"),), options={option: value})
    assert compare_columns([ExistingColumn("N", "string")], table, comments=False).alterable_in_place


def test_a_refusal_names_sync_only_where_it_alters():
    table, query = (ExistingColumn("n", "int"),), columns(("n", "string"))
    for options, named in (({}, True), ({"sequence.field": "n"}, False)):
        where = replace(
            to(*table), spec=TableSpec(options=options), may_suggest_sync=True, versions=Versions.of("1.4.2")
        )
        with pytest.raises(CompilationError) as raised:
            checked_columns(query, where)
        assert ("sync_all_columns" in str(raised.value)) is named


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("bigint", "int", "cast(c as int)"),
        ("string", "date", "cast(c as date)"),
        ("bigint", "double", "cast(c as double)"),
        ("timestamp", "timestamp(3)", "c"),
        ("array<bigint>", "array<int>", "transform(c, __dbt_0 -> cast(__dbt_0 as int))"),
        (
            "struct<b:int,a:bigint>",
            "struct<a:int,b:int>",
            "if(c is null, null, named_struct('a', cast(c.`a` as int), 'b', c.`b`))",
        ),
        ("bigint", "varchar(3)", cast_sql("c", tree("bigint"), tree("varchar(3)"), refuse)),
    ],
)
def test_the_cast_with_the_flag_off(source, target, expected):
    """Whatever the flag, fields are assigned by name and the length of text is checked."""
    assert cast_sql("c", tree(source), tree(target), refuse, lossless=False) == expected


def test_columns_with_the_flag_off():
    table = (
        ExistingColumn("id", "int", False),
        ExistingColumn("n", "int"),
        ExistingColumn("d", "double"),
        ExistingColumn("t", "timestamp", kept_type="timestamp(3)"),
        ExistingColumn("w", "string"),
    )
    query = columns(("id", "string"), ("n", "int"), ("d", "bigint"), ("t", "timestamp"), ("w", "int"))
    off = replace(to(*table), lossless=False)
    assert lossy_columns(query, off) == [
        "id (string into int)",
        "d (bigint into double)",
        "t (timestamp into timestamp(3))",
    ]
    selected = checked_columns(query, off)
    assert selected[0].startswith("case when cast(`id` as int) is null then raise_error(")
    assert selected[1] == "`n`"
    for source, target in (("array<int>", "int"), ("struct<b:int>", "struct<a:int>")):
        mismatch = replace(to(ExistingColumn("s", target)), lossless=False)
        assert lossy_columns(columns(("s", source)), mismatch) == []
        with pytest.raises(CompilationError):
            checked_columns(columns(("s", source)), mismatch)
