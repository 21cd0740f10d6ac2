"""The plan of one node: typed steps, without SQL. A macro runs each step that alters the table."""

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
    from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable
    from dbt.adapters.paimon.writing.deletes import KeptDeletes
    from dbt.adapters.paimon.writing.model_query import ModelQuery
    from dbt.adapters.paimon.writing.statement_result import StatementResult


class Action(StrEnum):
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


class StepKind(StrEnum):
    """The kinds of steps in a node's run, including those that alter its table."""

    READ_ONCE = "read once"
    WRITE = "write"
    AUDIT = "audit"
    PUBLISH = "publish"
    COMPACT = "compact"
    TAG = "tag"
    MAINTAIN = "maintain"

    ADD_COLUMNS = "add columns"
    MOVE_COLUMN = "move column"
    SET_OPTIONS = "set options"
    UNSET_OPTIONS = "unset options"
    CHANGE_TYPE = "change type"
    DROP_NOT_NULL = "drop not null"
    DROP_COLUMNS = "drop columns"
    COMMENT_COLUMN = "comment on column"
    COMMENT_TABLE = "comment on table"


@dataclass(frozen=True)
class Step:
    """One step of a node's run."""

    kind: StepKind
    # The macro that alters the table; called with the table and `arguments`.
    macro: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    # Describes each alteration.
    alters: tuple[str, ...] = ()
    # Describes a step that alters nothing; empty if the plan as a whole describes it.
    description: str = ""
    # Whether only the run can determine if there is anything to do.
    is_conditional: bool = False


@dataclass(frozen=True)
class Plan:
    """What a run does with the table of one node."""

    action: Action
    # The steps before and after the rows are written.
    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
    # Why a new table replaces the existing one.
    rebuild: Rebuild = field(default_factory=Rebuild)
    # Describes every difference between the existing and the wanted table.
    differs: tuple[str, ...] = ()

    @property
    def alters(self) -> Iterator[str]:
        """The descriptions of all alterations, in order."""
        return (words for step in (*self.before, *self.after) for words in step.alters)


@dataclass(frozen=True)
class SettledPlan(Plan):
    """A plan whose query is known and whose checks have passed. Only a settled plan writes rows.

    Attributes:
        spec: the table spec, with the spelling of the query's columns and a fixed number of buckets.
        columns: the columns that the table should have.
        source: the rows, cast to the table's types and checked.
        table_columns: the columns of the existing table while an increment is written.
        written: the columns that an increment writes.
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
        steps = (step for step in self.after if step.kind is StepKind.DROP_COLUMNS)
        return tuple(name for step in steps for name in step.arguments["names"])

    @property
    def stages(self) -> bool:
        """Whether the rows go into a new table, built under a staging name."""
        return self.action in (Action.CREATE, Action.SWAP)


@dataclass(frozen=True)
class NodeRun:
    """The run of a node, as decided before its hooks from config, flags and the existing relation.

    Attributes:
        existing: the relation with the target's name.
        adds: whether the run adds rows, instead of writing all of them.
        branch: the branch to write, if the relation is a clone by branch.
        reused: dbt's response if there is nothing to do.
        pending: the ALTER steps of a materialized view, which run even if no source has changed.
    """

    target: PaimonRelation
    spec: TableSpec
    existing: PaimonRelation | None
    full_refresh: bool
    adds: bool
    strategy: str = ""
    strategy_macro: StrategyMacro | None = None
    branch: PaimonRelation | None = None
    rows: agate.Table | None = None
    steps: tuple[Step, ...] = ()
    reused: StatementResult | None = None
    pending: tuple[Step, ...] = ()

    @property
    def table(self) -> PaimonRelation | None:
        """The existing table; None if there is no relation, or a view."""
        return self.existing if self.existing is not None and self.existing.is_table else None

    @property
    def relations(self) -> list[PaimonRelation]:
        """The relations that the node has built, for dbt's cache."""
        return [self.target if self.branch is None or self.existing is None else self.existing]
