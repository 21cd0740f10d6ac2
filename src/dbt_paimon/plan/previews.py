"""Previews what a run would do with a node, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.errors.conditions import is_not_found
from dbt.adapters.paimon.maintenance.selection import TABLES
from dbt.adapters.paimon.metadata.tags import LosableHistory
from dbt.adapters.paimon.plan.api import MATERIALIZED_VIEW, WriteTarget
from dbt.adapters.paimon.plan.decide import steps_of
from dbt.adapters.paimon.plan.materialized_views.refresh import RefreshKind
from dbt.adapters.paimon.plan.steps import Action
from dbt.adapters.paimon.spark.scans import Scan
from dbt.adapters.paimon.tables import rebuilds
from dbt.adapters.paimon.tables.rebuilds import TO_VIEW, Rebuild
from dbt.adapters.paimon.writing import read_limits

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spec.table import TableSpec
    from dbt.adapters.paimon.writing.model_query import ModelQuery

_REFRESHES: Final = {
    RefreshKind.NONE: Action.NOTHING,
    RefreshKind.INCREMENTAL: Action.INCREMENT,
    RefreshKind.FULL: Action.REBUILD,
}


@dataclass(frozen=True)
class Preview:
    """What a run would do with one node.

    Attributes:
        kind: the materialization, and for an incremental model the strategy.
        alters: the options and columns that change.
        steps: what the run does in addition to writing rows.
        reasons: why a new table or view replaces the table, or why a materialized view is refreshed this way.
        lost: the history that is lost with the old table.
        asks: whether the run fails unless the user agrees to that loss.
        scans: what the node's query reads.
        maintenance: actions after the commit.
    """

    unique_id: str
    name: str
    kind: str
    does: Action
    alters: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    lost: LosableHistory | None = None
    asks: bool = False
    scans: tuple[Scan, ...] = ()
    maintenance: tuple[str, ...] = ()
    problem: str = ""

    @property
    def loses(self) -> bool:
        return self.lost is not None

    def lines(self) -> Iterator[str]:
        yield f"{self.name} ({self.kind}): {self.does}"
        for scan in self.scans:
            yield f"  reads {scan}"
        for change in self.alters:
            yield f"  alters {change}"
        for step in self.steps:
            yield f"  {step}"
        for reason in self.reasons:
            yield f"  because {reason}"
        if self.lost:
            yield f"  LOSES {self.lost}"
        if self.asks:
            yield "  but fails first, unless run with --full-refresh or configured with on_rebuild: drop_history"
        for action in self.maintenance:
            yield f"  then {action}"
        for line in self.problem.strip().splitlines():
            yield f"  {line}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON, without empty values."""
        return {name: value for name, value in asdict(self).items() if value not in (None, (), "", False)}


class Previewer:
    """Reads metadata and analyzes queries, but no data files. The adapter needs an open connection."""

    def __init__(self, adapter: PaimonAdapter) -> None:
        self._adapter = adapter

    def of(self, node: Mapping[str, Any], full_refresh: bool) -> Preview:
        """Preview a run of a compiled node, with or without `--full-refresh`; an error becomes the `problem`."""
        config = node["config"]
        kind, own = str(config.get("materialized")), config.get("full_refresh")
        full_refresh = full_refresh if own is None else bool(own)
        preview = Preview(node["unique_id"], f"{node['schema']}.{node['alias']}", kind, Action.UNKNOWN)
        try:
            if kind == "view":
                return self._of_view(node, preview, full_refresh)
            if kind not in TABLES:
                return replace(preview, problem=f"This adapter has no materialization '{kind}'.")
            return self._of_table(node, preview, full_refresh)
        except DbtRuntimeError as exc:
            if not is_not_found(exc):
                return replace(preview, does=Action.FAIL, problem=str(exc.msg))
            # An input is missing; the run may build it first.
            creates = Action.CREATE_VIEW if kind == "view" else Action.CREATE
            does = creates if self._existing(node) is None else Action.UNKNOWN
            problem = f"An input does not exist yet. {str(exc.msg).strip().splitlines()[0]}"
            return replace(preview, does=does, problem=problem)

    def _of_view(self, node: Mapping[str, Any], preview: Preview, full_refresh: bool) -> Preview:
        self._adapter.specs.check_node(node)
        self._adapter.rows.query(node["compiled_code"])
        existing = self._existing(node)
        if existing is not None and existing.is_table:
            return self._replaced(node, replace(preview, does=Action.CREATE_VIEW), existing, TO_VIEW, full_refresh)
        return replace(preview, does=Action.CREATE_VIEW if existing is None else Action.REPLACE_VIEW)

    def _replaced(
        self, node: Mapping[str, Any], preview: Preview, table: PaimonRelation, rebuild: Rebuild, full_refresh: bool
    ) -> Preview:
        """The preview of a run that replaces a table, with its reasons and the history that is lost."""
        history = self._adapter.tables.history(table)
        refusal = rebuilds.refusal(node, rebuild, full_refresh, lambda: history)
        asks = bool(refusal) and self._adapter.defaults.warn_history_loss is None
        return replace(preview, reasons=rebuild.reasons, lost=history, asks=asks)

    def _of_table(self, node: Mapping[str, Any], preview: Preview, full_refresh: bool) -> Preview:
        spec, strategy = self._adapter.plans.spec_of(node)
        if strategy:
            preview = replace(preview, kind=f"{preview.kind}, {strategy}")
        query = self._query(node)
        if query is not None:
            spec = self._adapter.specs.spelled(spec, query.columns)
            preview = self._with_scans(node, preview)
            if preview.problem:
                return preview
        to = self._destination(node, strategy, full_refresh)
        preview = replace(preview, does=Action.CREATE, steps=_descriptions(node, spec, to, strategy))
        table = to.table
        if table is None:
            return preview
        existing = self._adapter.tables.existing(table)
        plan = self._adapter.plans.preview(node, spec, existing, query, adds=to.adds, strategy=strategy)
        due = () if to.is_branch else tuple(self._adapter.maintenance.due_after_run(table, spec))
        preview = replace(preview, does=plan.action, maintenance=due, alters=tuple(plan.alters))
        if plan.rebuild.swaps:
            return self._replaced(node, preview, table, plan.rebuild, full_refresh)
        if preview.kind == MATERIALIZED_VIEW:
            return self._refreshed(node, preview, spec, table, full_refresh)
        return preview

    def _destination(self, node: Mapping[str, Any], strategy: str, full_refresh: bool) -> WriteTarget:
        existing, plans = self._existing(node), self._adapter.plans
        try:
            clone = plans.clone_of(node, existing, strategy, full_refresh)
            return plans.destination(node, existing, clone, full_refresh)
        finally:
            plans.changes.forget(node)

    def _with_scans(self, node: Mapping[str, Any], preview: Preview) -> Preview:
        scans = read_limits.scans(self._adapter, node["compiled_code"])
        problem = read_limits.problem(node, scans)
        return replace(preview, scans=scans, problem=problem, does=Action.FAIL if problem else preview.does)

    def _refreshed(
        self, node: Mapping[str, Any], preview: Preview, spec: TableSpec, table: PaimonRelation, full_refresh: bool
    ) -> Preview:
        refresh = self._adapter.plans.refresh(node, spec, table, full_refresh=full_refresh)
        return replace(preview, does=_REFRESHES[refresh.kind], reasons=(refresh.words,) if refresh.words else ())

    def _query(self, node: Mapping[str, Any]) -> ModelQuery | None:
        """A node's query and columns; None for seeds, Python models, snapshots and streams."""
        if node.get("language", "sql") != "sql":
            return None
        if node["config"].get("materialized") not in ("table", "incremental", MATERIALIZED_VIEW):
            return None
        return self._adapter.rows.query(node["compiled_code"])

    def _existing(self, node: Mapping[str, Any]) -> PaimonRelation | None:
        return self._adapter.get_relation(node["database"], node["schema"], node["alias"])


def _descriptions(node: Mapping[str, Any], spec: TableSpec, to: WriteTarget, strategy: str) -> tuple[str, ...]:
    own = strategy if node["config"].get("materialized") == "incremental" else ""
    steps = steps_of(spec, adds=to.adds, strategy=own, branch=to.is_branch, override=False)
    return tuple(step.description for step in steps if step.description)
