"""Methods on `adapter` for dbt snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.base import available

from dbt.adapters.paimon.available.base import AvailableMethods
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.spec import spelling
from dbt.adapters.paimon.tables.changeset import ExistingTable
from dbt.adapters.paimon.writing import snapshots
from dbt.adapters.paimon.writing.model_query import ModelQuery


class SnapshotMethods(AvailableMethods):
    """Called by the snapshot materialization."""

    @available.parse(lambda source, *a, **k: source)
    def spelled_rows(self, source: ModelQuery, table: ExistingTable) -> ModelQuery:
        """A query whose columns are spelled as in its table (see `snapshots.spelled_rows`)."""
        if self.environment.case_sensitive:
            return source
        return snapshots.spelled_rows(source, [column.name for column in table.columns])

    @available.parse(lambda names, *a, **k: list(names))
    def spelled_names(self, names: Sequence[str], columns: Sequence[PaimonColumn]) -> list[str]:
        """Names spelled as the given columns are; a name that is not among them is unchanged."""
        if self.environment.case_sensitive:
            return list(names)
        return list(map(spelling.speller(column.name for column in columns), names))

    @available.parse(lambda source, *a, **k: source)
    def timed_by_versions(
        self, source: ModelQuery, versions: ModelQuery, model: Mapping[str, Any]
    ) -> ModelQuery:
        """A snapshot's staged rows, with dbt's timestamps in the right types (see `snapshots.timed_by_versions`)."""
        return snapshots.timed_by_versions(source, versions.columns, model)

    @available.parse(lambda *a, **k: [])
    def columns_missing_in(self, table: ExistingTable, columns: Sequence[PaimonColumn]) -> list[PaimonColumn]:
        """Those of the given columns that a table lacks, by name."""
        present = {column.name.lower() for column in table.columns}
        return [column for column in columns if column.name.lower() not in present]
