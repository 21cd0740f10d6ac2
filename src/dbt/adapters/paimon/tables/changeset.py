"""Compares a table's options and keys with a `TableSpec`: what ALTER can change, and what needs a new table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.options.table_options import canonical, lookup
from dbt.adapters.paimon.spec.component import PropertyChange
from dbt.adapters.paimon.spec.components import aggregates, needs_new_table, rule_faults
from dbt.adapters.paimon.spec.spelling import with_column_case
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.tables.existing import MATERIALIZED_VIEW_OPTION, PROTECTED_OPTIONS, STREAM_ID, ExistingTable


@dataclass(frozen=True)
class Changeset:
    """The changes that give a table its wanted options.

    If there are `immutable` changes, a new table is created with all its options, and `altered` is informational.
    """

    altered: tuple[PropertyChange, ...] = ()
    immutable: tuple[PropertyChange, ...] = ()
    # Whether the rows must be overwritten right after the ALTER: Paimon refuses to append to the old bucket layout.
    needs_overwrite: bool = False
    # The ALTER that resets options must run before the one that sets options.
    unset_first: bool = False

    def remerging(self, dropped: Iterable[str] = ()) -> tuple[PropertyChange, ...]:
        """The changes that make Paimon merge stored rows differently, in columns that are not dropped."""
        ignored = frozenset(dropped)
        return tuple(change for change in self.altered if change.merges - ignored)

    @property
    def set_options(self) -> Mapping[str, str]:
        """The options for ALTER TABLE … SET TBLPROPERTIES."""
        return {change.name: change.new for change in self.altered if change.new is not None}

    @property
    def unset_options(self) -> tuple[str, ...]:
        """The options for ALTER TABLE … UNSET TBLPROPERTIES."""
        return tuple(change.name for change in self.altered if change.new is None)


def compute_changeset(
    spec: TableSpec, existing: ExistingTable, versions: Versions, defaults: Mapping[str, str] = {}
) -> Changeset:
    """Compare a wanted table with the existing one.

    Values are compared by meaning: '60 min' equals '1 h', and an unset option equals its default. Columns are spelled
    as in the table. An option that only the table has is reset if Paimon knows it; unknown options are left alone.
    Source: SchemaManager.checkAlterTableOption and checkResetTableOption, 0.9.0 to 2.0.0.

    Args:
        versions: decide which options are immutable.
        defaults: the options that the catalog gives each new table, so they are not changes.
    """
    if existing.columns and not versions.case_sensitive:
        spec = with_column_case(spec, [column.name for column in existing.columns])
    current = _with_keys(existing.as_spec())
    inherited = {name: value for name, value in defaults.items() if name not in PROTECTED_OPTIONS}
    wanted = {**inherited, **_with_keys(spec)}
    if spec.is_streamed and STREAM_ID in current:
        wanted = {STREAM_ID: current[STREAM_ID], **wanted}
    unkeyed = [column.name for column in existing.columns if column.name not in existing.primary_key]
    changes = tuple(_differing(wanted, current, versions))
    immutable = tuple(change for change in changes if needs_new_table(change, current, versions))
    altered = tuple(
        replace(change, merges=aggregates.columns_merged_differently(change.name, current, wanted, unkeyed))
        for change in changes
        if change not in immutable
    )
    return Changeset(
        altered,
        immutable,
        needs_overwrite=any(change.name == "bucket" for change in altered),
        unset_first=_unset_first(existing, altered, versions),
    )


def _with_keys(table: TableSpec) -> dict[str, str]:
    """A table's options, including Paimon's options for its keys."""
    keys = {"primary-key": ",".join(table.primary_key), "partition": ",".join(table.partition_by)}
    return {**table.options, **{name: columns for name, columns in keys.items() if columns}}


def _differing(wanted: Mapping[str, str], existing: Mapping[str, str], versions: Versions) -> Iterator[PropertyChange]:
    for name in sorted({*wanted, *existing}):
        old, new = existing.get(name), wanted.get(name)
        if new is None and name not in (MATERIALIZED_VIEW_OPTION, STREAM_ID) and lookup(name, versions.paimon) is None:
            continue
        if canonical(name, old, versions.paimon) != canonical(name, new, versions.paimon):
            yield PropertyChange(name, old, new)


def _unset_first(existing: ExistingTable, altered: tuple[PropertyChange, ...], versions: Versions) -> bool:
    """Whether UNSET must run before SET, because Paimon checks each ALTER separately [ran, 0.9.0]."""
    # UNSET first: SET of `streaming-read-overwrite` is refused while there is a changelog producer. SET first: UNSET of
    # `snapshot.num-retained.min` is refused while the maximum is below the default of the minimum.
    between = {**existing.options, **Changeset(altered).set_options}
    return any(rule_faults(replace(existing, options=between).as_spec(), versions))


def refuse_rebuild(resource_type: str, name: str, changes: Changeset, dropped: Iterable[str] = ()) -> None:
    """Raise DbtRuntimeError if changes require stored rows to be rewritten, but the run only adds rows."""
    where = f"{resource_type} '{name}'"
    if refused := changes.immutable or changes.remerging(dropped):
        listed = "; ".join(map(str, refused))
        remedy = (
            "A snapshot's history cannot be queried again, so --full-refresh does not rebuild it. Revert the "
            "config; or rename the table, let a run create the new one, and INSERT OVERWRITE it with the "
            "rows of the old one."
            if resource_type == "snapshot"
            else "Run it once with --full-refresh: a new table is built beside the old one and replaces it when "
            "it is complete; the old table's snapshots and tags are lost. Or revert the config."
        )
        why = (
            "Paimon cannot change this on an existing table"
            if changes.immutable
            else "stored rows would be merged differently, even in older table snapshots"
        )
        raise DbtRuntimeError(f"{where}: {why}: {listed}. {remedy}")
    if changes.needs_overwrite:
        change = next(change for change in changes.altered if change.name == "bucket")
        rescale = f"`dbt run-operation rescale --args '{{relation: {name}, bucket_num: {change.new or 1}}}'`"
        remedy = (
            f"Rewrite them with {rescale}, or revert the config."
            if resource_type == "snapshot"
            else f"Run it once with --full-refresh to rebuild them, rewrite them unchanged with {rescale}, or "
            "revert the config."
        )
        raise DbtRuntimeError(f"{where}: {change}: rows written before keep the old number of buckets. {remedy}")
