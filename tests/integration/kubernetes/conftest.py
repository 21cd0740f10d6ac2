"""A cluster, an object store that its pods can reach, and a small project's image (deploy/kubernetes/Dockerfile)."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import wheels
from dbt.adapters.paimon.connections import open_handle
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.runtime import Runtime
from integration.kubernetes.lakehouse import Lakehouse, manifests
from integration.services.kubernetes import images
from integration.services.kubernetes.addresses import MACHINE
from integration.services.kubernetes.cluster import Cluster
from integration.services.kubernetes.cluster import cluster as running_cluster
from integration.services.kubernetes.node import PAUSE_IMAGE
from integration.services.s3 import S3, s3
from kubernetes_profile import FOLDER, container, pods

ROOT = Path(__file__).parents[3]
PROJECT = Path(__file__).parent / "project"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect this folder unless it is named: its cluster needs root and a build of Kubernetes (`make kubernetes`)."""
    here = Path(__file__).parent
    asked = [(config.invocation_params.dir / each.partition("::")[0]).resolve() for each in config.args]
    if any(path.is_relative_to(here) for path in asked):
        return
    of_here = [item for item in items if item.path.is_relative_to(here)]
    config.hook.pytest_deselected(items=of_here)
    items[:] = [item for item in items if not item.path.is_relative_to(here)]


@pytest.fixture(scope="session")
def project_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's project, with a copy of deploy/kubernetes."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(PROJECT, folder, dirs_exist_ok=True)
    shutil.copytree(FOLDER, folder / "deploy" / "kubernetes")
    return folder


@pytest.fixture(scope="session")
def image(project_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of the image that the manifests name."""
    folder = tmp_path_factory.mktemp("wheels")
    command = [wheels.find_uv(), "build", "--quiet", "--wheel", "--out-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True)
    (wheel,) = folder.glob("*.whl")
    wheels.write_empty(wheels.PARSER, folder)
    (name,) = {container(pod)["image"] for pod in pods().values()}
    dockerfile = project_folder / "deploy" / "kubernetes" / "Dockerfile"
    base = re.search(r"^FROM (\S+)$", dockerfile.read_text(), re.MULTILINE)
    assert base
    # Pin the version, so that pip takes this wheel and none from a registry.
    version = f"DBT_PAIMON=dbt-paimon[s3]=={wheel.name.split('-')[1]}"
    return images.project(name, project_folder, dockerfile, f"docker.io/{base[1]}", folder, version)


@pytest.fixture(scope="session")
def cluster(image: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    with running_cluster(folder, [image, images.pause(PAUSE_IMAGE)]) as found:
        yield found


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    with s3(tmp_path_factory.mktemp("store"), interface="0.0.0.0") as found:
        yield found


@pytest.fixture
def lakehouse(cluster: Cluster, store: S3, request: pytest.FixtureRequest) -> Iterator[Lakehouse]:
    """The namespace, which is deleted after each test."""
    endpoint = f"http://{MACHINE}:{store.endpoint.rpartition(':')[2]}"
    found = Lakehouse(cluster, store, endpoint, re.sub(r"\W+", "-", request.node.name))
    yield found
    (namespace,) = manifests("namespace.yaml")
    cluster.kubectl("delete", "namespace", namespace["metadata"]["name"], "--ignore-not-found")


@pytest.fixture
def rows(lakehouse: Lakehouse, spark_config: dict[str, Any]) -> Callable[[str], list[tuple[Any, ...]]]:
    """Function: the rows of a query, which Spark on this machine runs outside the cluster."""

    def read(sql: str) -> list[tuple[Any, ...]]:
        credentials = PaimonCredentials(
            paimon_version="0.9.0",
            schema="any",
            warehouse=lakehouse.warehouse,
            catalog_options=lakehouse.store.catalog_options(),
            spark_config=spark_config,
        )
        cursor = open_handle(Runtime(credentials)).cursor()
        cursor.execute(sql)
        return [tuple(row) for row in cursor.fetchall()]

    return read
