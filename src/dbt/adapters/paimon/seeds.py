"""Seeds in one typed write: values go to Spark as parameters of one statement, never as text pasted into SQL.

The rows travel as JSON documents, so that Spark's JVM reads them without a Python worker, whose version would have to
fit and whose start costs more than most seeds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql_text import quoted

if TYPE_CHECKING:
    import agate
    from pyspark.sql import SparkSession

ConvertType = Callable[["agate.Table", int], "str | None"]
ROWS_A_DOCUMENT = 1_000
# Types that JSON has; a value of any other type travels as text and is cast by Spark, which knows them all.
_CARRIED = ("bigint", "double", "boolean")
_BIGINT = range(-(2**63), 2**63)


@dataclass(frozen=True)
class SeedColumn:
    """A column of a seed: its name, the type it gets, and whether the file's text decides (`column_types`)."""

    name: str
    data_type: str
    overridden: bool

    @property
    def carried(self) -> str:
        """The type it travels as."""
        return self.data_type if self.data_type in _CARRIED and not self.overridden else "string"


def seed_columns(table: agate.Table, model: Mapping[str, Any], convert_type: ConvertType) -> list[SeedColumn]:
    """The columns of a seed: types by `column_types` (names without regard to case), else by what the values are.

    Raises:
        DbtRuntimeError: `column_types` names a column that the file has not.
    """
    wanted = {
        str(name).lower(): str(kind) for name, kind in (model["config"].get("column_types") or {}).items()
    }
    names = [str(name) for name in table.column_names]
    unknown = sorted(set(wanted) - {name.lower() for name in names})
    if unknown:
        raise DbtRuntimeError(
            f"{_where(model)}: column_types names {', '.join(unknown)}, which the file has not. "
            f"Its columns: {', '.join(names)}."
        )
    return [
        SeedColumn(
            name, wanted.get(name.lower()) or convert_type(table, index) or "string", name.lower() in wanted
        )
        for index, name in enumerate(names)
    ]


def stage(
    session: SparkSession,
    view_name: str,
    table: agate.Table,
    model: Mapping[str, Any],
    convert_type: ConvertType,
) -> None:
    """Make the seed's rows a temporary view of the session, each column of its type.

    Raises:
        DbtRuntimeError: a value that its column's type does not take: file, column and value.
    """
    columns = seed_columns(table, model, convert_type)
    documents = list(_documents(table.rows, columns, model))
    schema = ", ".join(f"c{index}: {column.carried}" for index, column in enumerate(columns))
    raw = f"{view_name}_raw"
    session.sql(
        f"select inline(from_json(document, 'array<struct<{schema}>>', map('mode', 'FAILFAST')))\n"
        f"from values {', '.join(['(?)'] * len(documents))} as documents(document)",
        args=documents,
    ).createOrReplaceTempView(raw)
    _refuse_bad_text(session, raw, columns, model)
    selected = ", ".join(
        f"cast(c{index} as {column.data_type}) as {quoted(column.name)}"
        for index, column in enumerate(columns)
    )
    session.sql(
        f"create or replace temporary view {quoted(view_name)} as select {selected} from {quoted(raw)}"
    )


def _documents(
    rows: Sequence[Sequence[Any]], columns: Sequence[SeedColumn], model: Mapping[str, Any]
) -> Iterable[str]:
    names = [f"c{index}" for index in range(len(columns))]
    for start in range(0, max(len(rows), 1), ROWS_A_DOCUMENT):
        yield json.dumps(
            [
                {
                    name: _json_value(value, column, model)
                    for name, value, column in zip(names, row, columns, strict=True)
                }
                for row in rows[start : start + ROWS_A_DOCUMENT]
            ]
        )


def _json_value(value: Any, column: SeedColumn, model: Mapping[str, Any]) -> Any:
    if value is None or isinstance(value, bool):
        return value if column.carried != "string" or value is None else str(value).lower()
    if column.carried == "bigint":
        if int(value) not in _BIGINT:
            raise DbtRuntimeError(
                f"{_where(model)}: column {column.name}: {value} is larger than bigint. "
                f"Give the column a type: column_types: {{{column.name}: 'decimal(38,0)'}}."
            )
        return int(value)
    if column.carried == "double":
        return float(value)
    return str(value)


def _refuse_bad_text(
    session: SparkSession, raw: str, columns: Sequence[SeedColumn], model: Mapping[str, Any]
) -> None:
    checked = [
        (f"c{i}", column)
        for i, column in enumerate(columns)
        if column.overridden and column.data_type != "string"
    ]
    if not checked:
        return
    bad = session.sql(
        "select "
        + ", ".join(
            f"min({cell}) filter (where {cell} is not null and try_cast({cell} as {column.data_type}) is null)"
            for cell, column in checked
        )
        + f" from {quoted(raw)}"
    ).collect()[0]
    problems = [
        f"column {column.name}: {value!r} is no {column.data_type}"
        for (_, column), value in zip(checked, bad, strict=True)
        if value is not None
    ]
    if problems:
        raise DbtRuntimeError(
            f"{_where(model)}: {'; '.join(problems)}. Correct the file, or the column's type under column_types."
        )


def _where(model: Mapping[str, Any]) -> str:
    return f"seed '{model['name']}' ({model.get('original_file_path', '')})"
