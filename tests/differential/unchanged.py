"""Sequences of models with `skip_unchanged`, and changes between runs that may make a stale key look valid.

Skipping must not change rows, so the oracle computes the rows as if no run were skipped. Source tables are rolled
back or created again, so that new table snapshots get the IDs of earlier ones.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dbt.cli.main import dbtRunner

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark import session
from dbt.adapters.paimon.spark.runtime import Runtime

Rows = tuple[tuple[int, int], ...]
KINDS: Final = ("table", "keyed_table", "upsert", "filtered", "over_view", "overwritten")
# Changes between two runs; those that are most likely to be missed are listed twice.
CHANGES: Final = (
    "nothing",
    "nothing",
    "nothing",
    "insert",
    "insert",
    "delete",
    "overwrite",
    "rollback",
    "rollback_and_insert",
    "rollback_and_insert",
    "recreate",
    "recreate",
    "compact",
    "foreign_insert",
    "foreign_delete",
    "roll_back_own",
    "compact_own",
    "redefine",
    "redefine",
    "full_refresh",
)
_CONFIG: Final = {
    "table": "materialized='table'",
    "keyed_table": "materialized='table', primary_key='id', bucket=1",
    "upsert": "materialized='incremental', primary_key='id', bucket=1",
    "filtered": "materialized='incremental', incremental_strategy='append'",
    "over_view": "materialized='table'",
    "overwritten": "materialized='incremental', incremental_strategy='insert_overwrite', partition_by='id'",
}
_NEWER: Final = "{% if is_incremental() %} where id > (select coalesce(max(id), -1) from {{ this }}) {% endif %}"


@dataclass
class _Table:
    """The current rows of a table, and `history`: the rows of each table snapshot, by ID."""

    rows: Rows = ()
    history: dict[int, Rows] = field(default_factory=dict)


@dataclass
class _Sequence:
    number: int
    kind: str
    chance: random.Random
    source: _Table = field(default_factory=_Table)
    own: _Table = field(default_factory=_Table)
    # The number that the view over the source adds to `n`.
    added: int = 0
    steps: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"model_{self.number}"

    @property
    def read(self) -> Rows:
        """The rows of the model's query over the whole source."""
        return tuple((key, n + self.added) for key, n in self.source.rows)


@dataclass
class Outcome:
    """What was compared, and what differs."""

    figures: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


class Block:
    """Sequences side by side in one project.

    Args:
        root: an empty folder.
        target: the profile's target.
        seed: the seed of all sequences.
        count: the number of sequences.
    """

    def __init__(self, root: Path, target: dict[str, Any], seed: int, count: int) -> None:
        self._root, self._schema = root, str(target["schema"])
        self._sequences = [
            _Sequence(number, KINDS[number % len(KINDS)], random.Random(f"{seed} {number}")) for number in range(count)
        ]
        self._write(target)
        fields = {key: value for key, value in target.items() if key not in ("type", "threads")}
        self._session = session.open_session(Runtime(PaimonCredentials.from_dict(fields))).session
        self._sql(f"create schema if not exists paimon.{self._schema}")
        self.outcome = Outcome(Counter(sequences=count))

    def run(self, steps: int) -> Outcome:
        """Create the tables, and run the models after each change."""
        for sequence in self._sequences:
            self._recreate(sequence, 1)
            self._define(sequence, 0)
        self._step([])
        for _ in range(steps):
            refreshed = []
            for sequence in self._sequences:
                change = sequence.chance.choice(CHANGES)
                sequence.steps.append(change)
                if change == "full_refresh":
                    refreshed.append(sequence)
                elif change != "nothing":
                    getattr(self, f"_{change}")(sequence)
            self._step(refreshed)
        return self.outcome

    def _step(self, refreshed: list[_Sequence]) -> None:
        others = [sequence.name for sequence in self._sequences if sequence not in refreshed]
        results = self._build(others)
        if refreshed:
            results |= self._build([sequence.name for sequence in refreshed], "--full-refresh")
        for sequence in self._sequences:
            status, code, message = results[sequence.name]
            self.outcome.figures["steps"] += 1
            self.outcome.figures["reused"] += code == "REUSED"
            rows = self._expected(sequence, sequence in refreshed)
            found = self._rows(sequence.name)
            if status != "success" or sorted(found) != sorted(rows):
                self.outcome.differences.append(
                    f"{sequence.name} ({sequence.kind}) after {sequence.steps}: {code}, expected {sorted(rows)}, found "
                    f"{sorted(found)} {'' if status == 'success' else message}"
                )
            # Go on with the rows that were found, so that a difference is reported only once.
            self._note(sequence.own, sequence.name, tuple(found))

    @staticmethod
    def _expected(sequence: _Sequence, refreshed: bool) -> Rows:
        """The rows that a run should leave according to the docs."""
        read, own = sequence.read, sequence.own.rows
        if refreshed or not sequence.own.history or sequence.kind in ("table", "keyed_table", "over_view"):
            return read
        if sequence.kind == "filtered":
            newest = max((key for key, _ in own), default=-1)
            return (*own, *(row for row in read if row[0] > newest))
        keys = {key for key, _ in read}
        return (*(row for row in own if row[0] not in keys), *read)

    # -- changes ----------------------------------------------------------------------------------------------------

    def _some(self, sequence: _Sequence) -> Rows:
        chance = sequence.chance
        return tuple((key, chance.randint(0, 9)) for key in range(6) if chance.random() < 0.4) or ((6, 6),)

    def _insert(self, sequence: _Sequence) -> None:
        rows = self._some(sequence)
        self._sql(f"insert into {self._source(sequence)} values {_values(rows)}")
        after = {**dict(sequence.source.rows), **dict(rows)}
        self._note(sequence.source, _source_name(sequence), tuple(after.items()))

    def _overwrite(self, sequence: _Sequence) -> None:
        rows = self._some(sequence)
        self._sql(f"insert overwrite {self._source(sequence)} values {_values(rows)}")
        self._note(sequence.source, _source_name(sequence), rows)

    def _delete(self, sequence: _Sequence) -> None:
        self._sql(f"delete from {self._source(sequence)} where id < 3")
        rows = tuple(row for row in sequence.source.rows if row[0] >= 3)
        self._note(sequence.source, _source_name(sequence), rows)

    def _compact(self, sequence: _Sequence) -> None:
        self._sql(f"call paimon.sys.compact(table => '{self._schema}.{_source_name(sequence)}')")
        self._note(sequence.source, _source_name(sequence), sequence.source.rows)

    def _rollback(self, sequence: _Sequence) -> None:
        self._roll(sequence.source, _source_name(sequence), sequence.chance)

    def _rollback_and_insert(self, sequence: _Sequence) -> None:
        self._rollback(sequence)
        self._insert(sequence)

    def _recreate(self, sequence: _Sequence, times: int | None = None) -> None:
        times = times or max(sequence.source.history, default=1)
        self._sql(f"drop table if exists {self._source(sequence)}")
        self._sql(
            f"create table {self._source(sequence)} (id int not null, n int) using paimon "
            "tblproperties ('primary-key' = 'id', 'bucket' = '1')"
        )
        sequence.source = _Table()
        for _ in range(min(times, 4)):
            self._insert(sequence)

    def _redefine(self, sequence: _Sequence) -> None:
        if sequence.kind == "over_view":
            self._define(sequence, sequence.chance.randint(0, 3))

    def _define(self, sequence: _Sequence, added: int) -> None:
        sequence.added = added
        self._sql(
            f"create or replace global temporary view seen_{self._schema}_{sequence.number} as "
            f"select id, n + {added} as n from {self._source(sequence)}"
        )

    def _foreign_insert(self, sequence: _Sequence) -> None:
        row = (7, sequence.chance.randint(0, 9))
        self._sql(f"insert into paimon.{self._schema}.{sequence.name} values {_values((row,))}")
        left = sequence.own.rows
        if sequence.kind in ("keyed_table", "upsert"):
            left = tuple(each for each in left if each[0] != 7)
        self._note(sequence.own, sequence.name, (*left, row))

    def _foreign_delete(self, sequence: _Sequence) -> None:
        self._sql(f"delete from paimon.{self._schema}.{sequence.name} where id % 2 = 0")
        self._note(sequence.own, sequence.name, tuple(row for row in sequence.own.rows if row[0] % 2))

    def _roll_back_own(self, sequence: _Sequence) -> None:
        self._roll(sequence.own, sequence.name, sequence.chance)

    def _compact_own(self, sequence: _Sequence) -> None:
        self._sql(f"call paimon.sys.compact(table => '{self._schema}.{sequence.name}')")
        self._note(sequence.own, sequence.name, sequence.own.rows)

    def _roll(self, table: _Table, name: str, chance: random.Random) -> None:
        # A rollback to before a compaction loses files (Paimon 0.9.0; `rollback_to` refuses it).
        ((compacted,),) = self._sql(
            f"select coalesce(max(snapshot_id), 0) from paimon.{self._schema}.`{name}$snapshots` "
            "where commit_kind = 'COMPACT'"
        )
        before = [number for number in sorted(table.history)[:-1] if number >= compacted]
        if not before:
            return
        number = chance.choice(before)
        self._sql(f"call paimon.sys.rollback(table => '{self._schema}.{name}', version => '{number}')")
        table.history = {key: rows for key, rows in table.history.items() if key <= number}
        table.rows = table.history[number]

    # -- Spark and dbt ------------------------------------------------------------------------------------------------

    def _note(self, table: _Table, name: str, rows: Rows) -> None:
        ((newest,),) = self._sql(f"select max(snapshot_id) from paimon.{self._schema}.`{name}$snapshots`")
        table.rows = rows
        if newest is not None:
            table.history[newest] = rows

    def _source(self, sequence: _Sequence) -> str:
        return f"paimon.{self._schema}.{_source_name(sequence)}"

    def _rows(self, name: str) -> Rows:
        return tuple(tuple(row) for row in self._sql(f"select id, n from paimon.{self._schema}.{name}"))

    def _sql(self, sql: str) -> list[Any]:
        return list(self._session.sql(sql).collect())

    def _write(self, target: dict[str, Any]) -> None:
        files = {
            "dbt_project.yml": json.dumps({"name": "unchanged", "profile": "unchanged", "models": {"+skip_unchanged": True}}),
            "profiles.yml": json.dumps({"unchanged": {"target": "t", "outputs": {"t": target}}}),
        }  # fmt: skip
        for sequence in self._sequences:
            read = self._source(sequence)
            if sequence.kind == "over_view":
                read = f"global_temp.seen_{self._schema}_{sequence.number}"
            where = _NEWER if sequence.kind == "filtered" else ""
            query = f"select id, n from {read} {where}"
            files[f"models/{sequence.name}.sql"] = f"{{{{ config({_CONFIG[sequence.kind]}) }}}}\n{query}\n"
        for name, text in files.items():
            path = self._root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def _build(self, names: list[str], *flags: str) -> dict[str, tuple[str, str, str]]:
        where = ("--project-dir", str(self._root), "--profiles-dir", str(self._root))
        quiet = ("--log-level", "none", "--log-level-file", "none", "--no-write-json", "--no-print")
        done = dbtRunner().invoke([*quiet, "run", "--select", *names, *flags, *where])
        if done.result is None:
            raise RuntimeError(f"dbt run {names}") from done.exception
        return {
            result.node.name: (
                str(result.status),
                result.adapter_response.get("code", ""),
                result.message or "",
            )
            for result in done.result
        }


def _source_name(sequence: _Sequence) -> str:
    return f"source_{sequence.number}"


def _values(rows: Rows) -> str:
    return ", ".join(f"({key}, {n})" for key, n in rows)
