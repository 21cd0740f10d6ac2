"""Integration tests run dbt against real services, each started once per pytest worker. A worker has one JVM."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from dbt.adapters.paimon.capabilities import Version
from dbt.adapters.paimon.capabilities.artifacts import JDBC_DRIVERS, kafka_artifact
from dbt.adapters.paimon.capabilities.version_numbers import DEFAULT_PAIMON_VERSION, parse_version
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.launch import packages
from integration.services.hdfs import Hdfs, hdfs
from integration.services.kafka import Kafka, kafka
from integration.services.metastore import Metastore, metastore
from integration.services.oss import Oss, oss
from integration.services.postgres import Postgres, postgres
from integration.services.rest_catalog import RestCatalog, rest_catalog
from integration.services.s3 import S3, s3
from integration.services.spark import spark_version

CONNECTOR = packages.effective_paimon_version(PaimonCredentials(schema="any", paimon_version=DEFAULT_PAIMON_VERSION))
# Paimon's plug-ins for object stores. DBT_PAIMON_JARS has to name them, too, if it names a connector.
PLUG_INS = [] if os.environ.get("DBT_PAIMON_JARS") else ["paimon-s3", "paimon-oss"]
# A JVM gets its jars when it starts, and any test may start it, so it gets the jars of all tests.
EVERY_PACKAGE = [
    *(f"org.apache.paimon:{plug_in}:{CONNECTOR}" for plug_in in PLUG_INS),
    *JDBC_DRIVERS.values(),
    kafka_artifact(spark_version()),
]


@pytest.fixture(scope="session")
def spark_config(spark_config: dict[str, Any]) -> dict[str, Any]:
    return spark_config | {"spark.jars.packages": ",".join(EVERY_PACKAGE)}


@pytest.fixture(scope="session")
def connector() -> Version:
    """The Paimon version of the tests: the default, or that of DBT_PAIMON_JARS."""
    return parse_version(CONNECTOR)


@pytest.fixture(scope="session")
def object_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    with s3(tmp_path_factory.mktemp("s3")) as service:
        yield service


@pytest.fixture(scope="session")
def aliyun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oss]:
    with oss(tmp_path_factory.mktemp("oss")) as service:
        yield service


@pytest.fixture(scope="session")
def hadoop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    with hdfs(tmp_path_factory.mktemp("hdfs")) as service:
        yield service


@pytest.fixture(scope="session")
def hive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    with metastore(tmp_path_factory.mktemp("metastore")) as service:
        yield service


@pytest.fixture(scope="session")
def rest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestCatalog]:
    with rest_catalog(tmp_path_factory.mktemp("rest")) as service:
        yield service


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Postgres]:
    with postgres() as service:
        yield service


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    with kafka(tmp_path_factory.mktemp("kafka")) as service:
        yield service


@pytest.fixture(scope="session", autouse=True)
def _quiet_environment() -> Iterator[None]:
    """Keep the developer's environment out of the profiles that dbt's fixtures write."""
    names = ("DBT_PROFILES_DIR", "DBT_TARGET", "DBT_TARGET_PATH", "HADOOP_CONF_DIR")
    before = {key: os.environ.pop(key, None) for key in (*names, *filter(_is_a_clouds, os.environ))}
    yield
    os.environ.update({key: value for key, value in before.items() if value is not None})


def _is_a_clouds(name: str) -> bool:
    return name.startswith(("AWS_", "OSS_"))
