"""`dbt clone`: what becomes of one node, and how it is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.changes.positions import positions_of
from dbt.adapters.paimon.plan.macros import Macros
from dbt.adapters.paimon.plan.steps import Does
from dbt.adapters.paimon.plan.ways import Staged, Writer
from dbt.adapters.paimon.plan.writing import view_of_branch
from dbt.adapters.paimon.tables.changeset import as_dbt_columns
from dbt.adapters.paimon.writing.model_query import ModelQuery

if TYPE_CHECKING:
    from dbt.adapters.paimon.plan.api import Plans
    from dbt.adapters.paimon.relation import PaimonRelation


@dataclass(frozen=True)
class ClonePlan:
    """What `dbt clone` does with one node.

    Attributes:
        does: BRANCH, COPY, CREATE_VIEW (a view over the relation of the state, as dbt makes it) or NOTHING.
        target: the clone.
        existing: the relation of its name; None if there is none.
        original: the table of the state.
        words: for the log; why a table is copied, or nothing is done.
    """

    does: Does
    target: PaimonRelation
    existing: PaimonRelation | None = None
    original: PaimonRelation | None = None
    words: str = ""


def decide(plans: Plans, context: Mapping[str, Any]) -> ClonePlan:
    """What `dbt clone` does with a node.

    Paimon tables cannot share files, so a clone is one INSERT of the table's rows. In a target with `clone_by: branch`
    it is a branch of the table, and a view over the branch, where the model is incremental and the table can have one
    (see `Clones`). A project that prefers views of everything defines `can_clone_table` to return false, as for every
    adapter.

    Args:
        plans: has the features of the adapter.
        context: dbt's, of the materialization.

    Raises:
        CompilationError: the relation that the state names does not exist.
        DbtRuntimeError: there is a clone already, and its original has changed since.
    """
    node, deferred = context["model"], context["defer_relation"]
    target = context["this"].incorporate(type="table")
    if not deferred:
        words = f"No relation found in the state for {node['unique_id']}"
        return ClonePlan(Does.NOTHING, target, words=words)
    existing = plans.builds.existing(target)
    if existing is not None and not context["flags"].FULL_REFRESH:
        plans.clones.check(existing)
        return ClonePlan(Does.NOTHING, target, words=f"Relation {existing} already exists")
    original = plans.adapter.get_relation(*deferred.parts)
    if original is None:
        raise CompilationError(
            f"{node['resource_type']} '{node['name']}': there is no {deferred} to clone, which the state names. Build "
            f"it there, or leave the node out: --exclude {node['name']}."
        )
    if not original.is_table or not context["can_clone_table"]():
        return ClonePlan(Does.CREATE_VIEW, target)
    if original == target:
        # dbt's own words, which its test looks for.
        words = f"Target relation and defer relation are the same, skipping clone for relation: {target}"
        return ClonePlan(Does.NOTHING, target, original=original, words=words)
    why = plans.clones.why_copied(node, original)
    return ClonePlan(Does.BRANCH if why is None else Does.COPY, target, existing, original, why or "")


def take(plans: Plans, context: Mapping[str, Any], plan: ClonePlan) -> list[PaimonRelation]:
    """Do what is decided; the relations that the node has then."""
    cloning = _Cloning(Writer(plans, Macros(context)), plan)
    if plan.does is Does.NOTHING:
        if plan.words:
            cloning.writer.macros.log(plan.words)
        return [] if plan.original is None else [plan.target]
    why = plan.words
    if plan.does is Does.BRANCH:
        view = cloning.branch()
        if view is not None:
            return [view]
        why = "its catalog does not give back the query of a view"
    if why:
        cloning.writer.macros.log(f"{plan.target} is a copy, not a branch, of {plan.original}: {why}")
    cloning.copy()
    return [plan.target]


@dataclass(frozen=True)
class _Cloning:
    writer: Writer
    plan: ClonePlan

    def branch(self) -> PaimonRelation | None:
        """A branch of the original at its newest table snapshot, and a view over it.

        Returns:
            The view; None if a later run could not tell it from other views: then nothing is left of it.
        """
        plans, macros, plan = self.writer.plans, self.writer.macros, self.plan
        assert plan.original is not None
        full_refresh = macros.context["flags"].FULL_REFRESH
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
        if (old := plans.adapter.get_relation(*kept.parts)) is not None:
            plans.adapter.drop_relation(old)
        plans.changes.hand_over(plan.original, branch, kept)
        return view

    def copy(self) -> None:
        """Copy the rows: the deletes first (apply_changes), without which older changes would bring rows back."""
        host, deletes, plan = self.writer.plans.adapter, self.writer.plans.deletes, self.plan
        assert plan.original is not None
        existing, target = plan.existing, plan.target
        if existing is not None and existing.is_view:
            host.cache_dropped(existing)
        old = {each.identifier: each for each in deletes.relations(target)}
        for each in deletes.relations(plan.original):
            name = (
                f"{target.identifier}{(each.identifier or '').removeprefix(plan.original.identifier or '')}"
            )
            self._copy(target.incorporate(path={"identifier": name}), old.pop(name, None), each)
        self._copy(target, existing if existing is not None and existing.is_table else None, plan.original)
        for each in old.values():
            host.drop_relation(each)
        if existing is not None and existing.is_view:
            host.drop_relation(existing)

    def _copy(
        self, target: PaimonRelation, replaced: PaimonRelation | None, original: PaimonRelation
    ) -> None:
        """Copy one table under a staging name, then let it replace the existing relation."""
        like = self.writer.plans.tables.existing(original)
        source = ModelQuery(original.render(), as_dbt_columns(like.columns))
        Staged(self.writer, target, replaced, like.columns, like.as_spec(), source, like.comment).write()
