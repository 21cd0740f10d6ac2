"""Wanted and existing columns: which changes are made before or after the rows are written, and which need a new table."""

import pytest
from dbt_common.exceptions import DbtRuntimeError
from hypothesis import given
from hypothesis import strategies as st

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.metadata.schemas import Field, Schema, older_types
from dbt.adapters.paimon.spec.strategies import ON_SCHEMA_CHANGE
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.tables.column_changes import (
    compare_columns,
    missing_filter_capability,
    refuse_schema_change,
    wanted_columns,
    widens,
)
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable

KEYED = TableSpec(primary_key=("id",), partition_by=(), options={})


def column(name, data_type="int", nullable=True, comment=""):
    return ExistingColumn(name, data_type, nullable, comment)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("int", "bigint", True),
        ("bigint", "int", False),
        ("float", "double", True),
        ("int", "double", False),
        ("decimal(10,2)", "decimal(12,2)", True),
        ("decimal(10,2)", "decimal(12,4)", True),
        ("decimal(10,2)", "decimal(11,4)", False),
        ("varchar(3)", "string", True),
        ("varchar(3)", "varchar(5)", True),
        ("varchar(5)", "varchar(3)", False),
        ("string", "int", False),
    ],
)
def test_widens(old, new, expected):
    assert widens(old, new) is expected


def test_compare():
    existing = ExistingTable(
        primary_key=("id",),
        columns=(
            column("id", nullable=False),
            column("grows"),
            column("gone"),
            column("told", comment="old"),
        ),
    )
    wanted = [
        column("ID", nullable=False),
        column("grows", "bigint"),
        column("new"),
        column("told", comment="now"),
    ]
    changes = compare_columns(wanted, existing, comments=True)
    assert [c.name for c in changes.add] == ["new"]
    assert [c.name for c in changes.retype] == ["grows"]
    assert changes.drop == ("gone",)
    assert changes.comment == (("told", "now"),)
    assert changes.rebuild == ()
    assert compare_columns(wanted, existing, comments=False).comment == ()


def test_a_timestamp_with_fewer_digits_needs_a_new_table():
    existing = ExistingTable(columns=(ExistingColumn("at", "timestamp", kept_type="timestamp(3)"),))
    changes = compare_columns([column("at", "timestamp")], existing, comments=False)
    assert changes.rebuild and not changes.changes_schema


def test_a_required_column_that_is_dropped():
    """Rows are written before the column is dropped, so it becomes nullable first, unless it is a key or stays."""
    existing = ExistingTable(
        primary_key=("id",),
        columns=(column("id", nullable=False), column("n"), column("gone", nullable=False)),
    )
    changes = compare_columns([column("n")], existing, comments=False)
    assert changes.drop == ("id", "gone") and changes.make_nullable == changes.nullable_before_drop == ("gone",)
    left = {
        mode: [c.nullable for c in changes.columns_during_increment(existing.columns, mode)]
        for mode in ON_SCHEMA_CHANGE
    }
    assert left.pop("sync_all_columns") == [False, True, True]
    assert set(map(tuple, left.values())) == {(False, True, False)}


@pytest.mark.parametrize(
    "wanted",
    [
        [column("id", "bigint", nullable=False), column("n")],  # a key's type
        [column("id", nullable=False), column("n", "smallint")],  # narrower
        [column("id", nullable=False), column("n", nullable=False)],  # NULLs may exist
        [column("id", nullable=False), column("n"), column("m", nullable=False)],
    ],
)
def test_what_needs_a_new_table(wanted):
    existing = ExistingTable(primary_key=("id",), columns=(column("id", nullable=False), column("n")))
    assert compare_columns(wanted, existing, comments=False).rebuild


def test_wanted_columns_take_keys_contract_and_docs_from_the_model():
    model = {
        "config": {"contract": {"enforced": True}, "persist_docs": {"columns": True}},
        "columns": {
            "Word": {
                "description": "A word.",
                "data_type": "VARCHAR(5)",
                "constraints": [{"type": "not_null"}],
            },
        },
    }
    wanted = wanted_columns([("id", "int"), ("word", "string"), ("nothing", "void")], model, KEYED)
    assert wanted == (
        column("id", nullable=False),
        column("word", "varchar(5)", nullable=False, comment="A word."),
        column("nothing", "string"),
    )


@pytest.mark.parametrize(
    ("declared", "wanted"),
    [("varchar(3)", "varchar(3)"), ("VARCHAR (3)", "varchar(3)"), ("character(3)", "char(3)"), ("string", "string")],
)
def test_lengths_of_a_contract(declared, wanted):
    model = {"config": {"contract": {"enforced": True}}, "columns": {"word": {"name": "word", "data_type": declared}}}
    assert wanted_columns([("word", "string")], model, KEYED)[0].data_type == wanted


def test_a_column_that_may_have_been_renamed():
    existing = ExistingTable(columns=(column("id"), column("old")))
    for mode in ("ignore", "fail"):
        changes = compare_columns([column("id"), column("new")], existing, comments=False)
        with pytest.raises(DbtRuntimeError, match="rename column `old` to `new`"):
            refuse_schema_change("m", mode, "append", TableSpec(), changes)
        changes = compare_columns([column("id"), column("new"), column("more")], existing, comments=False)
        with pytest.raises(DbtRuntimeError) as refused:
            refuse_schema_change("m", mode, "append", TableSpec(), changes)
        assert "rename" not in str(refused.value)


@pytest.mark.parametrize(
    ("mode", "strategy", "engine", "refused"),
    [
        ("fail", "upsert", "deduplicate", True),
        ("ignore", "upsert", "deduplicate", True),
        ("ignore", "partial_update", "partial-update", False),
        ("ignore", "upsert", "aggregation", False),
        ("ignore", "merge", "partial-update", False),
        # These strategies replace whole rows, so the missing column's values would be lost.
        ("ignore", "insert_overwrite", "partial-update", True),
        ("ignore", "insert_overwrite", "aggregation", True),
        ("ignore", "microbatch", "partial-update", True),
        ("append_new_columns", "upsert", "deduplicate", False),
        ("sync_all_columns", "upsert", "deduplicate", False),
    ],
)
def test_a_column_that_the_query_no_longer_returns(mode, strategy, engine, refused):
    existing = ExistingTable(primary_key=("id",), columns=(column("id", nullable=False), column("gone")))
    changes = compare_columns([column("id", nullable=False)], existing, comments=False)
    spec = TableSpec(("id",), (), {"merge-engine": engine})
    if not refused:
        refuse_schema_change("m", mode, strategy, spec, changes)
        return
    with pytest.raises(DbtRuntimeError, match="gone"):
        refuse_schema_change("m", mode, strategy, spec, changes)


@pytest.mark.parametrize(
    ("engine", "options", "refused"),
    [
        ("aggregation", {"fields.gone.aggregate-function": "last_value"}, True),
        ("aggregation", {"fields.default-aggregate-function": "last_value"}, True),
        (
            "aggregation",
            {"fields.default-aggregate-function": "last_value", "fields.gone.aggregate-function": "sum"},
            False,
        ),
        ("partial-update", {"fields.seq.sequence-group": "v,gone"}, True),
        ("partial-update", {"fields.seq.sequence-group": "v"}, False),
        ("partial-update", {"fields.seq.sequence-group": "gone", "fields.gone.aggregate-function": "sum"}, False),
        ("partial-update", {"fields.gone.sequence-group": "v"}, False),
        ("partial-update", {"fields.SEQ.sequence-group": "v,GONE"}, True),
        ("partial-update", {"fields.GONE.sequence-group": "v,gone"}, False),
        ("aggregation", {"fields.GONE.aggregate-function": "last_value"}, True),
    ],
)
def test_a_missing_column_whose_stored_values_would_become_null(engine, options, refused):
    existing = ExistingTable(primary_key=("id",), columns=tuple(map(column, ("id", "seq", "v", "gone"))))
    changes = compare_columns([column("id"), column("seq"), column("v")], existing, comments=False)
    spec = TableSpec(("id",), (), {"merge-engine": engine, **options})
    if refused:
        with pytest.raises(DbtRuntimeError, match="gone"):
            refuse_schema_change("m", "ignore", "upsert", spec, changes)
    else:
        refuse_schema_change("m", "ignore", "upsert", spec, changes)


def test_nulls_without_a_type_fit_the_type_of_the_table():
    existing = ExistingTable(primary_key=("id",), columns=(column("id", "int", nullable=False), column("v", "int")))
    given = [("id", "int"), ("v", "void"), ("new", "void")]
    wanted = wanted_columns(given, {}, existing.as_spec(), stored=existing.columns)
    changes = compare_columns(wanted, existing, comments=False)
    assert [(each.name, each.data_type) for each in changes.add] == [("new", "string")]
    assert not changes.type_changes and not changes.rebuild


@pytest.mark.parametrize(
    ("paimon", "old", "new", "options", "expected"),
    [
        ("0.9.0", "int", "bigint", {}, None),
        ("0.9.0", "int", "bigint", {"file.format": "orc"}, Capability.FILTERS_AFTER_TYPE_CHANGE),
        (
            "0.9.0",
            "int",
            "bigint",
            {"file.format.per.level": "0:avro, 5:orc"},
            Capability.FILTERS_AFTER_TYPE_CHANGE,
        ),
        ("0.9.0", "varchar(3)", "string", {}, None),
        ("0.9.0", "int", "string", {"file.format": "avro"}, Capability.FILTERS_AFTER_CHANGE_TO_TEXT),
        ("1.2.0", "int", "string", {}, Capability.FILTERS_AFTER_CHANGE_TO_TEXT),
        ("1.2.0", "int", "bigint", {"file.format": "orc"}, None),
        ("1.4.2", "int", "string", {"file.format": "orc"}, None),
    ],
)
def test_which_type_changes_break_filters(paimon, old, new, options, expected):
    spec, versions = TableSpec(options=options), Versions.of(paimon)
    assert missing_filter_capability(column("v", old), new, spec, versions) is expected
    assert missing_filter_capability(column("v", new), old, spec, versions) is expected
    existing = ExistingTable(options=options, columns=(column("v", old),))
    altered = compare_columns([column("v", new)], existing, comments=False, versions=versions).alterable_in_place
    assert bool(altered) is (expected is None)


def test_older_types():
    """Columns are matched by ID, which a rename keeps; NOT NULL is not part of the type."""

    def schema(number, *fields):
        return Schema(number, tuple(Field(*field, comment="") for field in fields), (), (), {}, "")

    schemas = [
        schema(2, (0, "id", "INT"), (1, "amount", "BIGINT"), (3, "w", "INT")),
        schema(1, (0, "id", "INT"), (1, "v", "BIGINT"), (2, "w", "STRING")),
        schema(0, (0, "id", "INT NOT NULL"), (1, "v", "INT")),
    ]
    assert older_types(schemas) == {0: {"amount": "int"}}
    assert older_types(schemas[-1:]) == {}


@given(st.lists(st.sampled_from("abcdefg"), unique=True, min_size=1), st.lists(st.sampled_from("ABCDEFG"), unique=True))
def test_moves_give_the_order_of_the_model(have, want):
    existing = ExistingTable(columns=tuple(column(name) for name in have))
    changes = compare_columns([column(name) for name in want], existing, comments=False)
    order = [*have, *(added.name for added in changes.add)]
    for name, before in changes.move:
        order.remove(name)
        order.insert(order.index(before) + 1 if before else 0, name)
    assert [name.upper() for name in order if name not in changes.drop] == want
    if list(map(str.upper, have)) == want:
        assert changes.move == ()
