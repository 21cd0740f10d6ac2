"""How many fixed buckets a table gets with `bucket: auto`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.components import rule_faults
from dbt.adapters.paimon.spec.table import TableSpec

# This adapter's own table option. UNDECIDED: the table has had no rows to choose the number by.
# RESCALING: a rescale has started and not ended.
MARK: Final = "dbt.buckets"
UNDECIDED: Final = "undecided"
RESCALING: Final = "rescaling"

# Paimon's advice: 200 MB to 1 GB per bucket (docs, primary-key-table/data-distribution).
MOST_BYTES: Final = 2**30
# A table of n times these bytes gets the root of n buckets. So buckets grow with the table, and a batch, which writes a
# file per bucket, does not pay for more tasks than a small table needs.
_ROOT_BYTES: Final = 8 * 2**20
# Spark estimates rows in memory; Parquet with zstd needs about a quarter of that.
_COMPRESSION: Final = 4
# A number that is off by less is kept, because changing it rewrites all rows.
_TOLERANCE: Final = 4
# The assumed size of one partition at most, since the number of partitions is unknown. The resulting two buckets fit
# partitions of up to 390 MiB without a rewrite.
_PARTITION_BYTES: Final = 32 * 2**20
# Used if Spark does not know the number of rows.
_TASKS_OF_UNKNOWN: Final = 32
# Options with which a config chooses a kind of buckets.
_BUCKET_OPTIONS: Final = ("dynamic-bucket.", "postpone.", "cross-partition-upsert.")
# Spark counts unknown sizes, such as that of an RDD, as 8 EiB (spark.sql.defaultSizeInBytes).
_UNKNOWN_BYTES: Final = 2**50
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_STATISTICS: Final = re.compile(rf"Statistics\(sizeInBytes=([\d.E+]+) ({'|'.join(_UNITS)})\b")
# Characters that draw the tree of a printed plan.
_TREE: Final = " :+-"


def wanted(size: float, tasks: int) -> int:
    """The number of buckets of a table or partition with `size` bytes of files; Spark runs `tasks` at a time."""
    parallel = min(tasks, math.ceil(math.sqrt(size / _ROOT_BYTES)))
    return max(1, parallel, math.ceil(size / MOST_BYTES))


def expected(size: float | None, tasks: int, *, partitioned: bool) -> int:
    """The number of buckets of a table without rows; `size` is that of `estimated_size`."""
    if size is None:
        return min(tasks, _TASKS_OF_UNKNOWN)
    return wanted(min(size, _PARTITION_BYTES) if partitioned else size, tasks)


def is_off(number: int, size: float, tasks: int) -> bool:
    """Whether the number of buckets differs so much from the right one that a rewrite pays off."""
    best = wanted(size, tasks)
    return max(number, best) >= _TOLERANCE * min(number, best)


def has_outgrown(number: int, size: float, tasks: int) -> bool:
    """Whether a table has far too few buckets for its size."""
    return wanted(size, tasks) >= _TOLERANCE * number


def estimated_size(explained: str) -> float | None:
    """Bytes of data files for a query's rows, by the output of EXPLAIN COST; None if Spark does not know.

    Spark estimates a join as the product of its sides; here it is at most their sum.
    """
    nodes = [
        _Node(len(line) - len(line.lstrip(_TREE)), float(found.group(1)) * 1024.0 ** _UNITS.index(found.group(2)))
        for line in explained.partition("== Physical Plan ==")[0].splitlines()
        if (found := _STATISTICS.search(line))
    ]
    size = _corrected_size(nodes) if nodes else _UNKNOWN_BYTES
    return None if size >= _UNKNOWN_BYTES else size / _COMPRESSION


class _Node(NamedTuple):
    """A line of a printed plan: its indentation, and Spark's estimate of its rows in bytes."""

    depth: int
    size: float


def _corrected_size(nodes: Sequence[_Node]) -> float:
    """The size of the first node of a plan, with joins limited to the sum of their sides."""
    first, below = nodes[0], nodes[1:]
    if not below:
        return first.size
    starts = [place for place, node in enumerate(below) if node.depth == below[0].depth]
    children = [below[start:end] for start, end in zip(starts, [*starts[1:], len(below)], strict=True)]
    expected = sum(child[0].size for child in children)
    if not expected:
        return first.size
    grows = first.size / expected
    return (min(grows, 1) if len(children) > 1 else grows) * sum(map(_corrected_size, children))


def may_fix(spec: TableSpec, versions: Versions) -> bool:
    """Whether the table may have fixed buckets: it has a key or bucket key that stays in its partition."""
    if spec.crosses_partitions or not (spec.primary_key or "bucket-key" in spec.options):
        return False
    if any(name.startswith("dynamic-bucket.") for name in spec.options):
        return False
    return not any(rule_faults(with_buckets(spec, 1), versions))


def by_default(spec: TableSpec) -> TableSpec:
    """The table with `bucket: auto`, if it has a primary key and its config says nothing about buckets."""
    chosen = any(name == "bucket" or name.startswith(_BUCKET_OPTIONS) for name in spec.options)
    return spec if chosen or not spec.primary_key else replace(spec, auto_buckets=True)


def settled(spec: TableSpec, options: Mapping[str, str]) -> TableSpec:
    """The table with the number of buckets of the existing table, if the adapter chooses it."""
    return with_buckets(spec, options.get("bucket")) if spec.auto_buckets else spec


def undecided(spec: TableSpec) -> TableSpec:
    """The table with one bucket until its number is chosen."""
    one = with_buckets(spec, 1)
    return replace(one, options={**one.options, MARK: UNDECIDED})


def with_buckets(spec: TableSpec, number: int | str | None) -> TableSpec:
    """The table with a number of buckets; None for Paimon's default."""
    options = {name: value for name, value in spec.options.items() if name != "bucket"}
    if number is not None:
        options["bucket"] = str(number)
    return replace(spec, options=options)
