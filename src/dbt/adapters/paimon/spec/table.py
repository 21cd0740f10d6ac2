"""Defines `TableSpec`: the validated table of a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from dbt.adapters.paimon.options.table_options import split_field_option
from dbt.adapters.paimon.options.values import pairs, split_columns
from dbt.adapters.paimon.spec.maintenance_policy import MaintenancePolicy
from dbt.adapters.paimon.spec.run_tag import RunTag

DYNAMIC_BUCKET: Final = -1
POSTPONE_BUCKET: Final = -2
DEFAULT_MERGE_ENGINE: Final = "deduplicate"
DEFAULT_FUNCTION: Final = "fields.default-aggregate-function"
# FileStoreTableFactory.create: a table with such an option, but without the branch, can be neither read nor written.
BRANCH_OPTIONS: Final = ("scan.fallback-branch", "scan.primary-branch")


def option_of_branch(options: Mapping[str, str], branch: str) -> str | None:
    """The option by which a table reads this branch, or None."""
    return next((name for name in BRANCH_OPTIONS if options.get(name) == branch), None)


@dataclass(frozen=True)
class TableSpec:
    """The validated table that a model's config describes, without columns. `ExistingTable` is a table in the catalog.

    Attributes:
        primary_key: empty for an append table.
        options: Paimon's option names and string values, without 'primary-key' and 'partition'.
        tag: the tag that each run creates.
        wap: whether rows are audited before they are published (write-audit-publish).
        is_streamed: whether a stream writes the table.
        auto_buckets: whether the adapter chooses the number of buckets; until it does, the option `bucket` is missing.
    """

    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    tag: RunTag | None = None
    wap: bool = False
    maintenance: MaintenancePolicy | None = None
    compact_after_build: bool = True
    auto_buckets: bool = False
    is_streamed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    @property
    def properties(self) -> dict[str, str]:
        """The TBLPROPERTIES for CREATE TABLE: the primary key and the options, without `late_options`."""
        key = {"primary-key": ",".join(self.primary_key)} if self.primary_key else {}
        late = self.late_options
        return {**key, **{name: value for name, value in self.options.items() if name not in late}}

    @property
    def late_options(self) -> dict[str, str]:
        """Options to set after the swap, because Iceberg's metadata contains file paths, which the rename changes."""
        return {name: value for name, value in self.options.items() if name.startswith("metadata.iceberg.")}

    def is_true(self, name: str) -> bool:
        """Whether a boolean option is true."""
        return self.options.get(name, "").lower() == "true"

    def columns_in(self, option: str) -> tuple[str, ...]:
        """The columns in the value of an option."""
        return split_columns(self.options.get(option, ""))

    def field_options(self, *attributes: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
        """(option, columns, value) of each `fields.<columns>.<attribute>` with one of these attributes."""
        for option, value in self.options.items():
            found = split_field_option(option)
            if found and found[1] in attributes:
                yield option, found[0], value

    def aggregate_functions(self) -> Iterator[tuple[str, str, str]]:
        """(option, column, function); the column is '' for the default function."""
        for option, function in self.options.items():
            found = split_field_option(option)
            if option == DEFAULT_FUNCTION:
                yield option, "", function
            elif found and found[1] == "aggregate-function":
                yield option, ",".join(found[0]), function

    @property
    def bucket(self) -> int:
        """The number of buckets; -1 is dynamic (unaware on an append table), -2 postpone."""
        text = self.options.get("bucket", "-1")
        return int(text) if re.fullmatch(r"-?\d+", text) else -1

    @property
    def merge_engine(self) -> str:
        """The option 'merge-engine' in lower case, or its default; '' for a table without a primary key."""
        return self.options.get("merge-engine", DEFAULT_MERGE_ENGINE).lower() if self.primary_key else ""

    @property
    def changelog_producer(self) -> str:
        """The option 'changelog-producer' in lower case, or its default."""
        return self.options.get("changelog-producer", "none").lower()

    @property
    def file_format(self) -> str:
        """The option 'file.format' in lower case, or its default."""
        return self.options.get("file.format", "parquet").lower()

    @property
    def file_formats(self) -> frozenset[str]:
        """The formats of all data files, including those of 'file.format.per.level'."""
        per_level = pairs(self.options.get("file.format.per.level", "").lower())
        return frozenset({self.file_format, *(name for _, name in per_level)})

    @property
    def partitions_outside_key(self) -> str:
        """The partition columns that are not in the primary key, for messages."""
        return ", ".join(name for name in self.partition_by if name not in self.primary_key)

    @property
    def crosses_partitions(self) -> bool:
        """Whether a key may move to a different partition (TableSchema.crossPartitionUpdate)."""
        return bool(self.primary_key) and not set(self.partition_by) <= set(self.primary_key)

    @property
    def skips_level_0(self) -> bool:
        """Whether reads skip files that are not compacted yet (CoreOptions.batchScanSkipLevel0)."""
        if self.is_true("deletion-vectors.enabled"):
            return bool(self.primary_key) and not self.is_true("deletion-vectors.merge-on-read")
        return self.merge_engine == "first-row"

    @property
    def postpones_nothing(self) -> bool:
        """Whether writes into postpone buckets go into real buckets at once (from Paimon 1.4)."""
        return self.options.get("postpone.batch-write-fixed-bucket", "true").lower() == "true"

    @property
    def hides_new_rows(self) -> str:
        """The option because of which reads skip rows that are not compacted yet; '' if reads return all rows.

        A statement that reads the table and replaces its rows would lose the skipped ones.
        Source: ForceUpLevel0Compaction, PostponeBucketFileStoreWrite.
        """
        if self.primary_key and self.bucket == POSTPONE_BUCKET and not self.postpones_nothing:
            return "bucket=-2"
        if not self.skips_level_0:
            return ""
        hides = {"write-only": "true", "lookup-wait": "false", "lookup-compact": "gentle"}
        found = (name for name, value in hides.items() if self.options.get(name, "").lower() == value)
        return next((f"'{name}'='{hides[name]}'" for name in found), "")

    @property
    def moves_keys(self) -> bool:
        """Whether Paimon finds a key in any partition and moves it (BucketMode.KEY_DYNAMIC)."""
        return self.crosses_partitions and self.bucket == DYNAMIC_BUCKET

    @property
    def overwrite_reads_old_keys(self) -> bool:
        """Whether INSERT OVERWRITE of the whole table writes wrong rows, because it uses the index of the old keys."""
        # GlobalIndexAssigner: a key stays in its old partition, and first-row skips its new rows [ran, 0.9.0, 1.4.2].
        return self.moves_keys and self.merge_engine != DEFAULT_MERGE_ENGINE

    @property
    def sequence_groups(self) -> Mapping[tuple[str, ...], tuple[str, ...]]:
        """Maps sequence columns to the columns that they order."""
        return {columns: split_columns(value) for _, columns, value in self.field_options("sequence-group")}

    @property
    def sequence_columns(self) -> tuple[str, ...]:
        """The sequence columns as spelled in the model, without the row kind."""
        rowkind = self.options.get("rowkind.field", "")
        return tuple(name for name in self.columns_in("sequence.field") if name != rowkind)

    def compares(self, column: str) -> bool:
        """Whether Paimon compares a column's values to choose one: in a sequence, or for max and min."""
        grouped = [name for group in self.sequence_groups for name in group]
        if column.lower() in lower_names((*self.columns_in("sequence.field"), *grouped)):
            return True
        functions = {columns[0].lower(): value for _, columns, value in self.field_options("aggregate-function")}
        return functions.get(column.lower(), self.options.get(DEFAULT_FUNCTION)) in ("max", "min")

    def places(self, column: str) -> bool:
        """Whether a column's values decide a row's partition or bucket."""
        return column.lower() in lower_names((*self.primary_key, *self.partition_by, *self.columns_in("bucket-key")))


def lower_names(names: Iterable[str]) -> set[str]:
    """The names in lower case, because Spark ignores case in column names."""
    return {name.lower() for name in names}
