"""The statements that change the number of buckets of a table or of some of its partitions.

Paimon: A partition keeps the number it was written with until it is overwritten. If it differs from the table's option,
writes to the partition fail (0.9), or those to one of its existing buckets (from 1.0, see OLD_BUCKETS_GUARDED).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.spec.bucket_numbers import MARK, RESCALING
from dbt.adapters.paimon.spec.table import POSTPONE_BUCKET
from dbt.adapters.paimon.sql import procedures
from dbt.adapters.paimon.sql.statements import NO_SETTINGS, Statement
from dbt.adapters.paimon.sql.text import quoted

if TYPE_CHECKING:
    from dbt.adapters.paimon.spec.table import TableSpec
    from dbt.adapters.paimon.sql.procedures import Partition, TableName
    from dbt.adapters.paimon.tables.changeset import ExistingTable

_MODE: Final = "spark.sql.sources.partitionOverwriteMode"


@dataclass(frozen=True)
class Step(Statement):
    """A statement, and the one that undoes it if a later step fails."""

    undo: str = ""


def rescale_steps(
    table: TableName,
    existing: ExistingTable,
    versions: Versions,
    *,
    bucket_num: Any = None,
    partitions: Partition | Sequence[Partition] | None = None,
) -> tuple[Statement, ...]:
    """The steps, in order; each can be repeated, and after the last one every selected row is in its new bucket.

    Inputs: (catalog, schema, identifier), the existing table, the versions; the number of buckets (default: the table's
    own), and the partitions (default: all), each {column: value}.
    Raises DbtRuntimeError with all problems: the table has neither fixed nor postpone buckets, a partition does not
    exist, or the version does not support it.
    """
    spec = existing.as_spec()
    given = {"bucket_num": bucket_num, "partitions": partitions}
    problems = [
        *_table_problems(spec, given, versions),
        *_partition_problems(spec, partitions),
        *(
            problem
            for name, value in given.items()
            if value is not None
            and (problem := procedures.argument_problem("rescale", name, value, versions))
        ),
    ]
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise DbtRuntimeError(f"rescale on {'.'.join(table)}:\n{listed}")

    number = int(bucket_num) if bucket_num is not None else spec.bucket
    if spec.bucket == POSTPONE_BUCKET:
        return (procedures.statement("rescale", table, given, versions),)
    steps: list[Statement] = []

    def step(sql: str, conf: Mapping[str, str] = NO_SETTINGS, undo: str = "") -> None:
        steps.append(Step(sql, "rescale", conf, target=table, undo=undo))

    if _may_hide_rows(spec):
        steps.append(procedures.statement("compact", table, {}, versions))
    # Between the ALTER and the rows no run can write the table: a run that finds the mark does the rescale again.
    mark = f"alter table {_name(table)} set tblproperties ('{MARK}' = '{RESCALING}')"
    unmark = f"alter table {_name(table)} unset tblproperties ('{MARK}')"
    marks = partitions is None and (number != spec.bucket or existing.options.get(MARK) == RESCALING)
    if marks:
        step(mark, undo=unmark)
    if number != spec.bucket:
        alter = f"alter table {_name(table)} set tblproperties ('bucket' = '%s')"
        step(alter % number, undo=alter % spec.bucket)
    if versions.supports(Capability.RESCALE) and _overwrites_by_partition(spec):
        steps.append(procedures.statement("rescale", table, {"partitions": partitions}, versions))
    else:
        condition = "" if partitions is None else f" where {procedures.partition_condition(partitions)}"
        step(
            f"insert overwrite {_name(table)} select * from {_name(table)}{condition}",
            {_MODE: "static" if partitions is None else "dynamic"},
        )
    if marks:
        step(unmark)
    return tuple(steps)


def _table_problems(spec: TableSpec, given: Mapping[str, Any], versions: Versions) -> list[str]:
    if spec.bucket > 0:
        changed = str(given["bucket_num"] or spec.bucket) != str(spec.bucket)
        guarded = versions.supports(Capability.OLD_BUCKETS_GUARDED)
        if given["partitions"] is not None and changed and not guarded:
            return [
                f"partitions: the others would keep {spec.bucket} buckets, and keys written to them again "
                "would be duplicated. Leave partitions out to rewrite all of them."
            ]
        return []
    if spec.bucket != POSTPONE_BUCKET:
        kind = "grow in number with the rows" if spec.primary_key else "are none: its files are in no order"
        return [
            f"its buckets {kind} (bucket=-1), so there is no number to change. For a fixed number set bucket in the "
            "model's config and run it with --full-refresh."
        ]
    problems = []
    if not versions.supports(Capability.RESCALE):
        problems.append(versions.explain(Capability.RESCALE))
    if given["bucket_num"] is None:
        problems.append("bucket_num: required, because the table's bucket is -2 (postpone).")
    if given["partitions"] is not None and not _overwrites_by_partition(spec):
        # RescaleProcedure overwrites in the mode of this option: static mode would delete the other partitions.
        problems.append(
            "partitions: the table has 'dynamic-partition-overwrite'='false', which would delete all other "
            "partitions. Remove that option, or leave partitions out."
        )
    return problems


def _partition_problems(spec: TableSpec, partitions: Any) -> list[str]:
    """Why the partitions are invalid: an INSERT OVERWRITE by a non-partition column would lose other rows."""
    if partitions is None:
        return []
    if not spec.partition_by:
        return ["partitions: the table has none. Leave it out."]
    listed = [partitions] if isinstance(partitions, Mapping) else partitions
    if not isinstance(listed, (list, tuple)):
        return []  # its type is reported with the others
    named = [str(column) for partition in listed if isinstance(partition, Mapping) for column in partition]
    unknown = sorted(set(named) - set(spec.partition_by))
    if not unknown:
        return []
    return [
        f"partitions: {', '.join(unknown)} is not a partition column. The table has {', '.join(spec.partition_by)}."
    ]


def _may_hide_rows(spec: TableSpec) -> bool:
    """Whether reads skip rows that are not compacted yet (CoreOptions.batchScanSkipLevel0): they would be lost."""
    skips = bool(spec.primary_key) and (
        spec.is_true("deletion-vectors.enabled") or spec.options.get("merge-engine") == "first-row"
    )
    waits = spec.options.get("lookup-wait", "true").lower() == "true"
    return skips and (spec.is_true("write-only") or not waits)


def _overwrites_by_partition(spec: TableSpec) -> bool:
    return spec.options.get("dynamic-partition-overwrite", "true").lower() == "true"


def _name(table: TableName) -> str:
    return ".".join(quoted(part) for part in table)
