"""Made-up reports, for tests of the report's page and of its rules."""

from __future__ import annotations

from dataclasses import replace

from dbt.adapters.paimon.metadata.facts import Facts, FileGroup
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt_paimon.report import advice, figures
from dbt_paimon.report.figures import Column, ColumnEnd, Cost, LineageNode, NodeRun, Report, Run, Table

NOW = 1_760_000_000.0
MB = 1024**2


def facts(number: int = 0, **changed: object) -> Facts:
    """Four buckets, twelve commits, a tag and a consumer; every fifth table needs a compaction."""
    untended = number % 5 == 4
    groups = tuple(
        FileGroup("", bucket, level, files, small, rows * (number % 7 + 1), rows * 120 * (number % 7 + 1))
        for bucket in range(4)
        for level, files, small, rows in (
            (0, 8 if untended else 2, 2, 400),
            (4, 1, 0, 9_000 + 700 * bucket),
            (5, 2, 0, 80_000),
        )
    )
    snapshots = tuple(
        Commit(
            each,
            "COMPACT" if each % 5 == 0 else "APPEND",
            f"dbt_{each:08x}",
            each * 9_000,
            -300 if each % 5 == 0 else 9_000 + 800 * (each % 4),
            at=NOW - (13 - each) * 3600,
        )
        for each in range(1, 13)
    )
    given = {
        "schema": Schema(
            0,
            (),
            (),
            ("id",),
            {"bucket": "4", "merge-engine": "partial-update"},
            "Where a flight is, and when it left & landed <b>not bold</b>",
        ),
        "groups": groups,
        "snapshots": snapshots,
        "tags": {"month-end": 9},
        "consumers": {"downstream": 11},
    }
    return Facts(**{**given, **changed})  # type: ignore[arg-type]


def table(number: int = 0, name: str = "", **changed: object) -> Table:
    read = facts(number, **changed)
    called = name or f"table_{number:04}"
    found = figures.figures(read)
    said = advice.advice(figures.condition(read, found, called, called, False, NOW))
    return Table(
        f"model.shop.{called}",
        f"shop.{called}",
        "incremental",
        called,
        by="Paimon's classes",
        seconds=0.1,
        **found,
        readers=figures.consumers(read, f"shop.{called}"),
        advice=said,
    )


def _columns(tables: list[Table], index: int) -> tuple[Column, ...]:
    """Four columns, each computed from the same column of the table that this one reads in `report`."""
    names = ("id", "a name", "amount_<b>", "naïve")
    above = tables[(index - 1) // 3 : (index - 1) // 3 + 1] if index else []
    below = tables[3 * index + 1 : 3 * index + 4]

    def ends(found: list[Table], column: str) -> tuple[ColumnEnd, ...]:
        return tuple(ColumnEnd(each.node, each.said, column, "value") for each in found)

    rows = tuple(ColumnEnd(each.node, each.said, "id", "row") for each in above)
    return (Column("*", rows), *(Column(name, ends(above, name), ends(below, name)) for name in names))


def report(count: int, *more: Table) -> Report:
    made = [table(number) for number in range(count)]
    made = [replace(each, columns=_columns(made, index)) for index, each in enumerate(made)]
    tables = (*made, *more)
    shown = tables[:40]
    nodes = tuple(
        NodeRun(
            each.node,
            each.said,
            each.kind,
            "success",
            f"Thread-{index % 4 + 1} (worker)",
            (index // 4) * 3.1 + 0.2 * (index % 4),
            2.0 + (index % 5) * 0.2,
            rows=9_000,
            bytes=MB,
            files=2,
            snapshot=12,
        )
        for index, each in enumerate(shown)
    )
    lineage = tuple(
        LineageNode(each.node, each.said, each.kind, (tables[(index - 1) // 3].node,) if index else ())
        for index, each in enumerate(tables)
    )
    return Report(
        project="shop",
        target="local",
        at=NOW,
        versions={"dbt-paimon": "0.1.0", "Paimon": "0.9.0", "Spark": "3.5.7"},
        tables=tables,
        runs=(Run("one", "build", NOW - 3600, 34.5, nodes),) if nodes else (),
        lineage=lineage,
        cost=Cost(statements=3, by_classes=count, reading_seconds=0.1 * count, seconds=2.0, threads=4),
    )
