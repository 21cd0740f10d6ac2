"""How a table's changes are read; functional/changes checks on real tables what each mode returns."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.capabilities.version_numbers import parse_version
from dbt.adapters.paimon.changes.read_modes import ChangeReadMode, SourceTable, UncomparableError, old_names, read_mode
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.tables.existing import ExistingTable

APPENDED = SourceTable(TableName("paimon", "db", "t"), (("id", "int"), ("v", "int")))
KEYED = replace(APPENDED, primary_key=("id",))


def read(table: SourceTable, *kinds: str, paimon: str = "0.9.0", before: bool = False) -> ChangeReadMode:
    commits = [Commit(number, kind, "someone", 1) for number, kind in enumerate(kinds)]
    versions = Versions(parse_version(paimon), parse_version("3.5.7"), "filesystem")
    return read_mode(table, commits, versions, incremental_catalog="paimon", before=before)


@pytest.mark.parametrize("table", [APPENDED, KEYED])
def test_commits_decide_first(table):
    assert read(table) is ChangeReadMode.NOTHING
    assert read(table, "COMPACT", "ANALYZE") is ChangeReadMode.NOTHING
    assert read(table, "APPEND", "COMPACT") is ChangeReadMode.FILES
    assert read(table, "COMPACT", "APPEND", "APPEND") is ChangeReadMode.FILES
    assert read(table, "APPEND", "OVERWRITE") is ChangeReadMode.COMPARE
    assert read(table, "APPEND", before=True) is ChangeReadMode.COMPARE


def test_a_row_may_sort_before_an_older_delete_of_its_key():
    """A row and an older delete of its key may share a sequence number, so files do not show which is last."""
    assert read(KEYED, "APPEND", "COMPACT", "APPEND") is ChangeReadMode.KEYS
    assert read(APPENDED, "APPEND", "COMPACT", "APPEND") is ChangeReadMode.FILES


def test_an_append_that_removes_rows():
    """The files of such a commit do not contain the deleted keys."""
    versions = Versions.of("0.9.0")
    commits = [Commit(1, "APPEND", "someone", 3, 3), Commit(2, "APPEND", "someone", 2, -1)]
    assert read_mode(KEYED, commits, versions, incremental_catalog="paimon", before=False) is ChangeReadMode.COMPARE
    assert read_mode(KEYED, commits[:1], versions, incremental_catalog="paimon", before=False) is ChangeReadMode.FILES
    # A compaction also removes rows: those that later rows have replaced.
    commits = [commits[0], replace(commits[1], kind="COMPACT")]
    assert read_mode(KEYED, commits, versions, incremental_catalog="paimon", before=False) is ChangeReadMode.FILES


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"record-level.expire-time": "1 d"}, ChangeReadMode.COMPARE),
        ({"changelog-producer": "input"}, ChangeReadMode.FILES),
        ({"changelog-producer": "LOOKUP"}, ChangeReadMode.COMPARE),
        ({"changelog-producer": "full-compaction"}, ChangeReadMode.COMPARE),
        ({"merge-engine": "first-row"}, ChangeReadMode.COMPARE),
        ({"merge-engine": "aggregation"}, ChangeReadMode.KEYS),
        ({"merge-engine": "partial-update"}, ChangeReadMode.KEYS),
        ({"sequence.field": "v"}, ChangeReadMode.KEYS),
        ({"deletion-vectors.enabled": "true"}, ChangeReadMode.COMPARE),
        ({"bucket": "-2"}, ChangeReadMode.COMPARE),
        ({"data-evolution.enabled": "true"}, ChangeReadMode.COMPARE),
    ],
)
def test_options_of_a_keyed_table(options, expected):
    assert read(replace(KEYED, options=options), "APPEND") is expected


@pytest.mark.parametrize("option", ["scan.fallback-branch", "scan.primary-branch"])
def test_a_table_with_the_rows_of_a_branch_is_refused(option):
    existing = ExistingTable((), (), {option: "late"}, ())
    with pytest.raises(DbtRuntimeError, match=rf"db\.t also has the rows of a branch \({re.escape(option)}=late\)"):
        SourceTable.of(TableName("paimon", "db", "t"), existing)


def test_rows_that_only_a_compaction_shows():
    vectors = replace(KEYED, options={"deletion-vectors.enabled": "true"})
    assert read(vectors, "COMPACT") is ChangeReadMode.COMPARE


def test_a_key_that_may_move_between_partitions():
    assert read(replace(KEYED, partition_by=("v",)), "APPEND") is ChangeReadMode.COMPARE
    assert read(replace(KEYED, primary_key=("id", "v"), partition_by=("v",)), "APPEND") is ChangeReadMode.FILES


def test_versions():
    elsewhere = replace(KEYED, name=TableName("archive", "db", "t"))
    assert read(elsewhere, "APPEND") is ChangeReadMode.COMPARE
    assert read(elsewhere, "APPEND", paimon="1.1.0") is ChangeReadMode.KEYS
    assert read(KEYED, "APPEND", paimon="1.0.1") is ChangeReadMode.FILES
    assert read(KEYED, "APPEND", paimon="1.4.2") is ChangeReadMode.KEYS


def test_a_column_named_like_one_of_the_audit_log():
    assert read(replace(KEYED, columns=(("id", "int"), ("RowKind", "string"))), "APPEND") is ChangeReadMode.COMPARE


def schema(number: int, **types: str | dict[str, object]) -> Schema:
    fields = [{"id": each, "name": name, "type": kind} for each, (name, kind) in enumerate(types.items())]
    return Schema.of_row([number, *map(json.dumps, (fields, [], ["id"], {})), ""])


def test_a_struct_with_another_field_cannot_be_compared():
    def struct(*names: str) -> dict[str, object]:
        return {"type": "ROW", "fields": [{"id": 9, "name": name, "type": "INT"} for name in names]}

    then, now = schema(0, id="INT", s=struct("a"), v="INT"), schema(1, id="INT", s=struct("a", "b"), w="BIGINT")
    with pytest.raises(UncomparableError, match="the fields of s have changed"):
        old_names("what", (now, then), 0, 1)
    assert old_names("what", (schema(1, id="INT", w="BIGINT"), schema(0, id="INT", v="INT")), 0, 1) == {
        "id": "id",
        "w": "v",
    }
