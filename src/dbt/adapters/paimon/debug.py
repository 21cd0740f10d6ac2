"""`dbt debug`: checks that the warehouse can be read and written, and lists supported features."""

from __future__ import annotations

import sys
import uuid
from contextlib import suppress

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.ui import yellow

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.catalogs import lock_places, writers
from dbt.adapters.paimon.connection_methods import PaimonConnectionMethod
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spark.runtime import Runtime

logger = AdapterLogger("Paimon")


def check(adapter: AdapterProtocol) -> None:
    """Create, write, read and drop a table in the profile's schema, and print the versions and features.

    A schema that does not exist is created and dropped, too. Raises DbtRuntimeError with the step that failed.
    """
    credentials = adapter.credentials
    schema = PaimonRelation.create(database=credentials.database, schema=credentials.schema)
    table = schema.replace_path(identifier=f"_dbt_debug_{uuid.uuid4().hex[:8]}").replace(type="table")
    where = f"warehouse {credentials.unique_field}"
    schema_sql = schema.include(identifier=False).render()
    existed = credentials.schema in _step(
        adapter, f"list the schemas of {where}", f"show databases in {schema.quoted(credentials.database)}"
    )
    name = table.render()

    def write_and_read() -> None:
        step = f"create schema {credentials.schema} in {where}"
        _step(adapter, step, f"create database if not exists {schema_sql}")
        _step(adapter, f"create a table in {where}", f"create table {name} (id int, word string)")
        _step(adapter, f"write to {where}", f"insert into {name} values (1, 'written')")
        rows = _step(adapter, f"read from {where}", f"select word from {name}")
        if rows != ["written"]:
            raise DbtRuntimeError(f"{where}: the row that was written could not be read back; {rows} was read instead")

    def clean_up() -> None:
        _step(adapter, f"drop the table in {where}", f"drop table if exists {name}")
        if not existed:
            _step(adapter, f"drop schema {credentials.schema} in {where}", f"drop database if exists {schema_sql}")

    try:
        write_and_read()
    except BaseException:
        # An error of the clean-up would hide this one.
        with suppress(DbtRuntimeError):
            clean_up()
        raise
    clean_up()
    versions = adapter.versions
    logger.info(f"  spark: {_spark(adapter.runtime)}")
    logger.info(f"  paimon: {versions.paimon}, catalog {credentials.database} ({versions.catalog_kind})")
    logger.info(f"  {where}: a table was created, written, read and dropped")
    for storage in adapter.runtime.storages:
        catalog = storage.catalog
        leased = not credentials.is_remote and lock_places.needs_leases(catalog, credentials.s3_lock)
        no_leases = lock_places.why_no_leases(storage) if leased else None
        if no_leases and credentials.s3_lock:
            raise lock_places.missing_lock_error(storage, no_leases)
        safe, sentence = writers.writers(catalog, str(versions.paimon), no_leases)
        label = f"  storage of {catalog.name}: {catalog.scheme or 'named by the catalog'}; "
        logger.info(f"{label}{sentence}" if safe else yellow(f"{label}WARNING: {sentence}."))
    logger.info(f"  views: in the catalog {adapter.view_catalog}")
    _tell_capabilities(versions)


def _spark(runtime: Runtime) -> str:
    """The Spark in use and, if it is embedded, the Java that runs it."""
    credentials = runtime.credentials
    if credentials.is_remote:
        return f"{runtime.spark} here, a server at {credentials.address} (method: {credentials.method})"
    if credentials.method == PaimonConnectionMethod.CONNECT:
        return f"{runtime.spark}, the warm server of this machine"
    return (
        f"{runtime.spark} on {credentials.spark_master}, Java {runtime.java.major} ({runtime.java.home}), "
        f"Python {sys.version_info.major}.{sys.version_info.minor}"
    )


def _tell_capabilities(versions: Versions) -> None:
    """Log how many of Paimon's features this combination has, and list them in the debug log."""
    rows = versions.describe()
    for capability, supported, remark in rows:
        logger.debug(f"  {'yes' if supported else 'no ':3} {capability}{f' ({remark})' if remark else ''}")
    lacking = sum(not supported for _, supported, _ in rows)
    hint = f", {lacking} need a different Paimon, Spark or catalog: --log-level debug lists them"
    logger.info(f"  {len(rows) - lacking} of {len(rows)} optional features are available{hint if lacking else ''}")
    if defects := versions.defects():
        logger.info(
            f"  Paimon {versions.paimon} has {len(defects)} known defects that return wrong rows or lose rows; "
            "dbt-paimon avoids, refuses or warns about them (docs/reference/known-defects.md)"
        )


def _step(adapter: AdapterProtocol, what: str, sql: str) -> list[object]:
    try:
        return [row[0] for row in adapter.query(sql)]
    except DbtRuntimeError as exc:
        raise DbtRuntimeError(f"Could not {what}: {exc.msg}") from exc
