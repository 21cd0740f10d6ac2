"""Write-audit-publish on a branch of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, call_procedure
from dbt.adapters.paimon.errors.deprecations import warn
from dbt.adapters.paimon.metadata import snapshots, tags
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.time_travel import audits
from dbt.adapters.paimon.time_travel.audits import Result
from dbt.adapters.paimon.time_travel.states import branch_of


class Audits:
    """Runs a model's data tests on a branch with its new rows (see `time_travel.audits`)."""

    def __init__(self, adapter: AdapterProtocol) -> None:
        self._adapter = adapter

    def begin(self, relation: PaimonRelation, with_rows: bool) -> PaimonRelation:
        """Create or replace the audit branch, with the table's rows or only its columns and options."""
        self.end(relation)
        tag = None
        if with_rows:
            newest = snapshots.newest(self._adapter.query, relation)
            if newest is not None:
                tag = audits.BRANCH
                call_procedure(self._adapter, "create_tag", relation, {"tag": tag, "snapshot": newest})
        call_procedure(self._adapter, "create_branch", relation, {"branch": audits.BRANCH, "tag": tag})
        return branch_of(relation, audits.BRANCH)

    def end(self, relation: PaimonRelation) -> None:
        """Drop a table's audit branch and its tag, if they exist.

        Paimon drops a branch without its data files. A branch that started empty owns all its files, so they are
        expired first; others are left for remove_orphan_files.
        """
        branch = branch_of(relation, audits.BRANCH)
        found = tags.refs(self._adapter.query, relation)
        tagged = audits.BRANCH in found.tags
        if audits.BRANCH in found.branches and not tagged:
            with suppress(DbtRuntimeError):
                self._adapter.query(f"truncate table {branch}")
                everything = {"retain_max": 1, "retain_min": 1, "older_than": "2999-12-31 00:00:00"}
                call_procedure(self._adapter, "expire_snapshots", branch, everything)
        if audits.BRANCH in found.branches:
            call_procedure(self._adapter, "delete_branch", relation, {"branch": audits.BRANCH})
        if tagged:
            call_procedure(self._adapter, "delete_tag", relation, {"tag": audits.BRANCH})

    def branch(self, relation: PaimonRelation) -> PaimonRelation | None:
        """The branch of a failed audit, or None."""
        names = tags.branches(self._adapter.query, relation)
        return branch_of(relation, audits.BRANCH) if audits.BRANCH in names else None

    def refuse_stale(self, relation: PaimonRelation) -> None:
        """Refuse to publish a branch by hand if the table has newer commits or lacks columns of the branch."""
        branch = branch_of(relation, audits.BRANCH)
        newest, base = tags.newest_and_tagged(self._adapter.query, relation, audits.BRANCH)
        rerun = "Run the model again."
        if base is not None and base != newest:
            raise DbtRuntimeError(
                f"publish: {relation} is at table snapshot {newest}, but its audited branch began at {base}. {rerun}"
            )
        columns = [column.name for column in self._adapter.get_columns_in_relation(relation)]
        unknown = [c.name for c in self._adapter.get_columns_in_relation(branch) if c.name not in columns]
        if unknown:
            raise DbtRuntimeError(f"publish: {relation} has no column {', '.join(unknown)}. {rerun}")

    def results(self, context: Mapping[str, Any], published: PaimonRelation, audited: PaimonRelation) -> list[Result]:
        """The results of a model's data tests over its audited rows, each by dbt's own query."""
        # dbt passes the whole manifest; the declared type only promises macros.
        manifest: Any = self._adapter.get_macro_resolver()
        tests = audits.of_model(context["model"]["unique_id"], manifest)
        found = []
        for audit in audits.compiled(tests, published, audited, self._adapter.config, manifest):
            sql = context["get_test_sql"](
                context["get_limit_subquery_sql"](audit.sql, audit.config.limit),
                audit.config.fail_calc,
                audit.config.warn_if,
                audit.config.error_if,
                limit=None,
            )
            found.append(audits.result(audit, self._adapter.query(sql)[0]))
        return found

    def refuse_failed(self, model: Mapping[str, Any], audited: PaimonRelation, results: Sequence[Result]) -> None:
        """Fail a node if one of its data tests failed; report those that warn."""
        audits.refuse_failed(model, audited, results)
        for result in results:
            if result.is_warning:
                warn(f"model '{model['name']}', audit {result}")
