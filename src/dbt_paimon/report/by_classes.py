"""Reads a table's metadata by Paimon's classes in this process, without statements and data files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.maintenance.health import small_below
from dbt_paimon.report.facts import Facts, FileGroup, TableSnapshot, partition_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt.adapters.paimon.relation import PaimonRelation

# A file costs three calls into the JVM, about half a millisecond; Spark groups more of them faster.
MOST_FILES: Final = 3000


class TooManyFilesError(Exception):
    """The table has more data files than can be read one by one."""


def read(session: SparkSession, table: PaimonRelation) -> Facts:
    """A table's facts, by a session of the embedded Spark; fails for catalogs and versions with other classes."""
    jvm: Any = session._jvm
    catalogs = session._jsparkSession.sessionState().catalogManager()
    name = jvm.org.apache.paimon.catalog.Identifier.create(table.schema, table.identifier)
    paimon = catalogs.catalog(table.database).paimonCatalog().getTable(name)
    key, options = tuple(paimon.primaryKeys()), dict(paimon.options())
    comment = paimon.comment()
    consumers = jvm.org.apache.paimon.consumer.ConsumerManager(paimon.fileIO(), paimon.location())
    return Facts(
        primary_key=key,
        partition_by=tuple(paimon.partitionKeys()),
        options=options,
        comment=comment.get() if comment.isPresent() else "",
        groups=tuple(_file_groups(paimon, small_below(options, bool(key)))),
        snapshots=tuple(_snapshots(paimon.snapshotManager())),
        tags={pair.getValue(): pair.getKey().id() for pair in paimon.tagManager().tagObjects()},
        consumers={str(each): int(number) for each, number in dict(consumers.consumers()).items()},
    )


def _file_groups(paimon: Any, small: float) -> Iterable[FileGroup]:
    """The files of a batch read, as in `$files`."""
    splits = list(paimon.newScan().plan().splits())
    files = [(split, split.dataFiles()) for split in splits]
    if sum(found.size() for _, found in files) > MOST_FILES:
        raise TooManyFilesError
    paths = paimon.store().pathFactory()
    columns = tuple(paimon.partitionKeys())
    fields = paimon.rowType().getFields() if columns else ()
    types = {each.name(): each.type().toString().lower().removesuffix(" not null") for each in fields}
    groups: dict[tuple[str, int, int], list[int]] = {}
    for split, found in files:
        path = str(paths.getPartitionString(split.partition())).strip("/")
        where = partition_name(path, columns, types)
        for file in found:
            size = file.fileSize()
            group = groups.setdefault((where, split.bucket(), file.level()), [0, 0, 0, 0])
            for index, number in enumerate((1, int(size < small), file.rowCount(), size)):
                group[index] += number
    return (FileGroup(*place, *sums) for place, sums in sorted(groups.items()))


def _snapshots(manager: Any) -> Iterable[TableSnapshot]:
    newest, earliest = manager.latestSnapshotId(), manager.earliestSnapshotId()
    if newest is None or earliest is None:
        return
    for number in range(earliest, newest + 1):
        each = manager.snapshot(number)
        yield TableSnapshot(
            number,
            each.commitKind().toString(),
            each.commitUser(),
            each.timeMillis() / 1000,
            _count(each.totalRecordCount()),
            _count(each.deltaRecordCount()),
            _count(each.changelogRecordCount()),
        )


def _count(number: Any) -> int | None:
    return None if number is None else int(number)
