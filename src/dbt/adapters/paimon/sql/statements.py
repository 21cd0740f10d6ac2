"""A statement, with what a connection's handle must know about it to run it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

# Kinds that change how a statement runs; other kinds are strategies, procedures and DDL such as `create view`.
CACHE: Final = "cache"
CREATE_BRANCH: Final = "create_branch"
SORTED_COMPACTION: Final = "sorted compaction"

NO_SETTINGS: Final[Mapping[str, str]] = {}
# Spark stores the SQL of `CACHE TABLE … AS`, and analyzes it again for each statement that reads the view. `rand()`,
# `uuid()` and samples then get a different seed, so the plan is not the cached one, and the query runs again
# [ran, 3.5.7]. With this setting Spark stores the plan.
KEEPS_PLANS: Final = {"spark.sql.legacy.storeAnalyzedPlanForView": "true"}


@dataclass(frozen=True)
class Statement:
    """A statement, or a script of several, with what is known about it before it runs.

    Attributes:
        kind: a strategy, `rebuild`, `snapshot`, `staging`, the name of a procedure or an operation, DDL such as
            `create view`, or a constant of this module; '' if unknown or irrelevant.
        conf: Spark settings for this statement only.
        commit_user: the prefix of its commits' user, to which Paimon appends `_` and a UUID; '' for a UUID alone.
        repeat: whether it may run again if another writer committed first.
        target: the changed table's name, split into its parts; empty if unknown.
        completed_by: the statement to run if its rows are committed, but another writer prevented their compaction.
        writes_rows: whether `sql` is a query whose rows are written into the target (see `spark.row_writer`).
    """

    sql: str
    kind: str = ""
    conf: Mapping[str, str] = field(default_factory=dict)
    repeat: bool = False
    target: tuple[str, ...] = ()
    writes_rows: bool = False
    completed_by: Statement | None = None
    commit_user: str = ""

    def __str__(self) -> str:
        return self.sql
