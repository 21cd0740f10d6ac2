"""`adapter.history`: time travel, tags and branches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.features import while_parsing
from dbt.adapters.paimon.metadata import files, schemas, snapshots, tags
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec import run_tag
from dbt.adapters.paimon.spec.components import iceberg
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql import procedures
from dbt.adapters.paimon.tables import metadata
from dbt.adapters.paimon.tables.api import Tables
from dbt.adapters.paimon.time_travel import branches, rollbacks, states

logger = AdapterLogger("Paimon")


class History:
    """`adapter.history` in macros."""

    def __init__(self, adapter: AdapterProtocol, tables: Tables) -> None:
        self._adapter = adapter
        self._tables = tables

    @while_parsing(lambda relation, *a, **k: relation)
    def at(self, relation: PaimonRelation, arguments: Mapping[str, Any], model: Mapping[str, Any]) -> PaimonRelation:
        """A table at an earlier state, or a branch of it (see `time_travel.states`); a unit test's fixture unchanged.

        Raises:
            DbtRuntimeError: not exactly one state is given, or the relation is not a table that has this state.
        """
        asked = states.version("at", relation, arguments)
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
            raise DbtRuntimeError(f"at({relation}): a view has no history. Materialize it as table or incremental.")
        if found is not None:
            self._recorded("at", found, asked)
        return states.read(relation, asked)

    def snapshot_at(self, relation: PaimonRelation, timestamp: Any) -> str:
        """The number of the newest table snapshot at a timestamp."""
        asked = states.version("rollback_to", relation, {states.TIMESTAMP: timestamp})
        latest = states.latest_at(self._recorded("rollback_to", relation, asked))
        assert latest is not None
        return latest.name

    def _recorded(self, function: str, relation: PaimonRelation, asked: states.Version) -> list[snapshots.Recorded]:
        """The table's states of the same kind as `asked`; refuses if `asked` is not among them."""
        recorded = states.recorded(self._adapter.query, relation, asked)
        if problem := states.missing(function, relation, asked, recorded):
            raise DbtRuntimeError(problem)
        return recorded

    def check_branches(self, model: Mapping[str, Any], spec: TableSpec, relation: PaimonRelation | None = None) -> None:
        """Refuse options that name a branch that the table does not have; `relation` is None if it is rebuilt."""
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
                f"{relation} select * from {relation} version as of …"
            )

    def rollback_version(self, relation: PaimonRelation, version: Any) -> Any:
        """A state with the rows of a table snapshot (a number) or a tag, such that a rollback to it keeps these rows.

        Raises:
            DbtRuntimeError: the tag does not exist, or every possible rollback would delete data files in use.
        """
        asked = str(version).strip()
        if not asked.isdigit():
            self._recorded("rollback_to", relation, states.Version(states.TAG, asked))
        if self._adapter.versions.supports(Capability.ROLLBACK_KEEPS_FILES):
            return version
        query = self._adapter.query
        commits = snapshots.by_sql(query, relation)
        at = self._number(relation, asked)
        if not any(commit.snapshot == at for commit in commits) and asked.isdigit():
            return version  # Paimon's error lists the existing table snapshots.
        lost = 0
        for state, number in rollbacks.states(asked, at, commits):
            compactions = rollbacks.later_compactions(number, commits)
            place = number if state == str(number) else state
            lost_here = files.lost_by_rollback(query, relation, place, compactions)
            if not lost_here:
                return state
            lost = lost or lost_here
        raise DbtRuntimeError(rollbacks.refusal(relation, asked, lost))

    def refuse_other_buckets(self, relation: PaimonRelation, version: Any) -> None:
        """Refuse a rollback to a state that was written with another number of buckets, as before a `rescale`."""
        asked, query = str(version).strip(), self._adapter.query
        if asked.isdigit():
            commits = snapshots.by_sql(query, relation)
            schema = next((commit.schema for commit in commits if commit.snapshot == int(asked)), None)
        else:
            schema = tags.tags(query, relation)[asked].schema
        known = schemas.newest_first(query, relation)
        # A table snapshot that does not exist has none; Paimon's error lists those that do.
        then = [each for each in known if each.id == schema]
        buckets = [metadata.existing_table(each).as_spec().bucket for each in (*then, known[0])]
        if problem := rollbacks.other_buckets(relation, asked, buckets[0], buckets[-1]):
            raise DbtRuntimeError(problem)

    def _number(self, relation: PaimonRelation, version: str) -> int:
        """The number of a table snapshot, given as such or by an existing tag."""
        return int(version) if version.isdigit() else tags.tags(self._adapter.query, relation)[version].snapshot

    def drop_later_tags(self, relation: PaimonRelation, version: Any, agreed: bool) -> None:
        """Log the tags that a rollback deletes; refuse the rollback if users created some of them, unless `agreed`."""
        asked = str(version).strip()
        known = tags.tags(self._adapter.query, relation)
        number = int(asked) if asked.isdigit() else known[asked].snapshot
        later = [tag.name for tag in known.values() if tag.snapshot > number]
        if not agreed and (problem := rollbacks.lost_tags(relation, asked, later)):
            raise DbtRuntimeError(problem)
        if later:
            logger.info(f"rollback_to on {relation}: deleting the tags {', '.join(later)}")

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
            # Before replace_tag, create_tag updates a tag of the same table snapshot.
            calls = [("create_tag", wanted)]
        else:
            calls = [("delete_tag", tag), ("create_tag", wanted)]
        return [procedures.render(name, relation.parts, arguments, self._adapter.versions) for name, arguments in calls]

    def refuse_lossy_fast_forward(self, relation: PaimonRelation, branch: str) -> None:
        """Refuse a fast-forward that would lose commits or tags of the table (see `time_travel.branches`)."""
        self._recorded("fast_forward", relation, states.Version(states.BRANCH, branch))
        rows = tags.lacking(self._adapter.query, relation, states.branch_of(relation, branch))
        if problem := branches.losses(relation, branch, rows):
            raise DbtRuntimeError(problem)
