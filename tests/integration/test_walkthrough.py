"""Spark with Paimon on an S3 warehouse, step by step as in the walk-through for Spark 3.5.5 and Paimon.

`spark.sql.catalog.paimon.*` settings define the catalog instead of profile keys. The files of a table without a primary
key, in the schema `ods`, are compared before and after an UPDATE. The last tests show a problem that the
walk-through describes: no jar for S3.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.adapters.factory import reset_adapters
from dbt.cli.main import dbtRunner
from dbt.tests.util import get_connection, run_dbt

from integration.services.s3 import S3

TABLE = "ods.db/t"


@pytest.fixture(scope="class")
def dbt_profile_target(object_store: S3, spark_config: dict[str, Any]) -> dict[str, Any]:
    """The walk-through's `--conf` settings, unchanged, under spark_config."""
    catalog = "spark.sql.catalog.paimon"
    return {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "warehouse": f"s3://{object_store.bucket}/paimon",
        "spark_config": {
            **spark_config,
            f"{catalog}": "org.apache.paimon.spark.SparkCatalog",
            f"{catalog}.warehouse": f"s3://{object_store.bucket}/paimon",
            f"{catalog}.s3.path.style.access": "true",
            f"{catalog}.s3.endpoint": object_store.endpoint,
            f"{catalog}.s3.access-key": object_store.access_key,
            f"{catalog}.s3.secret-key": object_store.secret_key,
            "spark.sql.extensions": "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
        },
    }


class TestWalkThrough:
    @pytest.fixture(scope="class")
    def unique_schema(self) -> str:
        return "ods"

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "t.sql": "{{ config(materialized='incremental') }}"
            " select * from values (1, 'a1'), (2, 'a2'), (3, 'a3') as v (id, data)"
            "{% if is_incremental() %} where id > (select max(id) from {{ this }}){% endif %}"
        }

    @pytest.fixture(scope="class")
    def macros(self):
        return {
            "update_t.sql": "{% macro update_t() %}"
            "{% do run_query(\"update paimon.ods.t set data = 'a4' where id = 1\") %}"
            "{% endmacro %}"
        }

    def test_update_of_a_table_without_a_key(self, project, object_store):
        def files() -> set[str]:
            return {key for key in object_store.keys(f"paimon/{TABLE}/") if "/bucket-" in key}

        def rows(sql: str) -> list[tuple[Any, ...]]:
            with get_connection(project.adapter):
                return [tuple(row) for row in project.adapter.query(sql)]

        run_dbt(["run"])
        before = files()
        assert before
        assert ("ods", "t") in {row[:2] for row in rows("show tables in paimon.ods")}
        assert sorted(rows("select id, data from paimon.ods.t")) == [(1, "a1"), (2, "a2"), (3, "a3")]

        run_dbt(["run-operation", "update_t"])
        after = files()
        assert sorted(rows("select id, data from paimon.ods.t")) == [(1, "a4"), (2, "a2"), (3, "a3")]
        # The row's file is rewritten with updated and unchanged rows; the earlier table snapshot keeps the old file.
        assert before < after
        current = {path.rsplit("/", 1)[-1] for (path,) in rows("select file_path from paimon.ods.`t$files`")}
        names = {key.rsplit("/", 1)[-1] for key in after - before}
        assert names <= current
        assert rows("select count(*) from paimon.ods.`t$snapshots`") == [(2,)]
        assert sorted(rows("select data from paimon.ods.t version as of 1")) == [("a1",), ("a2",), ("a3",)]

        # Another run finds the table and appends nothing.
        run_dbt(["run"])
        assert len(rows("select * from paimon.ods.t")) == 3


class TestTroubleshooting:
    """The walk-through's error `java.lang.NoClassDefFoundError: com/amazonaws/AmazonClientException`."""

    def target(self, object_store: S3, spark_config: dict[str, Any], scheme: str) -> dict[str, Any]:
        from pyspark.find_spark_home import _find_spark_home

        some_jar = next((Path(_find_spark_home()) / "jars").glob("commons-lang3-*.jar"))
        own = {name: value for name, value in spark_config.items() if name != "spark.jars.packages"}
        return {
            "type": "paimon",
            "paimon_version": "0.9.0",
            "method": "session",
            "schema": "ods",
            "warehouse": f"{scheme}://{object_store.bucket}/paimon",
            "catalog_options": object_store.catalog_options(),
            "spark_config": own,
            "jars": [str(some_jar)],
        }

    @pytest.mark.parametrize("scheme", ["s3", "s3a"])
    def test_no_jar_for_s3(self, object_store, spark_config, tmp_path, capfd, scheme):
        profile = {"bad": {"target": "x", "outputs": {"x": self.target(object_store, spark_config, scheme)}}}
        (tmp_path / "profiles.yml").write_text(yaml.safe_dump(profile))
        (tmp_path / "dbt_project.yml").write_text(yaml.safe_dump({"name": "bad", "profile": "bad"}))
        folders = [
            "--project-dir",
            str(tmp_path),
            "--profiles-dir",
            str(tmp_path),
            "--log-path",
            str(tmp_path),
        ]
        result = dbtRunner().invoke(["debug", *folders])
        reset_adapters()
        said = " ".join(capfd.readouterr().out.split())
        assert not result.success
        assert "needs Paimon's plug-in for S3" in said
        assert "paimon-s3-" in said
        assert "org.apache.paimon:paimon-s3:" in said
        assert " at org.apache" not in said

    def test_s3a_is_read_as_s3(self, object_store, spark_config, tmp_path):
        """The adapter reads `s3a://` as `s3://`, a change that the walk-through makes by hand."""
        from dbt.adapters.paimon.credentials import PaimonCredentials
        from dbt.adapters.paimon.spark.runtime import Runtime
        from dbt.adapters.paimon.spark.session import open_session

        session = open_session(
            Runtime(
                PaimonCredentials(
                    paimon_version="0.9.0",
                    schema="ods",
                    warehouse=f"s3a://{object_store.bucket}/paimon_by_s3a",
                    catalog_options=object_store.catalog_options(),
                    spark_config=dict(spark_config),
                )
            )
        ).session
        session.sql("create database if not exists ods")
        session.sql("create table ods.by_s3a as select 1 as id")
        assert session.sql("select id from ods.by_s3a").collect() == [(1,)]
        assert any("/data-" in key for key in object_store.keys("paimon_by_s3a/ods.db/by_s3a/"))
