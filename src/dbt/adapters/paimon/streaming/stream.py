"""A streaming model in one run: the `stream(...)` calls in its SQL and their inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.streaming import batches, checkpoints
from dbt.adapters.paimon.streaming.inputs import Access, Input, StreamCall
from dbt.adapters.paimon.streaming.progress import Totals
from dbt.adapters.paimon.streaming.sources import kinds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass
class Stream:
    """The state of a streaming model in this run."""

    # The `stream(...)` calls, by the name of the view that replaces each of them.
    calls: dict[str, StreamCall] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    # The id of the stream, written into its table and its checkpoint.
    id: str = ""
    begins: bool = False
    # Whether a batch model has built the table, which then does not have the stream's id yet.
    takes_over: bool = False
    # Whether writing a batch reads each of its raw rows exactly once.
    reads_once: bool = False
    totals: Totals = field(default_factory=Totals)

    def view(self, call: StreamCall) -> str:
        """The quoted name of the view that replaces a `stream(...)`; equal arguments share one view."""
        for known in self.calls.values():
            if replace(known, name="") == call:
                return quoted(known.name)
        name = f"__dbt_stream_{len(self.calls) + 1}_{call.identifier}"
        self.calls[name] = replace(call, name=name)
        return quoted(name)

    def open(self, access: Access, note: checkpoints.Note | None) -> None:
        """Open the inputs with their sources' current columns and the columns that messages added (`note`).

        Raises:
            DbtRuntimeError: a source is missing or not described, or a watermark is combined with another stream.
        """
        if len(self.calls) > 1 and any(call.watermark is not None for call in self.calls.values()):
            raise DbtRuntimeError(
                "A model with a watermark reads one stream: windows of a second one would close at different times. "
                "Union the streams into a table in a separate model, and use stream(…, watermark=…) on that."
            )
        opened = [kinds.open_input(call, access) for call in self.calls.values()]
        if note is not None:
            opened = [each.with_columns(note.columns.get(each.call.label, {})) for each in opened]
        # Sorted, because the checkpoint identifies sources by index, and the order in the SQL may change.
        self.inputs = tuple(sorted(opened, key=lambda each: (each.call.label, str(each.identity))))

    def name_inputs(self, session: SparkSession) -> None:
        """Register the inputs as streaming views."""
        for each in self.inputs:
            batches.name_raw_rows(each.read(session), [each])
        batches.name_rows(session, self.inputs)

    def place(self, session: SparkSession, location: str) -> None:
        """Give each input that plans its own batches a folder in the checkpoint at this location."""
        self.inputs = tuple(
            each.placed(session, f"{location}/{checkpoints.PLANS}/{index}") for index, each in enumerate(self.inputs)
        )

    def add_columns(self, note: checkpoints.Note, found: Mapping[str, Mapping[str, str]]) -> checkpoints.Note:
        """Add the columns of a NewColumnsError to the inputs; returns the note with these columns."""
        columns = {label: dict(known) for label, known in note.columns.items()}
        for each in self.inputs:
            if new := found.get(each.call.name):
                columns.setdefault(each.call.label, {}).update(new)
        self.inputs = tuple(each.with_columns(found.get(each.call.name, {})) for each in self.inputs)
        return replace(note, columns=columns)
