"""`TableSpec`: the validated table that a model asks for, as one value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from dbt.adapters.paimon.options.table_options import split_field_option
from dbt.adapters.paimon.options.values import split_columns
from dbt.adapters.paimon.spec.maintenance_policy import MaintenancePolicy
from dbt.adapters.paimon.spec.run_tag import RunTag

DYNAMIC_BUCKET: Final = -1

POSTPONE_BUCKET: Final = -2

DEFAULT_MERGE_ENGINE: Final = "deduplicate"


@dataclass(frozen=True)
class TableSpec:
    """The table that a model asks for, validated; `ExistingTable` is the one that is there.

    It has no columns: they are known once the model's query is analyzed (see `tables.column_changes.wanted_columns`).

    Attributes:
        primary_key: its columns; empty for an append table.
        partition_by: the partition columns.
        options: by Paimon's names, as Paimon's text; never 'primary-key' or 'partition'.
        merge_engine: the option 'merge-engine' or its default; '' without a primary key.
        tag: the tag that each run creates.
        wap: whether rows are audited before they are published.
        maintenance: what to do after the write.
        compact_after_build: whether the run that makes a large first load also compacts it (see
            `maintenance.first_load`).
        auto_buckets: whether the adapter chooses the number of buckets (see `bucket_numbers`). The option `bucket` is
            then missing until it has.
    """

    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    merge_engine: str = ""
    tag: RunTag | None = None
    wap: bool = False
    maintenance: MaintenancePolicy | None = None
    compact_after_build: bool = True
    auto_buckets: bool = False

    @property
    def properties(self) -> dict[str, str]:
        """The TBLPROPERTIES for CREATE TABLE: the options and the primary key, without `late_options`."""
        key = {"primary-key": ",".join(self.primary_key)} if self.primary_key else {}
        late = self.late_options
        return {**key, **{name: value for name, value in self.options.items() if name not in late}}

    @property
    def late_options(self) -> dict[str, str]:
        """Options that are set once a new table has its name: Iceberg's metadata has the paths of all files."""
        return {name: value for name, value in self.options.items() if name.startswith("metadata.iceberg.")}

    def is_true(self, name: str) -> bool:
        """Whether a boolean option is switched on."""
        return self.options.get(name, "").lower() == "true"

    @property
    def bucket(self) -> int:
        """The number of buckets; -1 is dynamic (unaware on an append table), -2 postpone."""
        text = self.options.get("bucket", "-1")
        return int(text) if re.fullmatch(r"-?\d+", text) else -1

    @property
    def file_format(self) -> str:
        """The format of data files: the option 'file.format', in lower case, or its default."""
        return self.options.get("file.format", "parquet").lower()

    @property
    def file_formats(self) -> frozenset[str]:
        """The formats of all data files, also of those of 'file.format.per.level'."""
        per_level = self.options.get("file.format.per.level", "").lower().split(",")
        levels = (entry.partition(":")[2].strip() for entry in per_level if ":" in entry)
        return frozenset({self.file_format, *levels})

    @property
    def crosses_partitions(self) -> bool:
        """Whether a key may move to another partition: TableSchema.crossPartitionUpdate."""
        return bool(self.primary_key) and not set(self.partition_by) <= set(self.primary_key)

    @property
    def moves_keys(self) -> bool:
        """Whether Paimon looks for a key in all partitions and moves it: BucketMode.KEY_DYNAMIC."""
        return self.crosses_partitions and self.bucket == DYNAMIC_BUCKET

    @property
    def overwrite_reads_old_keys(self) -> bool:
        """Whether an INSERT OVERWRITE of the whole table gives wrong results, because it uses the index of old keys.

        GlobalIndexAssigner: a known key stays in its old partition, and first-row skips its rows altogether [ran, 0.9.0
        and 1.4.2].
        """
        return self.moves_keys and self.merge_engine != DEFAULT_MERGE_ENGINE

    @property
    def sequence_groups(self) -> Mapping[tuple[str, ...], tuple[str, ...]]:
        """Sequence columns -> the columns that they order."""
        return {
            found[0]: split_columns(value)
            for name, value in self.options.items()
            if (found := split_field_option(name)) and found[1] == "sequence-group"
        }

    @property
    def sequence_columns(self) -> tuple[str, ...]:
        """The columns that order the changes of a key, as the model spells them; without the row kind."""
        rowkind = self.options.get("rowkind.field", "")
        return tuple(
            name for name in split_columns(self.options.get("sequence.field", "")) if name != rowkind
        )

    def compares(self, column: str) -> bool:
        """Whether Paimon compares a column's values to decide which one wins: in a sequence, or for max and min."""
        grouped = [name for group in self.sequence_groups for name in group]
        if column.lower() in _lower((*split_columns(self.options.get("sequence.field", "")), *grouped)):
            return True
        functions = {
            found[0][0].lower(): value
            for name, value in self.options.items()
            if (found := split_field_option(name)) and found[1] == "aggregate-function"
        }
        default = self.options.get("fields.default-aggregate-function")
        return functions.get(column.lower(), default) in ("max", "min")

    def places(self, column: str) -> bool:
        """Whether a column's values decide in which partition and bucket a row is."""
        bucket_key = split_columns(self.options.get("bucket-key", ""))
        return column.lower() in _lower((*self.primary_key, *self.partition_by, *bucket_key))


def _lower(names: Iterable[str]) -> set[str]:
    return {name.lower() for name in names}
