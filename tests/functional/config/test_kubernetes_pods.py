"""The executor pod that Spark's own builder makes from deploy/kubernetes, without a cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.tests.util import get_connection
from pyspark.sql import SparkSession

from kubernetes_profile import EXECUTOR, container, of_kind, pods, settings

PAGE = Path(__file__).parents[3] / "docs" / "kubernetes.md"


@pytest.fixture
def jvm(project: Any) -> Any:
    with get_connection(project.adapter):
        project.adapter.query("select 1")
        session = SparkSession.getActiveSession()
    assert session is not None
    return session._jvm


@pytest.fixture
def conf(jvm: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A SparkConf with the profile's settings; the executors' template is in a temporary folder."""
    template = tmp_path / "executor.yaml"
    template.write_text(yaml.safe_dump(EXECUTOR))
    found = jvm.org.apache.spark.SparkConf(False)
    for key, value in settings(next(iter(pods())), monkeypatch).items():
        found.set(key, str(value))
    found.set("spark.app.name", "dbt")
    return found.set("spark.kubernetes.executor.podTemplateFile", str(template))


class TestExecutorPod:
    def test_pod(self, jvm, conf):
        kubernetes = jvm.org.apache.spark.deploy.k8s
        nothing = jvm.scala.Option.empty()
        config = kubernetes.KubernetesExecutorConf(conf, "an-application", "1", nothing, 0)
        profiles = getattr(jvm.org.apache.spark.resource, "ResourceProfile$")
        built = jvm.org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBuilder().buildFromFeatures(
            config,
            jvm.org.apache.spark.SparkEnv.get().securityManager(),
            jvm.io.fabric8.kubernetes.client.KubernetesClientBuilder().build(),
            getattr(profiles, "MODULE$").getOrCreateDefaultProfile(conf),
        )
        as_yaml = jvm.io.fabric8.kubernetes.client.utils.Serialization.asYaml
        pod = yaml.safe_load(as_yaml(built.pod().pod()))
        executor = yaml.safe_load(as_yaml(built.pod().container()))
        (account,) = of_kind("ServiceAccount")
        assert pod["spec"]["serviceAccountName"] == account["metadata"]["name"]
        assert executor["image"] == container(next(iter(pods().values())))["image"]
        # These come from the pod template.
        assert pod["spec"]["securityContext"] == EXECUTOR["spec"]["securityContext"]
        assert executor["securityContext"] == container(EXECUTOR)["securityContext"]
        driver = {entry["name"]: entry.get("value") for entry in executor["env"]}["SPARK_DRIVER_URL"]
        assert driver.endswith(f"@{conf.get('spark.driver.host')}:{conf.get('spark.driver.port')}")

    def test_spark_has_each_key(self, jvm, conf):
        """Spark ignores unknown keys; the profile and docs/kubernetes.md have only keys that Spark knows."""
        config = getattr(getattr(jvm.org.apache.spark.deploy.k8s, "Config$"), "MODULE$")
        config.KUBERNETES_NAMESPACE()
        # Spark composes the names of credential keys, so they have no ConfigEntry.
        prefix = config.KUBERNETES_AUTH_CLIENT_MODE_PREFIX()
        suffixes = [
            config.CA_CERT_FILE_CONF_SUFFIX(),
            config.CLIENT_CERT_FILE_CONF_SUFFIX(),
            config.CLIENT_KEY_FILE_CONF_SUFFIX(),
            config.OAUTH_TOKEN_CONF_SUFFIX(),
            config.OAUTH_TOKEN_FILE_CONF_SUFFIX(),
        ]
        credentials = {f"{prefix}.{suffix}" for suffix in suffixes}
        known = jvm.org.apache.spark.internal.config.ConfigEntry.findEntry
        asked = {line.partition("=")[0] for line in conf.toDebugString().splitlines()}
        asked |= set(re.findall(r"spark\.kubernetes\.[\w.]*\w", PAGE.read_text()))
        keys = {key for key in asked if key.startswith("spark.kubernetes.")}
        assert len(keys) > 5
        assert {key for key in keys - credentials if known(key) is None} == set()
        assert "spark.kubernetes.authenticate.serviceAccountName" not in credentials
        assert known("spark.kubernetes.authenticate.serviceAccountName") is None
