"""`method: session`: an embedded Spark in dbt's process, with one JVM and a session for each dbt thread."""

from __future__ import annotations

import os
from functools import cache, cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.catalogs import jdbc, reachable
from dbt.adapters.paimon.errors.warnings import warn
from dbt.adapters.paimon.machine import installation
from dbt.adapters.paimon.metadata import commits, procedures, snapshots
from dbt.adapters.paimon.metadata.classes import paimon_table
from dbt.adapters.paimon.spark import cluster_managers, job_metrics, kubernetes, scans, warehouse_version
from dbt.adapters.paimon.spark.conf import EXTENSIONS
from dbt.adapters.paimon.spark.embedded import EmbeddedSpark
from dbt.adapters.paimon.spark.launch import jvm, resolved_jars
from dbt.adapters.paimon.spark.pyspark_handle import PySparkCursor, PySparkHandle
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.sql import predicates

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from dbt.adapters.paimon.metadata.table_name import TableName

_START = RLock()
# The settings that this process's Spark was started with; every session inherits them.
_STARTED_WITH: dict[str, str] = {}
# A runtime for which this process's Spark was started or checked -> the first session of that Spark.
_ROOTS: WeakKeyDictionary[Runtime, SparkSession] = WeakKeyDictionary()

# SparkContext.SPARK_JOB_TAGS: separated by commas.
_JOB_TAGS: Final = "spark.job.tags"


class SessionCursor(PySparkCursor):
    """A cursor over a session of the embedded Spark."""

    def _tag_thread(self) -> None:
        context = self._session.sparkContext
        # Not getJobTags(): the end of a Java iterator raises an exception in py4j, which takes 15 to 40 ms.
        tags = (context.getLocalProperty(_JOB_TAGS) or "").split(",")
        self._tags.put_on(tags, context.removeJobTag, context.addJobTag)

    def _send(self, statement: str, bindings: list[Any] | None) -> DataFrame:
        return self._session.sql(statement, args=bindings) if bindings else self._session.sql(statement)

    def _is_command(self) -> bool:
        executed = self.frame._jdf.queryExecution().commandExecuted()
        return str(executed.getClass().getSimpleName()) in ("CommandResult", "LocalRelation")


class SessionHandle(PySparkHandle):
    """A dbt thread's session of the embedded Spark. Metadata comes from Paimon's own classes, without SQL."""

    _described = ("", "")

    def cursor(self) -> SessionCursor:
        return SessionCursor(self.session, self._tags, self.view_settings)

    def _settings(self) -> dict[str, str]:
        return self.embedded().settings()

    def references(self, expression: str) -> list[predicates.Reference]:
        return predicates.by_spark(self.session, expression)

    def _cancel_running(self) -> None:
        self.session.sparkContext.cancelJobsWithTag(self._tags.own)

    def describe(self, node: str, description: str) -> None:
        """Set the group and description of this thread's jobs in the Spark UI, event log and History Server."""
        if self._described != (node, description):
            self.session.sparkContext.setJobGroup(node, description)
            self._described = (node, description)

    def committed(self, table: TableName, user: str, since: float, whole: bool) -> commits.Committed | None:
        return commits.by_classes(self.session, table, user, since)

    def snapshot_range(self, table: TableName) -> snapshots.SnapshotRange:
        return snapshots.range_by_classes(paimon_table(self.session, table))

    def changes_since(self, table: TableName, before: snapshots.SnapshotRange) -> procedures.ProcedureResult:
        return procedures.effect_by_classes(self.session, table, before)

    def statement_metrics(self, statement_id: str) -> job_metrics.JobMetrics | None:
        return job_metrics.by_tag(self.session, statement_id)

    def embedded(self) -> EmbeddedSpark:
        return EmbeddedSpark(self.session, self.configured, self.frame_of)

    def scanned_tables(self, sql: str) -> tuple[scans.Scan, ...]:
        return scans.by_plan(self.frame_of(sql))

    def progress(self, since: float) -> job_metrics.Progress:
        return job_metrics.job_progress(self.session, self._tags.own, since)

    def statement_begins(self) -> None:
        """Remember the JVM thread that runs this thread's calls: PySpark pins a JVM thread to each Python thread."""
        self._thread = self._threads.currentThread()

    def statement_ended(self) -> None:
        """Clear an interrupt that came too late, so that it does not end the next statement."""
        self._threads.interrupted()

    @cached_property
    def _threads(self) -> Any:
        return self.session._jvm.java.lang.Thread  # type: ignore[union-attr]

    def is_busy(self) -> bool:
        context: Any = self.session.sparkContext._jsc.sc()
        store, active = context.statusStore(), context.statusTracker().getActiveJobIds()
        return any(store.job(job).jobTags().contains(self._tags.own) for job in active)

    def interrupt(self) -> None:
        """Cancel this thread's Spark jobs, and interrupt the JVM thread that waits between them."""
        self._cancel_running()
        self._thread.interrupt()


def open_session(runtime: Runtime) -> SessionHandle:
    """Give a thread its own session; the first one starts Spark.

    Raises:
        DbtRuntimeError: Java or jars are missing, or a Spark without Paimon's extensions is already running.
    """
    session = root_session(runtime).newSession()
    credentials = runtime.credentials
    # Catalogs are configured per session, because profiles that share a JVM (tests, notebooks) may define a catalog of
    # the same name differently.
    ours = tuple(f"spark.sql.catalog.{catalog.name}." for catalog in credentials.spark_catalogs)
    for key in _STARTED_WITH:
        if key.startswith(ours) and key not in runtime.conf:
            session.conf.unset(key)
    for key, value in runtime.session_conf.items():
        if session.conf.get(key, None) != value:
            session.conf.set(key, value)
    # Load the catalogs now, not in the first query: inside a view, Paimon's check of the session settings would see the
    # settings from when the view was created. This also reports a broken catalog before any model runs.
    session._jvm.SparkSession.setActiveSession(session._jsparkSession)  # type: ignore[union-attr]
    catalogs = session._jsparkSession.sessionState().catalogManager()
    for catalog in credentials.spark_catalogs:
        if catalog.metastore == "jdbc":
            jdbc.load(session, catalog)
        else:
            catalogs.catalog(catalog.name)
    session.catalog.setCurrentCatalog(credentials.catalog)
    warehouse_version.check(session, credentials)
    return SessionHandle(session)


def root_session(runtime: Runtime) -> SparkSession:
    """The first session of this process's Spark, which is started if necessary and checked once per target."""
    with _START:
        root = _ROOTS.get(runtime)
        if root is None or root.sparkContext._jsc is None:
            require_startable(runtime)
            _ROOTS[runtime] = root = _started(runtime)
        return root


def _started(runtime: Runtime) -> SparkSession:
    """The first session of the running or a new Spark; refuses a Spark without Paimon's extensions."""
    from pyspark import SparkContext

    running = SparkContext._active_spark_context
    root = start_spark(runtime)
    # Not getConf(), which takes a round trip to the JVM for each setting.
    started_with = root.sparkContext._conf
    if root.sparkContext is not running:
        resolved_jars.remember(runtime.jars, started_with.get("spark.jars"))
    if EXTENSIONS not in (started_with.get("spark.sql.extensions") or ""):
        raise DbtRuntimeError(
            "A Spark session without Paimon's extensions is already running in this process. "
            f"Stop it, or start it with spark.sql.extensions={EXTENSIONS}."
        )
    return root


def require_startable(runtime: Runtime) -> None:
    """Check what can be checked before a JVM starts: installation, jars, settings, storage, cluster, metastores."""
    credentials = runtime.credentials
    installation.require_own_spark(runtime.spark, os.environ)
    master = runtime.conf["spark.master"]
    check_warehouse(runtime)
    cluster_managers.require_master(master)
    _warn_once(cluster_managers.unread_settings(credentials.spark_config))
    reachable.check_metastores(credentials.spark_catalogs)


def check_warehouse(runtime: Runtime) -> None:
    """Create the folder of a local warehouse, and check that it is writable; check that other storage answers.

    Without this check, Paimon would report a missing schema.
    """
    for storage in runtime.storages:
        reachable.check_storage(storage)
    folder = runtime.credentials.local_warehouse
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        reason = "" if os.access(folder, os.W_OK | os.X_OK) else "Permission denied"
    except OSError as exc:
        reason = exc.strerror or str(exc)
    if reason:
        raise DbtRuntimeError(
            f"The warehouse {folder} cannot be written: {reason}. Set `warehouse` in the profile to a folder "
            "that you can write to, or change this one's permissions."
        )


@cache
def _warn_once(texts: tuple[str, ...]) -> None:
    for text in texts:
        warn(text)


def start_spark(runtime: Runtime, *more_secrets: str) -> SparkSession:
    """Return a session of this process's Spark, which is started if necessary; its log shows no secrets."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    conf = runtime.conf
    starts = SparkContext._active_spark_context is None
    if starts:
        jvm.launch(conf, (*runtime.credentials.secrets, *more_secrets), runtime.java)
        _STARTED_WITH.clear()
        _STARTED_WITH.update(conf)
        kubernetes.require_rights(SparkContext._jvm, conf)
    builder = SparkSession.builder
    # The builder does not know the settings with which the gateway was launched, so pass all of them.
    for key, value in conf.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    if starts:
        kubernetes.after_start(session.sparkContext, conf)
    return session
