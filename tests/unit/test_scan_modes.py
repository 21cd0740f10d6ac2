"""Where a stream from a Paimon table begins, without Spark."""

from __future__ import annotations

from datetime import date

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.changes.positions import NOTHING_READ, Position
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.streaming.sources.ranges import Range
from dbt.adapters.paimon.streaming.sources.scan_modes import Beginning, ScanMode, beginning

ID, TEXT, MILLIS = "scan.snapshot-id", "scan.timestamp", "scan.timestamp-millis"
YOUNG = [Commit(number, "APPEND", f"user {number}", number) for number in (1, 2, 3)]
# Table snapshots 1 to 4 have expired.
OLD = [Commit(number, "APPEND", f"user {number}", number) for number in (7, 5, 6)]
AT = {commit.snapshot: Position.at(commit) for commit in (*YOUNG, *OLD)}


@pytest.mark.parametrize(
    ("mode", "options", "found"),
    [
        (None, {}, Beginning()),
        ("default", {}, Beginning()),
        ("latest-full", {}, Beginning()),
        ("full", {"consumer-id": "me"}, Beginning()),
        ("latest", {}, Beginning(ScanMode.LATEST)),
        ("from-snapshot", {ID: "3"}, Beginning(ScanMode.FROM_SNAPSHOT, 3)),
        (None, {ID: "3"}, Beginning(ScanMode.FROM_SNAPSHOT, 3)),
        ("from-snapshot-full", {ID: " 3"}, Beginning(ScanMode.FROM_SNAPSHOT_FULL, 3)),
        (
            None,
            {TEXT: "2026-01-31"},
            Beginning(ScanMode.FROM_TIMESTAMP, moment="timestamp '2026-01-31 00:00:00'"),
        ),
        (
            None,
            # YAML reads an unquoted date like this.
            {TEXT: date(2026, 1, 31)},
            Beginning(ScanMode.FROM_TIMESTAMP, moment="timestamp '2026-01-31 00:00:00'"),
        ),
        (
            "from-timestamp",
            {MILLIS: "1700000000000"},
            Beginning(ScanMode.FROM_TIMESTAMP, moment="timestamp_millis(1700000000000)"),
        ),
    ],
)
def test_beginnings(mode, options, found):
    assert beginning(mode, options) == found


@pytest.mark.parametrize(
    ("mode", "options", "says"),
    [
        ("compacted-full", {}, "scan_mode='compacted-full' is unknown. Use 'full'"),
        ("latest", {ID: "3"}, "scan_mode='latest' does not use scan.snapshot-id"),
        ("full", {TEXT: "2026-01-31"}, "scan_mode='full' does not use scan.timestamp"),
        ("from-snapshot", {}, "needs scan.snapshot-id in the options"),
        ("from-timestamp", {ID: "3"}, "does not use scan.snapshot-id"),
        (
            "from-timestamp",
            {TEXT: "2026-01-31", MILLIS: "1"},
            "needs scan.timestamp or scan.timestamp-millis",
        ),
        (None, {ID: "0"}, "scan.snapshot-id='0' is not a number above 0"),
        (None, {MILLIS: "-1"}, "scan.timestamp-millis='-1' is not a number above 0"),
        (None, {TEXT: "yesterday"}, "scan.timestamp='yesterday': a timestamp is needed"),
    ],
)
def test_refused(mode, options, says):
    with pytest.raises(DbtRuntimeError) as refused:
        beginning(mode, options)
    assert says in str(refused.value)


def test_each_beginning_has_its_own_identity_in_a_checkpoint():
    said = [
        ("full", {}),
        ("latest", {}),
        ("from-snapshot", {ID: "3"}),
        ("from-snapshot-full", {ID: "3"}),
        ("from-snapshot", {ID: "4"}),
        (None, {TEXT: "2026-01-31"}),
    ]
    identities = [beginning(*each).identity for each in said]
    assert identities[:2] == ["", "latest"]
    assert len(set(identities)) == len(said)


@pytest.mark.parametrize(
    ("begins", "commits", "earlier", "found"),
    [
        (Beginning(), OLD, None, Range(NOTHING_READ, AT[7])),
        (Beginning(), [], None, Range(NOTHING_READ, NOTHING_READ)),
        (Beginning(ScanMode.LATEST), OLD, None, Range(AT[7], AT[7])),
        (Beginning(ScanMode.LATEST), [], None, Range(NOTHING_READ, NOTHING_READ)),
        (Beginning(ScanMode.FROM_SNAPSHOT, 2), YOUNG, None, Range(AT[1], AT[1])),
        (Beginning(ScanMode.FROM_SNAPSHOT, 1), YOUNG, None, Range(NOTHING_READ, AT[1])),
        (Beginning(ScanMode.FROM_SNAPSHOT, 8), OLD, None, Range(AT[7], AT[7])),
        (Beginning(ScanMode.FROM_SNAPSHOT, 1), [], None, Range(NOTHING_READ, NOTHING_READ)),
        (Beginning(ScanMode.FROM_SNAPSHOT_FULL, 6), OLD, None, Range(NOTHING_READ, AT[6])),
        (Beginning(ScanMode.FROM_TIMESTAMP, moment="x"), OLD, 6, Range(AT[6], AT[6])),
        (Beginning(ScanMode.FROM_TIMESTAMP, moment="x"), YOUNG, None, Range(NOTHING_READ, AT[1])),
        (Beginning(ScanMode.FROM_TIMESTAMP, moment="x"), [], None, Range(NOTHING_READ, NOTHING_READ)),
    ],
)
def test_the_first_range(begins, commits, earlier, found):
    assert begins.first(commits, earlier) == found


@pytest.mark.parametrize(
    ("begins", "commits", "says"),
    [
        (Beginning(ScanMode.FROM_SNAPSHOT, 9), OLD, "there is no table snapshot 9 yet (available: 5 to 7)"),
        (
            Beginning(ScanMode.FROM_SNAPSHOT, 5),
            OLD,
            "table snapshot 4, with which the first changes are compared, has",
        ),
        (Beginning(ScanMode.FROM_SNAPSHOT, 2), [], "there is no table snapshot 2 yet (available: none)"),
        (Beginning(ScanMode.FROM_SNAPSHOT_FULL, 4), OLD, "there is no table snapshot 4 (available: 5 to 7)"),
        (Beginning(ScanMode.FROM_TIMESTAMP, moment="x"), OLD, "has expired (available: 5 to 7). Start later"),
    ],
)
def test_what_is_not_there(begins, commits, says):
    with pytest.raises(DbtRuntimeError) as refused:
        begins.first(commits, None)
    assert says in str(refused.value)
