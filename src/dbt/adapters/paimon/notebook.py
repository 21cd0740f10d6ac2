"""The tables and views of a dbt project in PySpark, for notebooks and scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbt.adapters.paimon.connections import open_handle
from dbt.adapters.paimon.profile import load_credentials
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.sql import views
from dbt.adapters.paimon.sql.text import quoted, unquoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_spark(
    project_dir: str | None = None, profiles_dir: str | None = None, target: str | None = None
) -> SparkSession:
    """Open a Spark session with a target's catalogs, its own as the current catalog, and dbt's views.

    If the catalog cannot store views, they are in the profile's `view_catalog` (`spark_catalog` by default). A view
    whose query fails is omitted.

    Args:
        project_dir: the folder of dbt_project.yml; by default the current folder.
        profiles_dir: the folder of profiles.yml; by default the one that dbt uses.
        target: the target's name; by default the profile's default target.

    Raises:
        DbtRuntimeError: the target has method: thrift, or the connection fails.
        NewerStateError: a newer adapter wrote the views.
    """
    credentials = load_credentials(project_dir, profiles_dir, target=target)
    runtime = Runtime(credentials)
    handle = open_handle(runtime)
    session = handle.session
    catalog = credentials.database
    views.DIRECTORY.configure(catalog, runtime.view_catalog, credentials.unique_field)
    schemas = [unquoted(row[0]) for row in session.sql(f"show databases in {quoted(catalog)}").collect()]
    with handle.view_settings() as settings:
        views.DIRECTORY.create_all(schemas, lambda sql: session.sql(sql).collect(), settings)
    session.catalog.setCurrentCatalog(catalog)
    return session
