"""If the storage is missing or denies access, dbt soon shows one message with the remedy and no stack trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.adapters.factory import reset_adapters
from dbt.cli.main import dbtRunner

from integration.services.maven import jar
from integration.services.oss import Oss
from integration.services.process import LOOPBACK, free_port

# The clients' own timeouts are many minutes. This leaves time for a busy machine.
SECONDS = 120
Debug = Callable[[dict[str, Any]], str]


@pytest.fixture(scope="module", autouse=True)
def _jvm(spark_config: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Start Spark first, so that its start is not timed: on a busy machine it is slow."""
    from dbt.adapters.paimon.credentials import PaimonCredentials
    from dbt.adapters.paimon.spark.runtime import Runtime
    from dbt.adapters.paimon.spark.session import open_session

    lake = tmp_path_factory.mktemp("lake")
    open_session(
        Runtime(
            PaimonCredentials(paimon_version="0.9.0", schema="s", warehouse=str(lake), spark_config=dict(spark_config))
        )
    )


@pytest.fixture
def debug(tmp_path: Path, spark_config: dict[str, Any], capfd: pytest.CaptureFixture[str]) -> Iterator[Debug]:
    """Function: run `dbt debug` on a target that cannot work, and return the output."""

    def run(target: dict[str, Any]) -> str:
        target = {
            "type": "paimon",
            "paimon_version": "0.9.0",
            "method": "session",
            "schema": "s",
            "spark_config": spark_config,
            **target,
        }
        profile = {"bad": {"target": "here", "outputs": {"here": target}}}
        (tmp_path / "profiles.yml").write_text(yaml.safe_dump(profile))
        (tmp_path / "dbt_project.yml").write_text(yaml.safe_dump({"name": "bad", "profile": "bad"}))
        folders = [
            "--project-dir",
            str(tmp_path),
            "--profiles-dir",
            str(tmp_path),
            "--log-path",
            str(tmp_path / "logs"),
        ]
        began = time.monotonic()
        result = dbtRunner().invoke(["debug", *folders])
        took = time.monotonic() - began
        said = capfd.readouterr().out
        assert not result.success
        assert took < SECONDS, said
        assert "\tat " not in said
        assert "Traceback" not in said
        return " ".join(said.split())

    yield run
    # dbt keeps one adapter per type, which the next test's project would get.
    reset_adapters()


def test_wrong_endpoint(debug: Debug, object_store) -> None:
    endpoint = f"http://{LOOPBACK}:{free_port()}"
    said = debug(
        {
            "warehouse": "s3://warehouse/x",
            "catalog_options": object_store.catalog_options() | {"s3.endpoint": endpoint},
        }
    )
    assert f"The S3 endpoint {endpoint} of the warehouse s3://warehouse/x does not answer" in said
    assert "Correct s3.endpoint under catalog_options" in said


@pytest.mark.parametrize("key", ["s3.secret-key", "s3.access-key"])
def test_wrong_key(debug: Debug, object_store, key: str) -> None:
    said = debug(
        {
            "warehouse": "s3://warehouse/x",
            "catalog_options": object_store.catalog_options() | {key: "no-such-key"},
        }
    )
    assert "The storage rejects the keys" in said
    assert "no-such-key" not in said


def test_missing_bucket(debug: Debug, object_store) -> None:
    said = debug({"warehouse": "s3://no-such-bucket/x", "catalog_options": object_store.catalog_options()})
    assert "The bucket does not exist: create it, or correct `warehouse`" in said


def test_wrong_endpoint_of_oss(debug: Debug, aliyun: Oss) -> None:
    endpoint = f"http://{LOOPBACK}:{free_port()}"
    options = aliyun.catalog_options() | {"fs.oss.endpoint": endpoint}
    said = debug({"warehouse": "oss://warehouse/x", "catalog_options": options})
    assert f"The OSS endpoint {endpoint} of the warehouse oss://warehouse/x does not answer" in said
    assert "Correct fs.oss.endpoint under catalog_options" in said


@pytest.mark.parametrize("key", ["fs.oss.accessKeyId", "fs.oss.accessKeySecret"])
def test_wrong_key_of_oss(debug: Debug, aliyun: Oss, key: str) -> None:
    options = aliyun.catalog_options() | {key: "nosuchkey"}
    said = debug({"warehouse": "oss://warehouse/x", "catalog_options": options})
    assert "The storage rejects the keys" in said
    assert "fs.oss.accessKeyId and fs.oss.accessKeySecret" in said
    assert "nosuchkey" not in said


def test_missing_bucket_of_oss(debug: Debug, aliyun: Oss) -> None:
    said = debug({"warehouse": "oss://no-such-bucket/x", "catalog_options": aliyun.catalog_options()})
    assert "The bucket does not exist: create it, or correct `warehouse`" in said


def test_no_keys_of_oss(debug: Debug, aliyun: Oss) -> None:
    said = debug({"warehouse": "oss://warehouse/x", "catalog_options": {"fs.oss.endpoint": aliyun.endpoint}})
    assert "fs.oss.accessKeyId, fs.oss.accessKeySecret: missing" in said
    assert "OSS_ACCESS_KEY_ID" in said


def test_no_keys(debug: Debug) -> None:
    said = debug({"warehouse": "s3://warehouse/x"})
    assert "s3.access-key, s3.secret-key: missing" in said
    assert "AWS_ACCESS_KEY_ID" in said


def test_no_name_node(debug: Debug) -> None:
    said = debug({"warehouse": f"hdfs://{LOOPBACK}:{free_port()}/x"})
    assert "The name node of the warehouse" in said
    assert "does not answer" in said


def test_a_jar_of_another_scala(debug: Debug, tmp_path: Path) -> None:
    other = jar("org.apache.kafka", "kafka_2.13", "3.9.1")
    said = debug({"warehouse": str(tmp_path / "lake"), "jars": [str(other)]})
    assert "is made for Scala 2.13, and Spark 3.5.7 runs on Scala 2.12" in said
