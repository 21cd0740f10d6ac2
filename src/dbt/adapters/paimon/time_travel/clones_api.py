"""`adapter.clones`: `dbt clone` by branches, and the runs that write to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, call_procedure
from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.metadata import snapshots, tags
from dbt.adapters.paimon.metadata.tags import Refs
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.api import Specs
from dbt.adapters.paimon.sql.views import ViewDirectory
from dbt.adapters.paimon.tables import metadata
from dbt.adapters.paimon.tables.api import Tables
from dbt.adapters.paimon.time_travel import clones
from dbt.adapters.paimon.time_travel.clones import Clone
from dbt.adapters.paimon.time_travel.states import branch_of

_VIEW_TEXT = "View Text"


class Clones:
    """Creates, finds and deletes branch clones (see `time_travel.clones`)."""

    def __init__(self, adapter: AdapterProtocol, specs: Specs, tables: Tables, directory: ViewDirectory) -> None:
        self._adapter = adapter
        self._specs = specs
        self._tables = tables
        self._directory = directory

    # -- dbt clone --------------------------------------------------------------------------------------------------

    def why_copied(self, model: Mapping[str, Any], original: PaimonRelation) -> str | None:
        """The reason to copy a table instead of branching; '' if branching is off; None to branch."""
        if not self._by_branch or model["config"].get("materialized") != "incremental":
            return ""
        catalog = self._adapter.credentials.catalog_of(original.database or "")
        kind = catalog.metastore if catalog is not None else self._adapter.versions.catalog_kind
        versions = replace(self._adapter.versions, catalog_kind=kind)
        if not versions.supports(Capability.BRANCHES):
            return versions.explain(Capability.BRANCHES)
        plan = self._specs.incremental(model)
        existing = self._tables.existing(original).as_spec()
        return clones.unsuited(plan.spec, plan.strategy) or clones.unsuited(existing, "") or None

    def begin(self, view: PaimonRelation, original: PaimonRelation, *, replaces: bool) -> PaimonRelation:
        """Create the branch of a clone at the newest table snapshot of the original.

        Raises:
            DbtRuntimeError: the table has such a branch with commits of its own, and `replaces` is false.
        """
        name = clones.branch_name(view.schema or "")
        branch, tag = branch_of(original, name), clones.tag_name(name)
        if not replaces and self._is_written(branch):
            raise DbtRuntimeError(clones.occupied(view, branch))
        self.end(branch)
        newest = self._newest(original)
        if newest is None:
            call_procedure(self._adapter, "create_branch", original, {"branch": name})
            return branch
        kept = clones.retention(self._tables.existing(original).options)
        call_procedure(self._adapter, "create_tag", original, {"tag": tag, "snapshot": newest, "time_retained": kept})
        call_procedure(self._adapter, "create_branch", original, {"branch": name, "tag": tag})
        return branch

    # -- runs -------------------------------------------------------------------------------------------------------

    def of(self, model: Mapping[str, Any], existing: PaimonRelation | None, *, full_refresh: bool) -> Clone | None:
        """The branch clone of an incremental model, or None; runs no query if the target does not clone by branches.

        Raises:
            DbtRuntimeError: the original was dropped, recreated or rolled back since the clone.
        """
        branch = self.behind(existing) if existing is not None and self._by_branch else None
        if existing is None or branch is None:
            return None
        if full_refresh:
            return Clone(branch, "the run has --full-refresh")
        self.check(existing)
        plan = self._specs.incremental(model)
        if reason := clones.unsuited(plan.spec, plan.strategy):
            return Clone(branch, reason)
        changes = self._tables.changes(plan.spec, self._tables.existing(branch))
        impossible = [*changes.immutable, *changes.remerging()]
        if changes.needs_overwrite:
            impossible += [change for change in changes.altered if change.name == "bucket"]
        return Clone(branch, "; ".join(map(str, impossible)))

    def behind(self, relation: PaimonRelation) -> PaimonRelation | None:
        """The branch that a view made by `dbt clone` reads; None for any other relation."""
        if not relation.is_view:
            return None
        return clones.branch_in(self._view_text(relation), relation.schema or "")

    def named(self, relation: PaimonRelation) -> PaimonRelation | None:
        """The branch of the clone with this name, or None; runs no query if the target does not clone by branches."""
        if not self._by_branch:
            return None
        found = self._adapter.get_relation(relation.database, relation.schema, relation.identifier)
        return None if found is None else self.behind(found)

    def check(self, view: PaimonRelation) -> None:
        """Raise DbtRuntimeError if a clone's original was dropped, recreated or rolled back since."""
        branch = self.behind(view)
        if branch is None:
            return
        refs = self._refs(clones.table_of(branch))
        branch_tags: set[str] | None = None
        if clones.name_of(branch) in refs.branches:
            branch_tags = set(tags.tags(self._adapter.query, branch))
        if problem := clones.missing(view, branch, refs, branch_tags):
            raise DbtRuntimeError(problem)

    # -- deletion ---------------------------------------------------------------------------------------------------

    def end(self, branch: PaimonRelation) -> bool:
        """Delete a clone's branch and its tag, but not its files, and return whether the branch existed."""
        table, name = clones.table_of(branch), clones.name_of(branch)
        refs = self._refs(table)
        if name in refs.branches:
            call_procedure(self._adapter, "delete_branch", table, {"branch": name})
        if clones.tag_name(name) in refs.tags:
            call_procedure(self._adapter, "delete_tag", table, {"tag": clones.tag_name(name)})
        return name in refs.branches

    def in_schema(self, schema: PaimonRelation) -> list[PaimonRelation]:
        """The branches behind the views of a schema."""
        listed = self._adapter.list_relations_without_caching(schema.without_identifier())
        found = (self.behind(relation) for relation in listed)
        return [branch for branch in found if branch is not None]

    # ---------------------------------------------------------------------------------------------------------------

    @property
    def _by_branch(self) -> bool:
        return self._adapter.credentials.clone_by == clones.BY_BRANCH

    def _view_text(self, view: PaimonRelation) -> str:
        if self._directory.needed:
            own = view.database == self._adapter.credentials.database
            definition = self._directory.get(view.schema or "", view.identifier or "") if own else None
            return definition.query if definition else ""
        try:
            rows = self._adapter.query(f"describe table extended {view.render()}")
        except DbtRuntimeError:
            return ""
        return next((str(row[1]) for row in rows if row[0] == _VIEW_TEXT), "")

    def _refs(self, table: PaimonRelation) -> Refs:
        """The branches and tags of a table; empty if there is no such table."""
        try:
            return tags.refs(self._adapter.query, table)
        except DbtRuntimeError as exc:
            if metadata.is_not_found(exc):
                return Refs()
            raise

    def _is_written(self, branch: PaimonRelation) -> bool:
        """Whether the branch exists and has commits after its start tag."""
        table, name = clones.table_of(branch), clones.name_of(branch)
        if name not in self._refs(table).branches:
            return False
        tag = tags.tags(self._adapter.query, table).get(clones.tag_name(name))
        return self._newest(branch) != (tag and tag.snapshot)

    def _newest(self, relation: PaimonRelation) -> int | None:
        return snapshots.newest(self._adapter.query, relation)
