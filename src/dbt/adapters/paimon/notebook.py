"""The tables and views of a dbt project in PySpark: in a notebook, or in a script beside dbt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.connections import open_handle
from dbt.adapters.paimon.profile import load_credentials
from dbt.adapters.paimon.spark.versions import versions_of, view_catalog
from dbt.adapters.paimon.sql import views
from dbt.adapters.paimon.sql.text import quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_spark(
    project_dir: str | None = None, profiles_dir: str | None = None, target: str | None = None
) -> SparkSession:
    """Open a Spark session with the catalogs of a target, and create the views that dbt-paimon keeps for it.

    Args:
        project_dir: folder of dbt_project.yml; the current folder by default.
        profiles_dir: folder of profiles.yml; dbt's choice by default.
        target: the target; the profile's by default.

    Returns:
        A session whose current catalog is the target's. If that catalog cannot store views, dbt's views are in the
        profile's `view_catalog` (`spark_catalog` by default). A view whose query fails is left out.

    Raises:
        DbtRuntimeError: the target has method: thrift, which has no session; or the connection fails.
        NewerStateError: a newer adapter wrote the views.
    """
    credentials = load_credentials(project_dir, profiles_dir, target=target)
    session: SparkSession | None = getattr(open_handle(credentials), "session", None)
    if session is None:
        raise DbtRuntimeError(
            "A Thrift server accepts only SQL. Use a target with method: session or method: connect."
        )
    catalog = credentials.database
    views.DIRECTORY.configure(
        catalog, view_catalog(credentials, versions_of(credentials)), credentials.unique_field
    )
    schemas = [row[0] for row in session.sql(f"show databases in {quoted(catalog)}").collect()]
    views.DIRECTORY.create_all(schemas, lambda sql: session.sql(sql).collect())
    session.catalog.setCurrentCatalog(catalog)
    return session
