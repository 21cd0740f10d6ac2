"""`dbt clone` of one node: a copy, a branch or a view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.changes.positions import positions_of
from dbt.adapters.paimon.plan.api import Plans
from dbt.adapters.paimon.plan.node_steps import set_late_options, view_of_branch
from dbt.adapters.paimon.plan.steps import Action
from dbt.adapters.paimon.plan.write_modes import NodeWriter, StagedBuild
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.tables.existing import STREAM_ID, as_dbt_columns
from dbt.adapters.paimon.writing.model_query import ModelQuery


@dataclass(frozen=True)
class ClonePlan:
    """What `dbt clone` does with a node; `reason` is logged if it does nothing, or copies instead of branching."""

    # BRANCH, COPY, CREATE_VIEW (dbt itself creates a view over the deferred relation) or NOTHING.
    action: Action
    target: PaimonRelation
    existing: PaimonRelation | None = None
    original: PaimonRelation | None = None
    reason: str = ""


def decide(plans: Plans, context: Mapping[str, Any]) -> ClonePlan:
    """Decide what `dbt clone` does with a node.

    Paimon tables cannot share files, so a clone copies the rows with one INSERT. With `clone_by: branch` in the target,
    the clone of an incremental model is a branch with a view over it, if the table can have one (see `Clones`). A
    project that only wants views overrides `can_clone_table` to return false, as with every adapter.

    Raises:
        CompilationError: the relation that the state names does not exist.
        DbtRuntimeError: the clone exists, but its original was dropped, recreated or rolled back.
    """
    node, deferred = context["model"], context["defer_relation"]
    target = context["this"].incorporate(type="table")
    if not deferred:
        reason = f"No relation found in the state for {node['unique_id']}"
        return ClonePlan(Action.NOTHING, target, reason=reason)
    existing = plans.builds.existing(target)
    if existing is not None and not context["flags"].FULL_REFRESH:
        plans.clones.check(existing)
        return ClonePlan(Action.NOTHING, target, reason=f"Relation {existing} already exists")
    original = plans.adapter.get_relation(*deferred.parts)
    if original is None:
        raise CompilationError(
            f"{node['resource_type']} '{node['name']}': {deferred}, which the state names, does not exist and cannot "
            f"be cloned. Build it there, or leave the node out: --exclude {node['name']}."
        )
    if not original.is_table or not context["can_clone_table"]():
        return ClonePlan(Action.CREATE_VIEW, target)
    if original == target:
        # dbt's message, which its test looks for.
        reason = f"Target relation and defer relation are the same, skipping clone for relation: {target}"
        return ClonePlan(Action.NOTHING, target, original=original, reason=reason)
    why = plans.clones.why_copied(node, original)
    if why is None and existing is not None and existing.is_table and plans.views.shares_names(target):
        why = "its catalog cannot have a view beside the table that it replaces"
    return ClonePlan(Action.BRANCH if why is None else Action.COPY, target, existing, original, why or "")


def execute(plans: Plans, context: Mapping[str, Any], plan: ClonePlan) -> list[PaimonRelation]:
    """Carry out the plan and return the node's relations."""
    executor = _CloneExecutor(NodeWriter(context, plans), plan)
    if plan.action is Action.NOTHING:
        executor.writer.log(plan.reason)
        return [] if plan.original is None else [plan.target]
    why = plan.reason
    if plan.action is Action.BRANCH:
        view = executor.branch()
        if view is not None:
            return [view]
        why = "its catalog does not return the query of a view"
    if why:
        executor.writer.log(f"{plan.target} is a copy, not a branch, of {plan.original}: {why}")
    executor.copy()
    return [plan.target]


@dataclass(frozen=True)
class _CloneExecutor:
    writer: NodeWriter
    plan: ClonePlan

    def branch(self) -> PaimonRelation | None:
        """Create a branch of the original at its newest table snapshot, and a view over it.

        Returns None, after cleaning up, if a later run could not distinguish this view from other views.
        """
        plans, plan = self.writer.plans, self.plan
        assert plan.original is not None
        full_refresh = self.writer.context["flags"].FULL_REFRESH
        view: PaimonRelation = plan.target.incorporate(type="view")
        branch = plans.clones.begin(view, plan.original, replaces=full_refresh)
        plans.views.ensure_schema(view)
        view_of_branch(self.writer, plan.target, branch, "main")
        if plans.clones.behind(view) is None:
            plans.adapter.drop_relation(view)
            plans.clones.end(branch)
            return None
        if plan.existing is not None and plan.existing.is_table:
            plans.adapter.drop_relation(plan.existing)
        kept = positions_of(plan.target)
        plans.changes.drop_positions(kept)
        plans.changes.copy_positions(plan.original, branch, kept)
        return view

    def copy(self) -> None:
        """Copy the rows, and drop the relation that they replace."""
        adapter, plan = self.writer.plans.adapter, self.plan
        assert plan.original is not None
        existing = plan.existing
        table = existing if existing is not None and existing.is_table else None
        view = existing if existing is not None and existing.is_view else None
        # The deletes are copied before the rows: without the deletes, older changes would restore deleted rows.
        superfluous = self._copy_deletes(plan.original)
        copy = replace(self._staged(plan.target, table, plan.original), view=view)
        # Drop the positions before the swap: after a build with --empty, they would also apply to the copy. If the run
        # dies before the swap, the old table still has its positions in its commits.
        self.writer.plans.changes.drop_positions(positions_of(plan.target))
        copy.publish()
        set_late_options(self.writer, plan.target, copy.spec)
        for each in superfluous:
            adapter.drop_relation(each)

    def _copy_deletes(self, original: PaimonRelation) -> Sequence[PaimonRelation]:
        """Copy the tables of deletes (apply_changes), and return the target's tables that have no original."""
        target, deletes = self.plan.target, self.writer.plans.deletes
        old = {each.identifier: each for each in deletes.relations(target)}
        for each in deletes.relations(original):
            suffix = (each.identifier or "").removeprefix(original.identifier or "")
            name = f"{target.identifier}{suffix}"
            self._staged(target.incorporate(path={"identifier": name}), old.pop(name, None), each).publish()
        return tuple(old.values())

    def _staged(self, target: PaimonRelation, replaced: PaimonRelation | None, original: PaimonRelation) -> StagedBuild:
        """Build a complete copy under a staging name; its `publish` makes it `target`."""
        like = self.writer.plans.tables.existing(original)
        source = ModelQuery(original.render(), as_dbt_columns(like.columns))
        spec = like.as_spec()
        # Two tables with one stream id would share the stream's checkpoint, and each batch would reach only one.
        spec = replace(spec, options={name: value for name, value in spec.options.items() if name != STREAM_ID})
        copy = StagedBuild(self.writer, target, replaced, like.columns, spec, source, like.comment)
        copy.stage()
        return copy
