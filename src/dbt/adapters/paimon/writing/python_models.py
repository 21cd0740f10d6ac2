"""Runs Python models in dbt's process on the thread's Spark session; the result is then written like a query."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.machine import installation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dbt.adapters.paimon.spark.handles import Handle


def stage(handle: Handle, code: str, model: Mapping[str, Any], view_name: str) -> None:
    """Run a Python model and register what it returns as a temporary view of the session.

    Args:
        handle: this thread's handle; the model gets its Spark session, and data frames from dbt.ref and dbt.source.
        code: the compiled model, followed by dbt's part (`py_script_postfix`).
        model: the node in the manifest.
        view_name: the name of the temporary view.

    Raises:
        DbtRuntimeError: the model raised (file, line and reason) or returned no data frame; or there is no local
            session.
    """
    session = handle.session
    path = model.get("original_file_path") or model["name"]
    # `spark` is also defined, as in a notebook.
    namespace: dict[str, Any] = {"__name__": f"dbt_model_{model['name']}", "spark": session}
    try:
        exec(compile(code, path, "exec"), namespace)  # noqa: S102 - the model is the project's own code
        result = namespace["model"](namespace["dbtObj"](handle.load), session)
    except Exception as exc:
        line = _line_in(path, exc)
        raise DbtRuntimeError(
            f"Python model '{model['name']}' ({path}{f', line {line}' if line else ''}): {_error_text(exc)}"
        ) from exc
    to_frame(session, result, model["name"], path).createOrReplaceTempView(view_name)


def to_frame(session: SparkSession, result: Any, name: str, path: str) -> DataFrame:
    """A Spark data frame from what a model returned: a Spark, pandas or pandas-on-Spark data frame.

    Raises:
        DbtRuntimeError: the model returned something else, such as None.
    """
    frame: DataFrame
    module = type(result).__module__.split(".")
    if module[:2] == ["pyspark", "sql"] and type(result).__name__ == "DataFrame":
        return _of_session(session, result)
    if module[:2] == ["pyspark", "pandas"] and hasattr(result, "to_spark"):
        return _of_session(session, result.to_spark())
    if module[0] == "pandas" and type(result).__name__ == "DataFrame":
        # Arrow transfers the columns with their types, and without a Python worker.
        session.conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")
        frame = session.createDataFrame(texts_with_nulls(result))
        return frame
    raise DbtRuntimeError(
        f"Python model '{name}' ({path}) returned {type(result).__name__}: model(dbt, session) has to return a Spark, "
        "pandas or pandas-on-Spark DataFrame."
    )


def texts_with_nulls(frame: Any) -> Any:
    """A pandas data frame with None for missing texts.

    pandas 3 has NaN there, which PySpark turns into the text 'nan' where Arrow cannot be used.
    """
    texts = [place for place, kind in enumerate(frame.dtypes) if type(kind).__name__ == "StringDtype"]
    if not texts:
        return frame
    changed = frame.copy(deep=False)
    for place in texts:
        column = frame.iloc[:, place]
        changed.isetitem(place, column.astype(object).where(column.notna(), None))
    return changed


def _error_text(exc: Exception) -> str:
    """A short message of an exception; what to install, if an import failed."""
    if type(exc).__module__.startswith(("pyspark.", "py4j.")):
        text = messages.shorten(messages.error_text(exc))
    else:
        text = f"{type(exc).__name__}: {exc}"
    install = installation.remedy(str(exc))
    if isinstance(exc, ModuleNotFoundError) and not install:
        install = f"Install it for the Python that runs dbt: {sys.executable} -m pip install …"
    return "\n".join(filter(None, [text, install]))


def _of_session(session: SparkSession, frame: DataFrame) -> DataFrame:
    """The data frame in this session: pandas on Spark creates its frames in the first session of the process."""
    if frame.sparkSession is session:
        return frame
    from pyspark.sql import DataFrame

    dataset: Any = session._jvm.org.apache.spark.sql.Dataset  # type: ignore[union-attr]
    return DataFrame(dataset.ofRows(session._jsparkSession, frame._jdf.queryExecution().analyzed()), session)


def _line_in(path: str, exc: BaseException) -> int | None:
    lines = [frame.lineno for frame in traceback.extract_tb(exc.__traceback__) if frame.filename == path]
    return lines[-1] if lines else None
