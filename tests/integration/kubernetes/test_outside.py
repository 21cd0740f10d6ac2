"""dbt runs outside the cluster: only its executors are pods."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from integration.kubernetes.conftest import PROJECT
from integration.kubernetes.lakehouse import NAMESPACE, SMALL, Lakehouse
from integration.services.kubernetes.addresses import MACHINE
from kubernetes_profile import EXECUTOR, container, pods


def test_a_run(lakehouse: Lakehouse, rows: Callable[[str], list[tuple[Any, ...]]], tmp_path: Path) -> None:
    lakehouse.create()
    kubectl = lakehouse.cluster.kubectl
    template = tmp_path / "executor.yaml"
    template.write_text(yaml.safe_dump(EXECUTOR))
    store = lakehouse.store.catalog_options() | {"s3.endpoint": lakehouse.endpoint}
    target = {
        "type": "paimon",
        "method": "session",
        "schema": "analytics",
        "warehouse": lakehouse.warehouse,
        "paimon_version": "0.9.0",
        "catalog_options": store,
        "spark_config": {
            **SMALL,
            "spark.master": f"k8s://{lakehouse.cluster.address}",
            "spark.kubernetes.namespace": NAMESPACE,
            "spark.kubernetes.container.image": container(next(iter(pods().values())))["image"],
            "spark.kubernetes.executor.podTemplateFile": str(template),
            "spark.kubernetes.authenticate.caCertFile": str(lakehouse.cluster.certificate),
            "spark.kubernetes.authenticate.oauthToken": kubectl("-n", NAMESPACE, "create", "token", "dbt").strip(),
            "spark.driver.host": MACHINE,
        },
    }
    project = tmp_path / "project"
    shutil.copytree(PROJECT, project)
    profiles = {"lakehouse": {"target": "it", "outputs": {"it": target}}}
    (project / "profiles.yml").write_text(yaml.safe_dump(profiles))
    command = [sys.executable, "-m", "dbt.cli.main", "run", "--select", "upserted", "tripled"]
    environ = {**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    # Remove variables that this process's own Spark has set: they are right only for this machine.
    for name in ("POD_NAME", "PYSPARK_PYTHON", "SPARK_LOCAL_IP"):
        environ.pop(name, None)
    with lakehouse.watched(tmp_path) as seen:
        ended = subprocess.run(
            command, cwd=project, env=environ, capture_output=True, text=True, timeout=900, check=False
        )
        assert ended.returncode == 0, ended.stdout[-3000:]
        lakehouse.wait_for(lambda: not lakehouse.executors(), 60)
    assert rows("select count(*) from paimon.analytics.upserted") == [(2000,)]
    assert rows("select sum(tripled) from paimon.analytics.tripled") == [(3 * sum(range(2000)),)]
    assert len(seen.pods()) == 2
    assert all("ownerReferences" not in pod["metadata"] for pod in seen.pods().values())
