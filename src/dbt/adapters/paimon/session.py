"""`method: session`: Spark embedded in dbt's process, one JVM for the process and one session for each dbt thread."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon import java, jvm, metastores, packages, sqlite_catalogs, views
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.data_types import type_text
from dbt.adapters.paimon.spark_conf import EXTENSIONS, spark_conf
from dbt.adapters.paimon.sql_text import statements
from dbt.adapters.paimon.timestamps import on_session_clock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = AdapterLogger("Paimon")

# Settings of Spark SQL that belong to the JVM; a session cannot have its own.
_STATIC = frozenset({"spark.sql.catalogImplementation", "spark.sql.extensions", "spark.sql.warehouse.dir"})
_START = RLock()
# Seconds; a job that starts after Ctrl-C lives no longer.
_CANCEL_EVERY = 0.2


class SessionCursor:
    """A DB-API-like cursor over one Spark session; rows stay in Spark until they are fetched."""

    def __init__(self, session: SparkSession, job_tag: str) -> None:
        self._session = session
        self._job_tag = job_tag
        self._frame: DataFrame | None = None
        self._rows: list[Any] | None = None

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        """Run a statement; a command runs at once, a query when `fetchall`, `fetchmany` or `drain` is called.

        Args:
            sql: one statement, or a script of several (a model's SQL header before its query): all but the last are
                run to their end, and the last one's rows are the cursor's.
            bindings: values of the last statement's `?` markers, passed as typed literals and never pasted into the
                text.
        """
        *before, last = statements(sql.strip())
        for statement in before:
            self._run(statement)
            self.drain()
        self._run(last, bindings)

    def _run(self, statement: str, bindings: Sequence[Any] | None = None) -> None:
        self._rows = None
        self._session.sparkContext.addJobTag(self._job_tag)
        views.DIRECTORY.create_mentioned(statement, self._run_for_views)
        if bindings:
            self._frame = self._session.sql(statement, args=list(bindings))
        else:
            self._frame = self._session.sql(statement)

    @property
    def frame(self) -> DataFrame:
        """The frame of the last statement."""
        assert self._frame is not None
        return self._frame

    def _run_for_views(self, sql: str) -> list[Any]:
        try:
            return self._session.sql(sql).collect()
        except Exception as exc:
            logger.debug(f"Not done for the views of this session: {sql}\n{exc}")
            raise

    def drain(self) -> None:
        """Run a query for its effects and its errors, keeping no row of it on the driver."""
        if self._frame is not None and not self._is_command():
            self._frame.write.format("noop").mode("overwrite").save()

    def _is_command(self) -> bool:
        assert self._frame is not None
        executed = self._frame._jdf.queryExecution().commandExecuted()
        return str(executed.getClass().getSimpleName()) in ("CommandResult", "LocalRelation")

    @property
    def description(self) -> list[tuple[str, str, None, None, None, None, bool]]:
        """Name, Spark type text and nullability of each column, as DB-API 2.0 lays them out."""
        if self._frame is None:
            return []
        return [
            (f.name, type_text(f.dataType), None, None, None, None, f.nullable)
            for f in self._frame.schema.fields
        ]

    def fetchall(self) -> list[Any]:
        """All rows."""
        if self._rows is None:
            self._rows = self._brought(lambda frame: frame.collect())
        rows, self._rows = self._rows, []
        return rows

    def fetchmany(self, size: int) -> list[Any]:
        """The first `size` rows; no more than that is brought to the driver."""
        if self._rows is None and self._frame is not None:
            return self._brought(lambda frame: frame.take(size))
        rows = self._rows or []
        self._rows = rows[size:]
        return rows[:size]

    def fetchone(self) -> Any:
        """The next row, or None."""
        if self._rows is None:
            self._rows = self._brought(lambda frame: frame.collect())
        return self._rows.pop(0) if self._rows else None

    def _brought(self, how: Callable[[DataFrame], list[Any]]) -> list[Any]:
        if self._frame is None:
            return []
        return [tuple(row) for row in how(on_session_clock(self._frame))]

    def close(self) -> None:
        """Let go of the last result."""
        self._frame = self._rows = None


class SessionHandle:
    """What dbt holds for a thread: a Spark session that no other thread uses."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._job_tag = f"dbt-{uuid.uuid4().hex[:12]}"
        self._closed = Event()

    def cursor(self) -> SessionCursor:
        """A cursor over this session."""
        return SessionCursor(self.session, self._job_tag)

    def load(self, name: str) -> DataFrame:
        """The frame of a rendered relation, also of a view that this session has not met yet."""
        cursor = self.cursor()
        cursor.execute(f"select * from {name}")
        return cursor.frame

    def cancel(self) -> None:
        """Stop the Spark jobs of this thread, also those that the statement in progress has yet to start.

        What needs no job goes on: the two renames of a swap are not torn apart.
        """
        # Spark 3.5 cancels the jobs of a tag that run now, and no later one.
        Thread(target=self._cancel_until_closed, name="cancel", daemon=True).start()

    def _cancel_until_closed(self) -> None:
        with suppress(Exception):
            while not self._closed.is_set():
                self.session.sparkContext.cancelJobsWithTag(self._job_tag)
                self._closed.wait(_CANCEL_EVERY)

    def close(self) -> None:
        """Spark lives as long as the process, other threads use it; only a cancelling comes to its end."""
        self._closed.set()

    def rollback(self) -> None:
        """Nothing to do: every statement is a commit of its own."""

    @contextmanager
    def configured(self, conf: Mapping[str, str]) -> Iterator[None]:
        """Set Spark settings for the statements inside, and put back what was there, also after an error."""
        before = {key: self.session.conf.get(key, None) for key in conf}
        try:
            for key, value in conf.items():
                self.session.conf.set(key, value)
            yield
        finally:
            for key, old in before.items():
                if old is None:
                    self.session.conf.unset(key)
                else:
                    self.session.conf.set(key, old)


def open_session(credentials: PaimonCredentials) -> SessionHandle:
    """Give a thread its own session, starting Spark when this is the first.

    Raises:
        DbtRuntimeError: no usable Java, jars that cannot be resolved, or a running Spark without Paimon's extensions.
    """
    with _START:
        root, conf = _start(credentials)
    session = root.newSession()
    # The catalogs are set for the session, so that two profiles may share a JVM (tests, notebooks).
    for key, value in conf.items():
        own = key.startswith("spark.sql.") and key not in _STATIC
        if own and session.conf.get(key, None) != value:
            session.conf.set(key, value)
    # Loaded here and not by the first query: Paimon's check of the session's settings fails inside a view, where Spark
    # shows it those of the view's making; and a catalog that cannot be opened is told before any model runs.
    session._jvm.SparkSession.setActiveSession(session._jsparkSession)  # type: ignore[union-attr]
    session.catalog.setCurrentCatalog(credentials.catalog)
    for catalog in credentials.spark_catalogs:
        if catalog.jdbc_protocol == "sqlite":
            sqlite_catalogs.close_queries(session, catalog.name)
    return SessionHandle(session)


def check_warehouse(credentials: PaimonCredentials) -> None:
    """Make the folder of a local warehouse, and see that it can be written.

    Raises:
        DbtRuntimeError: it cannot, and why; Paimon would say that a schema is not found.
    """
    folder = credentials.local_warehouse
    if folder is None:
        return
    reason = ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        reason = exc.strerror or str(exc)
    else:
        reason = "" if os.access(folder, os.W_OK | os.X_OK) else "Permission denied"
    if reason:
        raise DbtRuntimeError(
            f"The warehouse {folder} cannot be written: {reason}. Name a folder that you may write under `warehouse` "
            "in the profile, or have this one's permissions changed."
        )


def _start(credentials: PaimonCredentials) -> tuple[SparkSession, dict[str, str]]:
    check_warehouse(credentials)
    metastores.check_reachable(credentials.spark_catalogs)
    java.prepare_java(_pyspark_version())
    plan = packages.plan_packages(credentials, _pyspark_version())
    conf = spark_conf(credentials, plan)

    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is None:
        jvm.launch(conf, plan, credentials.secrets)
    builder = SparkSession.builder
    # What a gateway was launched with is not known to a builder that somebody else made: give it all.
    for key, value in conf.items():
        builder = builder.config(key, value)
    root = builder.getOrCreate()
    if EXTENSIONS not in (root.sparkContext.getConf().get("spark.sql.extensions") or ""):
        raise DbtRuntimeError(
            "A Spark session without Paimon's extensions is already running in this process. "
            f"Stop it, or start it with spark.sql.extensions={EXTENSIONS}."
        )
    return root, conf


def _pyspark_version() -> str:
    from importlib.metadata import version

    return version("pyspark")
