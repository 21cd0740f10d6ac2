"""The plan of one node: typed steps, each a macro with its arguments. A plan has no SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dbt_common.dataclass_schema import StrEnum

from dbt.adapters.paimon.tables.rebuilds import Rebuild

if TYPE_CHECKING:
    import agate

    from dbt.adapters.paimon.column import PaimonColumn
    from dbt.adapters.paimon.overrides import StrategyMacro
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spec.table import TableSpec
    from dbt.adapters.paimon.tables.changeset import ExistingColumn, ExistingTable
    from dbt.adapters.paimon.writing.deletes import KeptDeletes
    from dbt.adapters.paimon.writing.model_query import ModelQuery
    from dbt.adapters.paimon.writing.statement_result import StatementResult


class Does(StrEnum):
    """What a run does with a node's relation."""

    CREATE = "create"
    INCREMENT = "increment"
    REBUILD = "rebuild in place"
    SWAP = "rebuild as a new table"
    NOTHING = "nothing"
    CREATE_VIEW = "create view"
    REPLACE_VIEW = "replace view"
    BRANCH = "clone as a branch"
    COPY = "clone as a copy"
    FAIL = "fail"
    UNKNOWN = "not known"


class Kind(StrEnum):
    """The kinds of steps: those of a node's run, and those that alter its table."""

    READ_ONCE = "read once"
    WRITE = "write"
    AUDIT = "audit"
    PUBLISH = "publish"
    COMPACT = "compact"
    TAG = "tag"
    MAINTAIN = "maintain"

    ADD_COLUMNS = "add columns"
    SET_OPTIONS = "set options"
    UNSET_OPTIONS = "unset options"
    CHANGE_TYPE = "change type"
    DROP_NOT_NULL = "drop not null"
    DROP_COLUMNS = "drop columns"
    COMMENT_COLUMN = "comment on column"
    COMMENT_TABLE = "comment on table"


@dataclass(frozen=True)
class Step:
    """One step of a node's run.

    Attributes:
        kind: what it does.
        macro: the name of the macro that renders and runs what alters a table; called with the table and the arguments.
        arguments: the macro's other arguments, by name.
        alters: what it alters, in words.
        words: what else it does, in words; empty where the plan as a whole says it.
        is_late: whether only the run knows if there is something to do.
    """

    kind: Kind
    macro: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    alters: tuple[str, ...] = ()
    words: str = ""
    is_late: bool = False


@dataclass(frozen=True)
class Plan:
    """What a run does with the table of one node.

    Attributes:
        does: how the rows are written.
        before: the steps before the rows are written.
        after: the steps after that.
        rebuild: why a new table replaces the existing one.
        differs: every difference between the existing table and the wanted one, in words.
    """

    does: Does
    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
    rebuild: Rebuild = field(default_factory=Rebuild)
    differs: tuple[str, ...] = ()

    @property
    def alters(self) -> Iterator[str]:
        """What its steps alter, in words, in their order."""
        return (words for step in (*self.before, *self.after) for words in step.alters)


@dataclass(frozen=True)
class SettledPlan(Plan):
    """A plan whose query is known, and whose checks have passed: only such a plan writes.

    Attributes:
        spec: the table spec, with the columns' spelling and the number of buckets of its table.
        columns: the columns that the table should have.
        source: the rows, cast to the table's types and checked.
        current: the existing table; None if there is none.
        table_columns: the columns of the existing table while an increment is written.
        written: the columns that an increment writes.
        kept_deletes: how deletes are kept (`apply_changes`).
    """

    spec: TableSpec = field(kw_only=True)
    columns: tuple[ExistingColumn, ...] = field(kw_only=True)
    source: ModelQuery = field(kw_only=True)
    current: ExistingTable | None = None
    table_columns: tuple[ExistingColumn, ...] = ()
    written: tuple[PaimonColumn, ...] = ()
    kept_deletes: KeptDeletes | None = None

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns that are dropped once the rows are written."""
        steps = (step for step in self.after if step.kind is Kind.DROP_COLUMNS)
        return tuple(name for step in steps for name in step.arguments["names"])

    @property
    def stages(self) -> bool:
        """Whether the rows go into a new table, built under a staging name."""
        return self.does in (Does.CREATE, Does.SWAP)


@dataclass(frozen=True)
class NodeRun:
    """What is decided of the run of a node before its hooks, from config, flags and the existing relation.

    Attributes:
        target: the table that the node writes.
        spec: its table spec.
        existing: the relation of its name; None if there is none.
        full_refresh: whether the run rebuilds tables.
        adds: whether the run adds rows to a table, instead of writing all of them.
        strategy: the strategy of an incremental model.
        writer: the macro that renders the strategy's statement.
        branch: the branch that the run adds rows to, where the relation is a clone that reads one.
        rows: the rows of a seed.
        steps: what the run does, in order.
        reused: dbt's response, where there is nothing to do.
        pending: of a materialized view, what alters its table even if no source has changed.
    """

    target: PaimonRelation
    spec: TableSpec
    existing: PaimonRelation | None
    full_refresh: bool
    adds: bool
    strategy: str = ""
    writer: StrategyMacro | None = None
    branch: PaimonRelation | None = None
    rows: agate.Table | None = None
    steps: tuple[Step, ...] = ()
    reused: StatementResult | None = None
    pending: tuple[Step, ...] = ()

    @property
    def table(self) -> PaimonRelation | None:
        """The existing table; None without one, or if it is a view."""
        return self.existing if self.existing is not None and self.existing.is_table else None

    @property
    def relations(self) -> list[PaimonRelation]:
        """The relations that the node has built, for dbt's cache."""
        return [self.target if self.branch is None or self.existing is None else self.existing]
