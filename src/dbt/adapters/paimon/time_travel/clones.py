"""Branch clones: their names and views, the tables that cannot be cloned by branch, and the runs that write to clones.

With `clone_by: branch` in the target, `dbt clone` makes a branch that shares the data files of the original table, and
a view of this branch with the model's name. The view's stored query distinguishes it from a user's view.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from dbt.adapters.contracts.relation import RelationType
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, call_procedure
from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.changes.positions import short_hash
from dbt.adapters.paimon.errors.conditions import is_not_found
from dbt.adapters.paimon.metadata import snapshots, tags
from dbt.adapters.paimon.metadata.tags import Refs
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.api import Specs
from dbt.adapters.paimon.spec.components import iceberg
from dbt.adapters.paimon.spec.strategies import APPLY_CHANGES, MICROBATCH
from dbt.adapters.paimon.spec.table import POSTPONE_BUCKET, TableSpec
from dbt.adapters.paimon.sql import names
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.sql.views import ViewDirectory
from dbt.adapters.paimon.tables.api import Tables
from dbt.adapters.paimon.time_travel import audits, branches
from dbt.adapters.paimon.time_travel.states import NEVER_EXPIRES, branch_of

BY_BRANCH: Final = "branch"
_VIEW_TEXT: Final = "View Text"
# This mark is inside the view's query, because Spark drops comments before and after a query.
_MARK: Final = "/* made by dbt clone */"
_NAME: Final = r"`((?:[^`]|``)+)`"
_QUERY: Final = re.compile(rf"select {re.escape(_MARK)} \* from {_NAME}\.{_NAME}\.{_NAME}")
_IN_A_NAME: Final = "$branch_"
# The longest name of a branch in bytes; leaves room for the prefixes of Paimon and of the tag.
_MAX_BYTES: Final = 200
_FOREIGN: Final = re.compile(r"[/:,$\x00-\x1f]")
# Options with which every commit, even to a branch, has effects outside the table.
_ACTING_OUTSIDE: Final = (
    "metastore.partitioned-table metastore.tag-to-partition tag.to-partition commit.callbacks tag.callbacks".split()
)
# A clone's tag without its own retention gets the table's default, and the branch's files would expire with the tag.
DEFAULT_RETENTION: Final = "tag.default-time-retained"


@dataclass(frozen=True)
class Clone:
    """A model's branch clone; `rebuild`: why this run replaces it with a table, or '' if it writes to the branch."""

    branch: PaimonRelation
    rebuild: str = ""


def branch_name(schema: str) -> str:
    """The branch name for all clones in a schema: the schema's name, made valid for a branch."""
    name = _FOREIGN.sub("_", schema).strip()
    if names.branch_problem(name) or name == audits.BRANCH:
        name = f"schema_{name}"
    if len(name.encode()) <= _MAX_BYTES:
        return name
    return f"{name.encode()[: _MAX_BYTES - 9].decode(errors='ignore')}_{short_hash(name)}"


def tag_name(branch: str) -> str:
    """The name of the tag where a branch starts, as in the macro `create_branch`."""
    return f"branch_{branch}"


def query(branch: PaimonRelation) -> str:
    """The query of the view over a branch."""
    return f"select {_MARK} * from {quoted(*branch.parts)}"


def branch_in(text: str, schema: str) -> PaimonRelation | None:
    """The branch that a view's stored query reads; None if `dbt clone` did not create the view in this schema."""
    found = _QUERY.fullmatch(" ".join(text.split()))
    if found is None:
        return None
    database, original, identifier = (part.replace("``", "`") for part in found.groups())
    table, _, branch = identifier.partition(_IN_A_NAME)
    if not table or branch != branch_name(schema):
        return None
    relation = PaimonRelation.create(database=database, schema=original, identifier=table, type=RelationType.Table)
    return branch_of(relation, branch)


def table_of(branch: PaimonRelation) -> PaimonRelation:
    """The table of a branch; for a table, the table itself."""
    table, _, _ = (branch.identifier or "").partition(_IN_A_NAME)
    relation: PaimonRelation = branch.replace_path(identifier=table)
    return relation


def name_of(branch: PaimonRelation) -> str:
    """The name of a branch."""
    return (branch.identifier or "").partition(_IN_A_NAME)[2]


def unsuited(spec: TableSpec, strategy: str) -> str:
    """Why a model cannot write to a branch of its table; '' if it can.

    Args:
        spec: of the model's config, or of the existing table.
        strategy: the model's strategy; '' to check the table alone.
    """
    if strategy == APPLY_CHANGES:
        return f"{strategy} keeps the deletes in a separate table"
    if strategy == MICROBATCH:
        return "dbt treats a model that is a view as new, and would run all batches"
    if spec.bucket == POSTPONE_BUCKET:
        return "rows of postpone buckets cannot be read before they are compacted"
    if iceberg.is_on(spec):
        return "a branch's commits would write the table's Iceberg metadata"
    if branches.named(spec):
        return "the table's options name a branch"
    acting = [name for name in _ACTING_OUTSIDE if spec.options.get(name, "false").lower() != "false"]
    return f"its commits have effects outside the table ({', '.join(acting)})" if acting else ""


def missing(view: object, branch: PaimonRelation, refs: Refs, branch_tags: Collection[str] | None) -> str:
    """The error message about a clone whose branch or tag was lost; '' if both exist.

    Args:
        refs: the branches and tags of the table; empty if the table does not exist.
        branch_tags: the names of the branch's own tags; None if the branch does not exist.
    """
    tag = tag_name(name_of(branch))
    if name_of(branch) not in refs.branches or branch_tags is None:
        why = f"{table_of(branch)} has no branch {name_of(branch)}: the table was dropped or recreated"
    elif tag in branch_tags and tag not in refs.tags:
        why = (
            f"{table_of(branch)} has no tag {tag}: the table was rolled back, which deleted files that the branch needs"
        )
    else:
        return ""
    return (
        f"{view} is a clone of a table that has changed since: {why}. Clone it again: `dbt clone --full-refresh`, with "
        "the same --select and --state."
    )


def retention(options: Mapping[str, str]) -> str | None:
    """The retention of a branch's tag; None if the table's tags do not expire."""
    return NEVER_EXPIRES if DEFAULT_RETENTION in options else None


class Clones:
    """Creates, finds and deletes branch clones."""

    def __init__(self, adapter: AdapterProtocol, specs: Specs, tables: Tables, directory: ViewDirectory) -> None:
        self._adapter = adapter
        self._specs = specs
        self._tables = tables
        self._directory = directory

    # -- dbt clone --------------------------------------------------------------------------------------------------

    def why_copied(self, model: Mapping[str, Any], original: PaimonRelation) -> str | None:
        """Why a table is copied and not cloned by branch; None if it is cloned by branch.

        The reason is '' if the target or the model never uses branches.
        """
        if not self._by_branch or model["config"].get("materialized") != "incremental":
            return ""
        kind = self._adapter.credentials.metastore_of(original.database)
        versions = replace(self._adapter.versions, catalog_kind=kind)
        # A clone by branch is a view over the branch. A catalog from catalogs.yml has to store this view itself.
        needed = [Capability.BRANCHES]
        if original.database in self._adapter.credentials.integrations:
            needed.append(Capability.VIEWS)
        if missing := next(filter(None, map(versions.explain, needed)), ""):
            return missing
        spec = self._specs.incremental(model)
        existing = self._tables.existing(original).as_spec()
        return unsuited(spec.table, spec.strategy) or unsuited(existing, "") or None

    def begin(self, view: PaimonRelation, original: PaimonRelation, *, replaces: bool) -> PaimonRelation:
        """Create the branch of a clone at the newest table snapshot of the original.

        Raises:
            DbtRuntimeError: the branch exists and has commits of its own, and `replaces` is false.
        """
        name = branch_name(view.schema or "")
        branch = branch_of(original, name)
        if not replaces and self._is_written(branch):
            table = table_of(branch)
            raise DbtRuntimeError(
                f"{view} cannot be cloned: {table} already has a branch {name} with commits of its own. If nothing "
                "needs them, clone with --full-refresh, which replaces it, or delete it: dbt run-operation "
                f"delete_branch --args '{{relation: {table.schema}.{table.identifier}, branch: {name}}}'"
            )
        self.end(branch)
        newest, tag = self._newest(original), None
        if newest is not None:
            tag, kept = tag_name(name), retention(self._tables.existing(original).options)
            tagged = {"tag": tag, "snapshot": newest, "time_retained": kept}
            call_procedure(self._adapter, "create_tag", original, tagged)
        call_procedure(self._adapter, "create_branch", original, {"branch": name, "tag": tag})
        return branch

    # -- runs -------------------------------------------------------------------------------------------------------

    def of(self, model: Mapping[str, Any], existing: PaimonRelation | None, *, full_refresh: bool) -> Clone | None:
        """The branch clone of an incremental model, or None; runs no query if the target has no branch clones.

        Raises:
            DbtRuntimeError: the original was dropped, recreated or rolled back since the clone.
        """
        branch = self.behind(existing) if existing is not None and self._by_branch else None
        if existing is None or branch is None:
            return None
        if full_refresh:
            return Clone(branch, "the run has --full-refresh")
        self.check(existing)
        spec = self._specs.incremental(model)
        if reason := unsuited(spec.table, spec.strategy):
            return Clone(branch, reason)
        changes = self._tables.changeset(str(branch.database), spec.table, self._tables.existing(branch))
        impossible = [*changes.immutable, *changes.remerging()]
        if changes.needs_overwrite:
            impossible += [change for change in changes.altered if change.name == "bucket"]
        return Clone(branch, "; ".join(map(str, impossible)))

    def behind(self, relation: PaimonRelation) -> PaimonRelation | None:
        """The branch that a view reads, if `dbt clone` created the view; else None."""
        if not relation.is_view:
            return None
        return branch_in(self._view_text(relation), relation.schema or "")

    def named(self, relation: PaimonRelation) -> PaimonRelation | None:
        """The branch of the clone with this name, or None; runs no query if the target has no branch clones."""
        if not self._by_branch:
            return None
        found = self._adapter.get_relation(relation.database, relation.schema, relation.identifier)
        return None if found is None else self.behind(found)

    def check(self, view: PaimonRelation) -> None:
        """Raise DbtRuntimeError if a clone's original was dropped, recreated or rolled back since."""
        branch = self.behind(view)
        if branch is None:
            return
        refs = self._refs(table_of(branch))
        branch_tags = tags.tags(self._adapter.query, branch) if name_of(branch) in refs.branches else None
        if problem := missing(view, branch, refs, branch_tags):
            raise DbtRuntimeError(problem)

    # -- deletion ---------------------------------------------------------------------------------------------------

    def end(self, branch: PaimonRelation) -> bool:
        """Delete a clone's branch and its tag, but not its files, and return whether the branch existed."""
        table, name = table_of(branch), name_of(branch)
        refs = self._refs(table)
        if name in refs.branches:
            call_procedure(self._adapter, "delete_branch", table, {"branch": name})
        if tag_name(name) in refs.tags:
            call_procedure(self._adapter, "delete_tag", table, {"tag": tag_name(name)})
        return name in refs.branches

    def end_in_schema(self, schema: PaimonRelation) -> list[PaimonRelation]:
        """Delete the branches behind the views of a schema, and return those that existed.

        Call it before the schema is dropped, because it finds the branches through the schema's views.
        """
        listed = self._adapter.list_relations_without_caching(schema.without_identifier())
        branches = [branch for relation in listed if (branch := self.behind(relation)) is not None]
        return [branch for branch in branches if self.end(branch)]

    # ---------------------------------------------------------------------------------------------------------------

    @property
    def _by_branch(self) -> bool:
        return self._adapter.credentials.clone_by == BY_BRANCH

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
        """The branches and tags of a table; empty if the table does not exist."""
        try:
            return tags.refs(self._adapter.query, table)
        except DbtRuntimeError as exc:
            if is_not_found(exc):
                return Refs()
            raise

    def _is_written(self, branch: PaimonRelation) -> bool:
        """Whether the branch exists and has commits after its start tag."""
        table, name = table_of(branch), name_of(branch)
        if name not in self._refs(table).branches:
            return False
        tag = tags.tags(self._adapter.query, table).get(tag_name(name))
        return self._newest(branch) != (tag and tag.snapshot)

    def _newest(self, relation: PaimonRelation) -> int | None:
        return snapshots.newest(self._adapter.query, relation)
