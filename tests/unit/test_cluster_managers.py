"""Targets on YARN and Kubernetes: their default settings, and the errors if something is missing."""

import os
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.cluster_managers import master_defaults, master_problems
from dbt.adapters.paimon.spark.conf import spark_conf
from dbt.adapters.paimon.spark.launch.packages import PackagePlan

KUBERNETES = "k8s://https://kubernetes.default.svc"
IMAGE = {"spark.kubernetes.container.image": "lake/spark:3.5.7-paimon-0.9.0"}


def conf(**settings: str) -> dict[str, str]:
    data: dict[str, Any] = {"schema": "flights", "warehouse": "hdfs://name/wh", "spark_config": settings}
    credentials = PaimonCredentials.from_dict(PaimonCredentials.translate_aliases(data))
    return spark_conf(credentials, credentials.storages(), PackagePlan((), (), (), "0.9.0"))


@pytest.fixture(autouse=True)
def no_hadoop(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "POD_NAME"):
        monkeypatch.delenv(name, raising=False)


def problems(master: str, environ: dict[str, str] | None = None, **settings: str) -> list[str]:
    with mock.patch.dict(os.environ, environ or {}):
        return list(master_problems(master, settings))


@pytest.mark.parametrize("master", [KUBERNETES, "k8s://host", "k8s://http://host:8080", "k8s://1.2.3.4:6443"])
def test_kubernetes(master: str) -> None:
    assert problems(master, **IMAGE) == []
    settings = conf(**{"spark.master": master, **IMAGE})
    assert settings["spark.submit.deployMode"] == "client"
    assert settings["spark.driver.bindAddress"] == "0.0.0.0"
    # These defaults are only for a single machine.
    assert "spark.driver.host" not in settings
    assert "spark.sql.shuffle.partitions" not in settings


def test_executors_belong_to_the_drivers_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "spark.kubernetes.driver.pod.name"
    assert key not in master_defaults(KUBERNETES)
    monkeypatch.setenv("POD_NAME", "dbt-1")
    assert master_defaults(KUBERNETES)[key] == "dbt-1"
    assert key not in master_defaults("local[2]")


def test_the_profile_wins() -> None:
    settings = conf(**{"spark.master": KUBERNETES, "spark.driver.bindAddress": "10.0.0.1", **IMAGE})
    assert settings["spark.driver.bindAddress"] == "10.0.0.1"


def test_an_image_for_executors_alone_is_enough() -> None:
    assert problems(KUBERNETES, **{"spark.kubernetes.executor.container.image": "x"}) == []


def test_kubernetes_without_an_image() -> None:
    (problem,) = problems(KUBERNETES)
    assert "spark.kubernetes.container.image is missing" in problem
    assert "deploy/kubernetes/Dockerfile" in problem
    with pytest.raises(DbtRuntimeError, match=r"spark\.kubernetes\.container\.image is missing"):
        conf(**{"spark.master": KUBERNETES})


@pytest.mark.parametrize("master", ["k8s://", "k8s:https://host", "k8s://https://", "k8s://ftp://host"])
def test_no_api_server(master: str) -> None:
    (problem,) = problems(master, **IMAGE)
    assert f"spark.master={master} is not an API server" in problem
    assert "k8s://https://host:port" in problem


@pytest.mark.parametrize("master", [KUBERNETES, "yarn", "spark://host:7077", "local[*]"])
def test_client_mode_only(master: str, tmp_path: Path) -> None:
    (tmp_path / "yarn-site.xml").touch()
    found = problems(master, {"HADOOP_CONF_DIR": str(tmp_path)}, **IMAGE, **{"spark.submit.deployMode": "cluster"})
    (problem,) = found
    assert "spark.submit.deployMode=cluster" in problem
    assert "only client mode" in problem


@pytest.mark.parametrize("name", ["HADOOP_CONF_DIR", "YARN_CONF_DIR"])
def test_yarn(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "yarn-site.xml").touch()
    assert problems("yarn", {name: str(tmp_path)}) == []
    monkeypatch.setenv(name, str(tmp_path))
    assert conf(**{"spark.master": "yarn"})["spark.submit.deployMode"] == "client"


def test_yarn_without_hadoops_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (problem,) = problems("yarn")
    assert "needs HADOOP_CONF_DIR or YARN_CONF_DIR" in problem
    assert "yarn-site.xml" in problem
    (problem,) = problems("yarn", {"HADOOP_CONF_DIR": str(tmp_path)})
    assert f"HADOOP_CONF_DIR={tmp_path} has no yarn-site.xml" in problem
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(DbtRuntimeError, match="needs HADOOP_CONF_DIR or YARN_CONF_DIR"):
        conf(**{"spark.master": "yarn"})


def test_yarn_client_is_not_a_master(tmp_path: Path) -> None:
    (tmp_path / "yarn-site.xml").touch()
    (problem,) = problems("yarn-client", {"HADOOP_CONF_DIR": str(tmp_path)})
    assert "just yarn" in problem
