"""The manifests of deploy/kubernetes, and the profile's Spark settings in a pod, with made-up cluster values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.config.renderer import ProfileRenderer
from dbt_common.context import set_invocation_context

from dbt.adapters.paimon.capabilities.version_numbers import DEFAULT_PAIMON_VERSION
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.conf import spark_conf
from dbt.adapters.paimon.spark.launch.packages import PackagePlan

FOLDER = Path(__file__).parents[1] / "deploy" / "kubernetes"
MANIFESTS: Mapping[str, dict[str, Any]] = {
    f"{path.stem}-{index}-{document['kind']}": document
    for path in sorted(FOLDER.glob("*.yaml"))
    for index, document in enumerate(yaml.safe_load_all(path.read_text()))
}


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [document for document in MANIFESTS.values() if document["kind"] == kind]


def pods() -> dict[str, dict[str, Any]]:
    """The pod templates of the Jobs and CronJobs, by name."""
    jobs = {job["metadata"]["name"]: job["spec"]["template"] for job in of_kind("Job")}
    return jobs | {
        job["metadata"]["name"]: job["spec"]["jobTemplate"]["spec"]["template"] for job in of_kind("CronJob")
    }


(CONFIG,) = of_kind("ConfigMap")
EXECUTOR = yaml.safe_load(CONFIG["data"]["executor.yaml"])


def container(pod: dict[str, Any]) -> dict[str, Any]:
    (only,) = pod["spec"]["containers"]
    assert isinstance(only, dict)
    return only


def environment(name: str) -> dict[str, str]:
    """The environment of dbt's container, with made-up cluster values."""
    found = {"S3_ACCESS_KEY": "an-access-key", "S3_SECRET_KEY": "a-secret-key"}
    for variable in container(pods()[name])["env"]:
        source = variable.get("valueFrom", {})
        key = source.get("configMapKeyRef", {}).get("key")
        found[variable["name"]] = variable.get("value") or (CONFIG["data"][key] if key else "a-pod")
    return found


def settings(name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The profile's Spark settings, as dbt reads them in a pod."""
    monkeypatch.setattr("os.environ", {**os.environ, **environment(name)})
    set_invocation_context(environment(name))
    profile = ProfileRenderer({}).render_data(yaml.safe_load(CONFIG["data"]["profiles.yml"]))
    ((_, target),) = profile["lakehouse"]["outputs"].items()
    data = PaimonCredentials.translate_aliases(
        {key: value for key, value in target.items() if key not in ("type", "threads")}
    )
    PaimonCredentials.validate(data)
    credentials = PaimonCredentials.from_dict(data)
    return spark_conf(
        credentials,
        credentials.storages(),
        PackagePlan(tuple(credentials.jars), (), (), DEFAULT_PAIMON_VERSION),
    )
