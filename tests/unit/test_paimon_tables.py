"""Ranges of table snapshots, and the rows of a batch as a model sees them, without Spark."""

from __future__ import annotations

import json

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.changes import positions
from dbt.adapters.paimon.changes.positions import NOTHING_READ, Position
from dbt.adapters.paimon.changes.read_modes import Output, SourceTable
from dbt.adapters.paimon.changes.sources import without_row_kind
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.streaming.inputs import StreamCall
from dbt.adapters.paimon.streaming.sources import paimon_tables, ranges
from dbt.adapters.paimon.streaming.sources.paimon_tables import PaimonTableInput
from dbt.adapters.paimon.streaming.sources.ranges import Limits, Range
from dbt.adapters.paimon.streaming.sources.scan_modes import Beginning

# A table of ten rows, three commits of two rows each, and a compaction.
COMMITS = [
    Commit(4, "APPEND", "a", 10),
    Commit(5, "APPEND", "b", 12),
    Commit(6, "APPEND", "c", 14),
    Commit(7, "COMPACT", "d", 13),
    Commit(8, "APPEND", "e", 15),
]
START = Position.at(COMMITS[0])


def ends(limits: Limits) -> list[int]:
    found = ranges.following(START, COMMITS, limits)
    starts = [START, *(each.end for each in found)]
    assert [each.start for each in found] == starts[:-1]
    return [each.end.snapshot for each in found]


class TestRanges:
    def test_one_range_without_a_limit(self):
        assert ends(Limits()) == [8]

    @pytest.mark.parametrize(("rows", "found"), [(1, [5, 6, 7, 8]), (2, [5, 7, 8]), (4, [7, 8]), (5, [7, 8]), (6, [8])])
    def test_rows(self, rows, found):
        assert ends(Limits(rows=rows)) == found

    @pytest.mark.parametrize(("snapshots", "found"), [(1, [5, 6, 7, 8]), (3, [7, 8])])
    def test_snapshots(self, snapshots, found):
        assert ends(Limits(snapshots=snapshots)) == found

    def test_nothing_new(self):
        assert ranges.following(Position.at(COMMITS[-1]), COMMITS, Limits()) == []

    def test_joined(self):
        one, *others = ranges.following(START, COMMITS, Limits(snapshots=1))
        assert ranges.joined([*others, one]) == Range(START, Position.at(COMMITS[-1]))
        assert ranges.joined([]) is None

    def test_a_range_is_read_back(self):
        one = Range(NOTHING_READ, START)
        assert Range.of_row(json.loads(one.text())) == one

    @pytest.mark.parametrize(
        ("position", "says"),
        [
            (NOTHING_READ, ""),
            (START, ""),
            (Position(3, "0a0a0a0a"), "has expired (available: 4 to 8)"),
            (Position(6, "0a0a0a0a"), "recreated"),
            (Position(9, "0a0a0a0a"), "rolled back"),
        ],
    )
    def test_lost(self, position, says):
        problem = positions.lost(position, COMMITS, "the stream")
        assert says in problem and bool(problem) == bool(says)

    def test_lost_if_the_table_has_no_snapshot(self):
        assert "recreated" in positions.lost(START, [], "the stream")


def opened(row_kind: str | None = None, **options: str) -> PaimonTableInput:
    table = SourceTable(
        TableName("paimon", "raw", "t"), (("id", "int"), ("v", "string"), ("_kind", "string")), ("id",), (), options
    )
    call = StreamCall("__dbt_stream_1_t", "paimon", "raw", "t", row_kind=row_kind)
    if row_kind is not None:
        table = without_row_kind(table, Output(row_kind, paimon_tables.SNAPSHOT), "stream(raw.t)")
    versions = Versions.__new__(Versions)
    return PaimonTableInput(
        call, TableName("paimon", "raw", "t"), table, 0, "now", versions, "paimon", Beginning(), Limits()
    )


class TestInput:
    def test_the_columns_that_a_model_reads(self):
        assert opened().rows_sql("raw").endswith("as `_kind` from raw")
        assert (
            opened("kind")
            .rows_sql("raw")
            .endswith("as `_kind`, cast(null as string) as `kind`, cast(null as bigint) as `_snapshot` from raw")
        )

    def test_the_tables_own_row_kind_is_replaced(self):
        assert opened("_kind", **{"rowkind.field": "_kind"}).rows_sql("raw").count("_kind") == 1

    def test_a_column_with_the_name_of_the_row_kind(self):
        with pytest.raises(DbtRuntimeError, match="already has a column _kind"):
            opened("_kind")

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"read.stream.maxFilesPerTrigger": "1"}, " read.stream.maxFilesPerTrigger"),
            ({"maxSnapshotsPerTrigger": "0"}, "is not a number above 0"),
            ({"read.stream.maxRowsPerTrigger": "many"}, "is not a number above 0"),
        ],
    )
    def test_options(self, options, says):
        call = StreamCall("v", "paimon", "raw", "t", options=options)
        with pytest.raises(DbtRuntimeError, match=says):
            paimon_tables._options(call, "stream(raw.t)")

    def test_good_options(self):
        options = {"read.stream.maxRowsPerTrigger": "5", "consumer-id": "me"}
        call = StreamCall("v", "paimon", "raw", "t", options=options)
        assert paimon_tables._options(call, "stream(raw.t)") == (Limits(rows=5), "me")
