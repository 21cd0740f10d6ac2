"""Chooses the number of fixed buckets of a table with `bucket: auto`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.components import rule_faults
from dbt.adapters.paimon.spec.table import TableSpec

# A table option of this adapter. UNDECIDED: the table has had no rows yet, so no number has been chosen.
# RESCALING: a rescale has started but not finished.
BUCKET_STATE_OPTION: Final = "dbt.buckets"
UNDECIDED: Final = "undecided"
RESCALING: Final = "rescaling"

# Paimon recommends 200 MB to 1 GB per bucket (docs, primary-key-table/data-distribution).
MOST_BYTES: Final = 2**30
# A table of n times this size gets sqrt(n) buckets. Small tables get few, because each batch writes a file per bucket.
_ROOT_BYTES: Final = 8 * 2**20
# Spark estimates the size of rows in memory. As Parquet files with zstd, they are about a quarter as large.
_COMPRESSION: Final = 4
# A number that is off by a smaller factor is kept, because changing it rewrites all rows.
_TOLERANCE: Final = 4
# The assumed maximum size of a partition, because the number of partitions is unknown. At this size, a partition gets
# two buckets, which need no rewrite until it exceeds 390 MiB.
_PARTITION_BYTES: Final = 32 * 2**20
# The maximum number of buckets if Spark cannot estimate the size.
_TASKS_OF_UNKNOWN: Final = 32
# Prefixes of options that choose a bucket mode.
_BUCKET_OPTIONS: Final = ("dynamic-bucket.", "postpone.", "cross-partition-upsert.")
# Spark reports an unknown size, such as an RDD's, as 8 EiB (spark.sql.defaultSizeInBytes).
_UNKNOWN_BYTES: Final = 2**50
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_STATISTICS: Final = re.compile(rf"Statistics\(sizeInBytes=([\d.E+]+) ({'|'.join(_UNITS)})\b")
# Characters with which Spark indents the tree of a printed plan.
_TREE: Final = " :+-"


def is_rescaling(options: Mapping[str, str]) -> bool:
    """Whether a rescale of a table with these options has started but not finished."""
    return options.get(BUCKET_STATE_OPTION) == RESCALING


def wanted(size: float, tasks: int) -> int:
    """The number of buckets for a table or partition with `size` bytes of files, if Spark runs `tasks` in parallel."""
    parallel = min(tasks, math.ceil(math.sqrt(size / _ROOT_BYTES)))
    return max(1, parallel, math.ceil(size / MOST_BYTES))


def expected(size: float | None, tasks: int, *, partitioned: bool) -> int:
    """The number of buckets for a table without rows; `size` is the result of `estimated_size`."""
    if size is None:
        return min(tasks, _TASKS_OF_UNKNOWN)
    return wanted(min(size, _PARTITION_BYTES) if partitioned else size, tasks)


def is_off(number: int, size: float, tasks: int) -> bool:
    """Whether the number of buckets is so far from the best one that a rewrite pays off."""
    best = wanted(size, tasks)
    return max(number, best) >= _TOLERANCE * min(number, best)


def has_outgrown(number: int, size: float, tasks: int) -> bool:
    """Whether a table has far too few buckets for its size."""
    return wanted(size, tasks) >= _TOLERANCE * number


def estimated_size(explained: str) -> float | None:
    """The size of a query's rows in data files, from the output of EXPLAIN COST; None if Spark does not know it.

    Spark estimates the size of a join as the product of its sides; this function limits the estimate to their sum.
    """
    nodes = [
        _Node(len(line) - len(line.lstrip(_TREE)), float(found.group(1)) * 1024.0 ** _UNITS.index(found.group(2)))
        for line in explained.partition("== Physical Plan ==")[0].splitlines()
        if (found := _STATISTICS.search(line))
    ]
    size = _corrected_size(nodes) if nodes else _UNKNOWN_BYTES
    return None if size >= _UNKNOWN_BYTES else size / _COMPRESSION


class _Node(NamedTuple):
    """A line of a printed plan: its indentation, and Spark's estimate of its size in bytes."""

    depth: int
    size: float


def _corrected_size(nodes: Sequence[_Node]) -> float:
    """The size of a plan's first node, with joins limited to the sum of their sides."""
    first, below = nodes[0], nodes[1:]
    if not below:
        return first.size
    starts = [index for index, node in enumerate(below) if node.depth == below[0].depth]
    children = [below[start:end] for start, end in zip(starts, [*starts[1:], len(below)], strict=True)]
    expected = sum(child[0].size for child in children)
    if not expected:
        return first.size
    grows = first.size / expected
    return (min(grows, 1) if len(children) > 1 else grows) * sum(map(_corrected_size, children))


def may_fix(spec: TableSpec, versions: Versions) -> bool:
    """Whether the table can have fixed buckets: they need a bucket key, or a primary key with all partition columns."""
    if spec.crosses_partitions or not (spec.primary_key or "bucket-key" in spec.options):
        return False
    if any(name.startswith("dynamic-bucket.") for name in spec.options):
        return False
    return not any(rule_faults(with_buckets(spec, 1), versions))


def by_default(spec: TableSpec) -> TableSpec:
    """The table, with `bucket: auto` if it has a primary key and its config does not mention buckets."""
    chosen = any(name == "bucket" or name.startswith(_BUCKET_OPTIONS) for name in spec.options)
    return spec if chosen or not spec.primary_key else replace(spec, auto_buckets=True)


def settled(spec: TableSpec, options: Mapping[str, str]) -> TableSpec:
    """The table, with the existing table's number of buckets if the adapter chooses that number."""
    return with_buckets(spec, options.get("bucket")) if spec.auto_buckets else spec


def undecided(spec: TableSpec) -> TableSpec:
    """The table with one bucket, marked so that the number is chosen later."""
    one = with_buckets(spec, 1)
    return replace(one, options={**one.options, BUCKET_STATE_OPTION: UNDECIDED})


def with_buckets(spec: TableSpec, number: int | str | None) -> TableSpec:
    """The table with this number of buckets; None for Paimon's default."""
    options = {name: value for name, value in spec.options.items() if name != "bucket"}
    if number is not None:
        options["bucket"] = str(number)
    return replace(spec, options=options)
