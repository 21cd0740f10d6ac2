"""Loads seeds with one typed statement: values are passed to Spark as parameters, never inserted into SQL.

The rows are sent as JSON documents, which Spark's JVM reads without a Python worker. A worker needs a matching Python
version, and takes longer to start than most seeds take to load.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.errors.warnings import warn
from dbt.adapters.paimon.options.table_options import suggestion
from dbt.adapters.paimon.sql.plain_values import INTEGERS
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.writing.seed_values import bad_text, differs_as_double, not_valid

if TYPE_CHECKING:
    import agate

    from dbt.adapters.paimon.spark.handles import Handle

ConvertType = Callable[["agate.Table", int], "str | None"]
# Warns about a value that is accepted anyway; without this callback, the value is refused.
Warn = Callable[[str], None]
ROWS_A_DOCUMENT = 1_000
# JSON's own types; a value of any other type is sent as a string, which Spark casts.
_JSON_TYPES = ("bigint", "double", "boolean")
_BIGINT_DIGITS = 19
_DECIMAL_DIGITS = 38
_FINER_TIME: Final = re.compile(r":\d+[.,]\d{6}\d*[1-9]")
# String types without a length that other databases have and Spark lacks.
_STRING_TYPES: Final = frozenset({"text", "varchar", "nvarchar", "character varying", "char varying"})
_OTHER_DELIMITERS: Final = re.compile(r"[;|\t,]")


@dataclass(frozen=True)
class SeedColumn:
    """A column of a seed; `overridden`: its type is from `column_types`, and the file's strings are cast to it."""

    name: str
    data_type: str
    overridden: bool

    @property
    def carried(self) -> str:
        """The type in which its values are sent to Spark."""
        return self.data_type if self.data_type in _JSON_TYPES and not self.overridden else "string"


def load(path: Path, model: Mapping[str, Any], warn_lossy: Warn | None = None) -> agate.Table:
    """Read a seed's file as dbt does, except that the columns in `column_types` are read as strings.

    These names are case-insensitive. With a name in a different case, dbt itself would read 007 as 7.

    Args:
        warn_lossy: called for timestamps that dbt truncates to microseconds; if None, these are refused.

    Raises:
        CompilationError: the file is malformed, or has a timestamp that dbt truncates.
    """
    import agate
    from dbt_common.clients import agate_helper

    check_file(path, model)
    delimiter, typed = model["config"].get("delimiter", ","), _overridden_names(model)
    with path.open(encoding="utf-8-sig", newline="") as file:
        header = next(csv.reader(file, delimiter=delimiter))
    try:
        table = agate_helper.from_csv(
            path, text_columns=[name for name in header if name.lower() in typed], delimiter=delimiter
        )
    except ValueError as exc:
        raise CompilationError(f"{_where(model)}: {exc}") from exc
    times = [place for place, kind in enumerate(table.column_types) if isinstance(kind, agate.DateTime)]
    for fault in _truncated_times(path, times, model) if times else ():
        _refuse_or_warn(fault, warn_lossy)
    # Set by dbt's load_agate_table, too.
    table.original_abspath = str(path.resolve())
    return table


def _refuse_or_warn(fault: str, warn: Warn | None) -> None:
    if warn is None:
        raise CompilationError(fault)
    warn(fault)


def _truncated_times(path: Path, times: Sequence[int], model: Mapping[str, Any]) -> Iterable[str]:
    """For each column, a message about its first timestamp that dbt truncates to microseconds."""
    left = set(times)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=model["config"].get("delimiter", ","))
        header = next(reader)
        for row in reader:
            for place in sorted(left):
                # The line may be too short.
                if _FINER_TIME.search("".join(row[place : place + 1])):
                    left.remove(place)
                    yield (
                        f"{_where(model)}, line {reader.line_num}: column {header[place]}: {row[place]!r} is "
                        f"{not_valid('timestamp')}. Cut it to six digits after the point, or read it as a string: "
                        f"column_types: {{{header[place]}: string}}."
                    )


def check_file(path: Path, model: Mapping[str, Any]) -> None:
    """Refuse a malformed file, and warn about lines with too few values, for which dbt adds NULLs at the end.

    dbt's own error about long lines names neither line nor column. A blank line is allowed: it is a row of NULLs,
    the only way to write a NULL in a file with one column.

    Raises:
        CompilationError: the file is malformed; the message names line and column.
    """
    where = _where(model)
    delimiter = model["config"].get("delimiter", ",")
    if not isinstance(delimiter, str) or len(delimiter) != 1:
        raise CompilationError(f"{where}: delimiter={delimiter!r}: must be one character.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            problems = list(_ragged_lines(csv.reader(file, delimiter=delimiter), delimiter))
    except UnicodeDecodeError as exc:
        raise CompilationError(
            f"{where}: not UTF-8 at byte {exc.start}: {exc.object[exc.start : exc.end]!r}. Save the file as UTF-8."
        ) from exc
    except csv.Error as exc:
        raise CompilationError(f"{where}: not a CSV file: {exc}.") from exc
    if problems:
        more = f" And {len(problems) - 1} more such lines." if len(problems) > 1 else ""
        # The first line that is too long; if there is no such line, the first that is too short.
        is_short, text = min(problems, key=lambda problem: problem[0])
        if not is_short:
            raise CompilationError(f"{where}, {text}{more}")
        warn(f"{where}, {text}{more}")


def _ragged_lines(reader: Any, delimiter: str) -> Iterable[tuple[bool, str]]:
    """Yield (whether the line is too short, the problem) for each malformed line."""
    header = next(reader, None)
    if not header:
        yield False, "line 1: no header. The first line has to name the columns."
        return
    line = reader.line_num + 1
    for row in reader:
        counts = f"line {line}: {len(row)} values for {len(header)} columns"
        if 0 < len(row) < len(header):
            remedy = "To silence this warning, write each NULL as nothing after a delimiter."
            yield True, f"{counts}: the missing ones, from column '{header[len(row)]}' on, are NULL. {remedy}"
        elif len(row) > len(header):
            remedy = f"A value with {delimiter!r} in it needs double quotes around it."
            yield False, f"{counts}: no column for '{row[len(header)]}' after column '{header[-1]}'. {remedy}"
        # A quoted value may span several lines of the file.
        line = reader.line_num + 1


def seed_columns(table: agate.Table, model: Mapping[str, Any], convert_type: ConvertType) -> list[SeedColumn]:
    """The columns of a seed: types from `column_types` (names in any case), otherwise inferred from the values.

    The `column_types` of a folder may name columns that a file lacks; these are ignored, as in dbt.
    """
    wanted = {
        str(name).lower(): "string" if str(kind).strip().lower() in _STRING_TYPES else str(kind)
        for name, kind in (model["config"].get("column_types") or {}).items()
    }
    names = [str(name) for name in table.column_names]
    _warn_of_misspelt(set(wanted) - {name.lower() for name in names}, names, model)
    if model["config"].get("quote_columns") is False:
        _refuse_other_delimiters(names, model)
    return [
        SeedColumn(name, wanted.get(name.lower()) or convert_type(table, index) or "string", name.lower() in wanted)
        for index, name in enumerate(names)
    ]


def _warn_of_misspelt(unknown: Iterable[str], names: Sequence[str], model: Mapping[str, Any]) -> None:
    """Warn about names in `column_types` that resemble a column; others may belong to other files of the folder."""
    for name in sorted(unknown):
        near = suggestion(name, names, cutoff=0.8)
        if near is not None and near.lower() not in _overridden_names(model):
            warn(f"{_where(model)}: column_types: the file has no column '{name}'. Did you mean '{near}'?")


def _overridden_names(model: Mapping[str, Any]) -> set[str]:
    return {str(name).lower() for name in model["config"].get("column_types") or {}}


def _refuse_other_delimiters(names: Sequence[str], model: Mapping[str, Any]) -> None:
    # With other adapters a name with a delimiter fails unless it is quoted. This adapter always quotes, so it checks.
    for name in names:
        if _OTHER_DELIMITERS.search(name):
            raise DbtRuntimeError(
                f"{_where(model)}: syntax error in the header: column '{name}' has a delimiter in its name, but "
                f"quote_columns is false. If these are several columns, set the file's delimiter (now "
                f"{model['config'].get('delimiter')!r}); otherwise set quote_columns: true."
            )


def stage(
    handle: Handle,
    view_name: str,
    table: agate.Table,
    model: Mapping[str, Any],
    convert_type: ConvertType,
    empty: bool = False,
    warn_lossy: Warn | None = None,
) -> None:
    """Register a seed's rows, or none if `empty`, as a temporary view of the session with typed columns.

    `warn_lossy` is called for values that Spark's casts would change; if None, these are refused.

    Raises:
        DbtRuntimeError: a value does not fit its column's type; the message names file, column and value.
    """
    columns = seed_columns(table, model, convert_type)
    for fault in _inexact_doubles(table, columns, model):
        _refuse_or_warn(fault, warn_lossy)
    documents = list(_documents(table.rows, columns, model))
    schema = ", ".join(f"c{index}: {column.carried}" for index, column in enumerate(columns))
    raw = f"{view_name}_raw"
    handle.create_temporary_view(
        raw,
        f"select inline(from_json(document, 'array<struct<{schema}>>', map('mode', 'FAILFAST')))\n"
        f"from values {', '.join(['(?)'] * len(documents))} as documents(document)",
        documents,
    )
    _refuse_bad_text(handle, raw, columns, model, warn_lossy)
    selected = ", ".join(
        f"cast(c{index} as {column.data_type}) as {quoted(column.name)}" for index, column in enumerate(columns)
    )
    rows = " where false" if empty else ""
    handle.create_temporary_view(view_name, f"select {selected} from {quoted(raw)}{rows}", [])


def _documents(rows: Sequence[Sequence[Any]], columns: Sequence[SeedColumn], model: Mapping[str, Any]) -> Iterable[str]:
    def fields(row: Sequence[Any]) -> dict[str, Any]:
        cells = enumerate(zip(row, columns, strict=True))
        return {f"c{index}": _json_value(value, column, model) for index, (value, column) in cells}

    for start in range(0, max(len(rows), 1), ROWS_A_DOCUMENT):
        yield json.dumps([fields(row) for row in rows[start : start + ROWS_A_DOCUMENT]])


def _json_value(value: Any, column: SeedColumn, model: Mapping[str, Any]) -> Any:
    if value is None or isinstance(value, bool):
        return value if column.carried != "string" or value is None else str(value).lower()
    if column.carried == "bigint":
        number = Decimal(value)
        # Huge exponents would take minutes to become an integer.
        is_huge = not number.is_finite() or (number and number.adjusted() >= _BIGINT_DIGITS)
        if is_huge or int(number) not in INTEGERS["bigint"]:
            raise DbtRuntimeError(
                f"{_where(model)}: column {column.name}: {value} does not fit into bigint. "
                f"Give the column a type: column_types: {{{column.name}: '{_type_for(number, 'decimal(38,0)')}'}}."
            )
        return int(number)
    if column.carried == "double":
        return float(value)
    return str(value)


def _inexact_doubles(table: agate.Table, columns: Sequence[SeedColumn], model: Mapping[str, Any]) -> Iterable[str]:
    """For each column, a message about its first number that a double would change."""
    for place, column in enumerate(columns):
        if column.carried != "double":
            continue
        values = (row[place] for row in table.rows if not isinstance(row[place], (bool, type(None))))
        other = next((value for value in values if differs_as_double(Decimal(value))), None)
        if other is not None:
            better = _type_for(Decimal(other), "decimal(38,6)")
            yield (
                f"{_where(model)}: column {column.name}: {other} is {not_valid('double')}. "
                f"Give the column a type: column_types: {{{column.name}: '{better}'}}, for example."
            )


def _type_for(number: Decimal, decimal: str) -> str:
    """The type to suggest for a column with this number: the decimal if the number fits into it, else string."""
    scale = int(decimal.rstrip(")").partition(",")[2])
    return decimal if number.is_finite() and number.adjusted() < _DECIMAL_DIGITS - scale else "string"


def _refuse_bad_text(
    handle: Handle, raw: str, columns: Sequence[SeedColumn], model: Mapping[str, Any], warn_lossy: Warn | None
) -> None:
    checked = [
        (f"c{i}", column) for i, column in enumerate(columns) if column.overridden and column.data_type != "string"
    ]
    if not checked:
        return
    if warn_lossy is not None:
        # A string that is not a value of the type at all is always refused.
        _refuse_strings(handle, raw, checked, model, None, lossless=False)
    _refuse_strings(handle, raw, checked, model, warn_lossy)


def _refuse_strings(
    handle: Handle,
    raw: str,
    checked: Sequence[tuple[str, SeedColumn]],
    model: Mapping[str, Any],
    warn_lossy: Warn | None,
    lossless: bool = True,
) -> None:
    """Refuse strings that are not values of their column's type (see `seed_values.bad_text`)."""
    texts = ", ".join(
        f"min({cell}) filter (where {bad_text(cell, column.data_type, lossless)})" for cell, column in checked
    )
    try:
        cursor = handle.cursor()
        cursor.execute(f"select {texts} from {quoted(raw)}")
        (bad,) = cursor.fetchall()
    except Exception as exc:
        types = ", ".join(f"column {column.name}: '{column.data_type}'" for _, column in checked)
        raise DbtRuntimeError(
            f"{_where(model)}: column_types: the file's strings cannot be cast to these types ({types}). Use types of "
            f"Spark: string, bigint, decimal(10,2), date, timestamp, …\n{messages.shorten(messages.error_text(exc))}"
        ) from exc
    problems = [
        f"column {column.name}: {value!r} is {not_valid(column.data_type)}"
        for (_, column), value in zip(checked, bad, strict=True)
        if value is not None
    ]
    if problems:
        _refuse_or_warn(
            f"{_where(model)}: {'; '.join(problems)}. Correct the file, or the column's type under column_types.",
            warn_lossy,
        )


def _where(model: Mapping[str, Any]) -> str:
    return f"seed '{model['name']}' ({model.get('original_file_path', '')})"
