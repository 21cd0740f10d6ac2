"""The table in which apply_changes keeps deletes: when its types are altered, and when the table no longer fits."""

import pytest

from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable
from dbt.adapters.paimon.writing.deletes import kept_deletes

DELETES = PaimonRelation.create("lake", "shop", "t__dbt_deletes", "table")
SPEC = TableSpec(
    primary_key=("id",),
    partition_by=(),
    options={"sequence.field": "seq,op", "rowkind.field": "op"},
)


def kept(seq: str, there: dict[str, str], key: tuple[str, ...] = ("id",), id_type: str = "int"):
    columns = [ExistingColumn(name, kind) for name, kind in (("seq", seq), ("op", "string"), ("id", id_type))]
    current = ExistingTable(
        primary_key=key,
        columns=tuple(ExistingColumn(name, kind, nullable=False) for name, kind in there.items()),
        options={"sequence.field": "seq"},
    )
    return kept_deletes(DELETES, SPEC, columns, current)


def test_key_and_sequence_are_kept():
    columns = [
        ExistingColumn("id", "int", False),
        ExistingColumn("v", "int"),
        ExistingColumn("seq", "bigint"),
    ]
    found = kept_deletes(DELETES, SPEC, columns, None)
    assert [(c.name, c.data_type) for c in found.columns] == [("id", "int"), ("seq", "bigint")]
    assert found.fits and not found.retype


@pytest.mark.parametrize(
    ("seq", "there", "retyped"),
    [
        ("int", {"id": "int", "seq": "int"}, []),
        ("bigint", {"id": "int", "seq": "int"}, ["bigint"]),
        ("bigint", {"ID": "int", "SEQ": "int"}, ["bigint"]),
        # Already wider than the model table's type, so it stays.
        ("int", {"id": "int", "seq": "bigint"}, []),
        ("varchar(5)", {"id": "int", "seq": "string"}, []),
    ],
)
def test_types_that_fit(seq, there, retyped):
    found = kept(seq, there, key=(next(iter(there)),))
    assert found.fits and [column.data_type for column in found.retype] == retyped


@pytest.mark.parametrize(
    ("there", "arguments"),
    [
        ({"id": "int", "seq": "string"}, {}),
        ({"id": "int", "seq": "timestamp"}, {}),
        ({"id": "int", "seq": "bigint"}, {"id_type": "bigint"}),
        ({"id": "int", "seq": "bigint"}, {"key": ("id", "seq")}),
        ({"id": "int"}, {}),
        ({"seq": "bigint", "id": "int"}, {}),
        ({"id": "int", "seq": "bigint", "sub": "int"}, {}),
    ],
)
def test_what_does_not_fit(there, arguments):
    assert not kept("bigint", there, **arguments).fits
