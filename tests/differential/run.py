"""Runs sequences step by step, and compares their tables with the oracle's after each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from differential import conditions, edits, oracle, snapshots, times, values
from differential.dbt_runs import Project
from differential.plan import Operation, Plan, Step
from differential.tables import Expected, Table, refused


@dataclass(frozen=True)
class Difference:
    """A table that differs from the oracle's; `traits` are the known defects that its steps may have met."""

    plan: Plan
    step: int
    traits: str
    text: str

    @property
    def kind(self) -> str:
        """The part of the text that stays the same while a plan shrinks: the words without the values."""
        return self.text.split(":")[0]

    def __str__(self) -> str:
        known = f" (known: {self.traits})" if self.traits else ""
        return (
            f"sequence {self.plan.number} ({self.plan.family}, {self.plan.zone}), step {self.step}{known}: {self.text}"
        )


@dataclass
class Outcome:
    """How much was compared in some sequences, and what differs."""

    figures: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)


@dataclass
class _Consumer:
    """A model that reads the changes of a plan's table; `lost`: the table snapshot that it has read may be gone."""

    number: int
    lost: bool = False
    refused: bool = False


class _Sequence:
    """The state of a plan between its steps."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.table: Table | None = None
        self.ended = False
        self.consumers = [_Consumer(number) for number in plan.consumers]
        self.clock: times.Clock | None = None

    def step(self, number: int) -> Step | None:
        return None if self.ended or number >= len(self.plan.steps) else self.plan.steps[number]

    def traits(self, number: int) -> str:
        return "".join(sorted({letter for step in self.plan.steps[: number + 1] for letter in step.traits}))


def run(root: Path, plans: Sequence[Plan], target: dict[str, Any], planted: dict[str, str] | None = None) -> Outcome:
    """Run plans side by side in one project; they share only the project and the session's time zone.

    Args:
        root: an empty folder for the project.
        plans: plans of the same time zone.
        target: the profile's target, with a schema of its own.
        planted: name -> text of macro files that replace the adapter's.
    """
    zone = {"spark.sql.session.timeZone": plans[0].zone}
    target = target | {"spark_config": {**target["spark_config"], **zone}}
    outcome = Outcome(Counter(sequences=len(plans)))
    block = _Block(Project(root, plans, target, planted or {}), [_Sequence(plan) for plan in plans], outcome)
    for number in range(max(len(plan.steps) for plan in plans)):
        block.run_step(number)
    return outcome


class _Block:
    def __init__(self, project: Project, sequences: Sequence[_Sequence], outcome: Outcome) -> None:
        self._project, self._sequences, self._outcome = project, sequences, outcome

    def run_step(self, number: int) -> None:
        active = [(sequence, step) for sequence in self._sequences if (step := sequence.step(number))]
        for sequence, step in active:
            self._project.give(sequence.plan, step.batch)
        results = self._build(active)
        reader = self._project.fresh_session()
        for sequence, step in active:
            self._outcome.figures["steps"] += 1
            self._guarded(sequence, number, self._after_run, reader, sequence, number, step, results)
        for sequence, step in active:
            if step.operations and not sequence.ended and sequence.table is not None:
                self._guarded(sequence, number, self._operate, sequence, number, step)

    def _build(self, active: Iterable[tuple[_Sequence, Step]]) -> dict[str, tuple[bool, str]]:
        groups: dict[tuple[str, ...], list[str]] = {}
        later: list[str] = []
        for sequence, step in active:
            flags: tuple[str, ...] = ("--full-refresh",) if step.full_refresh else ()
            flags += ("--empty",) if step.empty else ()
            if step.window:
                flags += ("--event-time-start", step.window[0], "--event-time-end", step.window[1])
            names = groups.setdefault(flags, [])
            names.append(sequence.plan.name)
            for consumer in sequence.consumers:
                if consumer.number not in step.consumers:
                    continue
                if consumer.refused:
                    later.append(sequence.plan.consumer(consumer.number))
                elif step.full_refresh:
                    groups.setdefault((), []).append(sequence.plan.consumer(consumer.number))
                else:
                    names.append(sequence.plan.consumer(consumer.number))
        results: dict[str, tuple[bool, str]] = {}
        # The group without flags runs last: its consumers may read sources that get a full refresh in another group.
        for flags in sorted(groups, reverse=True):
            results |= self._project.build(groups[flags], flags)
        if later:
            results |= self._project.build(later, ("--full-refresh",))
        return results

    def _guarded(self, sequence: _Sequence, number: int, do: Any, *args: Any) -> None:
        """Run a check; an exception, such as for an unreadable table, is a difference."""
        try:
            do(*args)
        except Exception as error:  # noqa: BLE001 - whatever Spark says
            self._differs(sequence, number, f"not readable: {str(error)[:1500]}")

    def _differs(self, sequence: _Sequence, number: int, text: str) -> None:
        self._outcome.differences.append(Difference(sequence.plan, number, sequence.traits(number), text))
        sequence.ended = True

    def _after_run(
        self, reader: Any, sequence: _Sequence, number: int, step: Step, results: dict[str, tuple[bool, str]]
    ) -> None:
        plan = sequence.plan
        succeeded, message = results[plan.name]
        expected = oracle.after_run(plan, sequence.table, step)
        if succeeded and expected.refusal == "must":
            self._differs(sequence, number, f"not refused: {self._shown(reader, plan)}")
            return
        if not succeeded and expected.refusal == "never":
            self._differs(sequence, number, f"an error: {message[:1500]}")
            return
        if not succeeded:
            self._outcome.figures["refusals"] += 1
            there = self._project.read(reader, plan.name)
            expected = Expected(refused(plan, sequence.table, step.batch, there[0] if there else ()))
        self._compare(reader, sequence, number, expected.table, "after the run" if succeeded else "after a refusal")
        sequence.table = expected.table
        if plan.family == "times" and sequence.table is not None:
            sequence.clock = sequence.clock or times.Clock(self._project, plan)
            sequence.clock.run_ended(sequence.table)
        if succeeded:
            self._filter(sequence, number, step)
        for consumer in sequence.consumers:
            if not sequence.ended and plan.consumer(consumer.number) in results:
                self._check_consumer(reader, sequence, number, consumer, results)

    def _shown(self, reader: Any, plan: Plan) -> str:
        return str(self._project.read(reader, plan.name))

    def _compare(self, reader: Any, sequence: _Sequence, number: int, table: Table | None, when: str) -> None:
        plan = sequence.plan
        expressions = None
        if plan.is_snapshot and table:
            expressions = {name: f"`{name}`" for name in table.columns} | snapshots.expressions(plan)
        found = self._project.read(reader, plan.name, expressions)
        if table is None or found is None:
            if (table is None) != (found is None):
                self._differs(sequence, number, f"{when} a table: expected {table}, found {found}")
            return
        self._compare_rows(sequence, number, table.kinds(), table.rows, found, when)

    def _compare_rows(
        self, sequence: _Sequence, number: int, kinds: dict[str, str], rows: Iterable[dict[str, Any]], found: Any, when: str
    ) -> None:  # fmt: skip
        have, there = found
        if {name: _plain(kind) for name, kind in kinds.items()} != {name: _plain(kind) for name, kind in have.items()}:
            self._differs(sequence, number, f"{when} columns: expected {kinds}, found {have}")
            return
        wanted = Counter(tuple(values.comparable(kinds[name], row[name]) for name in have) for row in rows)
        actual = Counter(there)
        self._outcome.figures["tables compared"] += 1
        self._outcome.figures["rows compared"] += max(len(there), sum(wanted.values()))
        if wanted != actual:
            missing, extra = list((wanted - actual).elements()), list((actual - wanted).elements())
            self._differs(
                sequence,
                number,
                f"{when} rows: of {list(have)} missing {missing[:6]}, not expected {extra[:6]}",
            )

    def _check_consumer(
        self, reader: Any, sequence: _Sequence, number: int, consumer: _Consumer, results: dict[str, tuple[bool, str]]
    ) -> None:  # fmt: skip
        name = sequence.plan.consumer(consumer.number)
        succeeded, message = results[name]
        if not succeeded:
            if not consumer.lost or consumer.refused:
                self._differs(sequence, number, f"consumer {consumer.number} an error: {message[:1500]}")
            consumer.refused = True
            self._outcome.figures["refusals"] += 1
            return
        consumer.lost = consumer.refused = False
        assert sequence.table is not None
        rows = sequence.table.rows
        if consumer.number == 1:
            kinds = {"id": "int", "n": "int", "v": "string"}
            columns = {column: f"`{column}`" for column in kinds}
            expected = [{column: row[column] for column in kinds} for row in rows]
            found = self._project.read(reader, name, columns)
        else:
            kinds = {"v": "string", "n": "bigint"}
            sums: Counter[str] = Counter()
            for row in rows:
                sums[row["v"] or "none"] += row["n"]
            expected = [{"v": text, "n": total} for text, total in sums.items()]
            found = self._project.read(reader, name, {"v": "v", "n": "n", "rows_there": "rows_there"})
            if found:
                found = kinds, [row[:2] for row in found[1] if row[2] != "0"]
        if found is None:
            self._differs(sequence, number, f"consumer {consumer.number}: no table")
            return
        self._compare_rows(sequence, number, kinds, expected, found, f"consumer {consumer.number}")

    def _filter(self, sequence: _Sequence, number: int, step: Step) -> None:
        """Compare how many rows the table has for each of the step's filters."""
        if sequence.ended or sequence.table is None or not step.filters:
            return
        rows, kinds = sequence.table.rows, sequence.table.kinds()
        texts = [conditions.sql(each, kinds) for each in step.filters]
        wanted = [sum(conditions.truth(each, row, kinds) is True for row in rows) for each in step.filters]
        found = self._project.counts(sequence.plan.name, texts)
        self._outcome.figures["filters compared"] += len(texts)
        wrong = [
            f"`{text}` {n} instead of {right}"
            for text, n, right in zip(texts, found, wanted, strict=True)
            if n != right
        ]
        if wrong:
            self._differs(sequence, number, f"filters give other rows: {'; '.join(wrong)}")

    def _operate(self, sequence: _Sequence, number: int, step: Step) -> None:
        acts = {
            "delete": self._delete,
            **dict.fromkeys(times.ACTS, self._by_time),
            "rollback_to": self._roll_back,
        }
        for operation in step.operations:
            acts.get(operation.name, self._maintain)(sequence, number, operation)
            if sequence.ended:
                return
        when = f"after {', '.join(operation.name for operation in step.operations)}"
        self._compare(self._project.fresh_session(), sequence, number, sequence.table, when)

    def _maintain(self, sequence: _Sequence, number: int, operation: Operation) -> None:
        assert sequence.table is not None
        refusal = self._is_refused(sequence.plan, operation)
        fault = self._project.operate(sequence.plan.name, operation.name, dict(operation.arguments))
        if refusal and not fault:
            self._differs(sequence, number, f"{operation.name} not refused")
        elif fault and not refusal:
            self._differs(sequence, number, f"{operation.name} an error: {fault[:1500]}")
        elif fault:
            self._outcome.figures["refusals"] += 1
        else:
            sequence.table = oracle.after_operation(sequence.table, operation.name, operation.arguments)
            if operation.name == "expire_snapshots":
                self._lose(sequence)

    def _roll_back(self, sequence: _Sequence, number: int, operation: Operation) -> None:
        assert sequence.table is not None
        tag, after = operation.arguments.get("version"), operation.arguments.get("after")
        if after is None:
            if tag not in sequence.table.tags:
                # The tag was never created, or the table was created again since.
                return
            arguments = {"version": tag, "drop_tags": True}
            table: Table | None = oracle.after_operation(sequence.table, operation.name, operation.arguments)
        else:
            assert sequence.clock is not None
            instant = sequence.clock.after(after)
            arguments = {"timestamp": sequence.clock.text(instant)}
            table = sequence.clock.table_at(instant)
            if table is None:
                return
        if self._project.operate(sequence.plan.name, operation.name, arguments):
            # Before Paimon 1.2, a rollback is refused if it would undo some compactions (docs/time-travel.md).
            self._outcome.figures["refusals"] += 1
            return
        sequence.table = table
        self._lose(sequence)

    @staticmethod
    def _lose(sequence: _Sequence) -> None:
        for consumer in sequence.consumers:
            consumer.lost = True

    def _by_time(self, sequence: _Sequence, number: int, operation: Operation) -> None:
        assert sequence.clock is not None
        if text := times.ACTS[operation.name](sequence.clock, self._project, sequence.plan, operation):
            self._differs(sequence, number, text)

    def _delete(self, sequence: _Sequence, number: int, operation: Operation) -> None:
        """Delete rows; a refused delete changes nothing."""
        table = sequence.table
        assert table is not None
        if edits.run(self._project, sequence.plan, table, operation):
            self._outcome.figures["refusals"] += 1
            return
        sequence.table = table.with_rows(edits.left(table, operation.arguments["where"]))

    def _is_refused(self, plan: Plan, operation: Operation) -> bool:
        """Whether this operation has to be refused, by docs/buckets.md and docs/time-travel.md."""
        if operation.name == "compact":
            return plan.crosses_partitions
        if operation.name == "create_tag":
            return not self._project.has_snapshots(plan.name)
        return False


def _plain(kind: str) -> str:
    """A type regardless of the order of a struct's fields: a synced table may have the old or the new order."""
    text = kind.replace(" ", "").lower()
    return next((old for old, new in values.REORDERED.items() if new == text), text)
