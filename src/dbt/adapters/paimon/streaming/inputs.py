"""What a streaming model reads: one `stream(...)` of its SQL, whatever is behind it.

An input gives raw rows, as Structured Streaming reads them, and SQL that makes of them the rows that the model sees.
The raw rows of a micro-batch are read once; what of them is no row goes to the dead letters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql.text import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# What a fault tells (see `Input.faults_sql`): name and type of each column.
FAULT_COLUMNS: Final[tuple[tuple[str, str], ...]] = (
    ("reason", "string"),
    ("place", "string"),
    ("key", "binary"),
    ("value", "binary"),
    ("received_at", "timestamp"),
)


class UnavailableError(DbtRuntimeError):
    """A source does not answer; it may later."""


class SourceChangedError(DbtRuntimeError):
    """A source has other columns than when it was opened; nothing of the batch is written yet."""


@dataclass(frozen=True)
class StreamCall:
    """A `stream(...)` in a model's SQL, as its macro gave it.

    Attributes:
        name: of the view that stands for it in the SQL.
        database, schema, identifier: of what ref() or source() gave.
        source: the source's node of the manifest; empty for a ref().
        options: Spark's reader options, beside those of the source's YAML.
        row_kind: the name of a column with the kind of each row, or None.
        scan_mode: Paimon's `scan.mode` of a first run, for a Paimon table; or None.
    """

    name: str
    database: str
    schema: str
    identifier: str
    source: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    row_kind: str | None = None
    scan_mode: str | None = None

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.schema}.{self.identifier}"


class Input(Protocol):
    """An opened `stream(...)`: where its raw rows come from and what they mean."""

    @property
    def call(self) -> StreamCall:
        """The `stream(...)`."""

    def identity(self) -> dict[str, str]:
        """What must be the same for a checkpoint to fit: kind, topic, folder or table."""

    def read(self, session: SparkSession) -> DataFrame:
        """The raw rows, as a streaming frame; nothing is read yet.

        Raises:
            DbtRuntimeError: there is no such topic, folder or table, or no such broker; with the remedy.
        """

    def check_offset(self, session: SparkSession, offset: str) -> None:
        """Refuse to go on where what comes after an offset is not to be had any more.

        Args:
            session: the session of the model.
            offset: where the last batch ended, as the source's own JSON in the checkpoint has it.

        Raises:
            DbtRuntimeError: what is lost, and the remedy.
        """

    def rows_sql(self, raw: str) -> str:
        """The query of the rows that the model sees.

        Args:
            raw: what stands after FROM for the raw rows.
        """

    def faults_sql(self, raw: str) -> str | None:
        """The query of raw rows that are no rows, with `FAULT_COLUMNS`; None where every raw row is one."""

    def new_columns_sql(self, raw: str) -> str | None:
        """The query of columns that raw rows have and `rows_sql` does not give: name, data_type; None if never."""

    def with_columns(self, columns: Mapping[str, str]) -> Input:
        """The same input, whose rows have further columns: name -> data type, as `new_columns_sql` told them."""

    def lag(self, session: SparkSession, progress: Mapping[str, Any]) -> int | None:
        """Rows that were there and not read when a batch ended; None if that is not known.

        Args:
            session: the session of the model.
            progress: what StreamingQueryProgress tells of this source (a member of `sources`).
        """


@runtime_checkable
class CheckedInput(Input, Protocol):
    """An input whose raw rows Spark would leave out without a word."""

    def check_batch(self, session: SparkSession, checkpoint: str, index: int, batch: int) -> None:
        """Refuse to write a batch of which not all is there.

        Args:
            session: of the batch.
            checkpoint: its location.
            index: which of the checkpoint's sources this is.
            batch: its number.

        Raises:
            DbtRuntimeError: what is gone, and the remedy.
        """


@runtime_checkable
class PlannedInput(Input, Protocol):
    """An input whose raw rows only say which rows a batch reads; it plans them itself, in the stream's checkpoint."""

    def placed(self, session: SparkSession, folder: str) -> PlannedInput:
        """The input with a folder of the stream's checkpoint, where its plan is; `read` plans what there is then."""

    def check_beginning(self, session: SparkSession) -> None:
        """Refuse to begin where the source has not, or no longer, what the call asks for.

        Raises:
            DbtRuntimeError: what it has.
        """

    def plan(self, session: SparkSession) -> None:
        """Plan what came since; a query that goes on asks for it now and then.

        Raises:
            DbtRuntimeError: what is lost, and the remedy.
        """

    def told_rows(self, batch: int) -> int:
        """How many rows a batch of this run had."""

    def batch_rows_sql(self, session: SparkSession, raw: str, batch: int) -> str:
        """The query of the rows of a batch, where `rows_sql` only tells their columns.

        Args:
            session: the batch's.
            raw: the view of its raw rows.
            batch: its number.

        Raises:
            DbtRuntimeError: what is lost, and the remedy.
        """


@runtime_checkable
class MarkingInput(Input, Protocol):
    """An input whose source is not as before once it is read: a consumer has moved, or files are cleaned away."""

    def unmarked(self) -> Input:
        """The same, reading which leaves its source as it is: for a table that may never take the old one's place."""


def view_name(index: int, identifier: str) -> str:
    """The name of the view that stands for a `stream(...)`; `index` counts them in a model."""
    return f"__dbt_stream_{index}_{identifier}"


def raw_view(name: str) -> str:
    """The view of an input's raw rows, quoted."""
    return quoted(f"{name}__raw")
