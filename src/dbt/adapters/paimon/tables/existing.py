"""An existing table as the catalog describes it, and the options that say what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.metadata.schemas import Schema
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.data_types import is_nullable, kept_type

# Options that Paimon, Spark or the metastore sets, or that are compared separately. The adapter never changes them.
PROTECTED_OPTIONS: Final = frozenset(
    """
    primary-key partition path location owner provider comment external is_managed_location type transient_lastDdlTime
    """.split()
)
# The option that marks a table as a materialized view; other materializations remove it.
MATERIALIZED_VIEW_OPTION: Final = "dbt.materialized-view"
# The id of the stream that writes the table. A batch run resets it, so that the stream does not continue after it.
STREAM_ID: Final = "dbt.stream-id"


@dataclass(frozen=True)
class ExistingColumn:
    """An existing or wanted column (see `column_changes.wanted_columns`); types are Spark types."""

    name: str
    data_type: str
    nullable: bool = True
    comment: str = ""
    # The column's type in Paimon if it is narrower than the Spark type, such as `timestamp(3)` for a `timestamp`.
    kept_type: str = ""

    @property
    def stored_type(self) -> str:
        return self.kept_type or self.data_type


def as_dbt_columns(columns: Iterable[ExistingColumn]) -> tuple[PaimonColumn, ...]:
    """The columns as instances of dbt's class."""
    return tuple(PaimonColumn(column=column.name, dtype=column.data_type) for column in columns)


@dataclass(frozen=True)
class ExistingTable:
    """A table as the catalog describes it; `TableSpec` is what a model asks for."""

    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    # All options, including those that no other table shares, such as its path (see PROTECTED_OPTIONS).
    options: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[ExistingColumn, ...] = ()
    comment: str = ""
    # (column, Spark type) in files from before an ALTER; None if unknown.
    older_types: tuple[tuple[str, str], ...] | None = None
    schema_id: int | None = None

    @classmethod
    def of(cls, schema: Schema) -> ExistingTable:
        """The table that a schema describes."""
        return cls(
            primary_key=schema.primary_keys,
            partition_by=schema.partition_keys,
            options=schema.options,
            columns=tuple(
                ExistingColumn(
                    name=each.name,
                    data_type=each.spark_type,
                    nullable=is_nullable(each.data_type),
                    comment=each.comment,
                    kept_type=kept_type(each.data_type),
                )
                for each in schema.fields
            ),
            comment=schema.comment,
            schema_id=schema.id,
        )

    def as_spec(self) -> TableSpec:
        """The spec for a new table like this one, without the options that it cannot share (path, owner)."""
        options = {name: value for name, value in self.options.items() if name not in PROTECTED_OPTIONS}
        return TableSpec(self.primary_key, self.partition_by, options)

    def lacks(self, columns: Sequence[PaimonColumn]) -> list[PaimonColumn]:
        """The given columns that the table does not have, ignoring case."""
        present = {column.name.lower() for column in self.columns}
        return [column for column in columns if column.name.lower() not in present]
