"""Methods on `adapter` for microbatch models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import available

from dbt.adapters.paimon.available.base import AvailableMethods
from dbt.adapters.paimon.spec import strategies
from dbt.adapters.paimon.sql import event_time

if TYPE_CHECKING:
    from dbt.adapters.paimon.column import PaimonColumn
    from dbt.adapters.paimon.tables.changeset import ExistingColumn
    from dbt.adapters.paimon.writing.model_query import ModelQuery


class BatchMethods(AvailableMethods):
    """Called by the `microbatch` strategy."""

    @available.parse_none
    def check_event_time(
        self, model: Mapping[str, Any], strategy: str, columns: Sequence[PaimonColumn]
    ) -> None:
        """Refuse an event_time column of a type that is not a date or timestamp (see `event_time.refuse_column`)."""
        if strategy == strategies.MICROBATCH and model["config"].get("event_time"):
            found = {column.name: column.dtype for column in columns}
            event_time.refuse_column(model["name"], model["config"]["event_time"], found)

    @available.parse(lambda source, *a, **k: source)
    def rows_of_batch(self, source: ModelQuery, strategy: str, model: Mapping[str, Any]) -> ModelQuery:
        """A microbatch model's rows; a row outside the batch fails the statement (see `event_time.checked`)."""
        if strategy != strategies.MICROBATCH or not model["config"].get("event_time"):
            return source
        selected = event_time.checked(model, source.columns)
        return source if selected is None else replace(source, text=f"(select {selected} from {source})")

    @available.parse(lambda *a, **k: "")
    def batch_window(self, model: Mapping[str, Any], columns: Sequence[ExistingColumn]) -> str:
        """SQL condition: the rows of the model's table within the batch (see `event_time.batch_condition`)."""
        return event_time.batch_condition(model, columns)
