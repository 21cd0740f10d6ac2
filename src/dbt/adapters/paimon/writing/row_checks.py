"""Checks every row before it is written, for all materializations, strategies and seeds.

A statement reads the rows to write through `checked_columns`. An invalid row makes it fail before anything is written:

- A NOT NULL column (key, partition of a primary-key table, contract) must be present and have a value. Paimon checks
  most cases itself, but MERGE, and any write to a table whose primary key leaves out a partition column, store NULL as
  0, '' or 1970-01-01 [ran, 0.9.0].
- A value must have the column's type, or a type that is cast to it without loss (`sql.assignment`). A type that does
  not fit is refused before the statement runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.spec.strategies import WITH_STRATEGY
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.assignment import cast_sql, misfits
from dbt.adapters.paimon.sql.text import quoted, string_literal
from dbt.adapters.paimon.sql.type_trees import Atom, TypeTree, type_tree
from dbt.adapters.paimon.tables.column_changes import alterable, missing_filter_capability
from dbt.adapters.paimon.tables.existing import ExistingColumn
from dbt.adapters.paimon.writing.dbt_snapshots import time_columns
from dbt.adapters.paimon.writing.stored_values import null_around_struct, stored

# The number of characters of a value that a message shows.
_MAX_SHOWN = 100


@dataclass(frozen=True)
class Destination:
    """The table that rows are written to, as it is when the statement runs."""

    # The node that writes the rows: "model 'orders'".
    node: str
    columns: tuple[ExistingColumn, ...]
    spec: TableSpec
    # SQL condition for the rows whose values are written; empty for all.
    condition: str
    # Whether `on_schema_change='sync_all_columns'` is a remedy.
    may_suggest_sync: bool
    # Whether `--full-refresh` rebuilds the table.
    full_refresh_rebuilds: bool
    # The columns, in lower case, that a snapshot derives from its `updated_at`.
    snapshot_time_columns: frozenset[str]
    # Whether casts must be lossless (the flag `require_lossless_casts`); otherwise Spark's cast is used.
    lossless: bool
    versions: Versions

    @property
    def and_condition(self) -> str:
        return f" and {self.condition}" if self.condition else ""


def destination(
    model: Mapping[str, Any],
    table: Sequence[ExistingColumn],
    wanted: Sequence[ExistingColumn],
    spec: TableSpec,
    condition: str,
    *,
    lossless: bool,
    versions: Versions,
) -> Destination:
    """The table that a node's rows are written to.

    Args:
        wanted: the columns that the node wants (`column_changes.wanted_columns`); their NOT NULL is checked even if the
            existing table does not declare it yet.
        condition, lossless: see `Destination`.
    """
    required = {column.name.lower() for column in (*table, *wanted) if not column.nullable}
    columns = tuple(replace(column, nullable=column.name.lower() not in required) for column in table)
    kind, config = model["resource_type"], model["config"]
    may_suggest_sync = (
        config.get("materialized") in WITH_STRATEGY
        and config.get("on_schema_change") != "sync_all_columns"
        # dbt does not allow sync_all_columns with an enforced contract.
        and not (config.get("contract") or {}).get("enforced")
    )
    return Destination(
        f"{kind} '{model['name']}'",
        columns,
        spec,
        condition=condition,
        may_suggest_sync=may_suggest_sync,
        full_refresh_rebuilds=kind != "snapshot",
        snapshot_time_columns=time_columns(model),
        lossless=lossless,
        versions=versions,
    )


def checked_columns(columns: Sequence[PaimonColumn], to: Destination) -> list[str]:
    """The SQL of a query's columns, cast to the table's types; an invalid row makes the statement fail.

    A column that the table lacks is selected unchanged; a column that the query lacks becomes NULL in the table.

    Raises:
        CompilationError: lists every column that is required but missing, or whose type does not fit, with remedies.
    """
    have = {column.name.lower(): column for column in to.columns}
    given = {column.name.lower() for column in columns}
    faults = [
        _absence_fault(column.name, to)
        for column in to.columns
        if not column.nullable and column.name.lower() not in given
    ]
    selected = []
    for column in columns:
        target = have.get(column.name.lower())
        if target is None:
            selected.append(column.quoted)
        elif fault := _type_fault(column, target, to):
            faults.append(fault)
        else:
            selected.append(_named(_value(column, target, to), column.quoted))
    if faults:
        raise CompilationError(f"{to.node}: {' '.join(faults)}")
    return selected


def _named(value: str, name: str) -> str:
    return name if value == name else f"{value} as {name}"


def lossy_columns(columns: Sequence[PaimonColumn], to: Destination) -> list[str]:
    """The columns of a query whose values Spark's cast may change: 'n (bigint into int)'."""
    have = {column.name.lower(): column for column in to.columns}
    found = []
    for column in columns:
        if (target := have.get(column.name.lower())) is None:
            continue
        has, wants = type_tree(column.dtype), type_tree(target.stored_type)
        if has is not None and wants is not None and _is_lossy(has, wants):
            found.append(f"{target.name} ({column.dtype} into {target.stored_type})")
    return found


def _is_lossy(has: TypeTree, wants: TypeTree) -> bool:
    if misfits(has, wants, lossless=False):
        return False  # No cast helps: the column is refused anyway.
    if misfits(has, wants):
        return True
    cast = partial(cast_sql, "x", has, wants, lambda reason, _: reason)
    return cast(lossless=True) != cast(lossless=False)


def _type_fault(column: PaimonColumn, target: ExistingColumn, to: Destination) -> str:
    has, wants = type_tree(column.dtype), type_tree(target.stored_type)
    if has is None:
        return (
            f"column {target.name} is {target.data_type} in the table and {column.dtype} in the query. That type "
            "cannot be parsed, because a Thrift server does not escape field names. Nothing was written. Rename the "
            "fields so that they contain no commas, colons, brackets or backticks, or use another method (session, "
            "connect)."
        )
    if wants is None or not (found := misfits(has, wants, lossless=to.lossless)):
        return ""
    can_alter = alterable(target, column.dtype, to.spec)
    missing = missing_filter_capability(target, column.dtype, to.spec, to.versions) if can_alter else None
    remedies = [_remedy_in_the_query(target, wants, to)]
    if to.may_suggest_sync and can_alter and missing is None:
        remedies.append("set on_schema_change='sync_all_columns', which widens the table's column")
    remedies.append(_remedy_of_the_table(to, missing))
    why = f" ALTER cannot change it: {to.versions.explain(missing)}" if missing else ""
    return (
        f"column {target.name} is {target.data_type} in the table and {column.dtype} in the query: "
        f"{'; '.join(found)}. Nothing was written.{why} To write it, {', or '.join(remedies)}."
    )


def _remedy_in_the_query(target: ExistingColumn, wants: TypeTree, to: Destination) -> str:
    if target.name.lower() in to.snapshot_time_columns:
        return f"set the snapshot's updated_at to a column of type {target.data_type}"
    if isinstance(wants, Atom):
        return f"cast it in the query (cast({quoted(target.name)} as {target.data_type}))"
    return "convert it in the query to the fields and types of the table's column"


def _remedy_of_the_table(to: Destination, missing: Capability | None) -> str:
    if to.full_refresh_rebuilds:
        return "run once with --full-refresh"
    if missing is None:
        return "alter the table's column by hand"
    return "alter the table's column and INSERT OVERWRITE the table with its own rows, by hand"


def _value(column: PaimonColumn, target: ExistingColumn, to: Destination) -> str:
    has, wants = type_tree(column.dtype), type_tree(target.stored_type)
    value = column.quoted

    def refuse(reason: str, shown: str) -> str:
        fault = string_literal(f"{to.node}: column {target.name}: {reason}: ")
        remedy = string_literal(". Cast or truncate it in the query, or filter such rows out.")
        return f"raise_error(concat({fault}, left({shown}, {_MAX_SHOWN}), {remedy}))"

    if has is not None and wants is not None:
        value = cast_sql(column.quoted, has, wants, refuse, lossless=to.lossless)
        value = _readable(value, column, has, target, to)
        value = stored(value, wants, target.name, to.spec.options, to.versions)
    if target.nullable:
        return value
    fault = string_literal(_null_fault(target.name, to))
    # A cast that is not lossless turns some values into NULL.
    checked = column.quoted if to.lossless else value
    return f"case when {checked} is null{to.and_condition} then raise_error({fault}) else {value} end"


def _readable(value: str, column: PaimonColumn, has: TypeTree, target: ExistingColumn, to: Destination) -> str:
    """The SQL of a value; the statement fails if Paimon could not read it back."""
    capability = Capability.STRUCT_IN_NULL_STRUCT
    if to.spec.file_format != "parquet" or to.versions.supports(capability):
        return value
    if not (unreadable := null_around_struct(column.quoted, has)):
        return value
    fault = string_literal(f"{to.node}: column {target.name}: {to.versions.explain(capability)} Nothing was written.")
    return f"case when {unreadable}{to.and_condition} then raise_error({fault}) else {value} end"


def _absence_fault(name: str, to: Destination) -> str:
    remedies = ["Add it to the query"]
    if to.may_suggest_sync:
        remedies.append("set on_schema_change='sync_all_columns' to drop it from the table")
    remedies.append("run once with --full-refresh" if to.full_refresh_rebuilds else "drop it from the table by hand")
    return (
        f"column {name} is NOT NULL in the table, but the query does not return it. Nothing was written. "
        f"{', or '.join(remedies)}."
    )


def _null_fault(name: str, to: Destination) -> str:
    is_key = name.lower() in {key.lower() for key in to.spec.primary_key}
    is_partition = name.lower() in {key.lower() for key in to.spec.partition_by}
    if is_key:
        why, undo = "because it is part of the primary key", "leave the column out of primary_key"
    elif is_partition and to.spec.primary_key:
        why = "because it is a partition column of a primary-key table"
        undo = "leave it out of partition_by"
    elif name.lower() == to.spec.options.get("record-level.time-field", "").lower():
        why = "because rows expire by it ('record-level.time-field')"
        undo = f"remove 'record-level.expire-time': {to.versions.explain(Capability.RECORD_EXPIRY_OF_NULL)}"
    else:
        why = "because the contract or the table declares it NOT NULL"
        undo = "remove the constraint and run once with --full-refresh" if to.full_refresh_rebuilds else "drop NOT NULL"
    return (
        f"Cannot write null to non-null column({name}) of {to.node}, {why}. Filter such rows out in the query, "
        f"fill them in with coalesce(), or {undo}."
    )
