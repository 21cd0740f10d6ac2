"""The catalogue of options: names, types, versions."""

import pytest

from dbt.adapters.paimon.capabilities.names import AGGREGATE_FUNCTIONS
from dbt.adapters.paimon.options.table_options import (
    canonical,
    check_aggregate_function,
    lookup,
    normalize,
    option_fault,
    parse_duration,
    split_field_option,
    suggestion,
    table_options,
)

VERSIONS = ("0.9.0", "1.2.0", "1.4.2", "2.0.0")


@pytest.mark.parametrize("version", VERSIONS)
def test_every_default_of_the_catalogue_is_valid(version):
    """The parsers must accept at least Paimon's own defaults."""
    wrong = {
        name: option_fault(name, definition.default, version)
        for name, definition in table_options(version).items()
        # "infinite" is only a description, and no model may set `type` or `auto-create`
        if definition.default not in (None, "infinite") and name not in ("type", "auto-create")
    }
    assert {name: problems for name, problems in wrong.items() if problems} == {}


@pytest.mark.parametrize(
    ("name", "version", "type_", "immutable"),
    [
        ("merge-engine", "0.9.0", "Enum", True),
        ("bucket", "0.9.0", "Integer", False),
        ("sequence.field", "0.9.0", "String", True),
        ("sequence.field", "1.4.2", "String", False),
        # between two catalogues, the stricter rule applies
        ("sequence.field", "1.2.0", "String", True),
        ("fields.v.aggregate-function", "0.9.0", "AggregateFunction", False),
        ("fields.a,b.sequence-group", "0.9.0", "String", False),
        ("file-index.bloom-filter.columns", "0.9.0", "String", False),
        ("parquet.block.size", "0.9.0", "Long", False),
        ("commit.callback.com.example.Hook.param", "0.9.0", "String", False),
    ],
)
def test_lookup(name, version, type_, immutable):
    definition = lookup(name, version)
    assert definition is not None
    assert (definition.type, definition.immutable) == (type_, immutable)


@pytest.mark.parametrize(
    ("name", "version"),
    [("no-such", "2.0.0"), ("commit.callback.#.param", "0.9.0"), ("fields.v.count-limit", "0.9.0")],
)
def test_lookup_of_what_is_not_there(name, version):
    assert lookup(name, version) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bucket", 8),
        ("bucket", "8"),
        ("bucket", -1),
        ("dynamic-bucket.target-row-num", 2_000_000_000_000),
        ("write-only", True),
        ("write-only", "TRUE"),
        ("lookup.cache.bloom.filter.fpp", 0.05),
        ("snapshot.time-retained", "1 h"),
        ("snapshot.time-retained", "30min"),
        ("snapshot.time-retained", "2 Days"),
        ("snapshot.time-retained", 60_000),
        ("target-file-size", "128 mb"),
        ("target-file-size", "128MB"),
        ("target-file-size", 1024),
        ("merge-engine", "Partial-Update"),
        ("file.format.per.level", {"0": "avro", "5": "parquet"}),
        ("file.format.per.level", "0:avro,5:parquet"),
        ("metadata.stats-mode", "none"),
        ("fields.v.ignore-retract", False),
        ("fields.v.aggregate-function", "rbm64"),
        ("fields.default-aggregate-function", "last_non_null_value"),
    ],
)
def test_valid_values(name, value):
    assert option_fault(name, value, "0.9.0") is None


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("bucket", "many", "not a whole number"),
        ("bucket", 2.5, "not a whole number"),
        ("bucket", True, "not a whole number"),
        ("bucket", 2**31, "32 bits"),
        ("write-only", "yes", "Write true or false"),
        ("write-only", 1, "Write true or false"),
        ("snapshot.time-retained", "1 fortnight", "'30 min'"),
        ("snapshot.time-retained", "1.5 h", "not a duration"),
        ("snapshot.time-retained", "h", "not a duration"),
        ("target-file-size", "128 mib", "'128 mb'"),
        ("lookup.cache.bloom.filter.fpp", "small", "not a number"),
        ("merge-engine", "partial_update", "Did you mean 'partial-update'?"),
        ("merge-engine", "upsert", "Allowed: deduplicate, partial-update, aggregation, first-row"),
        ("file.format.per.level", "avro", "a list of pairs"),
        ("write-only", {"a": 1}, "not a mapping"),
        ("fields.v.ignore-retract", "maybe", "not a boolean"),
        ("fields.v.aggregate-function", "summ", "Did you mean 'sum'?"),
        ("fields.v.aggregate-function", "count", "`1 as n`"),
        ("fields.default-aggregate-function", "avg", "unknown aggregate function"),
    ],
)
def test_wrong_values(name, value, part):
    problem = option_fault(name, value, "0.9.0")
    assert part in problem


@pytest.mark.parametrize(
    ("name", "version", "part"),
    [
        ("merge_engine", "0.9.0", "Did you mean 'merge-engine'?"),
        ("mergeEngine", "0.9.0", "Did you mean 'merge-engine'?"),
        ("deletion_vectors_enabled", "0.9.0", "Did you mean 'deletion-vectors.enabled'?"),
        ("snapshot.time-retain", "0.9.0", "Did you mean 'snapshot.time-retained'?"),
        ("file.fromat", "0.9.0", "Did you mean 'file.format'?"),
        ("Bucket", "0.9.0", "Did you mean 'bucket'?"),
        ("row-tracking.enabled", "0.9.0", "needs Paimon >= 1.3, this is 0.9.0"),
        ("pk-vector.index.columns", "1.4.2", "needs Paimon >= 2.0, this is 1.4.2"),
        ("row_tracking_enabled", "0.9.0", "Did you mean 'row-tracking.enabled'? Paimon 0.9.0 does not have"),
        ("metadata.iceberg-compatible", "1.4.2", "no longer has it"),
        ("connector", "0.9.0", "only Flink"),
        ("sink.parallelism", "1.4.2", "only Flink"),
        ("auto-create", "0.9.0", "only Flink"),
        ("lookup.async", "0.9.0", "only Flink"),
        ("write-mode", "0.9.0", "append table"),
        ("first-row.ignore-delete", "0.9.0", "'ignore-delete'"),
        ("changelog-producer.lookup-wait", "0.9.0", "'lookup-wait'"),
        ("write.compaction-skip", "1.4.2", "'write-only'"),
        ("log.scan", "0.9.0", "'scan.mode'"),
        ("path", "0.9.0", "`warehouse`"),
        ("comment", "0.9.0", "persist_docs"),
        ("owner", "0.9.0", "Spark sets it"),
        ("xyzzy", "0.9.0", "no such table option"),
        ("fields.v.aggregate_function", "0.9.0", "Did you mean 'aggregate-function'?"),
        ("fields.v.count-limit", "0.9.0", "needs Paimon >= 1.1"),
        ("fields.v", "0.9.0", "unknown field attribute"),
        ("fields.v.default-value", "1.4.2", "gone since Paimon 1.2"),
    ],
)
def test_names_that_do_nothing(name, version, part):
    problem = option_fault(name, "1", version)
    assert part in problem


@pytest.mark.parametrize("name", ["row-tracking.enabled", "metadata.iceberg-compatible"])
def test_between_two_catalogues_the_options_of_both_are_known(name):
    assert option_fault(name, True, "1.3.0") is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (8, "8"),
        (0.75, "0.75"),
        (" a ", "a"),
        (["a", "b"], "a,b"),
        (("a", 1), "a,1"),
        ({"0": "avro", 5: "orc"}, "0:avro,5:orc"),
    ],
)
def test_normalize(value, text):
    assert normalize(value) == text


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("bucket", "8", 8),
        ("bucket", "08", "8"),
        ("bucket", None, "-1"),
        ("write-only", "TRUE", True),
        ("write-only", None, False),
        ("snapshot.time-retained", "60 min", "1h"),
        ("snapshot.time-retained", None, "3600 s"),
        ("target-file-size", "1 gb", "1024 mb"),
        ("merge-engine", None, "Deduplicate"),
        ("snapshot.num-retained.max", None, 2**31 - 1),
        ("file.format.per.level", "0:avro, 5:orc", {"5": "orc", "0": "avro"}),
    ],
)
def test_canonical_values_are_equal(name, one, other):
    assert canonical(name, one, "0.9.0") == canonical(name, other, "0.9.0")


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("bucket", "8", "9"),
        ("bucket-key", None, "a"),
        ("sequence.field", "a,b", "b,a"),
        ("snapshot.time-retained", "1 h", "1 d"),
        ("metadata.stats-mode", "NONE", "none"),
    ],
)
def test_canonical_values_differ(name, one, other):
    assert canonical(name, one, "0.9.0") != canonical(name, other, "0.9.0")


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [("1", 10**6), ("1 ms", 10**6), ("2 sec", 2 * 10**9), ("1m", 60 * 10**9), ("7 days", 7 * 86_400 * 10**9)],
)
def test_parse_duration(text, nanoseconds):
    assert parse_duration(text) == nanoseconds


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fields.v.aggregate-function", (("v",), "aggregate-function")),
        ("fields.a, b.sequence-group", (("a", "b"), "sequence-group")),
        ("fields.with.dot.distinct", (("with.dot",), "distinct")),
        ("fields.m.map.storage-layout", (("m",), "map.storage-layout")),
        ("fields.default-aggregate-function", None),
        ("bucket", None),
    ],
)
def test_split_field_option(name, expected):
    assert split_field_option(name) == expected


@pytest.mark.parametrize("name", sorted(AGGREGATE_FUNCTIONS))
def test_aggregate_functions_of_the_newest_version(name):
    assert check_aggregate_function(name, "2.0.0") is None


def test_an_aggregate_function_of_a_newer_version():
    assert "needs Paimon >= 1.4" in (check_aggregate_function("nested_partial_update", "0.9.0") or "")


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("bucketKey", ["bucket-key", "bucket"], "bucket-key"),
        ("buket", ["bucket-key", "bucket"], "bucket"),
        ("zebra", ["bucket-key", "bucket"], None),
    ],
)
def test_suggestion(name, candidates, expected):
    assert suggestion(name, candidates) == expected
