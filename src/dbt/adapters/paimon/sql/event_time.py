"""Conditions on event_time: for a model's inputs, for `--sample`, and for the model's own table.

dbt's windows are in UTC. A TIMESTAMP is an instant. DATE, TIMESTAMP_NTZ and strings without a time zone are taken as
UTC, not in the session's time zone, where some wall-clock times occur twice and others never.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Final

from dbt.adapters.base.column import Column
from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.sql.data_types import is_text
from dbt.adapters.paimon.sql.text import is_plain, quoted, string_literal

# Suffixes that turn a date or time string, which may be incomplete, into a timestamp in UTC.
_SUFFIXES: Final = ("Z", ":00Z", ":00:00Z", " 00:00:00Z")


@dataclass(frozen=True)
class Window:
    """From `start` (included) to `end` (excluded), in UTC; None means unbounded."""

    start: datetime | None
    end: datetime | None

    @classmethod
    def of(cls, start: Any, end: Any) -> Window:
        """Make a window from datetimes or ISO strings; those without a time zone are in UTC."""
        return cls(_in_utc(start), _in_utc(end))

    def within(self, other: Window) -> Window:
        """The intersection with another window."""
        starts = [each for each in (self.start, other.start) if each]
        ends = [each for each in (self.end, other.end) if each]
        return Window(max(starts, default=None), min(ends, default=None))

    @property
    def is_open(self) -> bool:
        """Whether both bounds are missing."""
        return self.start is None and self.end is None


UNBOUNDED: Final = Window(None, None)


def condition(column: str, window: Window, data_type: str = "") -> str:
    """SQL that is true for the rows in a window, and NULL for a NULL in the column.

    Without a `data_type`, the SQL depends on `typeof`, which Spark evaluates while it plans. So Spark can push
    the condition for that type down to the files.

    Raises:
        ValueError: the type is not a date or time type.
    """
    if data_type:
        kind = _kind(data_type)
        if kind is None:
            raise ValueError(f"{data_type} is not a time type")
        return _CONDITIONS[kind](column, window)
    *known, (_, text) = _CONDITIONS.items()
    branches = " ".join(f"when '{kind}' then {rule(column, window)}" for kind, rule in known)
    return f"case typeof({column}) {branches} else {text(column, window)} end"


def column_sql(name: str) -> str:
    """SQL for dbt's event_time: a column, which dbt puts in double quotes if the YAML says so, or an expression."""
    if len(name) > 1 and name[0] == name[-1] == '"':
        return quoted(name[1:-1])
    parts = name.split(".")
    return quoted(*parts) if all(map(is_plain, parts)) else name


def refuse_column(model: str, event_time: str, columns: Mapping[str, str]) -> None:
    """Raise an error if a microbatch model's event_time is not a column of its query, or not a date or time."""
    types = {name.lower(): data_type for name, data_type in columns.items()}
    data_type = types.get(event_time.lower())
    if data_type is None:
        raise CompilationError(
            f"model '{model}': event_time: '{event_time}' is not a column of its query "
            f"({', '.join(columns)}). Name the column that assigns its rows to batches."
        )
    if _kind(data_type) is None:
        raise CompilationError(
            f"model '{model}': event_time: '{event_time}' is of type {data_type}, which does not fit a "
            "batch's time window. Cast it to timestamp, timestamp_ntz or date in the model."
        )


def batch_condition(model: Mapping[str, Any], columns: Iterable[Any], sample: Window = UNBOUNDED) -> str:
    """The condition for the batch's rows in a microbatch model's table; `{alias}` is a placeholder for its alias.

    `sample` is the window of `--sample`, which limits the model's inputs.
    """
    name, window = model["config"]["event_time"], _batch_window(model)
    if window.is_open:
        raise CompilationError(
            f"model '{model['name']}': incremental_strategy='microbatch' ran without a batch. Set event_time, begin "
            "and batch_size. If the project overrides get_incremental_microbatch_sql, remove that macro, or set the "
            "flag require_batched_execution_for_custom_microbatch_strategy."
        )
    (data_type,) = (c.data_type for c in columns if c.name.lower() == name.lower())
    return condition(f"{{alias}}.{quoted(name)}", window.within(sample), data_type)


def checked(model: Mapping[str, Any], columns: Sequence[Column], sample: Window = UNBOUNDED) -> str | None:
    """A SELECT list that fails for a row outside of the batch's window; None without a batch.

    The next run would not replace such a row but add it again, and another batch would delete it.
    """
    window = _batch_window(model)
    if window.is_open:
        return None
    window = window.within(sample)
    name = model["config"]["event_time"].lower()
    return ", ".join(
        _in_window(column, window, model) if column.name.lower() == name else column.quoted for column in columns
    )


def _in_window(column: Column, window: Window, model: Mapping[str, Any]) -> str:
    inside = condition(column.quoted, window, column.dtype)
    fault = string_literal(
        f"model '{model['name']}': event_time {column.name}: a row of the batch from {window.start} (included) "
        f"to {window.end} (excluded) has "
    )
    remedy = string_literal(
        ", which is outside that window. Derive the model's event_time from that of its inputs, set event_time on "
        "each input that it reads rows from, and filter out rows without one."
    )
    value = f"coalesce(cast({column.quoted} as string), 'NULL')"
    return (
        f"case when coalesce({inside}, false) then {column.quoted} "
        f"else raise_error(concat({fault}, {value}, {remedy})) end as {column.quoted}"
    )


def _batch_window(model: Mapping[str, Any]) -> Window:
    batch = model.get("batch") or {}
    return Window.of(batch.get("event_time_start"), batch.get("event_time_end"))


# -- the condition, by the type of the column -----------------------------------------------------------------------


def _instant(column: str, window: Window) -> str:
    return _between(f"cast({column} as timestamp_ltz)", window, lambda moment: f"timestamp_ltz '{moment}'")


def _clock(column: str, window: Window) -> str:
    return _between(
        f"cast({column} as timestamp_ntz)", window, lambda moment: f"timestamp_ntz '{moment.replace(tzinfo=None)}'"
    )


def _day(column: str, window: Window) -> str:
    # A date stands for its midnight. So a date is before a moment if it is before the next midnight after the moment
    # (or before the moment itself, if that is a midnight).
    days = Window(*(_next_midnight(moment) for moment in (window.start, window.end)))
    return _between(f"cast({column} as date)", days, lambda moment: f"date '{moment.date()}'")


def _text(column: str, window: Window) -> str:
    text = f"trim({column})"
    fault = string_literal("event_time: not a date or time: '")
    remedy = string_literal("'. Write it as in 2024-01-31, 2024-01-31 12:00:00 or 2024-01-31 12:00:00+01:00.")
    readings = [f"try_cast(concat({text}, '{suffix}') as timestamp_ltz)" for suffix in _SUFFIXES]
    # Spark would assume today's date for a time without a date.
    instant = (
        f"case when {column} is null then null "
        f"when {text} rlike '^[0-9]+-' then coalesce({', '.join(readings)}, "
        f"if(instr({column}, ':') > 0, try_cast({column} as timestamp_ltz), null), {_raised(fault, column, remedy)}) "
        f"else {_raised(fault, column, remedy)} end"
    )
    return _between(instant, window, lambda moment: f"timestamp_ltz '{moment}'")


# Spark's `typeof` -> the condition; the last one also applies to every other type that `typeof` may return.
_CONDITIONS: Final = {"timestamp": _instant, "timestamp_ntz": _clock, "date": _day, "string": _text}


def _kind(data_type: str) -> str | None:
    kind = "string" if is_text(data_type) else data_type.lower()
    return kind if kind in _CONDITIONS else None


def _between(operand: str, window: Window, literal: Callable[[datetime], str]) -> str:
    """SQL that compares `operand` with both bounds.

    `literal` must write a bound as a literal of the operand's type, because Paimon's MERGE adds no cast.
    """
    bounds = [(">=", window.start), ("<", window.end)]
    return " and ".join(f"{operand} {sign} {literal(moment)}" for sign, moment in bounds if moment is not None)


def _raised(fault: str, column: str, remedy: str) -> str:
    return f"cast(raise_error(concat({fault}, {column}, {remedy})) as timestamp_ltz)"


def _next_midnight(moment: datetime | None) -> datetime | None:
    if moment is None:
        return None
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight if midnight == moment else midnight + timedelta(days=1)


def _in_utc(value: Any) -> datetime | None:
    if not value:
        return None
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    return moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment.astimezone(timezone.utc)
