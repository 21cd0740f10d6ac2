"""How many buckets `bucket: auto` gives a table, and in how many tasks they are written."""

from __future__ import annotations

import pytest
from tests.unit.specs import table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec import auto_buckets
from dbt.adapters.paimon.sql import size_estimates
from dbt.adapters.paimon.writing import bucket_tasks

MIB, GIB = 2**20, 2**30
VERSIONS = Versions.of("0.9.0")


@pytest.mark.parametrize(
    ("size", "tasks", "number"),
    [
        (0, 2, 1),
        (8 * MIB, 2, 1),
        (8 * MIB + 1, 2, 2),
        (40 * MIB, 2, 2),
        (40 * MIB, 200, 3),
        (GIB, 2, 2),
        (GIB, 200, 12),
        (100 * GIB, 200, 114),
        (100 * GIB, 8, 100),
        (1024 * GIB, 200, 1024),
    ],
)
def test_number_by_size(size, tasks, number):
    assert auto_buckets.bucket_count(size, tasks) == number


@pytest.mark.parametrize(
    ("number", "size", "off"),
    [(1, 40 * MIB, False), (3, 40 * MIB, False), (12, 40 * MIB, True), (1, GIB, True), (200, 0, True)],
)
def test_only_a_number_far_off_is_worth_a_rewrite(number, size, off):
    assert auto_buckets.is_off(number, size, 200) is off


JOIN = """== Optimized Logical Plan ==
Join Inner, (a#1 = a#2), Statistics(sizeInBytes={all})
:- Filter isnotnull(a#1), Statistics(sizeInBytes={left})
:  +- RelationV2[a#1] one, Statistics(sizeInBytes={left})
+- RelationV2[a#2] other, Statistics(sizeInBytes={right})

== Physical Plan ==
Join, Statistics(sizeInBytes=1.0 B)
"""


@pytest.mark.parametrize(
    ("explained", "size"),
    [
        ("== Optimized Logical Plan ==\nProject [a], Statistics(sizeInBytes=8.0 MiB)\n+- X, Statistics(sizeInBytes=1.0 B)", 2 * MIB),
        ("Range, Statistics(sizeInBytes=16.0 B, rowCount=2)", 4),
        (JOIN.format(left="8.0 MiB", right="4.0 MiB", all="32.0 TiB"), 3 * MIB),
        (JOIN.format(left="8.0 MiB", right="4.0 MiB", all="4.0 MiB"), MIB),
        (JOIN.format(left="8.0 EiB", right="4.0 MiB", all="2.5E+20 EiB"), None),
        ("LogicalRDD [id], false, Statistics(sizeInBytes=8.0 EiB)", None),
        ("nothing", None),
    ],
)  # fmt: skip
def test_sparks_estimate(explained, size):
    assert size_estimates.estimated_size(explained) == size


@pytest.mark.parametrize(
    ("config", "fixed"),
    [
        ({"primary_key": "id"}, True),
        ({"primary_key": ["id", "p"], "partition_by": "p"}, True),
        ({"primary_key": "id", "partition_by": "p"}, False),
        ({"bucket_key": "id"}, True),
        ({}, False),
        ({"primary_key": "a.b"}, False),
    ],
)
def test_which_tables_may_have_fixed_buckets(config, fixed):
    spec = table_spec({**config, "bucket": "auto"}, model="m", versions=VERSIONS)
    assert spec.auto_buckets
    assert "bucket" not in spec.options
    assert auto_buckets.may_fix(spec, VERSIONS) is fixed


@pytest.mark.parametrize(
    "more",
    [{"dynamic_bucket": {"target_row_num": 10}}, {"tblproperties": {"bucket": 3}}],
)
def test_auto_with_a_number_is_refused(more):
    with pytest.raises(Exception, match=r"bucket='auto': .*is set, too"):
        table_spec({"primary_key": "id", "bucket": "auto", **more}, model="m", versions=VERSIONS)


def test_hash_of_spark():
    # Spark 3.5.7 returned these for select hash(0), hash(1), hash(2).
    assert [bucket_tasks.murmur3(number) for number in (0, 1, 2)] == [933211791, -559580957, 1765031574]


@pytest.mark.parametrize("session", [2, 3, 4, 8, 16, 32])
def test_buckets_are_spread_evenly(session):
    """For 1 to 256 buckets, the number of partitions is no worse than the session's, and close to ideal."""
    for buckets in range(1, 257):
        best = bucket_tasks.best_partitions(buckets, session)
        longest = bucket_tasks.longest(buckets, best, session)
        assert longest <= bucket_tasks.longest(buckets, session, session)
        assert longest <= -(-buckets // session) + 1
        assert best >= session


@pytest.mark.parametrize(
    ("mib", "partitioned", "number"),
    [(None, False, 32), (None, True, 32), (1, True, 1), (20_000, False, 32), (20_000, True, 2)],
)
def test_a_partition_gets_only_part_of_the_querys_size(mib, partitioned, number):
    size = None if mib is None else mib * 2**20
    assert auto_buckets.first_bucket_count(size, 32, partitioned=partitioned) == number


# The session's shuffle partitions -> buckets -> partitions of the write.
BEST = {
    2: {2: 3, 3: 2, 4: 5, 8: 4, 16: 5},
    4: {2: 5, 4: 7, 8: 7},
    8: {2: 8, 8: 22, 16: 16},
    200: {16: 200, 32: 250},
}


def test_best_partitions():
    found = {session: {b: bucket_tasks.best_partitions(b, session) for b in of} for session, of in BEST.items()}
    assert found == BEST


def test_only_unpartitioned_tables_with_several_buckets_get_the_setting():
    def conf(config, session="2"):
        return bucket_tasks.conf(table_spec(config, model="m", versions=VERSIONS), session)

    assert conf({"primary_key": "id", "bucket": 2}) == {bucket_tasks.PARTITIONS: "3"}
    assert conf({"primary_key": "id", "bucket": 2}, session=None) == {}
    assert conf({"primary_key": "id", "bucket": 3}) == {}
    assert conf({"primary_key": "id"}) == {}
    assert conf({"primary_key": ["id", "p"], "partition_by": "p", "bucket": 2}) == {}


@pytest.mark.parametrize(
    ("config", "auto"),
    [
        ({"primary_key": "id"}, True),
        ({"primary_key": "id", "bucket": "auto"}, True),
        ({"primary_key": "id", "bucket": -1}, False),
        ({"primary_key": "id", "tblproperties": {"bucket": 4}}, False),
        ({"primary_key": "id", "dynamic_bucket": {"target_row_num": 9}}, False),
        ({"primary_key": "id", "partition_by": "p", "tblproperties": {"cross-partition-upsert.index-ttl": "1 d"}}, False),
        ({}, False),
    ],
)  # fmt: skip
def test_which_tables_have_auto_buckets_by_default(config, auto):
    spec = table_spec(config, model="m", versions=VERSIONS)
    assert auto_buckets.by_default(spec).auto_buckets is auto
