"""Seeds in one typed write: values go to Spark as values, never as text pasted into SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

if TYPE_CHECKING:
    import agate
    from pyspark.sql import SparkSession

ConvertType = Callable[["agate.Table", int], str | None]


def column_types(table: agate.Table, model: Mapping[str, Any], convert_type: ConvertType) -> list[str]:
    """Spark's type of each column: what `column_types` says (by name, ignoring case), else what the values are."""
    wanted = {str(name).lower(): str(t) for name, t in (model["config"].get("column_types") or {}).items()}
    unknown = set(wanted) - {str(name).lower() for name in table.column_names}
    if unknown:
        raise DbtRuntimeError(
            f"seed '{model['name']}': column_types names {', '.join(sorted(unknown))}, which "
            f"{model.get('original_file_path', 'its file')} does not have. Its columns: {', '.join(table.column_names)}."
        )
    return [
        wanted.get(str(name).lower()) or convert_type(table, index) or "string"
        for index, name in enumerate(table.column_names)
    ]


def stage(
    session: SparkSession,
    view_name: str,
    table: agate.Table,
    model: Mapping[str, Any],
    convert_type: ConvertType,
) -> None:
    """Make the seed's rows a temporary view of the session.

    A column that `column_types` names was read as text by dbt and is cast by Spark, which knows all its types.

    Raises:
        DbtRuntimeError: a text that its column's type does not take: file, column, row and value.
    """
    types = column_types(table, model, convert_type)
    names = [str(name) for name in table.column_names]
    overridden = {str(name).lower() for name in (model["config"].get("column_types") or {})}
    carried = ["string" if name.lower() in overridden else kind for name, kind in zip(names, types)]
    schema = ", ".join(f"{_quoted(name)} {kind}" for name, kind in zip(names, carried))
    rows = [tuple(_value(value, kind) for value, kind in zip(row, carried)) for row in table.rows]
    frame = session.createDataFrame(rows, schema)
    raw = f"{view_name}_raw"
    frame.createOrReplaceTempView(raw)
    casts = [
        _quoted(name) if kind == carried_as else f"try_cast({_quoted(name)} as {kind}) as {_quoted(name)}"
        for name, kind, carried_as in zip(names, types, carried)
    ]
    if types != carried:
        _refuse_bad_casts(session, raw, model, list(zip(names, types, carried)))
    session.sql(f"create or replace temporary view {_quoted(view_name)} as select {', '.join(casts)} from {_quoted(raw)}")


def _refuse_bad_casts(session: SparkSession, raw: str, model: Mapping[str, Any], columns: list[tuple[str, str, str]]) -> None:
    checks = [
        f"min_by({_quoted(name)}, 1) filter (where {_quoted(name)} is not null and try_cast({_quoted(name)} as {kind}) is null)"
        for name, kind, carried_as in columns
        if kind != carried_as
    ]
    bad = session.sql(f"select {', '.join(checks)} from {_quoted(raw)}").collect()[0]
    named = [(name, kind) for name, kind, carried_as in columns if kind != carried_as]
    problems = [f"column {name}: {value!r} is no {kind}" for (name, kind), value in zip(named, bad) if value is not None]
    if problems:
        raise DbtRuntimeError(
            f"seed '{model['name']}' ({model.get('original_file_path', '')}): {'; '.join(problems)}. "
            "Correct the file, or the column's type under column_types."
        )


def _value(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind == "bigint":
        return int(value)
    if kind == "double":
        return float(value)
    return value if not kind.startswith("string") or isinstance(value, str) else str(value)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
