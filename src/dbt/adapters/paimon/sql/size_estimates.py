"""Reads Spark's estimate of a query's size from the output of EXPLAIN COST."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

# Spark estimates the size of rows in memory. As Parquet files with zstd, they are about a quarter as large.
_COMPRESSION: Final = 4
# Spark reports an unknown size, such as an RDD's, as 8 EiB (spark.sql.defaultSizeInBytes).
_UNKNOWN_BYTES: Final = 2**50
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_STATISTICS: Final = re.compile(rf"Statistics\(sizeInBytes=([\d.E+]+) ({'|'.join(_UNITS)})\b")
# Characters with which Spark indents the tree of a printed plan.
_TREE: Final = " :+-"


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
