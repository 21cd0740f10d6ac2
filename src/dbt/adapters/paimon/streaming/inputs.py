"""A stream's inputs: one for each `stream(...)` in a model's SQL.

An input provides raw rows, as Structured Streaming reads them, and SQL that turns them into the rows that the model
sees. The raw rows of a micro-batch are read once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.streaming.descriptions import Description
from dbt.adapters.paimon.streaming.formats.messages import ValueFormat
from dbt.adapters.paimon.tables.existing import ExistingTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The columns of a fault, name and type (see `Input.faults_sql`).
FAULT_COLUMNS: Final[tuple[tuple[str, str], ...]] = (
    ("reason", "string"),
    ("place", "string"),
    ("key", "binary"),
    ("value", "binary"),
    ("received_at", "timestamp"),
)


class UnavailableError(DbtRuntimeError):
    """A source does not respond; a retry may succeed."""


class SourceChangedError(DbtRuntimeError):
    """A source's columns have changed since it was opened; the batch is not written."""


@dataclass(frozen=True)
class Access:
    """What is needed to open an input; `incremental_catalog`: see `changes.read_modes.read_mode`."""

    adapter: AdapterProtocol
    existing: Callable[[PaimonRelation], ExistingTable]
    incremental_catalog: Callable[[], str]


@dataclass(frozen=True)
class StreamCall:
    """The arguments of a `stream(...)` in a model's SQL.

    Attributes:
        name: the name of the view that replaces the call in the SQL.
        database, schema, identifier: the full name of the relation that ref() or source() returned.
        source: the source's node in the manifest; empty for a ref().
        scan_mode: Paimon's `scan.mode` for the first run, for a Paimon table; or None.
        watermark: its column, delay and window (see `sources.watermarks`), for a Paimon table; or None.
    """

    name: str
    database: str
    schema: str
    identifier: str
    source: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    row_kind: str | None = None
    scan_mode: str | None = None
    watermark: Any = None

    @property
    def label(self) -> str:
        """The source's name in messages."""
        return f"{self.schema}.{self.identifier}"


class Input:
    """An opened `stream(...)`; the default methods suit a source that loses no rows and needs no parsing."""

    call: StreamCall

    @property
    def identity(self) -> dict[str, str]:
        """What must not change between the runs of a stream: the kind of source, and its topic, folder or table."""
        raise NotImplementedError

    def read(self, session: SparkSession) -> DataFrame:
        """The raw rows as a streaming frame; raises DbtRuntimeError if the source does not exist."""
        raise NotImplementedError

    def rows_sql(self, raw: str) -> str:
        """The query for the rows that the model sees; `raw` is a view of the raw rows."""
        raise NotImplementedError

    def batch_rows_sql(self, session: SparkSession, raw: str, batch: int) -> str:
        """The query for a batch's rows; raises DbtRuntimeError if rows are lost."""
        return self.rows_sql(raw)

    def faults_sql(self, raw: str) -> str | None:
        """The query for messages that cannot be parsed, with `FAULT_COLUMNS`; None if parsing cannot fail."""
        return None

    def new_columns_sql(self, raw: str) -> str | None:
        """The query for undescribed columns (name, data_type); None if the source cannot have any."""
        return None

    def with_columns(self, columns: Mapping[str, str]) -> Input:
        """A copy with additional columns: name -> data type, as `new_columns_sql` returned them."""
        return self

    def without_effects(self) -> Input:
        """A copy that leaves its source unchanged: it moves no consumer and removes no files.

        Used to fill a staged table, which may never replace the old one.
        """
        return self

    def placed(self, session: SparkSession, folder: str) -> Input:
        """A copy that stores its plan in this checkpoint folder, if the input plans which rows a batch reads."""
        return self

    def plan(self, session: SparkSession) -> None:
        """Plan the rows that arrived since the last call; raises DbtRuntimeError if rows are lost."""

    def check_beginning(self, session: SparkSession) -> None:
        """Raise DbtRuntimeError if the stream cannot begin where it should; the error lists the alternatives."""

    def check_batch(self, session: SparkSession, checkpoint: str, index: int, batch: int) -> None:
        """Raise DbtRuntimeError if raw rows are missing, which Spark would skip silently.

        `index` is the source's index in the checkpoint.
        """

    def check_faults(self, session: SparkSession, raw: str) -> None:
        """Raise DbtRuntimeError if messages cannot be parsed because Spark has split a row in two."""

    def rows_of(self, batch: int, progress: Mapping[str, Any]) -> int:
        """The number of rows in a batch of this run; `progress`: the source's part of a StreamingQueryProgress."""
        return int(progress["numInputRows"])

    def late_rows(self, batch: int) -> int:
        """The number of rows in a batch that arrived too late (see `sources.watermarks`)."""
        return 0

    def lag(self, session: SparkSession, progress: Mapping[str, Any]) -> int | None:
        """The number of unread rows when a batch ended; None if unknown."""
        return None


@dataclass(frozen=True)
class DescribedInput(Input):
    """A source that is not a table; `value_format` is None if its raw rows need no parsing."""

    call: StreamCall
    description: Description
    value_format: ValueFormat | None

    def rows_sql(self, raw: str) -> str:
        if self.value_format is None:
            return f"select * from {raw}"
        return self.value_format.rows_sql(raw, [quoted(name) for name in self.description.metadata])

    def faults_sql(self, raw: str) -> str | None:
        return self.value_format.faults_sql(raw) if self.value_format else None

    def new_columns_sql(self, raw: str) -> str | None:
        return self.value_format.new_columns_sql(raw) if self.value_format else None

    def with_columns(self, columns: Mapping[str, str]) -> Input:
        return replace(self, value_format=self.value_format.with_columns(columns)) if self.value_format else self


def raw_view(name: str) -> str:
    """The quoted name of the view that has an input's raw rows."""
    return quoted(f"{name}__raw")
