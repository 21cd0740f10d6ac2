"""Connections of dbt's threads to Spark: opening, running statements, cancelling."""

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
from dbt.adapters.paimon.concurrency import conflicts, leases
from dbt.adapters.paimon.credentials import PaimonConnectionMethod, PaimonCredentials
from dbt.adapters.paimon.deferred_cache_fill import DeferredCacheFill
from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.errors.deprecations import warn
from dbt.adapters.paimon.machine import installation, signals
from dbt.adapters.paimon.spark import progress, responses, sorted_compaction, statement_timeout
from dbt.adapters.paimon.spark.handles import Handle
from dbt.adapters.paimon.spark.launch import jvm_exit
from dbt.adapters.paimon.spark.table_name import TableName
from dbt.adapters.paimon.spark.versions import versions_of
from dbt.adapters.paimon.sql import null_filters, users_statement
from dbt.adapters.paimon.sql.null_filters import LostNulls
from dbt.adapters.paimon.sql.statements import CREATE_BRANCH, SORTED_COMPACTION, Statement
from dbt.adapters.paimon.sql.text import is_empty, statements, takes_the_rest

if TYPE_CHECKING:
    import agate

logger = AdapterLogger("Paimon")

# Seconds that a server may be away after a statement whose answer was lost, and between two attempts to reach it.
_SERVER_AWAY = 60.0
_SERVER_ASKED = 2.0


class PaimonConnectionManager(SparkConnectionManager):
    """Opens a handle for the profile's `method` and runs statements on it, each one eagerly."""

    TYPE = "paimon"

    def __init__(self, profile: Any, mp_context: Any) -> None:
        super().__init__(profile, mp_context)
        self._nodes: dict[Any, str] = {}
        self.deferred_cache_fill = DeferredCacheFill()
        # The conditions that a node was warned of.
        self._warned: set[tuple[str | None, LostNulls]] = set()
        signals.begin(self.cancel_open)

    @contextmanager
    def exception_handler(self, sql: str) -> Generator[None, None, None]:
        """Turn Spark's exceptions into one short message; the stack trace goes to the debug log."""
        try:
            yield
        except DbtRuntimeError:
            raise
        except Exception as exc:
            logger.debug(f"Error while running:\n{sql}\n{messages.error_text(exc)}")
            raise jvm_exit.error(exc) or messages.database_error(exc, sql) from exc

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a thread's handle.

        Raises:
            FailedToConnectError: one message with the reason and the remedy.
        """
        if connection.state == ConnectionState.OPEN:
            return connection
        credentials = connection.credentials
        assert isinstance(credentials, PaimonCredentials)
        try:
            connection.handle = open_handle(credentials)
        except DbtRuntimeError:
            connection.state = ConnectionState.FAIL
            raise
        except Exception as exc:
            connection.state = ConnectionState.FAIL
            text = messages.shorten(messages.error_text(exc))
            if isinstance(exc, ImportError) and (install := installation.remedy(text)):
                raise FailedToConnectError(f"{text}\n{install}") from exc
            raise jvm_exit.error(exc) or FailedToConnectError(text) from exc
        connection.state = ConnectionState.OPEN
        return connection

    def begin(self) -> None:
        """Nothing to do without transactions; dbt would open a session just to end one, at the end of a run."""

    def cancel(self, connection: Connection) -> None:
        """Cancel the Spark jobs of a connection."""
        connection.handle.cancel()

    def cleanup_all(self) -> None:
        """Close all connections, at the end of a command."""
        super().cleanup_all()
        signals.end()

    @classmethod
    def get_response(cls, cursor: Any) -> AdapterResponse:
        """Always OK: a cursor knows no more. `execute` says what the statement was (see `responses`)."""
        return AdapterResponse(_message="OK")

    def reopen(self) -> None:
        """Replace this thread's handle, whose server was lost, as soon as the server answers.

        Raises:
            Exception: it does not within a minute.
        """
        connection = self.get_thread_connection()
        until = time.monotonic() + _SERVER_AWAY
        while True:
            try:
                handle = open_handle(connection.credentials)
                break
            except Exception:
                if time.monotonic() > until:
                    raise
                time.sleep(_SERVER_ASKED)
        connection.handle.close()
        connection.handle = handle

    def describe_node(self, text: str) -> None:
        """Say what the node of this thread is, such as `incremental, upsert`; '' if it is at its end."""
        with self.lock:
            self._nodes[self.get_thread_identifier()] = text

    def add_query(self, sql: str | Statement, *arguments: Any, **more: Any) -> tuple[Connection, Any]:
        """As dbt's; a branch that is created can read all rows of its table (see `branch_schemas`).

        A sorted compaction loses no rows (see `sorted_compaction`).
        """
        statement = sql if isinstance(sql, Statement) else users_statement.read(sql)
        with self._done_by_paimon(statement) as sent:
            connection, cursor = super().add_query(sent, *arguments, **more)
        if statement.kind == CREATE_BRANCH:
            self._complete_branches(connection, statement.sql)
        return connection, cursor

    def _done_by_paimon(self, statement: Statement) -> AbstractContextManager[str]:
        """Do what Spark's SQL cannot do, or loses rows at, by Paimon's own classes; gives what is left to send."""
        if statement.kind == SORTED_COMPACTION:
            return self._sorting(statement)
        if statement.writes_rows:
            connection = self.get_thread_connection()
            with self.exception_handler(statement.sql):
                connection.handle.embedded().write_rows(statement.sql, TableName(*statement.target))
            return nullcontext(sorted_compaction.RESULT)
        return nullcontext(statement.sql)

    @contextmanager
    def _sorting(self, statement: Statement) -> Generator[str, None, None]:
        """Run a sorted compaction so that it loses no rows of other programs; gives what is left to send."""
        connection, sql = self.get_thread_connection(), statement.sql
        credentials, handle = connection.credentials, connection.handle
        assert isinstance(credentials, PaimonCredentials)
        versions, spark = versions_of(credentials), handle.embedded()
        needed, done = Capability.COMPACT_ORDER_CHECKS_APPENDS, False
        if statement.target and versions.supports(needed):
            table = TableName(*(credentials.catalog, credentials.schema, *statement.target)[-3:])
            with self.exception_handler(sql):
                last = handle.kept(table).last
            with handle.configured({sorted_compaction.LAST_SAFE_SNAPSHOT: str(last)} if last else {}):
                yield sql
            return
        if spark is not None and versions.supports(Capability.COMPACT_ORDER_IN_PROCESS):
            with self.exception_handler(sql):
                done = spark.sort(sql)
        if not done:
            why = versions.explain(needed) or "Name the table by the argument `table`."
            warn(f"compact with an order: rows that another program appends while it runs are lost. {why}")
        yield sorted_compaction.RESULT if done else sql

    def _complete_branches(self, connection: Connection, sql: str) -> None:
        credentials = connection.credentials
        assert isinstance(credentials, PaimonCredentials)
        handle: Any = connection.handle
        spark = handle.embedded()
        if spark is None or versions_of(credentials).supports(Capability.BRANCHES_WITH_ALL_SCHEMAS):
            return
        try:
            for statement in statements(sql):
                spark.complete_branch(statement)
        except Exception as exc:  # noqa: BLE001 - a branch that needs them says so when it is read
            logger.debug(f"A branch may lack schemas of its table:\n{sql}\n{messages.error_text(exc)}")

    def execute(
        self,
        sql: str | Statement,
        auto_begin: bool = False,
        fetch: bool = False,
        limit: int | None = None,
    ) -> tuple[AdapterResponse, agate.Table]:
        """Run one statement to its end, also a query whose rows are not fetched.

        Args:
            sql: one Spark SQL statement, of a user if it is only text (see `users_statement`).
            auto_begin: ignored, because there are no transactions.
            fetch: whether to bring the rows (at most `limit`) to the driver.

        Returns:
            The response and the rows as an agate table (empty unless `fetch`).
        """
        statement = sql if isinstance(sql, Statement) else users_statement.read(sql)
        if is_empty(statement.sql):
            return self._nothing()
        self._warn_of_lost_nulls(statement.sql)
        for seconds in conflicts.BACK_OFF if statement.repeat else ():
            try:
                return self._execute(statement, fetch, limit)
            except DbtDatabaseError as exc:  # noqa: PERF203 - only a few attempts
                if not conflicts.is_conflict(messages.error_text(exc.__cause__ or exc)):
                    raise
                wait = conflicts.pause(seconds)
                logger.info(f"Another writer committed first: retrying the statement in {wait:.1f} s")
                time.sleep(wait)
        return self._execute(statement, fetch, limit)

    @staticmethod
    def _nothing() -> tuple[AdapterResponse, agate.Table]:
        """The answer to a hook or a statement of comments alone, which Spark cannot parse."""
        from dbt_common.clients.agate_helper import empty_table

        return AdapterResponse(_message="OK"), empty_table()

    def _add_query_comment(self, sql: str) -> str:
        """As dbt's; in front of a statement that would take a comment at its end for a part of its value."""
        comment = self.query_header.comment if self.query_header else None
        if comment and comment.append and comment.query_comment and takes_the_rest(sql):
            return f"/* {comment.query_comment.strip()} */\n{sql}"
        return str(super()._add_query_comment(sql))

    def _warn_of_lost_nulls(self, sql: str) -> None:
        """Warn once per node of conditions for which this Paimon skips files with rows that meet them."""
        if not null_filters.may_lose_nulls(sql):
            return
        connection = self.get_thread_connection()
        credentials = connection.credentials
        assert isinstance(credentials, PaimonCredentials)
        versions = versions_of(credentials)
        if versions.supports(Capability.FILTERS_THAT_KEEP_NULLS):
            return
        for found in null_filters.lost_nulls(sql):
            if (connection.name, found) not in self._warned:
                self._warned.add((connection.name, found))
                text = (
                    f"{connection.name}: `{found.condition}` may miss rows of NULL: Paimon {versions.paimon} skips "
                    f"files by it as if NULL did not count. Write {found.instead}"
                )
                warn(text)

    def _execute(
        self, statement: Statement, fetch: bool, limit: int | None
    ) -> tuple[AdapterResponse, agate.Table]:
        from dbt_common.clients.agate_helper import empty_table

        connection = self.get_thread_connection()
        # dbt names the connections that list so.
        if not (connection.name or "").startswith("list_"):
            self.deferred_cache_fill.flush()
        handle: Handle = connection.handle
        bound = connection.credentials.stall_timeout
        node, text = self._described(connection)
        handle.describe(node, text)
        sent = replace(statement, sql=self._add_query_comment(statement.sql))
        with (
            handle.configured(sent.conf),
            statement_timeout.watched(handle, statement.sql, bound),
            progress.report_progress(handle, progress.short_name(node)),
            leases.guarded(handle.interrupt, handle.ends),
            _noticed(handle),
        ):
            _, cursor = self.add_query(sent, auto_begin=False)
            with self.exception_handler(sent.sql):
                if fetch:
                    table = self.get_result_from_cursor(cursor, limit)
                else:
                    cursor.drain()
                    table = empty_table()
        return responses.of_statement(statement.kind, handle.statement_id), table

    def _described(self, connection: Connection) -> tuple[str, str]:
        """Whose statements a connection runs, and what that is: dbt names it after the node."""
        name = connection.name or "dbt"
        with self.lock:
            text = self._nodes.get(self.get_thread_identifier(), "")
        return name, f"dbt: {name} ({text})" if text else f"dbt: {name}"


@contextmanager
def _noticed(handle: Handle) -> Generator[None, None, None]:
    """Let a handle know how its statement failed; a server's ends with dbt, which cancels none of its main thread."""
    try:
        yield
    except BaseException as exc:
        handle.notice(exc)
        if handle.is_lost and not isinstance(exc, Exception):
            with suppress(Exception):
                handle.interrupt()
        raise


def open_handle(credentials: PaimonCredentials) -> Handle:
    """Open a handle for the profile's `method`.

    Raises:
        DbtRuntimeError: Spark does not start, or the server cannot be used; with the reason and the remedy.
    """
    # Imported here, so that a process without connections (dbt parse, dbt ls) never loads pyspark, and one that uses a
    # server never loads what starts a JVM.
    if credentials.method == PaimonConnectionMethod.CONNECT:
        from dbt.adapters.paimon.spark import connect

        return connect.open_session(credentials)
    if credentials.method == PaimonConnectionMethod.THRIFT:
        from dbt.adapters.paimon.spark import thrift

        return thrift.open_session(credentials)
    from dbt.adapters.paimon.spark import session

    return session.open_session(credentials)
