"""The result of `dbt-paimon diff` for one table, as text, JSON or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dbt.adapters.paimon.formatting import counted


@dataclass(frozen=True)
class Sample:
    """A row that differs: its kind (added, gone, changed), its key, and its values.

    Without a key, `key` is the whole row. `before` and `after` of a changed row have only the changed values.
    """

    kind: str
    key: Mapping[str, Any]
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Difference:
    """The differences of one table between two sides.

    Attributes:
        key: the columns by which rows are matched; without a key, whole rows are compared.
        rows_before, rows_after: the number of rows read from each side.
        columns: the number of changed rows per column.
        schema: changes of columns, primary key and partitioning.
        options: changes of table options.
        left_out: columns that cannot be compared.
        read: what was read, in words.
    """

    unique_id: str
    name: str
    before: str
    after: str
    key: tuple[str, ...] = ()
    rows_before: int | None = None
    rows_after: int | None = None
    added: int = 0
    gone: int = 0
    changed: int = 0
    columns: Mapping[str, int] = field(default_factory=dict)
    schema: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    samples: tuple[Sample, ...] = ()
    left_out: tuple[str, ...] = ()
    read: str = ""
    problem: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.problem or self.added or self.gone or self.changed or self.schema or self.options)

    @property
    def totals(self) -> str:
        """The rows that differ, in words."""
        if not (self.added or self.gone or self.changed):
            return "no row differs"
        totals = ((self.added, "added"), (self.gone, "gone"), (self.changed, "changed"))
        return ", ".join(f"{number:,} {word}" for number, word in totals if number)

    def lines(self) -> Iterator[str]:
        yield f"{self.name}: {self.before} -> {self.after}"
        for line in self.problem.strip().splitlines():
            yield f"  {line}"
        if self.problem:
            return
        yield f"  {self.totals}"
        if self.columns:
            yield f"  changed columns: {', '.join(f'{name} ({n:,})' for name, n in self.columns.items())}"
        for change in self.schema:
            yield f"  schema: {change}"
        for change in self.options:
            yield f"  option: {change}"
        for sample in self.samples:
            yield f"  {_MARKS[sample.kind]} {_shown(sample)}"
        if self.left_out:
            yield f"  not compared: {', '.join(self.left_out)}"
        yield f"  read {self.read}"

    def markdown(self) -> Iterator[str]:
        """A section of a pull request comment."""
        yield f"### `{self.name}`: {'not compared' if self.problem else self.totals}"
        yield ""
        yield f"{self.before} → {self.after}"
        yield ""
        if self.problem:
            yield "```"
            yield from self.problem.strip().splitlines()
            yield "```"
            return
        for change in (*self.schema, *self.options):
            yield f"- {_escaped(change)}"
        if self.columns:
            yield ""
            yield "| column | rows changed |"
            yield "|---|---:|"
            for name, number in self.columns.items():
                yield f"| `{name}` | {number:,} |"
        if self.samples:
            yield ""
            yield f"<details><summary>Sample: {counted(len(self.samples), 'row')}</summary>"
            yield ""
            yield "```diff"
            for sample in self.samples:
                yield f"{_MARKS[sample.kind]} {_shown(sample)}"
            yield "```"
            yield "</details>"
        if self.left_out:
            yield ""
            yield f"Not compared: {', '.join(self.left_out)}."
        yield ""
        yield f"Read {self.read}."

    def as_dict(self) -> dict[str, Any]:
        """For JSON, without empty values."""
        return {name: value for name, value in asdict(self).items() if value not in (None, (), "", {})}


# GitHub colors lines that begin with these in a `diff` code block.
_MARKS = {"added": "+", "gone": "-", "changed": "!"}


def _shown(sample: Sample) -> str:
    key = ", ".join(f"{name}={value}" for name, value in sample.key.items())
    if sample.kind != "changed":
        values = sample.after if sample.kind == "added" else sample.before
        rest = ", ".join(f"{name}={value}" for name, value in values.items() if name not in sample.key)
        return ", ".join(part for part in (key, rest) if part)
    changes = ", ".join(f"{name} {old} -> {sample.after[name]}" for name, old in sample.before.items())
    return f"{key}: {changes}"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
