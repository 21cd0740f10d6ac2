"""deploy/kubernetes: Kubernetes accepts the manifests, the adapter accepts the profile, and no file has a secret."""

from __future__ import annotations

import re
from typing import Any

import kubernetes_validate
import pytest
import yaml

from dbt.adapters.paimon.capabilities.version_numbers import DEFAULT_PAIMON_VERSION
from dbt.adapters.paimon.errors.redaction import is_secret
from kubernetes_profile import CONFIG, EXECUTOR, FOLDER, MANIFESTS, container, of_kind, pods, settings

KUBERNETES_VERSIONS = ("1.27", "1.33")


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
@pytest.mark.parametrize("document", [*MANIFESTS.values(), EXECUTOR], ids=[*MANIFESTS, "executor"])
def test_kubernetes_accepts_each_file(document: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(document, version, strict=True)


def test_the_validator_refuses_unknown_keys() -> None:
    wrong = yaml.safe_load((FOLDER / "namespace.yaml").read_text()) | {"metadat": {}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, KUBERNETES_VERSIONS[0], strict=True)


def test_the_kinds_and_namespace_of_the_manifests() -> None:
    kinds = {document["kind"] for document in MANIFESTS.values()}
    assert kinds == {
        *(
            "Namespace",
            "ServiceAccount",
            "Role",
            "RoleBinding",
            "ConfigMap",
            "Secret",
            "Service",
            "Job",
            "CronJob",
        )
    }
    (namespace,) = of_kind("Namespace")
    assert {
        document["metadata"]["namespace"] for document in MANIFESTS.values() if document["kind"] != "Namespace"
    } == {namespace["metadata"]["name"]}


@pytest.mark.parametrize("name", pods())
def test_the_profile(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    conf = settings(name, monkeypatch)
    assert conf["spark.submit.deployMode"] == "client"
    assert conf["spark.kubernetes.driver.pod.name"] == "a-pod"
    assert conf["spark.kubernetes.container.image"] == container(pods()[name])["image"]
    assert conf["spark.sql.catalog.paimon.warehouse"].startswith("s3://")
    assert conf["spark.sql.catalog.paimon.s3.secret-key"] == "a-secret-key"
    assert all(jar.startswith("local:///opt/paimon/") for jar in conf["spark.jars"].split(","))
    (account,) = of_kind("ServiceAccount")
    assert conf["spark.kubernetes.namespace"] == account["metadata"]["namespace"]


@pytest.mark.parametrize("name", pods())
def test_executors_find_the_driver(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    conf, pod = settings(name, monkeypatch), pods()[name]
    (service,) = [found for found in of_kind("Service") if found["metadata"]["name"] == name]
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"]
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    others = [labels["metadata"]["labels"] for other, labels in pods().items() if other != name]
    assert not any(service["spec"]["selector"].items() <= labels.items() for labels in others)
    assert conf["spark.driver.host"] == f"{name}.{service['metadata']['namespace']}.svc"
    ports = {int(conf["spark.driver.port"]), int(conf["spark.driver.blockManager.port"])}
    assert {port["port"] for port in service["spec"]["ports"]} == ports
    assert {port["containerPort"] for port in container(pod)["ports"]} == ports


@pytest.mark.parametrize("name", pods())
def test_the_pod_has_what_its_command_names(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pod = pods()[name]
    (mount,) = container(pod)["volumeMounts"]
    command = container(pod)["command"]
    assert command[:2] == ["dbt", "build"]
    assert command[command.index("--profiles-dir") + 1] == mount["mountPath"]
    template = settings(name, monkeypatch)["spark.kubernetes.executor.podTemplateFile"]
    assert template == f"{mount['mountPath']}/executor.yaml"
    (secret,) = of_kind("Secret")
    assert container(pod)["envFrom"] == [{"secretRef": {"name": secret["metadata"]["name"]}}]
    (role,) = of_kind("Role")
    assert {"create", "delete", "watch"} <= set(role["rules"][0]["verbs"])


@pytest.mark.parametrize("pod", [*pods().values(), EXECUTOR], ids=[*pods(), "executor"])
def test_pods_are_allowed_where_security_is_restricted(pod: dict[str, Any]) -> None:
    # https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
    assert pod["spec"]["securityContext"]["runAsNonRoot"]
    assert pod["spec"]["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
    assert container(pod)["securityContext"]["allowPrivilegeEscalation"] is False
    assert container(pod)["securityContext"]["capabilities"]["drop"] == ["ALL"]


def test_no_secret_is_written_down() -> None:
    (secret,) = of_kind("Secret")
    assert set(secret["stringData"].values()) == {""}
    assert "data" not in secret
    for path in FOLDER.iterdir():
        for key, value in re.findall(r"^\s*([\w.-]+): *(\S.*)$", path.read_text(), re.MULTILINE):
            if is_secret(key) and value not in ("true", "false"):
                assert value == '""' or "env_var(" in value, f"{path.name}: {key}"


def test_the_image_has_what_the_profile_names() -> None:
    text = (FOLDER / "Dockerfile").read_text()
    assert f"PAIMON_VERSION={DEFAULT_PAIMON_VERSION}\n" in text
    target = yaml.safe_load(CONFIG["data"]["profiles.yml"])["lakehouse"]["outputs"]["kubernetes"]
    for jar in target["jars"]:
        assert jar.removeprefix("local://") in text
    (user,) = {pod["spec"]["securityContext"]["runAsUser"] for pod in [*pods().values(), EXECUTOR]}
    assert text.rstrip().endswith(f"USER {user}")
