"""Runs `erase` (see `operations.erasing`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.metadata import files, schemas, snapshots, tags
from dbt.adapters.paimon.operations import erasing
from dbt.adapters.paimon.operations.erasing import Consent, Held, Target
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spark.formatting import counted
from dbt.adapters.paimon.sql.statements import Statement
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.streaming.dead_letters import dead_letters_of
from dbt.adapters.paimon.time_travel.states import branch_of

if TYPE_CHECKING:
    from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
    from dbt.adapters.paimon.plan.api import Plans

logger = AdapterLogger("Paimon")
_VIEW: Final = "dbt_erase_files"
_TABLES: Final = ("model", "seed", "snapshot", "source")
# The commit merges all manifests (ManifestFileMerger): those before it have least and greatest values of removed files.
_NEW_MANIFESTS: Final = MappingProxyType({"spark.paimon.manifest.full-compaction-threshold-size": "1 b"})
_ALL: Final = 2**31 - 1
_SHOWN: Final = 5


class Erasures:
    """Finds a key in tables and their files, and removes it."""

    def __init__(self, adapter: AdapterProtocol, plans: Plans) -> None:
        self._adapter = adapter
        self._plans = plans

    def run(
        self,
        key: object,
        named: Sequence[PaimonRelation],
        nodes: Iterable[Mapping[str, Any]],
        consent: Consent,
        *,
        dry_run: bool,
    ) -> None:
        """List what holds a key; unless it is a dry run, remove it, and prove that no file holds it.

        Args:
            key: the key's values by column.
            named: the tables; if empty, those of all nodes that have its columns.
            nodes: the project's nodes and sources.
            consent: what may be deleted besides rows of the key.
            dry_run: whether to list only.

        Raises:
            DbtRuntimeError: a table cannot be erased from, or consent is missing: nothing was done. Or files still
                hold the key.
        """
        found = []
        problems = []
        for target in self._targets(erasing.checked_key(key), named, nodes):
            held = self._held(target)
            found.append((target, held))
            logger.info(f"{target.relation.shown}: {held}")
            problems += [f"{target.relation.shown}: {why}" for why in self._problems(target, held)]
        if problems:
            raise DbtRuntimeError("erase cannot remove the key; nothing was done:\n  " + "\n  ".join(problems))
        if self._may_erase(found, consent, dry_run=dry_run):
            for target, held in found:
                self._erase(target, held)

    @staticmethod
    def _may_erase(found: Sequence[tuple[Target, Held]], consent: Consent, *, dry_run: bool) -> bool:
        """Whether the key is to be removed, and is somewhere; refuses missing consent."""
        wanted = [
            f"{target.relation.shown}: {what}"
            for target, held in found
            for what in erasing.missing_consent(target, held, consent)
        ]
        if not any(held.rows or held.files for _, held in found):
            logger.info(f"erase: the key is in 0 of {counted(len(found), 'table')} with its columns")
        elif dry_run:
            also = "".join(f"\n  {what}" for what in wanted)
            agree = f", and agree to what is deleted too:{also}" if also else ""
            logger.info(f"erase: nothing was done. To remove the rows for good, add dry_run: false{agree}")
        elif wanted:
            raise DbtRuntimeError(
                "erase also has to delete what follows; nothing was done. Add the arguments to agree:\n  "
                + "\n  ".join(wanted)
            )
        else:
            return True
        return False

    # -- what holds the key -----------------------------------------------------------------------------------------

    def _targets(
        self, key: Mapping[str, object], named: Sequence[PaimonRelation], nodes: Iterable[Mapping[str, Any]]
    ) -> Iterator[Target]:
        """The tables that have the key's columns, each with its tables of deletes and of dead letters."""
        for relation in named or self._of_project(nodes):
            existing = self._plans.tables.existing(relation)
            target = erasing.target(relation, existing, key)
            if target is None:
                if named:
                    raise DbtRuntimeError(
                        f"erase: {relation.shown} does not have the columns {', '.join(key)}; nothing was done. "
                        "Leave it out, or erase from it by columns that it has."
                    )
                continue
            yield target
            for kept in self._plans.deletes.relations(relation):
                if beside := erasing.target(kept, self._plans.tables.existing(kept), key):
                    yield beside
            if letters := self._adapter.get_relation(*dead_letters_of(relation).parts):
                existing = self._plans.tables.existing(letters)
                if beside := erasing.target(letters, existing, key, letters=True):
                    yield beside

    def _of_project(self, nodes: Iterable[Mapping[str, Any]]) -> Iterator[PaimonRelation]:
        """The Paimon tables of the project."""
        seen = set()
        for node in sorted(nodes, key=lambda node: str(node["name"])):
            if (
                node["resource_type"] not in _TABLES
                or node["database"] not in self._adapter.credentials.paimon_catalogs
            ):
                continue
            name = node.get("alias") or node.get("identifier")
            relation = self._adapter.get_relation(node["database"], node["schema"], name)
            if relation is not None and relation.is_table and relation.parts not in seen:
                seen.add(relation.parts)
                yield relation

    def _held(self, target: Target) -> Held:
        relation = target.relation
        found, number = self._search(target)
        query = self._adapter.query
        states = [
            (tag, files.state(relation, f"version as of {string_literal(tag)}"))
            for tag in sorted(tags.tags(query, relation))
        ]
        branches = [
            (branch, files.state(branch_of(relation, branch), "")) for branch in sorted(tags.branches(query, relation))
        ]
        kept_tags, kept_branches = (
            tuple(name for name, state in each if found and found & files.names(query, state))
            for each in (states, branches)
        )
        kept = snapshots.range_by_sql(query, relation).count
        return Held(self._rows(target), found, number, kept_tags, kept_branches, kept)

    def _search(self, target: Target) -> tuple[frozenset[str], int]:
        """The names of the table's files that hold the key, as Spark's readers find them, and the number of all."""
        ((_, location),) = self._adapter.query(f"show tblproperties {target.relation.render()} ('path')")
        self._adapter.query(erasing.files_view_sql(_VIEW, location))
        readable, unreadable = erasing.data_files(self._column(f"select path from {_VIEW}"))
        if unreadable:
            raise DbtRuntimeError(
                f"erase: {target.relation.shown} has files in which Spark cannot look for a key, such as "
                f"{unreadable[0]}; nothing was done to them. {erasing.REBUILD} and file_format: parquet."
            )
        found: set[str] = set()
        for each in erasing.FORMATS:
            if any(name.endswith(f".{each}") for name in readable):
                self._adapter.query(erasing.files_view_sql(_VIEW, location, each, target.columns))
                sql = f"select distinct input_file_name() from {_VIEW} where {target.condition}"
                found |= {files.file_name(path) for path in self._column(sql)}
        self._adapter.query(f"drop view {_VIEW}")
        return frozenset(found), len(readable)

    def _problems(self, target: Target, held: Held) -> Iterator[str]:
        relation, builds = target.relation, self._plans.builds
        earlier = schemas.newest_first(self._adapter.query, relation)
        yield from erasing.unsearchable(target, earlier)
        staged = builds.staged(relation)
        for left in [*builds.leftovers(relation), *([staged] if staged else [])]:
            yield f"{left.identifier}, which a run has left, may hold it too. Run its model, or drop that table"
        if held.rows or held.files:
            consumers = sorted(tags.consumers(self._adapter.query, relation))
            yield from erasing.why_not(target, self._adapter.versions, consumers)
        if held.rows and not held.files:
            yield f"Paimon finds {counted(held.rows, 'row')} of the key, and Spark no file with it. {erasing.REBUILD}"

    # -- removal ----------------------------------------------------------------------------------------------------

    def _erase(self, target: Target, before: Held) -> None:
        relation = target.relation
        with self._plans.builds.alone(relation):
            # `apply_changes` may have added the key to a table of deletes since.
            if not before.files and not self._rows(target):
                return
            self._plans.row_deletes.run(relation, target.condition)
            if target.spec.primary_key:
                self._call("compact", relation)
            self._refuse_hidden(target)
            for branch in before.branches:
                self._call("delete_branch", relation, branch=branch)
            for tag in before.tags:
                self._call("delete_tag", relation, tag=tag)
            sql = f"analyze table {relation.render()} compute statistics"
            analyze = Statement(sql, "analyze", _NEW_MANIFESTS, target=relation.parts)
            self._plans.maintenance.run_operation(relation, "analyze", analyze)
            self._call("expire_snapshots", relation, retain_max=1, retain_min=1, max_deletes=_ALL)
            after = self._held(target)
            if after.files:
                self._call("remove_orphan_files", relation, dry_run=False)
                after = self._held(target)
        if after.files or after.rows:
            raise DbtRuntimeError(_left(relation, after.files))
        logger.info(f"{relation.shown} erased: {after} (before: {before})")

    def _refuse_hidden(self, target: Target) -> None:
        """Refuse to go on if current files hold rows that only deletion vectors hide."""
        current = self._search(target)[0] & files.names(self._adapter.query, files.state(target.relation, ""))
        if current:
            name = target.relation.render()
            raise DbtRuntimeError(
                f"erase: the rows of the key are deleted from {target.relation.shown}, but deletion vectors only hide "
                f"them in {counted(len(current), 'file')}. Write the table again while nothing else writes it, then "
                f"erase again: insert overwrite {name} select * from {name}"
            )

    def _call(self, procedure: str, relation: PaimonRelation, **arguments: object) -> None:
        maintenance = self._plans.maintenance
        maintenance.run_operation(relation, procedure, maintenance.call(procedure, relation, arguments))

    # -- queries ----------------------------------------------------------------------------------------------------

    def _rows(self, target: Target) -> int:
        sql = f"select count(*) from {target.relation.render()} where {target.condition}"
        return int(self._adapter.query(sql)[0][0])

    def _column(self, sql: str) -> list[str]:
        return [str(value) for (value,) in self._adapter.query(sql)]


def _left(relation: PaimonRelation, files: Iterable[str]) -> str:
    """The error message about files that still hold the key."""
    names = sorted(files)
    listed = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    return (
        f"erase: the rows of the key are deleted from {relation.shown}, but {counted(len(names), 'file')} of its "
        f"folder still hold them: {listed}. They are of a branch, of a write that failed, or of one that came "
        "meanwhile. Erase again: files that no table snapshot has are deleted when they are a day old; sooner by "
        "remove_orphan_files with older_than, if nothing writes the table now."
    )
