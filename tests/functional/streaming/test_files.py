"""A stream reads each file of a folder once. A line that is not a row becomes a dead letter."""

from __future__ import annotations

import datetime
import json
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt, write_file

from dbt.adapters.paimon.state import tables

SOURCES = """
sources:
  - name: landing
    schema: landing
    tables:
      - name: messages
        external: {using: json, location: landing/messages}
        columns:
          - {name: id, data_type: bigint, constraints: [{type: not_null}]}
          - {name: amount, data_type: "decimal(10,2)"}
          - {name: tags, data_type: "array<string>"}
      - name: lines
        external: {using: csv, location: landing/lines, options: {maxFilesPerTrigger: 1}}
        columns:
          - {name: id, data_type: int}
          - {name: value, data_type: "decimal(5,1)"}
          - {name: day, data_type: date}
      - name: batches
        external: {using: json, location: landing/batches, options: {maxFilesPerTrigger: 2}}
        columns: [{name: id, data_type: int}]
      - name: quoted
        external: {using: csv, location: landing/quoted, options: {}}
        columns: [{name: id, data_type: int}, {name: text, data_type: string}, {name: last, data_type: string}]
      - name: folders
        external: {using: json, location: landing/folders, options: {}}
        columns: [{name: id, data_type: int}]
      - name: columns
        external: {using: parquet, location: landing/columns}
      - name: misnamed
        external: {using: jsn, locatoin: landing/messages, options: {maxFilePerTrigger: 1}}
        columns:
          - {name: id, data_type: biging}
          - {name: text}
      - name: nowhere
        external: {using: json, location: landing/nowhere}
        columns: [{name: id, data_type: int}]
"""
MESSAGES = """{{ config(materialized='streaming') }}
select id, amount, tags, regexp_extract(_file, '[^/]+$', 0) as file from {{ stream(source('landing', 'messages')) }}
"""
LINES = """{{ config(materialized='streaming', primary_key='id') }}
select id, value, day from {{ stream(source('landing', 'lines')) }}
"""
QUOTED = """{{ config(materialized='streaming') }}
select id, text, last, regexp_extract(_file, '[^/]+$', 0) as file from {{ stream(source('landing', 'quoted')) }}
"""
COLUMNS = """{{ config(materialized='streaming') }}
select id, name, extra from {{ stream(source('landing', 'columns')) }}
"""
# A filter of the model must not hide a message that cannot be parsed.
FILTERED = """{{ config(materialized='streaming') }}
select id from (select * from {{ stream(source('landing', 'messages')) }} where id is not null) where amount > 1
"""
ANY = """{{{{ config(materialized='streaming') }}}} select id from {{{{ stream(source('landing', '{}')) }}}}"""


def put(folder: Path, name: str, text: str | bytes) -> None:
    """Write a file that appears with all its content at once."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{name}"
    draft.write_bytes(text.encode() if isinstance(text, str) else text)
    draft.rename(folder / name)


def write_model(checkpoint: Path, name: str) -> None:
    """Write a model's name into the note of a checkpoint, as a user would."""
    note = checkpoint / "dbt.json"
    note.write_text(json.dumps({**json.loads(note.read_text()), "model": name}))
    note.with_name(".dbt.json.crc").unlink(missing_ok=True)


def failure(model: str) -> str:
    results = run_dbt(["run", "--select", model], expect_pass=False)
    return str(results.results[0].message)


class TestFiles:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "sources.yml": SOURCES,
            "messages.sql": MESSAGES,
            "lines.sql": LINES,
            "filtered.sql": FILTERED,
            "columns.sql": COLUMNS,
            "quoted.sql": QUOTED,
            "folders.sql": ANY.format("folders"),
            "batches.sql": ANY.format("batches"),
            "misnamed.sql": ANY.format("misnamed"),
            "nowhere.sql": ANY.format("nowhere"),
            "from_now_on.sql": ANY.format("messages").replace(")) }}", "), scan_mode='latest') }}"),
            "kinds.sql": ANY.format("messages").replace(")) }}", "), row_kind='_kind') }}"),
        }

    def test_they_are_read_once(self, project: Any, rows: Any, warehouse: Path) -> None:
        landing = Path(project.project_root) / "landing"
        messages, lines = landing / "messages", landing / "lines"
        put(
            messages,
            "a.json",
            '{"id":1,"amount":1.50,"tags":["a"]}\n\n{"id":2}\n{"id":3,"amount":0.001}\n{"id":"4"',
        )
        put(lines, "a.csv", "id,value,day\n1,1.5,2024-01-31\n2,,\n3,0.05,2024-01-31\n4,1\n")
        put(landing / "columns", "a.parquet", parquet([(1, "é"), (2, None)]))
        # Only this file has the column `extra`.
        put(landing / "columns", "b.parquet", parquet([(0, "b", "x")]))
        run_dbt(["run", "--select", "messages", "filtered", "lines", "columns"])
        dead = rows("select decode(value, 'UTF-8') from {schema}.filtered__dead_letters order by 1")
        assert dead == [('{"id":"4"',), ('{"id":3,"amount":0.001}',)]
        assert rows("select id from {schema}.filtered") == [(1,)]
        (checkpoint,) = warehouse.glob(f"{project.test_schema}.db/messages/__dbt_checkpoint/*")
        older, newest = checkpoint.with_name("older"), checkpoint.with_name("newest")
        shutil.copytree(checkpoint, older)
        put(messages, "b.json", '{"id":5}\n{"ID":6}\n')
        put(lines, "b.csv", "id,value,day\n1,2.5,2024-02-01\n2,x,2024-02-30\n")
        put(landing / "columns", "c.parquet", parquet([(3, "c")]))
        run_dbt(["run", "--select", "messages", "lines", "columns"])
        # The table has a batch that this copy of the checkpoint does not know.
        checkpoint.rename(newest)
        older.rename(checkpoint)
        assert "restore" in failure("messages").lower()
        shutil.rmtree(checkpoint)
        newest.rename(checkpoint)
        # After a rename of the project, a stream continues once the checkpoint's note has its new name.
        write_model(checkpoint, "model.elsewhere.messages")
        assert "dbt.json" in failure("messages")
        write_model(checkpoint, "model.test.messages")
        # A model with another name continues the stream of its table.
        Path(project.project_root, "models/messages.sql").unlink()
        renamed = MESSAGES.replace("streaming'", "streaming', alias='messages'")
        write_file(renamed, project.project_root, "models", "renamed.sql")
        run_dbt(["run", "--select", "renamed", "lines", "columns"])

        assert rows("select * from {schema}.messages order by id") == [
            (1, Decimal("1.50"), ["a"], "a.json"),
            (2, None, None, "a.json"),
            (5, None, None, "b.json"),
        ]
        assert rows("select * from {schema}.lines order by id") == [
            (1, Decimal("2.5"), datetime.date(2024, 2, 1)),
            (2, None, None),
        ]
        assert rows("select id, name, extra from {schema}.columns order by id") == [
            (0, "b", "x"),
            (1, "é", None),
            (2, None, None),
            (3, "c", None),
        ]
        dead = "select decode(value, 'UTF-8'), reason, source from {schema}.%s__dead_letters order by 1"
        assert rows(dead % "messages") == [
            (
                '{"ID":6}',
                "the key ID differs from a described column in upper and lower case",
                "landing.messages",
            ),
            ('{"id":"4"', "not one JSON object", "landing.messages"),
            ('{"id":3,"amount":0.001}', "amount: 0.001 does not fit decimal(10,2)", "landing.messages"),
        ]
        assert [(value, reason) for value, reason, _ in rows(dead % "lines")] == [
            ("2,x,2024-02-30", 'value: "x" does not fit decimal(5,1); day: "2024-02-30" does not fit date'),
            ("3,0.05,2024-01-31", 'value: "0.05" does not fit decimal(5,1)'),
            ("4,1", "it has more or fewer values than the header, or an open quote"),
        ]

    def test_a_commit_has_the_rows_of_so_many_files(self, project: Any, rows: Any) -> None:
        for number in range(0, 15, 3):
            put(
                Path(project.project_root) / "landing/batches",
                f"{number}.json",
                "\n".join(f'{{"id": {number + n}}}' for n in range(3)),
            )
        run_dbt(["run", "--select", "batches"])
        commits = "select delta_record_count from {schema}.`batches$snapshots` order by snapshot_id"
        assert rows(commits) == [(6,), (6,), (3,)]
        assert rows("select id from {schema}.batches order by id") == [(number,) for number in range(15)]

    def test_a_file_with_other_columns_is_refused(self, project: Any, rows: Any) -> None:
        lines = Path(project.project_root) / "landing" / "lines"
        put(lines, "c.csv", "value,id,day\n9.5,9,2024-01-31\n")
        said = failure("lines")
        assert "Header: value, id, day" in said and "lines/c.csv" in said and "without renaming it" in said
        put(lines, "c.csv", "id,value,day\n9,9.5,2024-01-31\n")
        run_dbt(["run", "--select", "lines"])
        assert rows("select id, value from {schema}.lines where id = 9") == [(9, Decimal("9.5"))]

    def test_dead_letters_of_a_newer_version_are_refused(self, project: Any, rows: Any) -> None:
        lines = Path(project.project_root) / "landing" / "lines"
        put(lines, "d.csv", "id,value,day\n10,1.5,2024-01-31\n11\n")
        dead, count = "{schema}.lines__dead_letters", "select count(*) from {schema}.lines__dead_letters"
        before = rows(count)
        rows(f"alter table {dead} set tblproperties ('{tables.OPTION}' = '99')")
        assert "lines__dead_letters` was written by a newer dbt-paimon (state version 99;" in failure("lines")
        assert rows(count) == before
        assert rows("select id from {schema}.lines where id = 10") == []
        rows(f"alter table {dead} unset tblproperties ('{tables.OPTION}')")
        run_dbt(["run", "--select", "lines"])
        assert rows(count) == [(before[0][0] + 1,)]

    def test_quotes_are_doubled(self, project: Any, rows: Any) -> None:
        name = "a b%20c=ü+.csv"
        put(
            Path(project.project_root) / "landing/quoted",
            name,
            'id,text,last\n1,"x ""q"" y",z\n2,"a "", b",z\n3,"back \\"s\\" y",z\nx,"a ""b""","c, d"\n4,"open,z\n',
        )
        run_dbt(["run", "--select", "quoted"])
        assert rows("select * from {schema}.quoted order by id") == [
            (1, 'x "q" y', "z", name),
            (2, 'a ", b', "z", name),
        ]
        dead = "select decode(value, 'UTF-8'), reason, split_part(place, '/', -1) from {schema}.quoted__dead_letters"
        assert set(rows(dead)) == {
            (
                r'''3,"""back \""s\"" y""",z''',
                r'''it has \" within quotes, but the option escape of the source is "''',
                name,
            ),
            ('x,"a ""b""","c, d"', 'id: "x" does not fit int', name),
            ('4,"open,z', "it has more or fewer values than the header, or an open quote", name),
        }

    def test_a_line_that_ends_within_its_last_value(self, project: Any, rows: Any) -> None:
        put(
            Path(project.project_root) / "landing/quoted",
            "b.csv",
            'id,text,last\n5,t,"several\nlines"\n6,t,u\n',
        )
        counts = "select count(*) from {schema}.quoted union all select count(*) from {schema}.quoted__dead_letters"
        before = rows(counts)
        said = failure("quoted")
        assert 'b.csv ends within a quoted value: 5,t,"several. Set multiLine: true' in said
        assert rows(counts) == before
        source = "location: landing/quoted, options: {"
        described = SOURCES.replace(source, f"{source}multiLine: true")
        write_file(described, project.project_root, "models", "sources.yml")
        run_dbt(["run", "--select", "quoted"])
        assert rows("select id, last from {schema}.quoted where id > 4 order by id") == [
            (5, "several\nlines"),
            (6, "u"),
        ]

    def test_partition_folders_next_to_files(self, project: Any, rows: Any) -> None:
        folder = Path(project.project_root) / "landing/folders"
        put(folder / "dt=2024-01-31", "a.json", '{"id":1}')
        put(folder, "b.json", '{"id":2}')
        assert "partition folders (name=value) beside files" in failure("folders")
        source = "location: landing/folders, options: {"
        described = SOURCES.replace(source, f"{source}recursiveFileLookup: true")
        write_file(described, project.project_root, "models", "sources.yml")
        run_dbt(["run", "--select", "folders"])
        assert rows("select id from {schema}.folders order by id") == [(1,), (2,)]

    def test_bad_descriptions_are_in_one_error(self, project: Any) -> None:
        said = failure("misnamed")
        for part in (
            "landing.misnamed",
            "did you mean json?",
            "did you mean location?",
            "'biging'",
            "data_type is missing",
        ):
            assert part in said
        said = failure("nowhere")
        assert "landing/nowhere does not exist" in said and "external.location" in said
        assert "does not support scan_mode" in failure("from_now_on")
        assert "Remove row_kind" in failure("kinds")


def parquet(values: list[tuple[int | str | None, ...]]) -> bytes:
    import io

    import pandas as pd

    buffer = io.BytesIO()
    pd.DataFrame(values, columns=["id", "name", "extra"][: len(values[0])]).to_parquet(buffer)
    return buffer.getvalue()
