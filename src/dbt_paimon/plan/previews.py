"""Previews what a run would do with a node, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.changes.positions import positions_of
from dbt.adapters.paimon.errors.conditions import is_not_found
from dbt.adapters.paimon.maintenance.selection import TABLES
from dbt.adapters.paimon.metadata.tags import LosableHistory
from dbt.adapters.paimon.plan.api import MATERIALIZED_VIEW
from dbt.adapters.paimon.plan.materialized_views.refresh import RefreshKind
from dbt.adapters.paimon.plan.steps import Action
from dbt.adapters.paimon.spark.scans import Scan
from dbt.adapters.paimon.tables import rebuilds
from dbt.adapters.paimon.tables.rebuilds import TO_VIEW, Rebuild
from dbt.adapters.paimon.writing import read_limits

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter
    from dbt.adapters.paimon.relation import PaimonRelation
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
        unchanged: why the run skips the node (`skip_unchanged`), unless it first writes a table above the node.
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
    unchanged: str = ""

    @property
    def loses(self) -> bool:
        return self.lost is not None

    def skipped(self) -> Preview:
        """The preview if the run skips the node; it still maintains the table."""
        found = Preview(self.unique_id, self.name, self.kind, Action.NOTHING, maintenance=self.maintenance)
        return replace(found, reasons=(self.unchanged,))

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

    def of(self, context: Mapping[str, Any]) -> Preview:
        """Preview a run of a compiled node, from dbt's context of its run; an error becomes the `problem`."""
        node = context["model"]
        kind = str(node["config"].get("materialized"))
        preview = Preview(node["unique_id"], f"{node['schema']}.{node['alias']}", kind, Action.UNKNOWN)
        try:
            if kind == "view":
                return self._of_view(node, preview, bool(context["should_full_refresh"]()))
            if kind not in TABLES:
                return replace(preview, problem=f"This adapter has no materialization '{kind}'.")
            return self._of_table(context, preview)
        except DbtRuntimeError as exc:
            if not is_not_found(exc):
                return replace(preview, does=Action.FAIL, problem=str(exc.msg))
            # An input is missing; the run may build it first.
            creates = Action.CREATE_VIEW if kind == "view" else Action.CREATE
            does = creates if self._existing(node) is None else Action.UNKNOWN
            problem = f"An input does not exist yet. {str(exc.msg).strip().splitlines()[0]}"
            return replace(preview, does=does, problem=problem)
        finally:
            self._adapter.plans.changes.forget(node)

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

    def _of_table(self, context: Mapping[str, Any], preview: Preview) -> Preview:
        adapter, node = self._adapter, context["model"]
        run = adapter.plans.decided(context, locks=False)
        if run.strategy:
            preview = replace(preview, kind=f"{preview.kind}, {run.strategy}")
        if run.reused is not None:
            preview = replace(preview, unchanged=getattr(run.reused.response, "reason", ""))
        query = self._query(node)
        if query is not None:
            run = replace(run, spec=adapter.specs.spelled(run.spec, query.columns))
            preview = self._with_scans(node, preview)
            if preview.problem:
                return preview
        plan = adapter.plans.preview(node, run, query)
        steps = tuple(step.description for step in run.steps if step.description)
        preview = replace(preview, does=plan.action, steps=steps, alters=tuple(plan.alters))
        if (table := run.table) is not None:
            preview = replace(preview, maintenance=tuple(adapter.maintenance.due_after_run(table, run.spec)))
        if table is not None and plan.rebuild.swaps:
            return self._replaced(node, preview, table, plan.rebuild, run.full_refresh)
        if table is not None and node["config"]["materialized"] == MATERIALIZED_VIEW:
            refresh = adapter.plans.materialized_views.refresh(node, run, positions_of(table))
            return replace(preview, does=_REFRESHES[refresh.kind], reasons=(refresh.words,) if refresh.words else ())
        return preview

    def _with_scans(self, node: Mapping[str, Any], preview: Preview) -> Preview:
        scans = read_limits.scans(self._adapter, node["compiled_code"])
        problem = read_limits.problem(node, scans)
        return replace(preview, scans=scans, problem=problem, does=Action.FAIL if problem else preview.does)

    def _query(self, node: Mapping[str, Any]) -> ModelQuery | None:
        """A node's query and columns; None for seeds, Python models, snapshots and streams."""
        if node.get("language", "sql") != "sql":
            return None
        if node["config"].get("materialized") not in ("table", "incremental", MATERIALIZED_VIEW):
            return None
        return self._adapter.rows.query(node["compiled_code"])

    def _existing(self, node: Mapping[str, Any]) -> PaimonRelation | None:
        return self._adapter.get_relation(node["database"], node["schema"], node["alias"])
