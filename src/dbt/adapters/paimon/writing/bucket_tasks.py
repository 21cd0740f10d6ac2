"""Chooses the number of shuffle partitions that spreads fixed buckets evenly over write tasks.

Paimon's writer repartitions rows by their bucket (PaimonSparkWriter.repartitionByPartitionsAndBucket). Spark puts
bucket `b` into partition `pmod(murmur3(b), n)`, where n is `spark.sql.shuffle.partitions`: with n = 2 or 4 the buckets
0 and 1 share one partition, and one core writes the whole table.
"""

from __future__ import annotations

import heapq
from functools import lru_cache
from typing import Final

from dbt.adapters.paimon.spec.table import TableSpec

PARTITIONS: Final = "spark.sql.shuffle.partitions"

# HashPartitioning's seed.
_SEED: Final = 42
_WORD: Final = 0xFFFFFFFF
# The number of candidates above the session's own number of partitions.
_CANDIDATES: Final = 64
# More buckets than this are spread evenly enough by any number of partitions.
_MANY_BUCKETS: Final = 4096


@lru_cache(maxsize=4096)
def murmur3(number: int) -> int:
    """Spark's hash of an integer (Murmur3_x86_32.hashInt), signed."""
    mixed = number * 0xCC9E2D51 & _WORD
    mixed = (mixed << 15 | mixed >> 17) * 0x1B873593 & _WORD
    hashed = _SEED ^ mixed
    hashed = (hashed << 13 | hashed >> 19) * 5 + 0xE6546B64 & _WORD
    # The input's length in bytes.
    hashed ^= 4
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & _WORD
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & _WORD
    hashed ^= hashed >> 16
    return hashed - (1 << 32) if hashed >> 31 else hashed


def loads(buckets: int, partitions: int) -> list[int]:
    """The number of buckets in each partition, largest first."""
    found = [0] * partitions
    for bucket in range(buckets):
        found[murmur3(bucket) % partitions] += 1
    return sorted(found, reverse=True)


def longest(buckets: int, partitions: int, workers: int) -> int:
    """The number of buckets of the busiest worker, if each takes the largest remaining partition."""
    busy = [0] * workers
    for load in loads(buckets, partitions):
        heapq.heapreplace(busy, busy[0] + load)
    return max(busy)


@lru_cache(maxsize=1024)
def best_partitions(buckets: int, session: int) -> int:
    """The number of partitions, at least the session's own, with the fewest buckets on the busiest worker."""
    return min(
        range(session, session + _CANDIDATES + 1), key=lambda number: (longest(buckets, number, session), number)
    )


def conf(spec: TableSpec, session: str | None) -> dict[str, str]:
    """The number of shuffle partitions for a statement that writes the table, as a Spark setting.

    Empty if the session's number is the best one, or unknown (None). Also empty for a partitioned table: Spark hashes
    the partition values, too, which are not known in advance.
    """
    own = int(session) if session and session.isdigit() else 0
    if own < 2 or spec.partition_by or not 2 <= spec.bucket <= _MANY_BUCKETS:
        return {}
    best = best_partitions(spec.bucket, own)
    return {} if best == own else {PARTITIONS: str(best)}
