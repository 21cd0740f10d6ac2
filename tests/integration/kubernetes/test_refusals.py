"""Runs that get no executors fail soon, before or in their first model, with the reason."""

from __future__ import annotations

import re
import time

import pytest
import yaml

from dbt.adapters.paimon.spark.kubernetes import LONGEST_HOPELESS
from integration.kubernetes.lakehouse import NAMESPACE, Lakehouse, config, manifests

# Seconds for the start of a pod, dbt and Spark on a busy machine.
START = 240


def _fails(lakehouse: Lakehouse, account: str | None, seconds: float) -> str:
    """The output of dbt in a Job, which must fail within `seconds`."""
    began = time.monotonic()
    lakehouse.start("--select", "upserted", account=account)
    assert lakehouse.outcome() == "Failed"
    assert time.monotonic() - began < seconds
    return " ".join(lakehouse.said().split())


@pytest.mark.parametrize("verbs", [[], ["get", "list", "watch", "delete", "deletecollection"]])
def test_without_rights(lakehouse: Lakehouse, verbs: list[str]) -> None:
    lakehouse.create()
    _, role, binding = manifests("service-account.yaml")
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "other", "namespace": NAMESPACE},
    }
    rules = [{**role["rules"][0], "resources": ["pods"], "verbs": verbs}] if verbs else []
    rules.append({**role["rules"][0], "resources": ["configmaps"]})
    role |= {"metadata": {"name": "other", "namespace": NAMESPACE}, "rules": rules}
    binding["metadata"]["name"] = binding["roleRef"]["name"] = "other"
    binding["subjects"][0]["name"] = "other"
    lakehouse.cluster.apply(account, role, binding)
    said = _fails(lakehouse, "other", START)
    missing = "create pods" if verbs else "get, list, watch, create, delete, deletecollection pods"
    assert f"dbt may not {missing}, so Spark" in said
    assert "service-account.yaml" in said
    assert lakehouse.executors() == []
    assert lakehouse.store.keys(lakehouse.warehouse.rpartition("/")[2]) == []


def test_no_such_image(lakehouse: Lakehouse) -> None:
    image = "registry.example.com/lakehouse/no-such-image:1"
    lakehouse.create(**{"spark.kubernetes.executor.container.image": image})
    said = _fails(lakehouse, None, START + LONGEST_HOPELESS)
    assert image in said
    assert lakehouse.wait_for(lambda: lakehouse.executors() == [], 60)


def test_pods_that_the_namespace_refuses(lakehouse: Lakehouse) -> None:
    """The namespace enforces Kubernetes' standard `restricted`, which this pod template violates."""
    lakehouse.create()
    found = config(lakehouse.warehouse, lakehouse.endpoint)
    found["data"]["executor.yaml"] = yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "spec": {}})
    lakehouse.cluster.apply(found)
    said = _fails(lakehouse, None, START + LONGEST_HOPELESS)
    refused = (
        r"\(models/upserted\.sql\) Kubernetes refused the executors' pods: pods \S+ is forbidden: violates PodSecurity"
    )
    assert re.search(refused, said), said
    assert "podTemplateFile" in said
    assert lakehouse.executors() == []
