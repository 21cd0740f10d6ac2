"""How many fixed buckets a table gets with `bucket: auto`."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from dbt.adapters.paimon.spec.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dbt.adapters.paimon.capabilities import Versions
    from dbt.adapters.paimon.spec.table import TableSpec

AUTO: Final = "auto"

# A table option of the adapter's own, and its values: the table has had no row yet by which to choose its number; a
# rescale has begun, and has not ended yet.
MARK: Final = "dbt.buckets"
UNDECIDED: Final = "undecided"
RESCALING: Final = "rescaling"

# Paimon's advice: 200 MB to 1 GB a bucket (docs, primary-key-table/data-distribution).
MOST_BYTES: Final = 2**30
# A table of n times these bytes is spread over the root of n: so its buckets grow with it, and a batch, which writes a
# file in each of them, does not pay for tasks that a small table has no work for.
_ROOT_BYTES: Final = 8 * 2**20
# Of Spark's estimate, which is of rows in memory; Parquet and zstd make about a quarter of that.
_COMPRESSION: Final = 4
# A number that is off by less is left alone: changing it writes all rows again.
_TOLERANCE: Final = 4
# How much of a query's rows is taken for one partition: nothing tells how many it will have. Two buckets fit partitions
# of up to 390 MiB without being written again.
_PARTITION_BYTES: Final = 32 * 2**20
# For rows of which Spark does not know how many they are.
_TASKS_OF_UNKNOWN: Final = 32
# Options by which a config has chosen a kind of buckets.
_OF_BUCKETS: Final = ("dynamic-bucket.", "postpone.", "cross-partition-upsert.")
# What Spark knows nothing of, such as the rows of an RDD, counts as 8 EiB (spark.sql.defaultSizeInBytes).
_UNKNOWN_BYTES: Final = 2**50
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_STATISTICS: Final = re.compile(rf"Statistics\(sizeInBytes=([\d.E+]+) ({'|'.join(_UNITS)})\b")
# The branches before a node in a printed plan.
_TREE: Final = " :+-"


def wanted(size: float, tasks: int) -> int:
    """The number of buckets for a table, or for each of its partitions.

    Args:
        size: bytes of its data files, or of those of the largest partition.
        tasks: how many tasks of a statement Spark can run at a time.
    """
    parallel = min(tasks, math.ceil(math.sqrt(size / _ROOT_BYTES)))
    return max(1, parallel, math.ceil(size / MOST_BYTES))


def expected(size: float | None, tasks: int, *, partitioned: bool) -> int:
    """The number for a table before it has rows.

    Args:
        size: bytes of the query's rows, from `estimated_size`.
        tasks: see `wanted`.
        partitioned: whether the rows go into partitions.
    """
    if size is None:
        return min(tasks, _TASKS_OF_UNKNOWN)
    return wanted(min(size, _PARTITION_BYTES) if partitioned else size, tasks)


def is_off(number: int, size: float, tasks: int) -> bool:
    """Whether a table is better written again with the number that fits its size."""
    best = wanted(size, tasks)
    return max(number, best) >= _TOLERANCE * min(number, best)


def has_outgrown(number: int, size: float, tasks: int) -> bool:
    """Whether a table has far fewer buckets than fit its size."""
    return wanted(size, tasks) >= _TOLERANCE * number


def estimated_size(explained: str) -> float | None:
    """Bytes of the data files that a query's rows would fill; None if Spark does not know.

    Spark takes a join for the product of its sides; here it is at most their sum.

    Args:
        explained: what EXPLAIN COST prints.
    """
    nodes = [
        _Node(
            len(line) - len(line.lstrip(_TREE)), float(told.group(1)) * 1024.0 ** _UNITS.index(told.group(2))
        )
        for line in explained.partition("== Physical Plan ==")[0].splitlines()
        if (told := _STATISTICS.search(line))
    ]
    size = _mended(nodes) if nodes else _UNKNOWN_BYTES
    return None if size >= _UNKNOWN_BYTES else size / _COMPRESSION


class _Node(NamedTuple):
    """A line of a printed plan: how far it is indented, and Spark's estimate of its rows in bytes."""

    depth: int
    size: float


def _mended(nodes: Sequence[_Node]) -> float:
    """The size of a plan's first node, to which all the others lead."""
    first, below = nodes[0], nodes[1:]
    if not below:
        return first.size
    starts = [place for place, node in enumerate(below) if node.depth == below[0].depth]
    children = [below[start:end] for start, end in zip(starts, [*starts[1:], len(below)], strict=True)]
    expected = sum(child[0].size for child in children)
    if not expected:
        return first.size
    grows = first.size / expected
    return (min(grows, 1) if len(children) > 1 else grows) * sum(map(_mended, children))


def may_fix(spec: TableSpec, versions: Versions) -> bool:
    """Whether the table may have fixed buckets at all.

    Not if a key may change its partition, if the table has neither a key nor a bucket key, or if the config has options
    of dynamic buckets.
    """
    if spec.crosses_partitions or not (spec.primary_key or "bucket-key" in spec.options):
        return False
    if any(name.startswith("dynamic-bucket.") for name in spec.options):
        return False
    fixed = with_buckets(spec, 1)
    return not any(True for rule in RULES for _ in rule(fixed, versions))


def by_default(spec: TableSpec) -> TableSpec:
    """The table as if its config had `bucket: auto`, if it has a primary key and nothing about buckets."""
    told = any(name == "bucket" or name.startswith(_OF_BUCKETS) for name in spec.options)
    return spec if told or not spec.primary_key else replace(spec, auto_buckets=True)


def settled(spec: TableSpec, options: Mapping[str, str]) -> TableSpec:
    """The table with the buckets of an existing one, if the config leaves them to the adapter."""
    return with_buckets(spec, options.get("bucket")) if spec.auto_buckets else spec


def undecided(spec: TableSpec) -> TableSpec:
    """The table with one bucket for the time being."""
    one = with_buckets(spec, 1)
    return replace(one, options=MappingProxyType({**one.options, MARK: UNDECIDED}))


def with_buckets(spec: TableSpec, number: int | str | None) -> TableSpec:
    """The table with a number of buckets; None for Paimon's default."""
    options = {name: value for name, value in spec.options.items() if name != "bucket"}
    if number is not None:
        options["bucket"] = str(number)
    return replace(spec, options=MappingProxyType(options))
