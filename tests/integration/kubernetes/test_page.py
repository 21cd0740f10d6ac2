"""The steps of docs/kubernetes.md, run with deploy/kubernetes."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from integration.kubernetes.lakehouse import Lakehouse, config

PAGE = Path(__file__).parents[3] / "docs" / "kubernetes.md"


def commands() -> list[str]:
    """The steps' kubectl commands; the docker commands are left out, because the cluster has the image."""
    block = re.search(r"^## Steps\n.*?```sh\n(.*?)```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert block
    lines = block[1].replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("kubectl ")]


def test_steps(
    lakehouse: Lakehouse, rows: Callable[[str], list[tuple[Any, ...]]], project_folder: Path, tmp_path: Path
) -> None:
    changed = yaml.safe_dump(config(lakehouse.warehouse, lakehouse.endpoint))
    (project_folder / "deploy" / "kubernetes" / "config.yaml").write_text(changed)
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(f'#!/bin/sh\nexec {" ".join(lakehouse.cluster.kubectl_program)} "$@"\n')
    kubectl.chmod(0o755)
    environ = {
        **os.environ,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "KUBECONFIG": str(lakehouse.cluster.kubeconfig),
        "S3_ACCESS_KEY": lakehouse.store.access_key,
        "S3_SECRET_KEY": lakehouse.store.secret_key,
    }
    for command in commands():
        if " logs " in command:
            # There are no logs before the container runs.
            lakehouse.wait_for(lambda: [pod for pod in lakehouse.drivers() if pod["status"]["phase"] != "Pending"])
        subprocess.run(["bash", "-c", command], cwd=project_folder, env=environ, check=True, timeout=900)
    assert lakehouse.outcome() == "Complete", lakehouse.said()
    assert rows("select count(*) from paimon.analytics.upserted") == [(2000,)]
    assert rows("select sum(tripled) from paimon.analytics.tripled") == [(3 * sum(range(2000)),)]
    assert rows("select count(*) from paimon.analytics.slow") == [(2000,)]
