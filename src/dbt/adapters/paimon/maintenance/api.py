"""`adapter.maintenance`: maintenance after a model's commit, the operation `maintain`, and Paimon's procedures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import takewhile
from typing import Any, Final, TypeVar

from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, Node, table_name
from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.errors.warnings import warn
from dbt.adapters.paimon.formatting import counted, size
from dbt.adapters.paimon.macro_api import while_parsing
from dbt.adapters.paimon.maintenance import due, first_load, selection, times
from dbt.adapters.paimon.maintenance.compaction import compaction_problems, typed_partitions
from dbt.adapters.paimon.maintenance.rescale import UndoableStatement, rescale_steps
from dbt.adapters.paimon.metadata import files, snapshots, upkeep
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spark import responses
from dbt.adapters.paimon.spec import auto_buckets
from dbt.adapters.paimon.spec.api import Specs
from dbt.adapters.paimon.spec.components import iceberg
from dbt.adapters.paimon.spec.components.maintenance import expiry_problems
from dbt.adapters.paimon.spec.maintenance_policy import RETAIN_MIN, ExpirePartitions, MaintenancePolicy, read_policy
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import TableSpec, option_of_branch
from dbt.adapters.paimon.sql import booleans, procedures
from dbt.adapters.paimon.sql.data_types import is_text
from dbt.adapters.paimon.sql.statements import Statement
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.tables.api import Tables
from dbt.adapters.paimon.tables.existing import ExistingTable
from dbt.adapters.paimon.writing.bucket_tasks import PARTITIONS
from dbt.adapters.paimon.writing.statement_result import StatementResult
from dbt.adapters.paimon.writing.table_writer import TableWriter

# Arguments of expire_partitions, and the table options that are their defaults.
_EXPIRY_OPTIONS: Final = {
    "timestamp_pattern": "partition.timestamp-pattern",
    "expire_strategy": "partition.expiration-strategy",
}

logger = AdapterLogger("Paimon")
R = TypeVar("R")
# Reads the table, once.
_Existing = Callable[[], ExistingTable]


class Maintenance:
    """Runs maintenance policies, rescales and Paimon's procedures."""

    def __init__(self, adapter: AdapterProtocol, specs: Specs, tables: Tables, builds: TableWriter) -> None:
        self._adapter = adapter
        self._specs = specs
        self._tables = tables
        self._builds = builds

    def after_run(self, relation: PaimonRelation, spec: TableSpec) -> None:
        """Run the actions of a model's policy that are due after its commit; without a policy, run no statement.

        Raises:
            DbtRuntimeError: a step failed, and the policy's `on_failure` is 'error'. The model's rows are committed.
        """
        if spec.auto_buckets and not (spec.maintenance and spec.maintenance.rescale):
            self._warn_if_outgrown(relation)
        policy = _policy_after_run(spec)
        if policy is None:
            return
        self._builds.hold(relation)
        failures = []
        try:
            for action in self._planned(relation, policy, spec):
                if action.due:
                    failures += self._run(relation, action)
        except DbtRuntimeError as exc:
            failures.append(str(exc))
        if failures:
            self._report(relation, policy, failures)

    def _warn_if_outgrown(self, relation: PaimonRelation) -> None:
        """Warn if a table has far too few buckets for its size; with a remote Spark, only `maintain` checks this."""
        # Errors here never fail the node, because its rows are written.
        embedded = self._adapter.handle.embedded()
        tasks = self._adapter.handle.setting(PARTITIONS)
        if embedded is None or not (tasks and tasks.isdigit()):
            return
        try:
            found = embedded.fixed_buckets(table_name(relation))
        except Exception as exc:  # noqa: BLE001 - from py4j
            logger.debug(f"{relation}: size unknown: {exc}")
            return
        if found is None or not auto_buckets.has_outgrown(*found, int(tasks)):
            return
        buckets, largest = found
        best = auto_buckets.bucket_count(largest, int(tasks))
        warn(
            f"{relation} has outgrown its {counted(buckets, 'bucket')}: {size(largest)} in its "
            f"largest partition would be better spread over {best}. Run `dbt run-operation rescale --args "
            f"'{{relation: {relation.schema}.{relation.identifier}, bucket_num: {best}}}'` once, or let runs do it: "
            "`maintenance: {rescale: {after_run: true}}` in the model's config. The rows are not affected."
        )

    def due_after_run(self, relation: PaimonRelation, spec: TableSpec) -> list[str]:
        """The actions that `after_run` would run now, each with its reason."""
        policy = _policy_after_run(spec)
        actions = self._planned(relation, policy, spec) if policy else []
        return [f"{action.name}: {action.why}" for action in actions if action.due]

    def after_first_load(self, relation: PaimonRelation) -> None:
        """Compact a first load, so that the first batches do not have to (see `maintenance.first_load`).

        A failure is only a warning: the rows are committed, and a later batch compacts them.
        """
        if files.totals(self._adapter.query, relation).level_0 < first_load.LEAST_BYTES:
            return
        self._builds.hold(relation)
        compact = due.MaintenanceAction("compact", True, "after a first load", self.call("compact", relation, {}))
        if failed := self._run(relation, compact):
            logger.warning(f"{relation}: its rows are committed but were not compacted: {failed[0]}")

    @while_parsing(lambda *a, **k: [])
    def run(
        self,
        nodes: Iterable[Node],
        select: str | Sequence[str] | None = None,
        dry_run: Any = False,
        force: Any = False,
    ) -> list[dict[str, Any]]:
        """Maintain the selected tables (None: all) by their policies, and return a dictionary per action.

        `force` compacts regardless of the thresholds for files and commits.

        Raises:
            DbtRuntimeError: the selection matches nothing, a config is invalid, or tables failed (all in one error).
        """
        dry_run = booleans.argument("maintain", "dry_run", dry_run)
        force = booleans.argument("maintain", "force", force)
        done: list[dict[str, Any]] = []
        failures: list[str] = []
        for node, spec in self._specs_of(selection.select(nodes, select, "maintain")):
            if spec is None:
                if select is not None:
                    logger.info(f"{node['name']}: its config has no `maintenance`")
                continue
            relation = self._adapter.get_relation(node["database"], node["schema"], node["alias"])
            if relation is None or not relation.is_table:
                logger.info(f"{node['name']}: not built yet")
                continue
            failed = self._maintain(relation, spec, done, dry_run=dry_run, force=force)
            failures += [f"{relation}: {failure}" for failure in failed]
        if failures:
            raise DbtRuntimeError("maintain failed for these tables; no rows were lost:\n" + "\n".join(failures))
        if not done:
            logger.info("maintain: no built table has a maintenance policy (see the config `maintenance`)")
        return done

    def _specs_of(self, nodes: Iterable[Node]) -> list[tuple[Node, TableSpec | None]]:
        """Each node with its table spec, or None if it has no policy; raises the errors of all nodes as one."""
        found: list[tuple[Node, TableSpec | None]] = []
        problems = []
        for node in nodes:
            try:
                found.append((node, self._spec_of(node)))
            except DbtRuntimeError as exc:  # noqa: PERF203
                problems.append(str(exc.msg))
        if problems:
            raise DbtRuntimeError("\n".join(problems))
        return found

    def _spec_of(self, node: Node) -> TableSpec | None:
        problems = Problems(node["name"])
        policy = read_policy(node["config"].get("maintenance"), problems)
        problems.raise_if_any()
        return None if policy is None or policy.is_empty else self._specs.of(node)

    def _maintain(
        self, relation: PaimonRelation, spec: TableSpec, done: list[dict[str, Any]], *, dry_run: bool, force: bool
    ) -> list[str]:
        """Maintain one table, append a dictionary per action to `done`, and return the failures."""
        failures: list[str] = []
        try:
            if not dry_run:
                self._builds.hold(relation)
            assert spec.maintenance is not None
            actions = self._planned(relation, spec.maintenance, spec, force=force)
            for line in due.lines(actions, dry_run=dry_run):
                logger.info(f"{relation.shown} {line}")
            for action in actions:
                runs = action.due and not dry_run
                failed = self._run(relation, action) if runs else []
                failures += failed
                report = {"table": relation.render(), "action": action.name, "due": action.due, "why": action.why}
                done.append({**report, "done": runs and not failed})
        except DbtRuntimeError as exc:
            failures.append(str(exc))
        finally:
            if not dry_run:
                self._builds.release()
        return failures

    def _planned(
        self, relation: PaimonRelation, policy: MaintenancePolicy, spec: TableSpec, *, force: bool = False
    ) -> list[due.MaintenanceAction]:
        state = upkeep.read(self._adapter.query, relation, due.figures(policy))
        return due.actions(relation, policy, state, spec, self._adapter.versions, force=force)

    def _run(self, relation: PaimonRelation, action: due.MaintenanceAction) -> list[str]:
        """Run one action and return its error message, if any, as a list."""
        try:
            if action.buckets:
                self.rescale(relation, action.buckets)
            else:
                self.run_operation(relation, action.name, action.statement)
        except DbtRuntimeError as exc:
            return [f"{action.name}: {exc}"]
        logger.debug(f"{relation} {action.name}: done: {action.why}")
        return []

    def _report(self, relation: PaimonRelation, policy: MaintenancePolicy, failures: Sequence[str]) -> None:
        text = (
            f"{relation}: its rows are committed, but its maintenance failed: {'; '.join(failures)}\nFix the "
            "cause, then run `dbt run-operation maintain` to do what is still due. `on_failure` in the config "
            "`maintenance` decides whether this is a warning or an error."
        )
        if policy.on_failure == "error":
            raise DbtRuntimeError(text)
        warn(text)

    def run_operation(self, relation: PaimonRelation, name: str, sql: str | Statement) -> StatementResult:
        """Run the statement of `dbt run-operation <name>` under the table's lock, and log what it did."""
        statement = sql if isinstance(sql, Statement) else Statement(sql, name, target=relation.parts)
        execute = self._adapter.connections.execute
        table, response = self._logged(relation, name, lambda: execute(statement, fetch=True)[1])
        return StatementResult(response, table)

    def _logged(self, relation: PaimonRelation, name: str, work: Callable[[], R]) -> tuple[R, AdapterResponse]:
        """Call `work` under the table's lock, log what it changed, and return its result and the response."""
        # Errors while reading what changed never fail the operation.
        table = table_name(relation)
        with self._builds.alone(relation):
            began = time.monotonic()
            before = _read_or_none(relation, lambda: self._adapter.handle.snapshot_range(table))
            result = work()
            handle = self._adapter.handle
            statement = handle.statement_id
            effect = before and _read_or_none(relation, lambda: handle.changes_since(table, before))
        response = responses.of_operation(name, effect, statement) if effect else responses.unknown(name, statement)
        logger.info(f"{relation.shown} {response} in {time.monotonic() - began:.1f} s")
        return result, response

    def call(self, name: str, relation: PaimonRelation, arguments: Mapping[str, Any]) -> Statement:
        """The CALL of a Paimon procedure; refuses arguments that are invalid or unknown to this Paimon version."""
        existing = cache(lambda: self._tables.existing(relation))
        checks = {
            "compact": self._check_compaction,
            "create_branch": self._refuse_iceberg,
            "delete_branch": self._refuse_read_branch,
            "expire_partitions": self._check_expiry,
            "remove_orphan_files": self._refuse_nested_partitions,
        }
        if name in checks:
            checks[name](relation, arguments, existing)
        given = self._completed(name, arguments, existing)
        return procedures.statement(name, relation.parts, given, self._adapter.versions)

    def _completed(self, name: str, arguments: Mapping[str, Any], existing: _Existing) -> dict[str, Any]:
        """The arguments with times on Paimon's clock, typed partitions, and a `retain_min` that fits `retain_max`."""
        versions = self._adapter.versions
        given = times.with_paimons_clock(name, arguments, versions, self._adapter.query, lambda: existing().options)
        if name == "compact" and given.get("partitions"):
            given["partitions"] = typed_partitions(given["partitions"], existing().columns)
        most = str(given.get("retain_max", ""))
        fits = "retain_min" in given or versions.supports(Capability.EXPIRE_SNAPSHOTS_RETAIN_MAX_ALONE)
        if name == "expire_snapshots" and most.isdigit() and not fits:
            least = existing().options.get("snapshot.num-retained.min", RETAIN_MIN)
            given["retain_min"] = min(int(most), int(least))
        return given

    def _check_compaction(self, relation: PaimonRelation, arguments: Mapping[str, Any], existing: _Existing) -> None:
        """Refuse a compaction that the table does not support, before Paimon fails halfway through."""
        problems = compaction_problems(existing().as_spec(), arguments, self._adapter.versions)
        if problems:
            listed = "\n".join(f"  {problem}" for problem in problems)
            raise DbtRuntimeError(f"compact on {relation}:\n{listed}")

    def _refuse_iceberg(self, relation: PaimonRelation, _: object, existing: _Existing) -> None:
        """Refuse a branch of a table with Iceberg metadata: table and branch would write it in the same folder."""
        if self._adapter.versions.supports(Capability.ICEBERG_METADATA) and iceberg.is_on(existing().as_spec()):
            raise DbtRuntimeError(
                f"create_branch on {relation}: commits of a branch would replace what Iceberg's readers see of the "
                "table (iceberg: true). Change the rows in a copy of the table instead."
            )

    def _refuse_read_branch(self, relation: PaimonRelation, arguments: Mapping[str, Any], existing: _Existing) -> None:
        """Refuse to delete a branch that the table reads: without it, Paimon before 1.1 cannot open the table."""
        if option := option_of_branch(existing().options, str(arguments.get("branch"))):
            raise DbtRuntimeError(
                f"delete_branch on {relation}: the table reads this branch ({option}). Remove that option from the "
                "model's tblproperties, and run the model first."
            )

    def _refuse_nested_partitions(self, relation: PaimonRelation, _: object, existing: _Existing) -> None:
        """Refuse to remove orphan files of nested partitions if this Paimon version usually deadlocks there."""
        versions, needed = self._adapter.versions, Capability.REMOVE_ORPHAN_FILES_OF_NESTED_PARTITIONS
        if not versions.supports(needed) and len(existing().partition_by) > 1:
            versions.require(needed, f"remove_orphan_files on {relation}, which has several partition columns")

    def _check_expiry(self, relation: PaimonRelation, arguments: Mapping[str, Any], existing: _Existing) -> None:
        """Refuse to expire partitions if Paimon would expire nothing."""
        table = existing()
        by_options = self._adapter.versions.supports(Capability.EXPIRE_PARTITIONS_BY_TABLE_OPTIONS)
        defaults = table.options if by_options else {}
        own = {key: arguments.get(key) or defaults.get(option, "") for key, option in _EXPIRY_OPTIONS.items()}
        expire = ExpirePartitions(
            timestamp_pattern=own["timestamp_pattern"], expire_strategy=own["expire_strategy"] or "values-time"
        )
        types = {column.name: column.data_type.lower() for column in table.columns}
        keyed = {name: types[name] for name in table.partition_by}
        problems = [reason for _, reason in expiry_problems(expire, keyed, table.partition_by)]
        if not keyed:
            problems = ["the table has no partitions"]
        if problems:
            raise DbtRuntimeError(f"expire_partitions on {relation}: {problems[0]}.")
        if expire.expire_strategy != "values-time":
            self._refuse_commas(relation, [name for name, kind in keyed.items() if is_text(kind)])

    def _refuse_commas(self, relation: PaimonRelation, names: Sequence[str]) -> None:
        """Refuse to expire partitions if a value has a comma: Paimon may drop another partition."""
        if not names or self._adapter.versions.supports(Capability.EXPIRE_PARTITIONS_WITH_COMMAS):
            return
        has_comma = " or ".join(f"instr({quoted(name)}, ',') > 0" for name in names)
        if self._adapter.query(f"select 1 from {relation.render()} where {has_comma} limit 1"):
            raise DbtRuntimeError(
                f"expire_partitions on {relation}: {', '.join(names)} has values with a comma. With expire_strategy "
                "update-time, this Paimon may drop another partition in place of an expired one. Delete old rows with "
                "delete_rows, or partition by values without commas."
            )

    def rescale(
        self,
        relation: PaimonRelation,
        bucket_num: int | None = None,
        partitions: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Change the number of buckets of a table's partitions under the table's lock (see `maintenance.rescale`).

        Raises:
            DbtRuntimeError: the arguments are wrong; nothing was run.
            DbtDatabaseError: a statement failed; the table is unchanged, or the next run repeats the rescale.
        """
        with self._builds.alone(relation):
            existing = self._tables.existing(relation)
            given = typed_partitions(partitions, existing.columns)
            steps = rescale_steps(
                relation.parts,
                existing,
                self._adapter.versions,
                bucket_num=bucket_num,
                partitions=given,
                has_rows=snapshots.newest(self._adapter.query, relation) is not None,
            )
            self._logged(relation, "rescale", lambda: self._execute(relation, steps))

    def _execute(self, relation: PaimonRelation, steps: Iterable[Statement]) -> None:
        """Run the steps; if one fails, undo those before it, back to the last one that cannot be undone.

        Once the rows are in the new buckets, the table needs the new number. So nothing is undone after a commit: a
        rewrite that fails may have committed the rows already, and failed in the compaction that follows.
        """
        done: list[Statement] = []
        before: int | None = None
        try:
            for step in steps:
                if _undo(step) and not any(map(_undo, done)):
                    before = snapshots.newest(self._adapter.query, relation)
                self._adapter.connections.execute(step)
                done.append(step)
        except DbtRuntimeError:
            undone = list(takewhile(_undo, reversed(done)))
            if undone and _read_or_none(relation, lambda: snapshots.newest(self._adapter.query, relation)) != before:
                logger.warning(
                    f"{relation.shown}: the rows may be in the new buckets already, so the table keeps the new number. "
                    "Run the same rescale again before anything else writes the table."
                )
                raise
            for step in undone:
                self._adapter.connections.execute(Statement(_undo(step), step.kind, target=step.target))
            raise


def _undo(step: Statement) -> str:
    """The SQL that undoes a step of a rescale, or ''."""
    return step.undo if isinstance(step, UndoableStatement) else ""


def _read_or_none(relation: PaimonRelation, read: Callable[[], R]) -> R | None:
    try:
        return read()
    except Exception as exc:  # noqa: BLE001 - from py4j, gRPC, Thrift or Spark
        logger.debug(f"{relation}: cannot read what an operation changed: {exc}")
        return None


def _policy_after_run(spec: TableSpec) -> MaintenancePolicy | None:
    policy = spec.maintenance.after_run() if spec.maintenance else None
    return None if policy is None or policy.is_empty else policy
