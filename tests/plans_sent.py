"""Checks that each node of a functional test alters its table by exactly the steps of its plan."""

from __future__ import annotations

import re
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import wraps
from typing import Any

import pytest

from dbt.adapters.paimon.concurrency.conflicts import REBUILD, SNAPSHOT
from dbt.adapters.paimon.connections import PaimonConnectionManager
from dbt.adapters.paimon.impl import PaimonAdapter
from dbt.adapters.paimon.plan.api import Plans
from dbt.adapters.paimon.plan.steps import NodeRun, SettledPlan, StepKind
from dbt.adapters.paimon.spec.strategies import STRATEGIES
from dbt.adapters.paimon.sql.statements import Statement
from dbt.adapters.paimon.sql.text import quoted

# How the statement for each kind of step begins, without names.
BEGINNINGS = {
    StepKind.ADD_COLUMNS: "alter table add columns",
    StepKind.MOVE_COLUMN: "alter table alter column move",
    StepKind.SET_OPTIONS: "alter table set tblproperties",
    StepKind.UNSET_OPTIONS: "alter table unset tblproperties",
    StepKind.CHANGE_TYPE: "alter table alter column type",
    StepKind.DROP_NOT_NULL: "alter table alter column drop not null",
    StepKind.DROP_COLUMNS: "alter table drop columns",
    StepKind.COMMENT_COLUMN: "alter table alter column comment",
    StepKind.COMMENT_TABLE: "comment on table is",
}
_WRITES = {*STRATEGIES, REBUILD, SNAPSHOT}
WRITE = "write"
_NAME = r"((?:`(?:[^`]|``)+`\.?)+)"
_STATEMENT = re.compile(
    rf"\s*(?:/\*.*?\*/\s*)?(alter table|comment on table) {_NAME}\s+(alter column)?(?: {_NAME} )?\s*"
    r"(add columns|set tblproperties|unset tblproperties|type|drop not null|drop columns|comment|is|first|after)\b",
    re.DOTALL,
)


class Sent:
    """The statements that each thread's node has sent since its plan was settled, by table."""

    def __init__(self) -> None:
        self.differences: list[str] = []
        # The last plan of each node, by its name.
        self.plans: dict[str, SettledPlan] = {}
        # How the last run of each node began, by its name.
        self.runs: dict[str, NodeRun] = {}
        self._here = threading.local()

    def begins(self, config: Mapping[str, Any]) -> None:
        self._here.plan = None
        # With these keys, the table may also be altered after its rows are written.
        self._here.more = any(config.get(key) for key in ("post-hook", "post_hook", "maintenance", "tblproperties"))

    def settled(self, node: Mapping[str, Any], plan: SettledPlan) -> None:
        self.ends(failed=False)
        self.plans[node["name"]] = plan
        self._here.plan, self._here.sent = plan, defaultdict(list)

    def statement(self, statement: Statement | str) -> None:
        if getattr(self._here, "plan", None) is None:
            return
        if isinstance(statement, Statement) and statement.kind in _WRITES:
            self._here.sent[quoted(*statement.target)].append(WRITE)
        # The adapter's helper tables (`__dbt_…`) have no plan.
        elif (found := _STATEMENT.match(str(statement))) and "__dbt_" not in found[2]:
            change = "move" if found[5] in ("first", "after") else found[5]
            words = " ".join(part for part in (found[1], found[3], change) if part)
            self._here.sent[found[2]].append(words)

    def ends(self, failed: bool) -> None:
        plan, self._here.plan = getattr(self._here, "plan", None), None
        if plan is None or plan.stages:
            return
        before, after = ([BEGINNINGS[step.kind] for step in steps] for steps in (plan.before, plan.after))
        for table, sent in self._here.sent.items():
            # A stream writes in other threads, so its writes may be missing here.
            wanted = [*before, *([WRITE] if WRITE in sent else []), *after]
            same = wanted[: len(sent)] == sent if failed else sent[: len(wanted)] == wanted
            if not same or (len(sent) > len(wanted) and not self._here.more):
                self.differences.append(f"{table}: the plan has {wanted}, and {sent} was sent")
        if (before or after) and not self._here.sent and not failed:
            self.differences.append(f"the plan has {[*before, *after]}, and nothing was sent")


@pytest.fixture(scope="session")
def plans_sent() -> Iterator[Sent]:
    """Records the plans and the statements of this process."""
    noted = Sent()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("build", "increment", "snapshot"):
            patch.setattr(Plans, name, _then(getattr(Plans, name), noted.settled))
        begin, execute = Plans.begin, PaimonConnectionManager.execute
        begins, ends = PaimonAdapter.pre_model_hook, PaimonAdapter.post_model_hook

        def began(self: Any, context: Mapping[str, Any]) -> NodeRun:
            run = noted.runs[context["model"]["name"]] = begin(self, context)
            return run

        def executing(self: Any, sql: Statement | str, *arguments: Any, **more: Any) -> Any:
            noted.statement(sql)
            return execute(self, sql, *arguments, **more)

        def beginning(self: Any, config: Mapping[str, Any]) -> Any:
            noted.begins(config)
            return begins(self, config)

        def ending(self: Any, *arguments: Any) -> None:
            noted.ends(failed=sys.exc_info()[0] is not None)
            ends(self, *arguments)

        patch.setattr(Plans, "begin", began)
        patch.setattr(PaimonConnectionManager, "execute", executing)
        patch.setattr(PaimonAdapter, "pre_model_hook", beginning)
        patch.setattr(PaimonAdapter, "post_model_hook", ending)
        yield noted


def _then(method: Any, note: Any) -> Any:
    @wraps(method)
    def settle(self: Any, node: Mapping[str, Any], *arguments: Any, **more: Any) -> SettledPlan:
        plan: SettledPlan = method(self, node, *arguments, **more)
        note(node, plan)
        return plan

    return settle


@pytest.fixture(autouse=True)
def _what_is_sent_is_what_is_planned(plans_sent: Sent) -> Iterator[None]:
    yield
    differences, plans_sent.differences = plans_sent.differences, []
    assert not differences, "\n".join(differences)
