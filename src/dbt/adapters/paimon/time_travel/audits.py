"""Write-audit-publish on a branch of the table: runs a model's data tests on its new rows.

dbt compiles the tests as for `dbt test`, except that `ref()` of the model returns the branch.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, call_procedure
from dbt.adapters.paimon.errors.warnings import warn
from dbt.adapters.paimon.metadata import snapshots, tags
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql.table_properties import set_options, unset_options
from dbt.adapters.paimon.time_travel.states import NEVER_EXPIRES, branch_of

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

# The name of the branch, and of the tag on the published table snapshot where the branch starts.
BRANCH: Final = "dbt_audit"
# The table option that marks rows whose audit failed. Its value is the number of the published table's newest snapshot
# at that time, or 0 without one.
AUDITED: Final = "dbt.audit"

_RERUN: Final = "Run the model again."


@dataclass(frozen=True)
class Result:
    """The result of a data test: the number of failing rows, and whether they are an error or a warning."""

    name: str
    failures: int
    is_error: bool
    is_warning: bool

    def __str__(self) -> str:
        return f"{self.name}: {self.failures} {'row' if self.failures == 1 else 'rows'}"


def of_model(model_id: str, manifest: Manifest) -> list[Any]:
    """The data tests that can run before the model is published, ordered by name.

    A test that also reads a model that is not upstream runs later, because that table may not be built yet.
    """
    upstream = _upstream(model_id, manifest)
    nodes: Iterable[Any] = manifest.nodes.values()
    tests = [
        node
        for node in nodes
        if node.resource_type == "test"
        and model_id in node.depends_on.nodes
        and manifest.nodes.keys() & set(node.depends_on.nodes) <= upstream
    ]
    return sorted(tests, key=lambda node: str(node.name))


def compiled(
    tests: Iterable[Any], published: PaimonRelation, audited: PaimonRelation, config: Any, manifest: Manifest
) -> list[Any]:
    """The data tests, compiled to SQL in which ref() of `published` reads `audited`."""
    from dbt.clients.jinja import add_rendered_test_kwargs
    from dbt.compilation import Compiler
    from dbt.contracts.graph.nodes import GenericTestNode

    class AuditCompiler(Compiler):
        def _create_node_context(self, node: Any, manifest: Manifest, extra_context: dict[str, Any]) -> dict[str, Any]:
            context: dict[str, Any] = super()._create_node_context(node, manifest, extra_context)
            ref = context["ref"]

            def audited_ref(*args: Any, **kwargs: Any) -> Any:
                relation = ref(*args, **kwargs)
                is_published = relation.parts == published.parts
                return relation.replace_path(identifier=audited.identifier) if is_published else relation

            context["ref"] = audited_ref
            context["builtins"] = {**context["builtins"], "ref": audited_ref}
            if isinstance(node, GenericTestNode):
                add_rendered_test_kwargs(context, node)
            return context

    compiler = AuditCompiler(config)
    # Copied, because dbt compiles the nodes again, against the published table, when it runs them.
    return [compiler.compile_node(copy.deepcopy(test), manifest, write=False) for test in tests]


def result(audit: Any, row: Sequence[Any]) -> Result:
    """Evaluate a row of dbt's get_test_sql as TestRunner.build_test_result does; `audit` is a compiled data test."""
    failures, should_warn, should_error = row
    is_error = str(audit.config.severity).upper() == "ERROR" and _is_true(should_error)
    return Result(audit.name, int(failures or 0), is_error, not is_error and _is_true(should_warn))


def _upstream(model_id: str, manifest: Manifest) -> set[str]:
    found: set[str] = set()
    waiting = [model_id]
    while waiting:
        node_id = waiting.pop()
        if node_id not in found and node_id in manifest.nodes:
            found.add(node_id)
            node: Any = manifest.nodes[node_id]
            waiting += node.depends_on.nodes
    return found


def _is_true(value: Any) -> bool:
    return value if isinstance(value, bool) else str(value).lower() in ("true", "1")


class Audits:
    """Creates and drops audit branches, and runs data tests on them."""

    def __init__(self, adapter: AdapterProtocol) -> None:
        self._adapter = adapter

    def begin(self, relation: PaimonRelation, with_rows: bool) -> PaimonRelation:
        """Create or replace the audit branch, with the table's rows or only its columns and options."""
        self.end(relation)
        newest = snapshots.newest(self._adapter.query, relation) if with_rows else None
        if newest is not None:
            tag_of_base = {"tag": BRANCH, "snapshot": newest, "time_retained": NEVER_EXPIRES}
            call_procedure(self._adapter, "create_tag", relation, tag_of_base)
        tag = None if newest is None else BRANCH
        call_procedure(self._adapter, "create_branch", relation, {"branch": BRANCH, "tag": tag})
        return branch_of(relation, BRANCH)

    def end(self, relation: PaimonRelation) -> None:
        """Drop a table's audit branch and its tag, if they exist.

        Paimon drops a branch but keeps its data files. A branch that started empty owns all its files, so they are
        expired first. The files of other branches are left to remove_orphan_files.
        """
        branch = branch_of(relation, BRANCH)
        found = tags.refs(self._adapter.query, relation)
        tagged = BRANCH in found.tags
        # A branch that was created from a tag has a copy of the tag. Such a branch shares the table's files.
        if BRANCH in found.branches and not tagged and not tags.tags(self._adapter.query, branch):
            with suppress(DbtRuntimeError):
                self._adapter.query(f"truncate table {branch}")
                everything = {"retain_max": 1, "retain_min": 1, "older_than": "2999-12-31 00:00:00"}
                call_procedure(self._adapter, "expire_snapshots", branch, everything)
        if BRANCH in found.branches:
            call_procedure(self._adapter, "delete_branch", relation, {"branch": BRANCH})
        if tagged:
            call_procedure(self._adapter, "delete_tag", relation, {"tag": BRANCH})

    def branch(self, relation: PaimonRelation) -> PaimonRelation | None:
        """The branch of a failed audit, or None."""
        return branch_of(relation, BRANCH) if BRANCH in tags.branches(self._adapter.query, relation) else None

    def refuse_unaudited(
        self, table: PaimonRelation | None, audited: PaimonRelation, options: Mapping[str, str]
    ) -> None:
        """Refuse to publish rows by hand if their audit did not end, or if the table has newer commits.

        Args:
            table: the published table, if it exists.
            options: the table options of the branch or staged table `audited`.
        """
        if AUDITED not in options:
            raise DbtRuntimeError(f"publish: no audit of {audited} has ended, so its rows may be incomplete. {_RERUN}")
        if table is None:
            return
        audited_at = int(options[AUDITED])
        newest, base = tags.newest_and_tagged(self._adapter.query, table, BRANCH)
        for then in (audited_at if base is None else base, audited_at):
            if then != (newest or 0):
                raise DbtRuntimeError(
                    f"publish: {table} is at table snapshot {newest or 0}, but {audited} was audited when it was at "
                    f"{then}. {_RERUN}"
                )

    def refuse_unknown_columns(self, relation: PaimonRelation) -> None:
        """Refuse to publish a branch by hand if the table lacks columns of the branch."""
        branch = branch_of(relation, BRANCH)
        columns = [column.name for column in self._adapter.get_columns_in_relation(relation)]
        unknown = [c.name for c in self._adapter.get_columns_in_relation(branch) if c.name not in columns]
        if unknown:
            raise DbtRuntimeError(f"publish: {relation} has no column {', '.join(unknown)}. {_RERUN}")

    def unmark(self, staged: PaimonRelation) -> None:
        """Remove the mark of a failed audit from a staged table that is about to become the table."""
        self._adapter.query(unset_options(staged.render(), AUDITED))

    def _mark(self, published: PaimonRelation, audited: PaimonRelation) -> None:
        """Mark rows whose audit failed, so that `publish` accepts them while the table has no newer commits."""
        table = self._adapter.get_relation(*published.parts)
        newest = snapshots.newest(self._adapter.query, table) if table is not None and table.is_table else None
        self._adapter.query(set_options(audited.render(), {AUDITED: newest or 0}))

    def results(self, context: Mapping[str, Any], published: PaimonRelation, audited: PaimonRelation) -> list[Result]:
        """Run a model's data tests on its audited rows, with dbt's own queries."""
        # This is the whole manifest; the declared type only has macros.
        manifest: Any = self._adapter.get_macro_resolver()
        tests = of_model(context["model"]["unique_id"], manifest)
        found = []
        for audit in compiled(tests, published, audited, self._adapter.config, manifest):
            config = audit.config
            limited = context["get_limit_subquery_sql"](audit.compiled_code or "", config.limit)
            sql = context["get_test_sql"](limited, config.fail_calc, config.warn_if, config.error_if, limit=None)
            found.append(result(audit, self._adapter.query(sql)[0]))
        return found

    def refuse_failed(
        self,
        model: Mapping[str, Any],
        published: PaimonRelation,
        audited: PaimonRelation,
        results: Sequence[Result],
    ) -> None:
        """If a data test failed, mark the rows and raise DbtRuntimeError; otherwise warn for each test that warns."""
        name = model["name"]
        if failed := [result for result in results if result.is_error]:
            # Without the mark, the rows cannot be published by hand. But an error here must not hide the failed tests.
            with suppress(DbtRuntimeError):
                self._mark(published, audited)
            listed = "\n".join(f"  {result}" for result in failed)
            raise DbtRuntimeError(
                f"model '{name}': {len(failed)} of {len(results)} audits failed, and nothing was published.\n"
                f"{listed}\n  The new rows are in {audited}. Fix the model or its sources and run the model again, "
                f"or publish the rows anyway: dbt run-operation publish --args '{{relation: {name}}}'"
            )
        for result in results:
            if result.is_warning:
                warn(f"model '{name}', audit {result}")
