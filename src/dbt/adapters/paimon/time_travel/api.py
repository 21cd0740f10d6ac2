"""`adapter.history`: time travel, tags and branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.macro_api import while_parsing
from dbt.adapters.paimon.metadata import files, schemas, snapshots, tags
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.metadata.tags import Tag
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec import run_tag
from dbt.adapters.paimon.spec.components import iceberg
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql import procedures
from dbt.adapters.paimon.tables.api import Tables
from dbt.adapters.paimon.tables.existing import ExistingTable
from dbt.adapters.paimon.time_travel import branches, rollbacks, states
from dbt.adapters.paimon.time_travel.clones import Clones, table_of

logger = AdapterLogger("Paimon")


class History:
    """`adapter.history` in macros."""

    def __init__(self, adapter: AdapterProtocol, tables: Tables, clones: Clones) -> None:
        self._adapter = adapter
        self._tables = tables
        self._clones = clones

    @while_parsing(lambda relation, *a, **k: relation)
    def at(self, relation: PaimonRelation, arguments: Mapping[str, Any], model: Mapping[str, Any]) -> PaimonRelation:
        """A table in an earlier state or a branch of it (see `time_travel.states`); a unit test's fixture is unchanged.

        Raises:
            DbtRuntimeError: not exactly one state is given, or the relation is not a table that has this state.
        """
        asked = states.parse("at", relation, arguments)
        if asked.kind == states.BRANCH:
            self._adapter.versions.require(Capability.BRANCHES, f"at({relation}, branch='{asked.value}')")
        if relation.is_cte:
            if model.get("resource_type") == "unit_test":
                return relation
            raise DbtRuntimeError(
                f"at({relation}): an ephemeral model has no history. Materialize it as table or incremental."
            )
        found: Any = self._adapter.get_relation(*relation.parts)
        if found is not None and not found.is_table:
            branch = self._clones.behind(found)
            if branch is None:
                raise DbtRuntimeError(f"at({relation}): a view has no history. Materialize it as table or incremental.")
            # The clone of an incremental model by branch: its earlier states are those of the original.
            found = table_of(branch)
            relation = found.replace(limit=relation.limit, event_time_filter=relation.event_time_filter)
        if found is not None:
            self._recorded("at", found, asked)
        return states.read(relation, asked)

    def snapshot_at(self, relation: PaimonRelation, timestamp: Any) -> str:
        """The number of the newest table snapshot at a timestamp."""
        asked = states.parse("rollback_to", relation, {states.TIMESTAMP: timestamp})
        latest = states.latest_at(self._recorded("rollback_to", relation, asked))
        assert latest is not None
        return latest.name

    def _recorded(self, function: str, relation: PaimonRelation, asked: states.State) -> list[snapshots.Recorded]:
        """The table's states of the same kind as `asked`; refuses if `asked` is not among them."""
        recorded = states.recorded(self._adapter.query, relation, asked)
        if problem := states.missing(function, relation, asked, recorded):
            raise DbtRuntimeError(problem)
        return recorded

    def refuse_missing_tag(self, operation: str, relation: PaimonRelation, tag: str) -> None:
        """Refuse an operation on a tag that the table does not have."""
        self._recorded(operation, relation, states.State(states.TAG, tag))

    def check_branches(self, model: Mapping[str, Any], spec: TableSpec, relation: PaimonRelation | None = None) -> None:
        """Refuse options that name a branch that the table lacks; `relation` is None if the table is rebuilt."""
        if not branches.named(spec):
            return
        names = None if relation is None else tags.branches(self._adapter.query, relation)
        branches.refuse_missing(spec, model["config"], model["name"], names)

    def refuse_stale_readers(self, operation: str, relation: PaimonRelation) -> None:
        """Refuse to roll back a table with Iceberg metadata.

        IcebergCommitCallback never overwrites the metadata of a snapshot number, so Iceberg readers would see the
        rolled-back rows in addition to all later rows [ran, 1.4.2].
        """
        if not self._adapter.versions.supports(Capability.ICEBERG_METADATA):
            return
        if iceberg.is_on(self._tables.existing(relation).as_spec()):
            raise DbtRuntimeError(
                f"{operation} on {relation}: Iceberg readers would still see the rows that are rolled back, "
                "because Paimon keeps their metadata. Write the earlier rows again instead: insert overwrite "
                f"{relation} select * from {relation} version as of … If {relation} is a model that calls "
                "paimon_changes, run that model with --full-refresh instead."
            )

    def rollback_version(self, relation: PaimonRelation, version: Any, *, drop_tags: bool) -> str:
        """A state with the rows of `version` (a table snapshot's number, or a tag) whose files a rollback would keep.

        Logs the later tags, which the rollback deletes.

        Raises:
            DbtRuntimeError: the tag does not exist; every possible rollback would delete data files in use; the state
                was written with another number of buckets, as before a `rescale`; or users created some of the later
                tags, unless `drop_tags`.
        """
        asked, query = str(version).strip(), self._adapter.query
        if not asked.isdigit():
            self.refuse_missing_tag("rollback_to", relation, asked)
        known, commits = tags.tags(query, relation), snapshots.by_sql(query, relation)
        at: Mapping[str, Tag | Commit] = {**known, **{str(commit.snapshot): commit for commit in commits}}
        # Paimon (AbstractFileStoreTable.rollbackTo) finds an expired table snapshot by a tag that keeps it.
        if asked not in at:
            asked = next((tag.name for tag in known.values() if str(tag.snapshot) == asked), asked)
        if asked not in at:
            return asked  # Paimon's error lists the existing table snapshots.
        state = asked
        if not self._adapter.versions.supports(Capability.ROLLBACK_KEEPS_FILES):
            state = self._keeping_files(relation, asked, at[asked].snapshot, commits)
        self._refuse_other_buckets(relation, state, at[state].schema_id)
        later = [tag.name for tag in known.values() if tag.snapshot > at[state].snapshot]
        if not drop_tags and (problem := rollbacks.lost_tags(relation, state, later)):
            raise DbtRuntimeError(problem)
        if later:
            logger.info(f"rollback_to on {relation}: deleting the tags {', '.join(later)}")
        return state

    def _keeping_files(self, relation: PaimonRelation, asked: str, number: int, commits: Sequence[Commit]) -> str:
        """A state with the rows of `asked` (table snapshot `number`) whose data files a rollback would keep."""
        lost = 0
        for state, place in rollbacks.states(asked, number, commits):
            compactions = rollbacks.later_compactions(place, commits)
            version = place if state == str(place) else state
            if not (lost_here := files.lost_by_rollback(self._adapter.query, relation, version, compactions)):
                return state
            lost = lost or lost_here
        raise DbtRuntimeError(rollbacks.refusal(relation, asked, lost))

    def _refuse_other_buckets(self, relation: PaimonRelation, state: str, schema_id: int | None) -> None:
        now, *older = schemas.newest_first(self._adapter.query, relation)
        then = next((each for each in older if each.id == schema_id), now)
        buckets = (ExistingTable.of(each).as_spec().bucket for each in (then, now))
        if problem := rollbacks.other_buckets(relation, state, *buckets):
            raise DbtRuntimeError(problem)

    def run_tag_statements(self, relation: PaimonRelation, spec: TableSpec) -> list[str]:
        """The CALLs that tag the newest table snapshot as the model's `table_tag` demands."""
        if spec.tag is None:
            return []
        newest, tagged = tags.newest_and_tagged(self._adapter.query, relation, spec.tag.name)
        if newest is None or (tagged is not None and spec.tag.if_exists == run_tag.KEEP):
            return []
        tag: dict[str, Any] = {"tag": spec.tag.name}
        wanted = {**tag, "snapshot": newest, "time_retained": spec.tag.time_retained}
        if tagged is not None and self._adapter.versions.supports(Capability.REPLACE_TAG):
            calls = [("replace_tag", wanted)]
        elif tagged is None or tagged == newest:
            # In versions without replace_tag, create_tag updates a tag that is on the same table snapshot.
            calls = [("create_tag", wanted)]
        else:
            calls = [("delete_tag", tag), ("create_tag", wanted)]
        return [procedures.render(name, relation.parts, arguments, self._adapter.versions) for name, arguments in calls]

    def refuse_lossy_fast_forward(self, relation: PaimonRelation, branch: str) -> None:
        """Refuse a fast-forward that would lose commits or tags of the table (see `time_travel.branches`)."""
        self._recorded("fast_forward", relation, states.State(states.BRANCH, branch))
        rows = tags.lacking(self._adapter.query, relation, states.branch_of(relation, branch))
        if problem := branches.losses(relation, branch, rows):
            raise DbtRuntimeError(problem)
