"""How many fixed buckets a table gets with `bucket: auto`."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from dbt.adapters.paimon.spec.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Mapping

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
# Options by which a config has chosen a kind of buckets.
_OF_BUCKETS: Final = ("dynamic-bucket.", "postpone.", "cross-partition-upsert.")
_STATISTICS: Final = re.compile(r"Statistics\(sizeInBytes=([\d.E+]+) ([KMGTPE]?i?B)")
_UNITS: Final = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5, "EiB": 6}


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
        return tasks
    return wanted(min(size, _PARTITION_BYTES) if partitioned else size, tasks)


def is_off(number: int, size: float, tasks: int) -> bool:
    """Whether a table is better written again with the number that fits its size."""
    best = wanted(size, tasks)
    return max(number, best) >= _TOLERANCE * min(number, best)


def has_outgrown(number: int, size: float, tasks: int) -> bool:
    """Whether a table has far fewer buckets than fit its size."""
    return wanted(size, tasks) >= _TOLERANCE * number


def estimated_size(explained: str) -> float | None:
    """Bytes of the data files that a query's rows would fill, by EXPLAIN COST; None if it says nothing."""
    found = _STATISTICS.search(explained)
    if found is None or found.group(2) not in _UNITS:
        return None
    return float(found.group(1)) * float(1024 ** _UNITS[found.group(2)]) / _COMPRESSION


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
