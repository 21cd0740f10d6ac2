"""Chooses the number of fixed buckets of a table with `bucket: auto`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

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
# A number that is off by a smaller factor is kept, because changing it rewrites all rows.
_TOLERANCE: Final = 4
# The assumed maximum size of a partition, because the number of partitions is unknown. At this size, a partition gets
# two buckets, which need no rewrite until it exceeds 390 MiB.
_PARTITION_BYTES: Final = 32 * 2**20
# The maximum number of buckets if Spark cannot estimate the size.
_TASKS_OF_UNKNOWN: Final = 32
# Prefixes of options that choose a bucket mode.
_BUCKET_OPTIONS: Final = ("dynamic-bucket.", "postpone.", "cross-partition-upsert.")


def is_rescaling(options: Mapping[str, str]) -> bool:
    """Whether a rescale of a table with these options has started but not finished."""
    return options.get(BUCKET_STATE_OPTION) == RESCALING


def bucket_count(size: float, tasks: int) -> int:
    """The number of buckets for a table or partition with `size` bytes of files, if Spark runs `tasks` in parallel."""
    parallel = min(tasks, math.ceil(math.sqrt(size / _ROOT_BYTES)))
    return max(1, parallel, math.ceil(size / MOST_BYTES))


def first_bucket_count(size: float | None, tasks: int, *, partitioned: bool) -> int:
    """The number of buckets for a table without rows; `size`: see `size_estimates.estimated_size`."""
    if size is None:
        return min(tasks, _TASKS_OF_UNKNOWN)
    return bucket_count(min(size, _PARTITION_BYTES) if partitioned else size, tasks)


def is_off(number: int, size: float, tasks: int) -> bool:
    """Whether the number of buckets is so far from the best one that a rewrite pays off."""
    best = bucket_count(size, tasks)
    return max(number, best) >= _TOLERANCE * min(number, best)


def has_outgrown(number: int, size: float, tasks: int) -> bool:
    """Whether a table has far too few buckets for its size."""
    return bucket_count(size, tasks) >= _TOLERANCE * number


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


def with_existing_count(spec: TableSpec, options: Mapping[str, str]) -> TableSpec:
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
