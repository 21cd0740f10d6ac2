"""The statements that change the number of buckets of a table or of some of its partitions.

A partition keeps its number of buckets until it is overwritten. If the table's option has a different number, writes to
the partition fail (0.9), or only writes to its existing buckets fail (from 1.0, see OLD_BUCKETS_GUARDED).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.spec.auto_buckets import BUCKET_STATE_OPTION, RESCALING, is_rescaling
from dbt.adapters.paimon.spec.strategies import BY_PARTITION, WHOLE_TABLE
from dbt.adapters.paimon.spec.table import POSTPONE_BUCKET, TableSpec
from dbt.adapters.paimon.sql import procedures
from dbt.adapters.paimon.sql.procedures import NameParts, PartitionValues
from dbt.adapters.paimon.sql.statements import NO_SETTINGS, Statement
from dbt.adapters.paimon.sql.table_properties import set_options, unset_options
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.tables.existing import ExistingTable

_DYNAMIC: Final = "spark.paimon.dynamic-partition-overwrite"


@dataclass(frozen=True)
class UndoableStatement(Statement):
    """A statement, and the SQL that undoes it if a later step fails."""

    undo: str = ""


def rescale_steps(
    table: NameParts,
    existing: ExistingTable,
    versions: Versions,
    *,
    bucket_num: Any = None,
    partitions: PartitionValues | Sequence[PartitionValues] | None = None,
    has_rows: bool = True,
) -> tuple[Statement, ...]:
    """The statements of a rescale, in order; each can be run again.

    Args:
        has_rows: whether the table has a table snapshot; without one, Paimon refuses to rewrite it.
        bucket_num: the new number of buckets; None for the current number of the table.
        partitions: each {column: value}; None for all partitions.

    Raises:
        DbtRuntimeError: every problem with the table, the arguments and the Paimon version.
    """
    spec = existing.as_spec()
    given = {"bucket_num": bucket_num, "partitions": partitions}
    _refuse(table, spec, given, versions)
    if spec.bucket == POSTPONE_BUCKET:
        return (procedures.statement("rescale", table, given, versions),)
    number = int(bucket_num) if bucket_num is not None else spec.bucket
    name = quoted(*table)
    steps: list[Statement] = []
    if spec.hides_new_rows:
        steps.append(procedures.statement("compact", table, {}, versions))
    # If dbt is killed between the ALTER and the rewrite, writes fail. A run that finds the mark repeats the rescale.
    unmark = unset_options(name, BUCKET_STATE_OPTION)
    repeats = is_rescaling(existing.options)
    is_marked = partitions is None and (number != spec.bucket or repeats)
    if is_marked:
        # The mark of an unfinished rescale stays if this one fails, too.
        old = existing.options.get(BUCKET_STATE_OPTION)
        undo = "" if repeats else set_options(name, {BUCKET_STATE_OPTION: old}) if old else unmark
        steps.append(_step(table, set_options(name, {BUCKET_STATE_OPTION: RESCALING}), undo=undo))
    if number != spec.bucket:
        undo = set_options(name, {"bucket": spec.bucket})
        steps.append(_step(table, set_options(name, {"bucket": number}), undo=undo))
    if has_rows:
        steps.append(_rewrite(table, spec, partitions, versions))
    if is_marked:
        steps.append(_step(table, unmark))
    return tuple(steps)


def _refuse(table: NameParts, spec: TableSpec, given: Mapping[str, Any], versions: Versions) -> None:
    """Raise DbtRuntimeError with all problems of the table and the arguments."""
    problems = [*_table_problems(spec, given, versions), *_partition_problems(spec, given["partitions"])]
    for argument, value in given.items():
        if value is not None:
            problems.append(procedures.argument_problem("rescale", argument, value, versions))
    listed = "\n".join(f"  {problem}" for problem in problems if problem)
    if listed:
        raise DbtRuntimeError(f"rescale on {'.'.join(table)}:\n{listed}")


def _step(table: NameParts, sql: str, conf: Mapping[str, str] = NO_SETTINGS, undo: str = "") -> UndoableStatement:
    return UndoableStatement(sql, "rescale", conf, target=table, undo=undo)


def _rewrite(
    table: NameParts,
    spec: TableSpec,
    partitions: PartitionValues | Sequence[PartitionValues] | None,
    versions: Versions,
) -> Statement:
    """The statement that writes all rows, or the rows of some partitions, into the new buckets."""
    if versions.supports(Capability.RESCALE) and _overwrites_by_partition(spec):
        call = procedures.statement("rescale", table, {"partitions": partitions}, versions)
        # In dynamic mode, a partition without visible rows would keep its files, with the old number of buckets.
        return call if partitions is not None else replace(call, conf={_DYNAMIC: "false"})
    conf, condition = WHOLE_TABLE, ""
    if partitions is not None:
        conf, condition = BY_PARTITION, f" where {procedures.partition_condition(partitions)}"
    name = quoted(*table)
    return _step(table, f"insert overwrite {name} select * from {name}{condition}", conf)


def _table_problems(spec: TableSpec, given: Mapping[str, Any], versions: Versions) -> list[str]:
    if spec.bucket > 0:
        changed = str(given["bucket_num"] or spec.bucket) != str(spec.bucket)
        if given["partitions"] is None or not changed or versions.supports(Capability.OLD_BUCKETS_GUARDED):
            return []
        return [
            f"partitions: the other partitions would keep {spec.bucket} buckets, and keys written to them again "
            "would be duplicated. Leave partitions out to rewrite all of them."
        ]
    if spec.bucket != POSTPONE_BUCKET:
        kind = "its buckets grow in number with the rows" if spec.primary_key else "it has no buckets"
        return [
            f"{kind} (bucket=-1), so there is no number to change. For a fixed number, set bucket in the "
            "model's config and run it with --full-refresh."
        ]
    return _postponed_problems(spec, given, versions)


def _postponed_problems(spec: TableSpec, given: Mapping[str, Any], versions: Versions) -> list[str]:
    problems = []
    if not versions.supports(Capability.RESCALE):
        problems.append(versions.explain(Capability.RESCALE))
    if given["bucket_num"] is None:
        problems.append("bucket_num: required, because the table's bucket is -2 (postpone).")
    if given["partitions"] is not None and not _overwrites_by_partition(spec):
        # This option sets the overwrite mode of RescaleProcedure: static mode would delete the other partitions.
        problems.append(
            "partitions: the table has 'dynamic-partition-overwrite'='false', which would delete all other "
            "partitions. Remove that option, or leave partitions out."
        )
    return problems


def _partition_problems(spec: TableSpec, partitions: Any) -> list[str]:
    """Why the partitions are invalid. An INSERT OVERWRITE filtered by a non-partition column would lose rows."""
    if partitions is None:
        return []
    if not spec.partition_by:
        return ["partitions: the table has no partitions. Leave this argument out."]
    listed = [partitions] if isinstance(partitions, Mapping) else partitions
    if not isinstance(listed, (list, tuple)):
        return []  # `_refuse` reports a wrong type
    named = [str(column) for partition in listed if isinstance(partition, Mapping) for column in partition]
    unknown = sorted(set(named) - set(spec.partition_by))
    if not unknown:
        return []
    return [
        f"partitions: {', '.join(unknown)} is not a partition column. The table has {', '.join(spec.partition_by)}."
    ]


def _overwrites_by_partition(spec: TableSpec) -> bool:
    return spec.options.get("dynamic-partition-overwrite", "true").lower() == "true"
