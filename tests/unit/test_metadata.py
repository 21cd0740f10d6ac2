"""Commits and schemas are the same by SQL and by file; only `metadata` reads system tables and Paimon's classes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dbt.adapters import paimon
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.metadata.snapshots import Commit, of_rows

SOURCES = Path(paimon.__file__).parents[3]
# Names of system tables in strings, and uses of Paimon's own objects through py4j.
NAMED = re.compile(r"\$(snapshots|schemas|options|files|partitions|buckets|tags|branches|consumers|manifests)['\"`]")
READS = re.compile(
    NAMED.pattern + r"|\.system_table\(|\.org\.apache\.paimon\.|paimonCatalog\(\)\.get|snapshotManager\(|\.newScan\("
)
# The other modules that may do so, and why.
ALLOWED = {
    "dbt/adapters/paimon/capabilities/rules.py": "which version of Paimon has which system table",
    "dbt/adapters/paimon/maintenance/health.py": "the names for macros, which only write them after FROM",
    "dbt/adapters/paimon/spark/branch_schemas.py": "writes schemas",
    "dbt/adapters/paimon/spark/copied_renames.py": "moves files",
    "dbt/adapters/paimon/spark/row_writer.py": "writes rows",
    "dbt/adapters/paimon/spark/sorted_compaction.py": "writes files",
    "dbt/adapters/paimon/spark/warehouse_version.py": "reads and writes a file of the adapter's own",
    "dbt/adapters/paimon/sql/views.py": "reads the table of a schema's views, which is the adapter's own",
}


def code(path: Path) -> str:
    """A module's text without docstrings and comments."""
    return re.sub(r'"""(?:(?!""").)*"""|#[^\n]*|``?\$\w+``?', "", path.read_text("utf-8"), flags=re.DOTALL)


def test_only_metadata_reads_system_tables_and_paimons_classes() -> None:
    found = {
        str(path.relative_to(SOURCES))
        for package in ("dbt/adapters/paimon", "dbt_paimon")
        for path in (SOURCES / package).rglob("*.py")
        if path.parent.name != "metadata" and READS.search(code(path))
    }
    assert found == set(ALLOWED)


def test_macros_select_from_no_system_table_by_name() -> None:
    macros = [path for path in (SOURCES / "dbt/include/paimon").rglob("*.sql") if NAMED.search(path.read_text("utf-8"))]
    assert macros == []


def test_a_commit_by_sql_and_by_its_file() -> None:
    by_file = Commit.of_json(
        json.dumps(
            {
                "id": 7,
                "commitKind": "APPEND",
                "commitUser": "me",
                "schemaId": 2,
                "timeMillis": 1_500,
                "totalRecordCount": 30,
                "deltaRecordCount": -5,
                "changelogRecordCount": None,
            }
        )
    )
    (by_sql,) = of_rows([(7, "APPEND", "me", 30, -5, 2, None, 1_500, 12)])
    assert (by_sql.at, by_sql.age) == (1.5, 12)
    for name in ("snapshot", "kind", "user", "rows", "delta", "schema_id", "changelog", "at"):
        assert getattr(by_file, name) == getattr(by_sql, name)


def test_commits_are_sorted_by_number_and_not_as_text() -> None:
    rows = [(number, "COMPACT", "me", "1", "0", "0", None, "0", "0") for number in ("10", "9")]
    assert [commit.snapshot for commit in of_rows(rows)] == [9, 10]


@pytest.mark.parametrize("comment", [None, "", "a table"])
def test_a_schema_by_sql_and_by_its_file(comment: str | None) -> None:
    fields = [{"id": 0, "name": "id", "type": "INT NOT NULL"}, {"id": 3, "name": "v", "type": "STRING"}]
    content = {
        "fields": fields,
        "partitionKeys": ["v"],
        "primaryKeys": ["id", "v"],
        "options": {"bucket": "2"},
    }
    by_file = Schema.of_json(json.dumps({"id": 4, **content, "comment": comment}))
    assert by_file == Schema.of_row((4, *map(json.dumps, content.values()), comment))
    assert by_file.type_names == {"id": "int", "v": "string"}
