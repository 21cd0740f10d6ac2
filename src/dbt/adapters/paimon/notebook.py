"""The tables and views of a dbt project in PySpark: in a notebook, or in a script beside dbt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.connections import open_handle
from dbt.adapters.paimon.profile import load_credentials
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.sql.views import (
    REGISTRY_TABLE,
    create_view_sql,
    definitions_from_properties,
    registry_sql,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt.adapters.paimon.sql.views import ViewDefinition


def open_spark(
    project_dir: str | None = None, profiles_dir: str | None = None, target: str | None = None
) -> SparkSession:
    """Open a Spark session with the catalogs of a target, and create the views that dbt keeps for it.

    Args:
        project_dir: folder of dbt_project.yml; the current folder by default.
        profiles_dir: folder of profiles.yml; dbt's choice by default.
        target: the target; the profile's by default.

    Returns:
        A session whose current catalog is the target's. A view of dbt's is in `spark_catalog` (or the profile's
        `view_catalog`) where the catalog stores no views itself.

    Raises:
        DbtRuntimeError: the target has method: thrift, which has no session; what `dbt debug` would say.
    """
    credentials = load_credentials(project_dir, profiles_dir, target=target)
    session: SparkSession | None = getattr(open_handle(credentials), "session", None)
    if session is None:
        raise DbtRuntimeError(
            "A Thrift server accepts only SQL. Use a target with method: session or method: connect."
        )
    catalog = credentials.catalog
    home = credentials.view_catalog or "spark_catalog"
    views: list[ViewDefinition] = []
    for (schema,) in session.sql(f"show databases in {quoted(catalog)}").collect():
        if session.catalog.tableExists(f"{quoted(catalog, schema, REGISTRY_TABLE)}"):
            kept = [(row[0], row[1]) for row in session.sql(registry_sql(catalog, schema)).collect()]
            views += definitions_from_properties(schema, dict(kept))
    for schema in sorted({view.schema for view in views}):
        session.sql(f"create database if not exists {quoted(home, schema)}")
    _create(session, home, views)
    session.catalog.setCurrentCatalog(catalog)
    return session


def _create(session: SparkSession, home: str, views: list[ViewDefinition]) -> None:
    """Create views, those that read others after them; one whose query is broken is left out."""
    left = [view for view in views if not _created(session, home, view)]
    if left and len(left) < len(views):
        _create(session, home, left)


def _created(session: SparkSession, home: str, view: ViewDefinition) -> bool:
    try:
        session.sql(create_view_sql(quoted(home, view.schema, view.identifier), view))
    except Exception:  # noqa: BLE001 - of Spark or gRPC
        return False
    return True
