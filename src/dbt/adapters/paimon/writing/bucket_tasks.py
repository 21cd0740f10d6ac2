"""The number of shuffle partitions that gives the tasks which write fixed buckets even loads.

Paimon's writer repartitions rows by their bucket (PaimonSparkWriter.repartitionByPartitionsAndBucket). Spark puts
bucket `b` into partition `pmod(murmur3(b), n)`, where n is `spark.sql.shuffle.partitions`: with n = 2 or 4 the buckets
0 and 1 share one, and one core writes the whole table.
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
# How many more partitions than the session's own number are tried.
_MORE: Final = 64
# More buckets are spread evenly enough by their number alone.
_MANY_BUCKETS: Final = 4096


@lru_cache(maxsize=4096)
def murmur3(number: int) -> int:
    """Spark's hash of an integer (Murmur3_x86_32.hashInt), signed."""
    mixed = number * 0xCC9E2D51 & _WORD
    mixed = (mixed << 15 | mixed >> 17) * 0x1B873593 & _WORD
    hashed = _SEED ^ mixed
    hashed = (hashed << 13 | hashed >> 19) * 5 + 0xE6546B64 & _WORD
    # Of four bytes.
    hashed ^= 4
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & _WORD
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & _WORD
    hashed ^= hashed >> 16
    return hashed - (1 << 32) if hashed >> 31 else hashed


def loads(buckets: int, partitions: int) -> list[int]:
    """How many buckets each partition gets, the fullest first."""
    found = [0] * partitions
    for bucket in range(buckets):
        found[murmur3(bucket) % partitions] += 1
    return sorted(found, reverse=True)


def longest(buckets: int, partitions: int, workers: int) -> int:
    """How many buckets the busiest worker writes, if each takes the fullest partition that is left."""
    busy = [0] * workers
    for load in loads(buckets, partitions):
        heapq.heapreplace(busy, busy[0] + load)
    return max(busy)


@lru_cache(maxsize=1024)
def best_partitions(buckets: int, session: int) -> int:
    """The smallest of the best numbers of partitions, from the session's own number on."""
    return min(range(session, session + _MORE + 1), key=lambda number: (longest(buckets, number, session), number))


def conf(spec: TableSpec, session: str | None) -> dict[str, str]:
    """The setting for a statement that writes the table; empty if the session's is right, or not known (None).

    With partitions, their values are hashed, too, and nothing is known before.
    """
    if (
        not 2 <= spec.bucket <= _MANY_BUCKETS
        or spec.partition_by
        or session is None
        or not session.isdigit()
        or int(session) < 2
    ):
        return {}
    best = best_partitions(spec.bucket, int(session))
    return {} if best == int(session) else {PARTITIONS: str(best)}
