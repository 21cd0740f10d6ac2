"""The connections of dbt's threads to Spark: opens them, runs statements, and cancels them."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.exceptions import FailedToConnectError
from dbt.adapters.spark.connections import SparkConnectionManager
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.catalogs import reachable
from dbt.adapters.paimon.concurrency import conflicts, leases
from dbt.adapters.paimon.connection_methods import PaimonConnectionMethod
from dbt.adapters.paimon.deferred_cache_fill import DeferredCacheFill
from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.errors.warnings import warn
from dbt.adapters.paimon.machine import installation, signals
from dbt.adapters.paimon.metadata.commits import COMMIT_USER_CONF
from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.spark import progress, responses, sorted_compaction, statement_timeout
from dbt.adapters.paimon.spark.handles import Handle
from dbt.adapters.paimon.spark.launch import jvm_exit
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.sql import null_filters, users_statement
from dbt.adapters.paimon.sql.null_filters import LostNulls
from dbt.adapters.paimon.sql.statements import CREATE_BRANCH, SORTED_COMPACTION, Statement
from dbt.adapters.paimon.sql.text import is_empty, statements, takes_the_rest

if TYPE_CHECKING:
    import agate

logger = AdapterLogger("Paimon")

# Seconds to wait for a server after the connection was lost, and between attempts to reach it.
_RECONNECT_TIMEOUT = 60.0
_RECONNECT_PAUSE = 2.0


class PaimonConnectionManager(SparkConnectionManager):
    """Opens a handle for the profile's `method`, and runs each statement eagerly on it."""

    TYPE = "paimon"

    def __init__(self, profile: Any, mp_context: Any) -> None:
        super().__init__(profile, mp_context)
        self.runtime = Runtime(profile.credentials)
        self._nodes: dict[Any, str] = {}
        self.deferred_cache_fill = DeferredCacheFill()
        # Node and condition of the warnings that were logged.
        self._warned: set[tuple[str | None, LostNulls]] = set()
        signals.install(self.cancel_open)

    @contextmanager
    def exception_handler(self, sql: str) -> Generator[None, None, None]:
        """Raise Spark's exceptions with a short message, and write the stack trace to the debug log."""
        try:
            yield
        except DbtRuntimeError:
            raise
        except Exception as exc:
            logger.debug(f"Error while running:\n{sql}\n{messages.error_text(exc)}")
            raise self._lost_service(exc) or messages.StatementError(messages.error_text(exc), sql.strip()) from exc

    def _lost_service(self, exc: Exception) -> DbtRuntimeError | None:
        if error := jvm_exit.error(exc):
            return error
        # Hive's own errors do not contain the address of the metastore.
        if messages.is_lost_metastore(messages.error_text(exc)):
            unreachable = reachable.unreachable_metastores(self.runtime.credentials.spark_catalogs)
            if unreachable:
                return FailedToConnectError(
                    f"{unreachable} Everything committed before that is kept; the next run continues from there."
                )
        return None

    def open(self, connection: Connection) -> Connection:  # type: ignore[override]
        """Open a thread's handle; errors contain the reason and the remedy."""
        if connection.state == ConnectionState.OPEN:
            return connection
        try:
            connection.handle = open_handle(self.runtime)
        except DbtRuntimeError:
            connection.state = ConnectionState.FAIL
            raise
        except Exception as exc:
            connection.state = ConnectionState.FAIL
            text = messages.shorten(messages.error_text(exc))
            if isinstance(exc, ImportError) and (install := installation.remedy(text)):
                raise FailedToConnectError(f"{text}\n{install}") from exc
            raise self._lost_service(exc) or FailedToConnectError(text) from exc
        connection.state = ConnectionState.OPEN
        return connection

    def begin(self) -> None:
        """Do nothing: there are no transactions, and dbt would open a session at the end of a run just to end one."""

    def cleanup_all(self) -> None:
        super().cleanup_all()
        signals.restore()

    def reopen(self) -> None:
        """Replace this thread's handle once the lost server answers again; after a minute, raises the last error."""
        connection = self.get_thread_connection()
        until = time.monotonic() + _RECONNECT_TIMEOUT
        while True:
            try:
                handle = open_handle(self.runtime)
                break
            except Exception:
                if time.monotonic() > until:
                    raise
                time.sleep(_RECONNECT_PAUSE)
        connection.handle.close()
        connection.handle = handle

    def describe_node(self, text: str) -> None:
        """Set the description of this thread's jobs, such as `incremental, upsert`; '' clears it."""
        with self.lock:
            self._nodes[self.get_thread_identifier()] = text

    def add_query(self, sql: str | Statement, *arguments: Any, **more: Any) -> tuple[Connection, Any]:
        """Override: also completes new branches, and makes sorted compactions safe (see `sorted_compaction`)."""
        statement = _statement(sql)
        with self._run_by_paimon(statement) as sent:
            connection, cursor = super().add_query(sent, *arguments, **more)
        if statement.kind == CREATE_BRANCH:
            self._complete_branches(connection, statement.sql)
        return connection, cursor

    def _run_by_paimon(self, statement: Statement) -> AbstractContextManager[str]:
        """Run a statement with Paimon's classes if Spark SQL cannot do so safely; yields the SQL still to be sent."""
        if statement.kind == SORTED_COMPACTION:
            return self._sorted_compaction(statement)
        if statement.writes_rows:
            connection = self.get_thread_connection()
            with self.exception_handler(statement.sql):
                connection.handle.embedded().write_rows(statement.sql, TableName(*statement.target))
            return nullcontext(sorted_compaction.RESULT)
        return nullcontext(statement.sql)

    @contextmanager
    def _sorted_compaction(self, statement: Statement) -> Generator[str, None, None]:
        """Run a sorted compaction without losing other programs' rows; yields the SQL that is still to be sent."""
        connection, sql = self.get_thread_connection(), statement.sql
        credentials, handle = self.runtime.credentials, connection.handle
        versions, spark = self.runtime.versions, handle.embedded()
        needed, done = Capability.COMPACT_ORDER_CHECKS_APPENDS, False
        if statement.target and versions.supports(needed):
            table = TableName.of(statement.target, credentials.catalog, credentials.schema)
            with self.exception_handler(sql):
                last = handle.snapshot_range(table).last
            with handle.configured({sorted_compaction.LAST_SAFE_SNAPSHOT: str(last)} if last else {}):
                yield sql
            return
        if spark is not None and versions.supports(Capability.COMPACT_ORDER_IN_PROCESS):
            with self.exception_handler(sql):
                done = spark.sort(sql)
        if not done:
            why = versions.explain(needed) or "Pass the table in the argument `table`."
            warn(f"compact with order_strategy: rows that another program appends while it runs are lost. {why}")
        yield sorted_compaction.RESULT if done else sql

    def _complete_branches(self, connection: Connection, sql: str) -> None:
        """Copy the schemas that Paimon 0.9 omits when it creates a branch."""
        handle: Any = connection.handle
        spark = handle.embedded()
        if spark is None or self.runtime.versions.supports(Capability.BRANCHES_WITH_ALL_SCHEMAS):
            return
        try:
            for statement in statements(sql):
                spark.complete_branch(statement)
        except Exception as exc:  # noqa: BLE001 - reading a branch that lacks schemas fails with a message
            logger.debug(f"A branch may lack schemas of its table:\n{sql}\n{messages.error_text(exc)}")

    def execute(
        self, sql: str | Statement, auto_begin: bool = False, fetch: bool = False, limit: int | None = None
    ) -> tuple[AdapterResponse, agate.Table]:
        """Run one statement to completion, even a query whose rows are not fetched.

        Args:
            sql: one Spark SQL statement; a plain string comes from a user (see `users_statement`).
            auto_begin: ignored, because there are no transactions.
            fetch: whether to return the rows (at most `limit`).
        """
        statement = _statement(sql)
        if is_empty(statement.sql):
            # Spark cannot parse a hook or statement that consists of comments only.
            return AdapterResponse(_message="OK"), _no_rows()
        self._warn_of_lost_nulls(statement.sql)
        if not statement.repeat:
            return self._execute(statement, fetch, limit)
        waits = iter(conflicts.BACK_OFF)
        while True:
            try:
                return self._execute(statement, fetch, limit)
            except DbtDatabaseError as exc:  # noqa: PERF203 - only a few attempts
                if not conflicts.is_conflict(messages.error_text(exc.__cause__ or exc)):
                    raise
                if self._has_committed(statement):
                    logger.info("The rows are committed; only their compaction conflicted with another writer")
                    if statement.completed_by is not None:
                        self.execute(statement.completed_by)
                    statement_id = self.get_thread_connection().handle.statement_id
                    return responses.of_statement(statement.kind, statement_id), _no_rows()
                seconds = next(waits, None)
                if seconds is None:
                    raise
                wait = conflicts.with_jitter(seconds)
                logger.info(f"Another writer committed first: retrying the statement in {wait:.1f} s")
                time.sleep(wait)

    def _has_committed(self, statement: Statement) -> bool:
        """Whether a statement has committed its rows, so that only its compaction conflicted with another writer."""
        if not statement.commit_user or not statement.target:
            return False
        handle: Handle = self.get_thread_connection().handle
        return handle.committed(TableName(*statement.target), statement.commit_user, since=0, whole=False) is not None

    def _add_query_comment(self, sql: str) -> str:
        """Override: put the comment first if a statement would read a comment at its end as part of a value."""
        comment = self.query_header.comment if self.query_header else None
        if comment and comment.append and comment.query_comment and takes_the_rest(sql):
            return f"/* {comment.query_comment.strip()} */\n{sql}"
        return str(super()._add_query_comment(sql))

    def _warn_of_lost_nulls(self, sql: str) -> None:
        """Warn about conditions for which this Paimon version skips files with matching rows, once per node."""
        if not null_filters.may_lose_nulls(sql):
            return
        connection = self.get_thread_connection()
        versions = self.runtime.versions
        if versions.supports(Capability.FILTERS_THAT_KEEP_NULLS):
            return
        for found in null_filters.lost_nulls(sql):
            if (connection.name, found) not in self._warned:
                self._warned.add((connection.name, found))
                warn(
                    f"{connection.name}: `{found.condition}` may miss rows with NULL, because Paimon {versions.paimon} "
                    f"ignores NULL when it skips files by this condition. Write {found.instead}"
                )

    def _execute(self, statement: Statement, fetch: bool, limit: int | None) -> tuple[AdapterResponse, agate.Table]:
        connection = self.get_thread_connection()
        # dbt's connections named list_… fill its cache. In them, `flush` would wait for the listing that uses them.
        if not (connection.name or "").startswith("list_"):
            self.deferred_cache_fill.flush()
        handle: Handle = connection.handle
        node = connection.name or "dbt"
        with self.lock:
            description = self._nodes.get(self.get_thread_identifier(), "")
        handle.describe(node, f"dbt: {node} ({description})" if description else f"dbt: {node}")
        sent = replace(statement, sql=self._add_query_comment(statement.sql))
        user = {COMMIT_USER_CONF: sent.commit_user} if sent.commit_user else {}
        with (
            handle.configured({**sent.conf, **user}),
            statement_timeout.watched(handle, statement.sql, self.runtime.credentials.stall_timeout),
            progress.report_progress(handle, progress.short_name(node)),
            leases.guarded(handle.interrupt, handle.statement_ended),
            _failure_noted(handle),
        ):
            _, cursor = self.add_query(sent, auto_begin=False)
            with self.exception_handler(sent.sql):
                if fetch:
                    table = self.get_result_from_cursor(cursor, limit)
                else:
                    cursor.drain()
                    table = _no_rows()
        return responses.of_statement(statement.kind, handle.statement_id), table


def _statement(sql: str | Statement) -> Statement:
    return sql if isinstance(sql, Statement) else users_statement.read(sql)


def _no_rows() -> agate.Table:
    from dbt_common.clients.agate_helper import empty_table

    return empty_table()


@contextmanager
def _failure_noted(handle: Handle) -> Generator[None, None, None]:
    """Let the handle check whether a failed statement means that the server was lost."""
    try:
        yield
    except BaseException as exc:
        handle.detect_lost_server(exc)
        # After Ctrl-C in the main thread, dbt cancels only the statements of its other threads.
        if handle.is_lost and not isinstance(exc, Exception):
            with suppress(Exception):
                handle.interrupt()
        raise


def open_handle(runtime: Runtime) -> Handle:
    """Open a handle for the profile's `method`; errors contain the reason and the remedy."""
    # Imported here, so that `dbt parse` does not load pyspark, and a server's client does not load JVM start code.
    method = runtime.credentials.method
    if method == PaimonConnectionMethod.CONNECT:
        from dbt.adapters.paimon.spark import connect

        handle: Handle = connect.open_session(runtime)
    elif method == PaimonConnectionMethod.THRIFT:
        from dbt.adapters.paimon.spark import thrift

        handle = thrift.open_session(runtime)
    else:
        from dbt.adapters.paimon.spark import session

        handle = session.open_session(runtime)
    # Spark itself stores the settings of its catalog's views.
    if not runtime.credentials.spark_catalog.is_session_catalog:
        handle.remember_settings()
    return handle
