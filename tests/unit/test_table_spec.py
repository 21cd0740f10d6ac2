"""The table spec that a model's config is turned into, and configs that break its rules."""

from enum import Enum
from types import SimpleNamespace

import pytest
from dbt_common.exceptions import DbtRuntimeError
from tests.unit.specs import table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.config_values import column_list
from dbt.adapters.paimon.spec.problems import ConfigErrors

P09, P11, P13, P14, P20 = (Versions.of(v) for v in ("0.9.0", "1.1.1", "1.3.2", "1.4.2", "2.0.0"))


def build(config, versions=P09, **rest):
    return table_spec(config, model="orders", versions=versions, **rest)


def problems(config, versions=P09, **rest):
    with pytest.raises(ConfigErrors) as raised:
        build(config, versions, **rest)
    return raised.value.problems


def pk(**config):
    return {"primary_key": "id", **config}


@pytest.mark.parametrize(
    ("config", "properties", "partition_by", "engine"),
    [
        ({}, {}, (), ""),
        ({"bucket": None, "fields": None, "tblproperties": None}, {}, (), ""),
        (pk(), {"primary-key": "id"}, (), "deduplicate"),
        (
            {"primary_key": ["id", "dt"], "partition_by": "dt", "bucket": 4, "bucket_key": "id"},
            {"primary-key": "id,dt", "bucket": "4", "bucket-key": "id"},
            ("dt",),
            "deduplicate",
        ),
        ({"primary_key": "id, dt", "partition_by": ["dt"]}, {"primary-key": "id,dt"}, ("dt",), "deduplicate"),
        # a key may move between partitions when buckets are dynamic
        (pk(partition_by="dt"), {"primary-key": "id"}, ("dt",), "deduplicate"),
        (
            {"bucket": "8", "bucket_key": ["a", "b"]},
            {"bucket": "8", "bucket-key": "a,b"},
            (),
            "",
        ),
        (
            pk(merge_engine="partial_update", sequence_field="ts", changelog_producer="lookup"),
            {
                "primary-key": "id",
                "merge-engine": "partial-update",
                "sequence.field": "ts",
                "changelog-producer": "lookup",
            },
            (),
            "partial-update",
        ),
        (
            pk(
                merge_engine="Aggregation",
                fields={"n": {"aggregate_function": "sum", "ignore_retract": True}},
            ),
            {
                "primary-key": "id",
                "merge-engine": "aggregation",
                "fields.n.aggregate-function": "sum",
                "fields.n.ignore-retract": "true",
            },
            (),
            "aggregation",
        ),
        (
            pk(
                merge_engine="partial-update",
                fields={
                    "dep_seq": {"sequence_group": ["dep_time", "dep_delay"]},
                    "arr_seq": {"sequence_group": "arr_time, n"},
                    "n": {"aggregate_function": "sum"},
                    "unset": None,
                },
            ),
            {
                "primary-key": "id",
                "merge-engine": "partial-update",
                "fields.dep_seq.sequence-group": "dep_time,dep_delay",
                "fields.arr_seq.sequence-group": "arr_time,n",
                "fields.n.aggregate-function": "sum",
            },
            (),
            "partial-update",
        ),
        (
            pk(merge_engine="first-row", changelog_producer="lookup"),
            {"primary-key": "id", "merge-engine": "first-row", "changelog-producer": "lookup"},
            (),
            "first-row",
        ),
        (
            pk(rowkind_field="op", file_format="orc", deletion_vectors=True),
            {
                "primary-key": "id",
                "rowkind.field": "op",
                "file.format": "orc",
                "deletion-vectors.enabled": "true",
            },
            (),
            "deduplicate",
        ),
        (
            {"snapshot_retention": {"num_retained_min": 2, "num_retained_max": 20, "time_retained": "2 h"}},
            {
                "snapshot.num-retained.min": "2",
                "snapshot.num-retained.max": "20",
                "snapshot.time-retained": "2 h",
            },
            (),
            "",
        ),
        ({"tblproperties": {"write-only": True, "target-file-size": None}}, {"write-only": "true"}, (), ""),
        # set twice, with equal meaning
        (
            pk(bucket=4, tblproperties={"bucket": "4", "primary-key": "id"}),
            {"primary-key": "id", "bucket": "4"},
            (),
            "deduplicate",
        ),
        (
            {"tblproperties": {"primary-key": "id,dt", "partition": "dt"}},
            {"primary-key": "id,dt"},
            ("dt",),
            "deduplicate",
        ),
        (
            {"tblproperties": {"bucket": 2, "bucket-key": "a, b"}},
            {"bucket": "2", "bucket-key": "a,b"},
            (),
            "",
        ),
    ],
)
def test_valid(config, properties, partition_by, engine):
    spec = build(config)
    assert spec.properties == properties
    assert spec.partition_by == partition_by
    assert spec.merge_engine == engine
    assert not {"primary-key", "partition"} & set(spec.options)


@pytest.mark.parametrize(
    ("config", "where", "reason"),
    [
        # buckets
        (pk(bucket_key="id"), "bucket_key='id'", "bucket = -1 (dynamic)"),
        (pk(bucket=-1, bucket_key="id"), "bucket_key='id'", "bucket = -1 (dynamic)"),
        (pk(bucket=0), "bucket=0", "Use a number from 1"),
        (
            {"primary_key": "a-b", "bucket": 1},
            "primary_key=['a-b']",
            "'a-b': fixed buckets by one column whose name",
        ),
        (
            {"bucket_key": "123", "bucket": 1},
            "bucket_key='123'",
            "'123': fixed buckets by one column whose name",
        ),
        (pk(bucket=-3), "bucket=-3", "Use a number from 1"),
        (pk(bucket="four"), "bucket='four'", "not a whole number"),
        (pk(bucket=-2), "bucket=-2", "needs Paimon >= 1.1, this is 0.9.0"),
        ({"bucket": 4}, "bucket=4", "Set bucket_key, or use -1"),
        (pk(bucket=4, bucket_key="v"), "bucket_key='v'", "v is not in the primary key (id)"),
        (
            {"primary_key": ["id", "dt"], "partition_by": "dt", "bucket": 4, "bucket_key": "dt"},
            "bucket_key='dt'",
            "buckets are inside partitions",
        ),
        (pk(partition_by="dt", bucket=4), "primary_key=['id']", "leaves out the partition column dt"),
        (
            {"tblproperties": {"full-compaction.delta-commits": 5}},
            "tblproperties['full-compaction.delta-commits']",
            "needs buckets",
        ),
        # keys
        (pk(partition_by="id"), "primary_key=['id']", "a partition would hold one row"),
        ({"primary_key": ["a", "a"]}, "primary_key=['a', 'a']", "'a' is listed twice"),
        ({"primary_key": 7}, "primary_key=7", "a column name or a list of column names"),
        ({"primary_key": ["a", 7]}, "primary_key=['a', 7]", "a column name or a list of column names"),
        ({"primary_key": ["`a`"]}, "primary_key='`a`'", "not a plain column name"),
        ({"merge_engine": "aggregation"}, "merge_engine='aggregation'", "needs a primary key"),
        ({"sequence_field": "ts"}, "sequence_field='ts'", "needs a primary key"),
        ({"rowkind_field": "op"}, "rowkind_field='op'", "needs a primary key"),
        ({"changelog_producer": "input"}, "changelog_producer='input'", "needs a primary key"),
        (
            {"fields": {"v": {"aggregate_function": "sum"}}},
            "fields.v.aggregate_function='sum'",
            "needs a primary key",
        ),
        # merge engines
        (pk(merge_engine="upsert"), "merge_engine='upsert'", "Allowed: deduplicate"),
        (
            pk(fields={"v": {"aggregate_function": "sum"}}),
            "fields.v.aggregate_function='sum'",
            "merge_engine='deduplicate' does not aggregate",
        ),
        (
            pk(merge_engine="aggregation", fields={"id": {"aggregate_function": "sum"}}),
            "fields.id.aggregate_function='sum'",
            "'id' is in the primary key",
        ),
        (
            pk(merge_engine="aggregation", fields={"v": {"aggregate_function": "averag"}}),
            "fields.v.aggregate_function='averag'",
            "unknown aggregate function",
        ),
        (
            pk(merge_engine="aggregation", sequence_field="ts", fields={"ts": {"aggregate_function": "max"}}),
            "fields.ts.aggregate_function='max'",
            "'ts' is the sequence field",
        ),
        (
            pk(merge_engine="partial-update", fields={"v": {"aggregate_function": "sum"}}),
            "fields.v.aggregate_function='sum'",
            "columns of a sequence group only",
        ),
        (
            pk(
                merge_engine="partial-update",
                fields={"s": {"sequence_group": "v", "aggregate_function": "max"}},
            ),
            "fields.s.aggregate_function='max'",
            "orders a sequence group",
        ),
        (
            pk(
                merge_engine="partial-update",
                fields={"s": {"sequence_group": "v"}, "t": {"sequence_group": ["v", "w"]}},
            ),
            "fields.t.sequence_group='v,w'",
            "'v' is already in the group of 's'",
        ),
        (
            pk(merge_engine="partial-update", fields={"s": {"sequence_group": "id"}}),
            "fields.s.sequence_group='id'",
            "in the primary key",
        ),
        (
            pk(merge_engine="aggregation", fields={"s": {"sequence_group": "v"}}),
            "fields.s.sequence_group='v'",
            "only merge_engine='partial-update' reads it",
        ),
        (
            pk(merge_engine="first-row", sequence_field="ts"),
            "sequence_field='ts'",
            "merge_engine='deduplicate' to keep the latest",
        ),
        (
            pk(merge_engine="first-row", changelog_producer="input"),
            "changelog_producer='input'",
            "'none' and 'lookup'",
        ),
        (
            pk(merge_engine="first-row", deletion_vectors=True),
            "deletion_vectors=True",
            "first-row never deletes",
        ),
        (pk(sequence_field="ts", partition_by="dt"), "sequence_field='ts'", "primary_key leaves out dt"),
        # changelog, deletion vectors, deletes
        (
            pk(deletion_vectors=True, changelog_producer="full-compaction"),
            "deletion_vectors=True",
            "'lookup', 'input' or 'none'",
        ),
        (
            pk(changelog_producer="lookup", tblproperties={"streaming-read-overwrite": True}),
            "tblproperties['streaming-read-overwrite']=True",
            "returns changes twice",
        ),
        (
            pk(merge_engine="partial-update", tblproperties={"partial-update.remove-record-on-delete": True}),
            "tblproperties['partial-update.remove-record-on-delete']=True",
            "needs Paimon >= 1.0",
        ),
        # defaults
        (
            pk(fields={"id": {"default_value": "0"}}),
            "fields.id.default_value='0'",
            "cannot have a default",
        ),
        # retention
        (
            {"snapshot_retention": {"num_retained_min": 5, "num_retained_max": 3}},
            "snapshot_retention.num_retained_min=5",
            "the minimum (5) is above the maximum (3)",
        ),
        (
            {"snapshot_retention": {"num_retained_max": 3}},
            "snapshot_retention.num_retained_max=3",
            "the minimum (10, Paimon's default)",
        ),
        (
            {"snapshot_retention": {"num_retained_min": 0}},
            "snapshot_retention.num_retained_min=0",
            "at least 1",
        ),
        (
            {"snapshot_retention": {"time_retained": "a while"}},
            "snapshot_retention.time_retained='a while'",
            "not a duration",
        ),
        (
            {"snapshot_retention": {"num_retain_max": 3}},
            "snapshot_retention.num_retain_max=3",
            "Did you mean 'num_retained_max'?",
        ),
        ({"snapshot_retention": 5}, "snapshot_retention=5", "a mapping is needed"),
        # partitions
        (
            {"tblproperties": {"partition.expiration-time": "30 d"}},
            "tblproperties['partition.expiration-time']='30 d'",
            "Set partition_by",
        ),
        # spelling of nested keys
        ({"fields": {"v": "sum"}}, "fields.v='sum'", "a mapping is needed"),
        ({"fields": ["v"]}, "fields=['v']", "a mapping of columns"),
        (
            pk(merge_engine="aggregation", fields={"v": {"aggregate_functon": "sum"}}),
            "fields.v.aggregate_functon='sum'",
            "Did you mean 'aggregate_function'?",
        ),
        (
            {"tblproperties": "write-only=true"},
            "tblproperties='write-only=true'",
            "a mapping of option names",
        ),
        (
            {"tblproperties": {"write_only": True}},
            "tblproperties['write_only']",
            "Did you mean 'write-only'?",
        ),
        # set twice, with different values
        (pk(bucket=4, tblproperties={"bucket": 8}), "tblproperties['bucket']=8", "own key is '4'"),
        (
            pk(tblproperties={"primary-key": "other"}),
            "primary_key=['id']",
            "tblproperties sets 'primary-key'='other'",
        ),
        (
            {"partition_by": "dt", "tblproperties": {"partition": "hour"}},
            "partition_by=['dt']",
            "tblproperties sets 'partition'='hour'",
        ),
    ],
)
def test_rules(config, where, reason):
    found = problems(config)
    assert any(m.startswith(f"model 'orders': {where}") and reason in m for m in found), found
    assert len(found) == 1


@pytest.mark.parametrize(
    ("config", "versions", "reason"),
    [
        (pk(bucket=-2), P11, None),
        ({"bucket": -2}, P11, "postpone buckets need a primary key"),
        (pk(bucket=4, partition_by="dt"), P11, "leaves out the partition column"),
        (pk(bucket=4, partition_by="dt"), P13, None),
        (pk(fields={"v": {"default_value": "0"}}), P09, None),
        (pk(fields={"v": {"default_value": "0"}}), P14, "gone since Paimon 1.2"),
        ({"tblproperties": {"row-tracking.enabled": True}}, P14, None),
        (
            pk(changelog_producer="lookup", tblproperties={"full-compaction.delta-commits": 3}),
            P14,
            None,
        ),
        (
            pk(changelog_producer="lookup", tblproperties={"full-compaction.delta-commits": 3}),
            P20,
            "gone since Paimon 2.0",
        ),
    ],
)
def test_rules_by_version(config, versions, reason):
    if reason is None:
        build(config, versions)
    else:
        (message,) = problems(config, versions)
        assert reason in message


@pytest.mark.parametrize(
    ("config", "hint"),
    [
        ({"primary_keys": ["id"]}, "Did you mean 'primary_key'?"),
        ({"primaryKey": "id"}, "Did you mean 'primary_key'?"),
        ({"bucket_keys": "id"}, "Did you mean 'bucket_key'?"),
        ({"bucket-key": "id"}, "Did you mean 'bucket_key'?"),
        ({"mergeengine": "aggregation"}, "Did you mean 'merge_engine'?"),
        ({"partitioned_by": "dt"}, "Did you mean 'partition_by'?"),
        ({"table_properties": {}}, "Did you mean 'tblproperties'?"),
        ({"sequence.field": "ts"}, "Did you mean 'sequence_field'?"),
        ({"merge_update_column": "v"}, "Did you mean 'merge_update_columns'?"),
        ({"write_only": True}, "Put 'write-only' into tblproperties"),
        ({"snapshot.time-retained": "1 h"}, "Put 'snapshot.time-retained' into tblproperties"),
        ({"file_format": "parket"}, "not a file format"),
    ],
)
def test_habits_and_misspellings(config, hint):
    (message,) = problems(config)
    assert hint in message


@pytest.mark.parametrize(
    "config",
    [
        {"unique_key": "id", "tags": ["a"], "meta": {}, "materialized": "incremental", "event_time": "ts"},
        {"strategy": "check", "check_cols": "all", "updated_at": "ts", "target_schema": "s"},
        {"quote_columns": True, "delimiter": ";", "column_types": {"a": "int"}},
        {"post-hook": [], "pre_hook": [], "on_schema_change": "fail", "grants": {}, "enabled": True},
        {"my_own_key": 1, "owner": "me", "partition_count": 3, "priority": "high"},
        # dbt-spark's defaults
        {"buckets": None, "clustered_by": None, "location_root": None, "options": None},
    ],
)
def test_keys_of_dbt_and_of_users_pass(config):
    assert build(config).options == {}


class ConstraintType(str, Enum):
    primary_key = "primary_key"


ENFORCED = {"contract": {"enforced": True}}
COLUMN_KEY = {"id": {"name": "id", "constraints": [{"type": "primary_key"}, {"type": "not_null"}]}, "v": {}}


@pytest.mark.parametrize(
    ("config", "constraints", "columns", "expected"),
    [
        (ENFORCED, [{"type": "primary_key", "columns": ["id", "dt"]}], {"id": {}, "dt": {}}, ("id", "dt")),
        (ENFORCED, [{"type": ConstraintType.primary_key, "columns": ["id"]}], {"id": {}}, ("id",)),
        (ENFORCED, [], COLUMN_KEY, ("id",)),
        ({"contract": SimpleNamespace(enforced=True)}, [], COLUMN_KEY, ("id",)),
        ({"contract": {"enforced": False}}, [{"type": "primary_key", "columns": ["id"]}], COLUMN_KEY, ()),
        ({}, [{"type": "primary_key", "columns": ["id"]}], COLUMN_KEY, ()),
        # equal keys: the order is that of the config
        (
            {**ENFORCED, "primary_key": ["dt", "id"]},
            [{"type": "primary_key", "columns": ["id", "dt"]}],
            {"id": {}, "dt": {}},
            ("dt", "id"),
        ),
        ({**ENFORCED, "primary_key": "id"}, [{"type": "check", "expression": "id > 0"}], {"id": {}}, ("id",)),
    ],
)
def test_contract_primary_key(config, constraints, columns, expected):
    assert build(config, constraints=constraints, columns=columns).primary_key == expected


@pytest.mark.parametrize(
    ("config", "constraints", "columns", "reason"),
    [
        (
            {**ENFORCED, "primary_key": "v"},
            [{"type": "primary_key", "columns": ["id"]}],
            {"id": {}, "v": {}},
            "the contract's primary key is (id)",
        ),
        (
            ENFORCED,
            [{"type": "primary_key", "columns": ["v"]}],
            COLUMN_KEY,
            "several primary keys: (v) and (id)",
        ),
        ({**ENFORCED, "primary_key": "IDs"}, [], {"id": {}}, "no column 'IDs'. Did you mean 'id'?"),
        (
            {**ENFORCED, "partition_by": "day"},
            [],
            {"id": {}, "dt": {}},
            "no column 'day'. Its columns: id, dt",
        ),
        (
            {**ENFORCED, "primary_key": "id", "sequence_field": "updated"},
            [],
            {"id": {}, "updated_at": {}},
            "no column 'updated'. Did you mean 'updated_at'?",
        ),
        (
            {
                **ENFORCED,
                "primary_key": "id",
                "merge_engine": "partial-update",
                "fields": {"s": {"sequence_group": ["v", "w"]}},
            },
            [],
            {"id": {}, "s": {}, "v": {}},
            "no column 'w'",
        ),
    ],
)
def test_contract_problems(config, constraints, columns, reason):
    (message,) = problems(config, constraints=constraints, columns=columns)
    assert reason in message


def test_columns_are_not_checked_without_a_contract():
    assert build({"primary_key": "nope"}, columns={"id": {}}).primary_key == ("nope",)


def test_all_problems_are_in_one_error():
    found = problems(
        pk(
            bucket_key="id",
            merge_engine="first-row",
            sequence_field="ts",
            file_format="parket",
            primary_keys=["id"],
            tblproperties={"write_only": True, "bucket": "x"},
        )
    )
    assert len(found) == 6
    assert all(message.startswith("model 'orders': ") for message in found)


def test_the_error_is_dbts_own_and_shows_every_line():
    with pytest.raises(DbtRuntimeError) as raised:
        build({"bucket": 4, "merge_engine": "aggregation"})
    assert str(raised.value).count("model 'orders'") == 2


def test_a_spec_is_a_value():
    one, other = build(pk(bucket=4)), build({"primary_key": ["id"], "bucket": "4"})
    assert one.properties == other.properties
    with pytest.raises(AttributeError):
        one.primary_key = ()
    with pytest.raises(TypeError):
        one.options["bucket"] = "5"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, ()), ("a", ("a",)), ("a, b", ("a", "b")), (["a", "b"], ("a", "b")), (("a",), ("a",))],
)
def test_column_list(value, expected):
    assert column_list(value) == expected
