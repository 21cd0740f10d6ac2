"""The differences between the wanted table and the existing one."""

import pytest

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.component import PropertyChange
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.tables.changeset import Changeset, compute_changeset
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable

P09, P12, P14, P20 = (Versions.of(v) for v in ("0.9.0", "1.2.0", "1.4.2", "2.0.0"))
CATALOGS_OWN = {"path": "/wh/s.db/t", "owner": "root", "provider": "paimon", "transient_lastDdlTime": "17"}


def compare(wanted, present, versions=P09, *, key=("id",), defaults=None):
    """The changeset of two tables with equal keys and these options."""
    return compute_changeset(
        TableSpec(key, (), wanted),
        ExistingTable(key, (), present),
        versions,
        defaults or {},
    )


@pytest.mark.parametrize(
    ("wanted", "present"),
    [
        ({}, {}),
        ({}, CATALOGS_OWN),
        ({}, {"comment": "a table", "primary-key": "id", "partition": "dt", "type": "table"}),
        # properties that other tools set
        ({}, {"etl.owner": "me", "sink.parallelism": "4", "spark.sql.statistics.numRows": "3"}),
        # equal in meaning
        ({"bucket": "8"}, {"bucket": "08"}),
        ({"write-only": "true"}, {"write-only": "TRUE"}),
        ({"snapshot.time-retained": "60 min"}, {"snapshot.time-retained": "1 h"}),
        ({"target-file-size": "1 gb"}, {"target-file-size": "1024 mb"}),
        # a default that only one side sets explicitly
        ({"merge-engine": "deduplicate"}, {}),
        ({}, {"merge-engine": "deduplicate"}),
        ({}, {"bucket": "-1"}),
        ({"snapshot.num-retained.min": "10"}, {}),
    ],
)
def test_no_change(wanted, present):
    changes = compare(wanted, present)
    assert changes == Changeset()


@pytest.mark.parametrize(
    ("wanted", "present", "set_options", "unset_options"),
    [
        ({"write-only": "true"}, {}, {"write-only": "true"}, ()),
        ({"write-only": "false"}, {"write-only": "true"}, {"write-only": "false"}, ()),
        ({}, {"write-only": "true", **CATALOGS_OWN}, {}, ("write-only",)),
        (
            {"changelog-producer": "lookup", "file.format": "orc"},
            {"changelog-producer": "input", "target-file-size": "64 mb"},
            {"changelog-producer": "lookup", "file.format": "orc"},
            ("target-file-size",),
        ),
        (
            {"fields.v.aggregate-function": "max"},
            {"fields.v.aggregate-function": "sum", "fields.w.ignore-retract": "true"},
            {"fields.v.aggregate-function": "max"},
            ("fields.w.ignore-retract",),
        ),
        # an option that the catalogue has only as a pattern
        ({}, {"file-index.bloom-filter.columns": "v"}, {}, ("file-index.bloom-filter.columns",)),
    ],
)
def test_alter(wanted, present, set_options, unset_options):
    changes = compare(wanted, present)
    assert changes.set_options == set_options
    assert changes.unset_options == unset_options
    assert changes.immutable == ()
    assert not changes.needs_overwrite


@pytest.mark.parametrize(
    ("wanted", "present", "versions", "expected"),
    [
        ({"merge-engine": "aggregation"}, {}, P09, [("merge-engine", None, "aggregation")]),
        ({}, {"merge-engine": "first-row"}, P09, [("merge-engine", "first-row", None)]),
        ({"sequence.field": "ts"}, {}, P09, [("sequence.field", None, "ts")]),
        ({"sequence.field": "ts"}, {}, P12, [("sequence.field", None, "ts")]),
        ({"sequence.field": "ts"}, {}, P14, []),
        ({"rowkind.field": "op"}, {"rowkind.field": "kind"}, P14, [("rowkind.field", "kind", "op")]),
        # bucket: may only change from one fixed number to another
        ({"bucket": "4"}, {}, P09, [("bucket", None, "4")]),
        ({}, {"bucket": "4"}, P09, [("bucket", "4", None)]),
        ({"bucket": "-1"}, {"bucket": "4"}, P09, [("bucket", "4", "-1")]),
        ({"bucket": "4"}, {"bucket": "-2"}, P14, [("bucket", "-2", "4")]),
        ({"bucket": "8"}, {"bucket": "4"}, P09, []),
        (
            {"bucket": "4", "bucket-key": "b"},
            {"bucket": "4", "bucket-key": "a"},
            P09,
            [("bucket-key", "a", "b")],
        ),
        # deletion vectors: rows would be duplicated unless the table is modifiable
        ({"deletion-vectors.enabled": "true"}, {}, P09, [("deletion-vectors.enabled", None, "true")]),
        ({"deletion-vectors.enabled": "true"}, {}, P14, [("deletion-vectors.enabled", None, "true")]),
        (
            {"deletion-vectors.enabled": "true", "deletion-vectors.modifiable": "true"},
            {"deletion-vectors.modifiable": "true"},
            P14,
            [],
        ),
        (
            {"deletion-vectors.enabled": "true", "deletion-vectors.modifiable": "true"},
            {},
            P14,
            [("deletion-vectors.enabled", None, "true")],
        ),
        # ignored deletes cannot be recovered
        ({"ignore-delete": "true"}, {}, P14, []),
        ({}, {"ignore-delete": "true"}, P14, [("ignore-delete", "true", None)]),
        ({"ignore-delete": "true"}, {}, P09, [("ignore-delete", None, "true")]),
        (
            {"clustering.columns": "b", "pk-clustering-override": "true"},
            {"clustering.columns": "a", "pk-clustering-override": "true"},
            P14,
            [("clustering.columns", "a", "b")],
        ),
        ({"clustering.columns": "b"}, {"clustering.columns": "a"}, P14, []),
    ],
)
def test_immutable(wanted, present, versions, expected):
    changes = compare(wanted, present, versions)
    assert [(c.name, c.old, c.new) for c in changes.immutable] == expected
    assert bool(changes.immutable) is bool(expected)


@pytest.mark.parametrize(
    ("wanted", "present", "name", "old", "new"),
    [
        (TableSpec(("a",)), ExistingTable(), "primary-key", None, "a"),
        (TableSpec(), ExistingTable(("a", "b")), "primary-key", "a,b", None),
        (TableSpec(("a", "b")), ExistingTable(("b", "a")), "primary-key", "b,a", "a,b"),
        (TableSpec((), ("dt",)), ExistingTable((), ("day",)), "partition", "day", "dt"),
    ],
)
def test_keys_are_compared_in_order(wanted, present, name, old, new):
    changes = compute_changeset(wanted, present, P09)
    assert changes.immutable == (PropertyChange(name, old, new),)
    assert changes.immutable


def test_a_new_number_of_buckets_needs_the_data_rewritten():
    changes = compare({"bucket": "8"}, {"bucket": "4"})
    assert changes.set_options == {"bucket": "8"}
    assert changes.needs_overwrite
    assert not changes.immutable


@pytest.mark.parametrize(
    ("wanted", "present", "expected"),
    [
        ({}, {"bucket": "4"}, []),
        ({"bucket": "4"}, {"bucket": "4"}, []),
        ({}, {}, [("bucket", None, "4")]),
        ({"bucket": "8"}, {"bucket": "8"}, []),
    ],
)
def test_the_catalogs_defaults_are_no_drift(wanted, present, expected):
    changes = compare(wanted, present, defaults={"bucket": "4", "path": "/wh"})
    assert [(c.name, c.old, c.new) for c in changes.immutable] == expected


@pytest.mark.parametrize("versions", [P09, P14, P20])
def test_setting_what_is_wanted_ends_the_drift(versions):
    wanted = {"bucket": "8", "write-only": "true", "fields.v.ignore-retract": "true"}
    present = {"bucket": "4", "target-file-size": "64 mb", **CATALOGS_OWN}
    changes = compare(wanted, present, versions)
    after = {k: v for k, v in {**present, **changes.set_options}.items() if k not in changes.unset_options}
    assert compare(wanted, after, versions) == Changeset()


@pytest.mark.parametrize(
    ("wanted", "present", "unset_first"),
    [
        ({}, {"write-only": "true"}, False),
        (
            {"snapshot.num-retained.max": "20"},
            {"snapshot.num-retained.max": "8", "snapshot.num-retained.min": "5"},
            False,
        ),
        ({"streaming-read-overwrite": "true"}, {"changelog-producer": "lookup"}, True),
    ],
)
def test_the_order_of_the_two_statements_keeps_the_table_valid(wanted, present, unset_first):
    assert compare(wanted, present).unset_first is unset_first


def test_an_immutable_change_reads_as_a_sentence():
    assert str(PropertyChange("merge-engine", None, "aggregation")) == "merge-engine: not set -> 'aggregation'"


def test_columns_are_not_compared():
    columns = (ExistingColumn("id", "int", nullable=False, comment="the key"),)
    assert compute_changeset(TableSpec(), ExistingTable(columns=columns, comment="x"), P09) == Changeset()


V = "fields.v.aggregate-function"


@pytest.mark.parametrize(
    ("wanted", "present", "refused"),
    [
        ({V: "max"}, {V: "sum"}, [V]),
        ({}, {V: "sum"}, [V]),
        ({V: "sum"}, {}, [V]),
        ({"fields.default-aggregate-function": "sum"}, {}, ["fields.default-aggregate-function"]),
        # the same function, written elsewhere
        ({V: "last_non_null_value"}, {}, []),
        (
            {"fields.default-aggregate-function": "sum"},
            {f"fields.{c}.aggregate-function": "sum" for c in "uvw"},
            [],
        ),
        ({V: "listagg", "fields.v.list-agg-delimiter": ";"}, {V: "listagg"}, ["fields.v.list-agg-delimiter"]),
        ({V: "listagg", "fields.v.list-agg-delimiter": ","}, {V: "listagg"}, []),
        ({V: "sum", "fields.v.ignore-retract": "true"}, {V: "sum"}, ["fields.v.ignore-retract"]),
        ({V: "collect"}, {V: "collect", "fields.v.distinct": "true"}, ["fields.v.distinct"]),
        ({V: "nested_update", "fields.v.nested-key": "a"}, {V: "nested_update"}, ["fields.v.nested-key"]),
        # columns that the table does not have yet
        ({"fields.new.aggregate-function": "sum"}, {}, []),
        # options that do not affect merging
        ({"write-only": "true"}, {}, []),
        ({"fields.v.stats-mode": "full"}, {}, []),
    ],
)
def test_changes_that_merge_stored_rows_differently_are_refused(wanted, present, refused):
    changes = of_columns(wanted, present, "aggregation")
    assert [change.name for change in changes.remerging()] == refused
    assert not changes.immutable
    # A dropped column has no stored values to merge.
    assert not [c for c in changes.remerging(["v", "w"]) if c.name.startswith("fields.v")]
    # A merge engine that does not aggregate ignores these options.
    assert not of_columns(wanted, present, "deduplicate").remerging()


@pytest.mark.parametrize(
    ("wanted", "present", "refused"),
    [
        ({"fields.w.sequence-group": "v"}, {}, True),
        ({}, {"fields.w.sequence-group": "v"}, True),
        ({"fields.w.sequence-group": "v,new"}, {"fields.w.sequence-group": "v"}, False),
        ({"fields.w,v.sequence-group": "u"}, {"fields.w.sequence-group": "u"}, True),
    ],
)
def test_a_changed_sequence_group_is_refused(wanted, present, refused):
    assert bool(of_columns(wanted, present, "partial-update").remerging()) is refused


@pytest.mark.parametrize(
    ("wanted", "present", "refused"),
    [
        ({"sequence.field": "v"}, {"sequence.field": "u"}, ["sequence.field"]),
        ({"sequence.field": "v"}, {}, ["sequence.field"]),
        ({"ignore-delete": "true"}, {}, ["ignore-delete"]),
        ({"sequence.field": "v"}, {"sequence.field": "v"}, []),
    ],
)
def test_changes_that_choose_another_stored_row_are_refused_for_every_merge_engine(wanted, present, refused):
    changes = of_columns(wanted, present, "deduplicate")
    assert [change.name for change in changes.remerging()] == refused


def of_columns(wanted, present, engine):
    """The changeset of two tables with this merge engine and the columns id, u, v and w."""
    columns = tuple(ExistingColumn(name, "int") for name in ("id", "u", "v", "w"))
    both = {"merge-engine": engine}
    return compute_changeset(
        TableSpec(("id",), (), {**both, **wanted}),
        ExistingTable(("id",), (), {**both, **present}, columns),
        P20,
    )
