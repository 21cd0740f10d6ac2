"""A config may name columns in a different case; Paimon gets each name as the column spells it."""

from __future__ import annotations

import pytest
from tests.unit.specs import table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.column_rules import check_columns
from dbt.adapters.paimon.spec.problems import ConfigErrors
from dbt.adapters.paimon.spec.spelling import speller
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.tables.changeset import Changeset, compute_changeset
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable

P09 = Versions.of("0.9.0")
AS_WRITTEN = Versions(P09.paimon, P09.spark, case_sensitive=True)
COLUMNS = [("id", "int"), ("Dt", "string"), ("ts", "int"), ("v", "int"), ("op", "string")]

CONFIG = {
    "primary_key": ["ID", "DT"],
    "partition_by": "dt",
    "bucket": 2,
    "bucket_key": "Id",
    "sequence_field": "TS",
    "merge_engine": "partial-update",
    "fields": {"TS": {"sequence_group": ["V"]}, "V": {"aggregate_function": "sum"}},
    "tblproperties": {"file-index.bloom-filter.columns": "V", "file-index.bloom-filter.V.fpp": "0.1"},
}
SPELLED = {
    "bucket": "2",
    "bucket-key": "id",
    "merge-engine": "partial-update",
    "sequence.field": "ts",
    "fields.ts.sequence-group": "v",
    "fields.v.aggregate-function": "sum",
    "file-index.bloom-filter.columns": "v",
    "file-index.bloom-filter.v.fpp": "0.1",
}


def spec_of(config, versions=P09) -> TableSpec:
    return table_spec(config, model="m", versions=versions)


def checked(config, columns=COLUMNS, versions=P09) -> TableSpec:
    spec = spec_of(config, versions)
    return check_columns(spec, columns, config=config, model="m", versions=versions)


def existing(spec: TableSpec, names=("id", "Dt", "ts", "v", "op")) -> ExistingTable:
    columns = tuple(ExistingColumn(name, "int") for name in names)
    return ExistingTable(spec.primary_key, spec.partition_by, spec.options, columns)


def test_every_name_is_spelled_as_its_column():
    spec = checked(CONFIG)
    assert spec.primary_key == ("id", "Dt") and spec.partition_by == ("Dt",)
    assert dict(spec.options) == SPELLED


def test_a_name_in_another_case_is_no_change():
    table = existing(checked(CONFIG))
    assert compute_changeset(spec_of(CONFIG), table, P09) == Changeset()
    for name in ("dt", "DT", "Dt"):
        assert compute_changeset(spec_of({"partition_by": name}), existing(TableSpec((), ("Dt",))), P09) == Changeset()


def test_a_column_that_changed_its_case_after_the_table_was_made():
    """The query now returns ID, and the table has id."""
    table = existing(TableSpec(("id",), (), {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}))
    config = {
        "primary_key": "ID",
        "merge_engine": "aggregation",
        "fields": {"V": {"aggregate_function": "sum"}},
    }
    assert compute_changeset(spec_of(config), table, P09) == Changeset()


def test_another_column_is_a_change():
    changes = compute_changeset(spec_of({"partition_by": "TS"}), existing(TableSpec((), ("Dt",))), P09)
    assert [str(change) for change in changes.immutable] == ["partition: 'Dt' -> 'ts'"]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"primary_key": ["id", "ID"]}, "'id' is listed twice"),
        ({"primary_key": "ID", "partition_by": "id"}, "a partition would hold one row"),
        ({"primary_key": "id", "partition_by": "dt", "bucket": 2}, "leaves out the partition column dt"),
        (
            {
                "primary_key": "id",
                "merge_engine": "aggregation",
                "fields": {"v": {"aggregate_function": "sum"}, "V": {"aggregate_function": "max"}},
            },
            "fields.v.aggregate-function' sets it, too",
        ),
        (
            {"primary_key": "id", "sequence_field": "TS", "merge_engine": "aggregation"}
            | {"fields": {"ts": {"aggregate_function": "max"}}},
            "is the sequence field",
        ),
    ],
)
def test_rules_ignore_case(config, said):
    with pytest.raises(ConfigErrors, match=said):
        checked(config)


def test_a_case_sensitive_session():
    columns = [*COLUMNS, ("ID", "int")]
    spec = checked({"primary_key": "ID", "partition_by": "Dt", "tblproperties": {}}, columns, AS_WRITTEN)
    assert spec.primary_key == ("ID",)
    with pytest.raises(ConfigErrors, match="no column 'TS'"):
        checked({"primary_key": "id", "sequence_field": "TS"}, columns, AS_WRITTEN)


def test_columns_that_differ_only_in_case_keep_their_names():
    spell = speller(["id", "ID", "v"])
    assert [spell(name) for name in ("id", "ID", "Id", "V")] == ["id", "ID", "Id", "v"]
