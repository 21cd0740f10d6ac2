"""Base classes of handles and cursors over a PySpark session, embedded or of Spark Connect."""

from __future__ import annotations

import importlib
import uuid
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.capabilities.version_numbers import DEFAULT_PAIMON_VERSION
from dbt.adapters.paimon.machine import installation
from dbt.adapters.paimon.spark.handles import Cursor, Handle
from dbt.adapters.paimon.sql import views
from dbt.adapters.paimon.sql.data_types import type_text
from dbt.adapters.paimon.sql.text import bound, quoted
from dbt.adapters.paimon.sql.timestamps import on_session_clock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = AdapterLogger("Paimon")
# Prefix of the tags of all handles.
_TAG_PREFIX = "dbt-"
# PySpark's loggers of failed queries, from Spark 4 on (pyspark.errors.exceptions.base).
_ERROR_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")


class Tags:
    """Spark tags of a handle: `own` for all its statements, one for each statement, and `node` unless it is ''."""

    def __init__(self) -> None:
        self.own = f"{_TAG_PREFIX}{uuid.uuid4().hex[:12]}"
        self.statement = ""
        self.node = ""
        self._statements = 0

    def next(self) -> None:
        """Begin a statement."""
        self._statements += 1
        self.statement = f"{self.own}-{self._statements}"

    def put_on(self, thread: Iterable[str], remove: Callable[[str], None], add: Callable[[str], None]) -> None:
        """Tag this thread, which has the tags `thread`, and remove the tags of earlier statements and other handles."""
        for tag in [tag for tag in thread if tag.startswith(_TAG_PREFIX) and tag != self.own]:
            remove(tag)
        add(self.own)
        add(self.statement)
        if self.node:
            add(f"{_TAG_PREFIX}{self.node}")


@lru_cache(maxsize=1)
def _supports_parameters() -> bool:
    versions = Versions.of(DEFAULT_PAIMON_VERSION, spark=installation.spark_version())
    return versions.supports(Capability.STATEMENT_PARAMETERS)


class PySparkCursor(Cursor):
    """A cursor whose last statement is a PySpark data frame."""

    def __init__(
        self, session: SparkSession, tags: Tags, view_settings: Callable[[], AbstractContextManager[views.Settings]]
    ) -> None:
        self._session = session
        self._tags = tags
        self._view_settings = view_settings
        self._frame: DataFrame | None = None
        # The remaining rows; None before they are fetched.
        self._rows: list[Any] | None = None
        # The number of rows that `fetchmany` has returned before the rest were fetched.
        self._taken = 0

    @abstractmethod
    def _tag_thread(self) -> None:
        """Set the statement's tags on this thread (see `Tags.put_on`)."""

    @abstractmethod
    def _send(self, statement: str, bindings: list[Any] | None) -> DataFrame:
        """Send one statement; a command runs at once."""

    @abstractmethod
    def _is_command(self) -> bool:
        """Whether the last statement was a command, which has already run."""

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        self._tags.next()
        self._tag_thread()
        super().execute(sql, bindings)

    def _run(self, statement: str, bindings: Sequence[Any] | None = None) -> None:
        self._rows, self._taken = None, 0
        if bindings and not _supports_parameters():
            statement, bindings = bound(statement, bindings), None
        with self._view_settings() as settings:
            views.DIRECTORY.create_mentioned(statement, self._run_for_views, settings)
        self._frame = self._send(statement, list(bindings) if bindings else None)

    def _run_for_views(self, sql: str) -> list[Any]:
        try:
            return self._session.sql(sql).collect()
        except Exception as exc:
            logger.debug(f"Failed for the views of this session: {sql}\n{exc}")
            raise

    @property
    def frame(self) -> DataFrame:
        """The data frame of the last statement."""
        assert self._frame is not None
        return self._frame

    def drain(self) -> None:
        if self._frame is not None and not self._is_command():
            self._frame.write.format("noop").mode("overwrite").save()

    @property
    def description(self) -> list[tuple[str, str, None, None, None, None, bool]]:
        if self._frame is None:
            return []
        return [(f.name, type_text(f.dataType), None, None, None, None, f.nullable) for f in self._frame.schema.fields]

    def fetchall(self) -> list[Any]:
        rows, self._rows = self._remaining(), []
        return rows

    def fetchmany(self, size: int) -> list[Any]:
        if self._rows is None and not self._taken:
            # Only these rows leave Spark. If more are fetched, the query runs again.
            rows = self._tuples(lambda frame: frame.take(size))
            self._taken = len(rows)
            self._rows = None if len(rows) == size else []
            return rows
        rows = self._remaining()
        self._rows = rows[size:]
        return rows[:size]

    def fetchone(self) -> Any:
        rows = self._remaining()
        return rows.pop(0) if rows else None

    def _remaining(self) -> list[Any]:
        if self._rows is None:
            self._rows = self._tuples(lambda frame: frame.collect())[self._taken :]
        return self._rows

    def _tuples(self, fetch: Callable[[DataFrame], list[Any]]) -> list[Any]:
        if self._frame is None:
            return []
        return [tuple(row) for row in fetch(on_session_clock(self._frame))]

    def close(self) -> None:
        self._frame = self._rows = None


@cache
def _silence_error_loggers() -> None:
    """Spark 4 would write each error to stderr, with Java's stack trace and unmasked; dbt reports it."""
    with suppress(ImportError):
        module = importlib.import_module("pyspark.logger")
        for name in _ERROR_LOGGERS:
            module.PySparkLogger.getLogger(name).disabled = True


class PySparkHandle(Handle):
    """A handle over a PySpark session."""

    def __init__(self, session: SparkSession) -> None:
        super().__init__()
        _silence_error_loggers()
        self._session = session
        self._tags = Tags()

    @property
    def session(self) -> SparkSession:
        return self._session

    @abstractmethod
    def cursor(self) -> PySparkCursor:
        """A cursor over this session."""

    def frame_of(self, sql: str, bindings: Sequence[Any] | None = None) -> DataFrame:
        """The data frame of a statement."""
        cursor = self.cursor()
        cursor.execute(sql, bindings)
        return cursor.frame

    def load(self, name: str) -> DataFrame:
        return self.frame_of(f"select * from {name}")

    def create_temporary_view(self, name: str, query: str, bindings: Sequence[Any]) -> None:
        self.frame_of(query, bindings).createOrReplaceTempView(quoted(name))

    def _value_of(self, key: str) -> str | None:
        value = self.session.conf.get(key, None)
        return None if value is None else str(value)

    def _set(self, key: str, value: str | None) -> None:
        if value is None:
            self.session.conf.unset(key)
        else:
            self.session.conf.set(key, value)

    def is_session_setting(self, key: str) -> bool:
        return bool(self.session.conf.isModifiable(key))

    @property
    def statement_id(self) -> str:
        """The tag of this thread's last statement."""
        return self._tags.statement
