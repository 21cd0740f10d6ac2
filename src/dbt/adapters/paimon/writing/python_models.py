"""Runs Python models in dbt's process on the thread's Spark session; their results are written like queries."""

from __future__ import annotations

import ast
import numbers
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.errors import excerpts, messages, python_text
from dbt.adapters.paimon.machine import installation
from dbt.adapters.paimon.options.table_options import lookup, suggestion, table_options
from dbt.adapters.paimon.spark.progress import report_progress
from dbt.adapters.paimon.sql.plain_values import INTEGERS
from dbt.adapters.paimon.sql.text import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from dbt.adapters.paimon.capabilities import Versions
    from dbt.adapters.paimon.spark.handles import Handle


def stage(
    handle: Handle, code: str, model: Mapping[str, Any], view_name: str, versions: Versions, file: str = ""
) -> None:
    """Run a Python model, and register its result as a temporary view of the session.

    Args:
        code: the compiled model, followed by dbt's part (`py_script_postfix`).
        file: the content of the model's file, for line numbers (dbt strips the code); '' if it cannot be read.

    Raises:
        DbtRuntimeError: the model failed (with file and line), returned no data frame, or reads a table with an unknown
            option; or there is no local session.
    """
    session = handle.session
    path = model.get("original_file_path") or model["name"]
    code = "\n" * _lines_above(model, file) + code
    # `spark` is also defined, as in a notebook.
    namespace: dict[str, Any] = {"__name__": f"dbt_model_{model['name']}", "spark": session}
    try:
        tree = ast.parse(code, path)
        _refuse_unknown_options(tree, model["name"], path, versions)
        exec(compile(tree, path, "exec"), namespace)  # noqa: S102 - the model is the project's own code
        with report_progress(handle, model["name"]):
            result = namespace["model"](namespace["dbtObj"](handle.load), session)
        to_frame(session, result, model["name"], path).createOrReplaceTempView(quoted(view_name))
    except DbtRuntimeError:
        raise
    # sys.exit() in a model would end dbt's thread without a result, and dbt would wait for it forever.
    except (Exception, SystemExit) as exc:
        place = python_text.raised_at(exc, path, file or code)
        where = excerpts.shown(place) if place else f"  {path}"
        raise DbtRuntimeError(f"Python model '{model['name']}': {_error_text(exc, where)}") from exc


def _lines_above(model: Mapping[str, Any], file: str) -> int:
    """The number of lines that dbt strips from the beginning of a model's file."""
    raw = (model.get("raw_code") or "").strip()
    return file[: file.index(raw)].count("\n") if raw and raw in file else 0


def _refuse_unknown_options(tree: ast.AST, name: str, path: str, versions: Versions) -> None:
    """Refuse `session.read.option(…).table(…)` with an unknown option, which Paimon would ignore."""
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "table"):
            continue
        for option, line in _options_of(call.func.value):
            if lookup(option, versions.paimon) is None:
                near = suggestion(option, table_options(versions.paimon), cutoff=0.6)
                instead = f"Did you mean '{near}'?" if near else "Remove it."
                raise DbtRuntimeError(
                    f"Python model '{name}' ({path}, line {line}): Paimon has no option '{option}', and would "
                    f"read the newest rows of the table. {instead}"
                )


def _options_of(reader: ast.expr) -> Iterator[tuple[str, int]]:
    """The options that a chain of `option` and `options` calls sets, with their lines."""
    while isinstance(reader, ast.Call) and isinstance(reader.func, ast.Attribute):
        if reader.func.attr == "option":
            yield from _strings([*reader.args[:1], *(key.value for key in reader.keywords if key.arg == "key")])
        elif reader.func.attr == "options":
            yield from _strings(reader.keywords)
        reader = reader.func.value


def _strings(nodes: Iterable[ast.AST | None]) -> Iterator[tuple[str, int]]:
    """The string literals, string keys of a dictionary, and keyword names in nodes, with their lines."""
    for node in nodes:
        match node:
            case ast.Constant(value=str(text), lineno=line) | ast.keyword(arg=str(text), lineno=line):
                yield text, line
            case ast.keyword(arg=None, value=ast.Dict(keys=keys)):
                yield from _strings(keys)


def to_frame(session: SparkSession, result: Any, name: str, path: str) -> DataFrame:
    """Convert a model's result, a Spark, pandas or pandas-on-Spark data frame, to a Spark data frame."""
    module = type(result).__module__.split(".")
    if module[:2] == ["pyspark", "sql"] and type(result).__name__ == "DataFrame":
        return _of_session(session, result)
    if module[:2] == ["pyspark", "pandas"] and hasattr(result, "to_spark"):
        return _of_session(session, result.to_spark())
    if module[0] == "pandas" and type(result).__name__ == "DataFrame":
        return _from_pandas(session, result, f"Python model '{name}' ({path})")
    raise DbtRuntimeError(
        f"Python model '{name}' ({path}) returned {type(result).__name__}: model(dbt, session) has to return a Spark, "
        "pandas or pandas-on-Spark DataFrame."
    )


def _from_pandas(session: SparkSession, frame: Any, model: str) -> DataFrame:
    for place, column in enumerate(frame.columns):
        wide = _first_too_wide(frame.iloc[:, place])
        if wide is not None:
            raise DbtRuntimeError(
                f"{model}: column {column}: {wide} does not fit into bigint. Convert the column: "
                f"frame['{column}'].map(decimal.Decimal) for a decimal, .astype(float) or .astype(str)."
            )
    if frame.empty:
        return session.createDataFrame([], _schema_of(frame, model))
    # Arrow transfers the columns with their types and without a Python worker.
    session.conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")
    return session.createDataFrame(with_null_strings(frame))


def _first_too_wide(column: Any) -> int | None:
    """The first integer beyond bigint (uint64, Python's int), which PySpark would turn into NULL."""
    integers = (
        int(value)
        for value in (column if column.dtype.kind in "uO" else ())
        if not isinstance(value, bool) and isinstance(value, numbers.Integral)
    )
    return next((integer for integer in integers if integer not in INTEGERS["bigint"]), None)


def _schema_of(frame: Any, model: str) -> StructType:
    """The schema of a pandas frame without rows, which PySpark cannot infer."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema

    if not len(frame.columns):
        raise DbtRuntimeError(
            f"{model} returned a data frame without columns. Return one with the model's columns and no rows, such as "
            "frame.iloc[:0] of a data frame that has them."
        )
    return from_arrow_schema(pa.Schema.from_pandas(frame, preserve_index=False))


def with_null_strings(frame: Any) -> Any:
    """Replace missing strings of a pandas data frame with None.

    In pandas 3 they are NaN, which PySpark turns into the string 'nan' if Arrow cannot be used.
    """
    texts = [place for place, kind in enumerate(frame.dtypes) if type(kind).__name__ == "StringDtype"]
    if not texts:
        return frame
    changed = frame.copy(deep=False)
    for place in texts:
        column = frame.iloc[:, place]
        changed.isetitem(place, column.astype(object).where(column.notna(), None))
    return changed


def _error_text(exc: BaseException, where: str) -> str:
    """A short message for an exception, with its location; if an import failed, with what to install."""
    if type(exc).__module__.startswith(("pyspark.", "py4j.")):
        text = messages.shorten(messages.error_text(exc), where=where)
    else:
        text = f"{type(exc).__name__}: {exc}\n{where}"
    install = installation.remedy(str(exc))
    if isinstance(exc, ModuleNotFoundError) and not install:
        install = f"Install it for the Python that runs dbt: {sys.executable} -m pip install …"
    return "\n".join(filter(None, [text, install]))


def _of_session(session: SparkSession, frame: DataFrame) -> DataFrame:
    """Move a data frame to this session: pandas on Spark creates frames in the first session of the process."""
    if frame.sparkSession is session:
        return frame
    from pyspark.sql import DataFrame

    # The frame's own class, because Spark 4 moved it to a different package.
    dataset: Any = reduce(getattr, frame._jdf.getClass().getName().split("."), session._jvm)
    return DataFrame(dataset.ofRows(session._jsparkSession, frame._jdf.queryExecution().analyzed()), session)
