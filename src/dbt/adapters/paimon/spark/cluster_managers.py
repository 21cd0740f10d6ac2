"""Cluster managers (YARN, Kubernetes, standalone): default settings and checks for a target on one of them.

dbt's process is always the driver: only client mode is supported. Sources:
https://spark.apache.org/docs/3.5.7/running-on-kubernetes.html#client-mode and running-on-yarn.html
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from dbt.adapters.paimon.machine import addresses

_KUBERNETES: Final = re.compile(r"^k8s://(?:https?://)?[^/\s:]+(?::\d+)?(?:/\S*)?$")
_MODE: Final = "spark.submit.deployMode"
_IMAGES: Final = ("spark.kubernetes.container.image", "spark.kubernetes.executor.container.image")
_OF_CLUSTER_MODE: Final = ("spark.kubernetes.file.upload.path", "spark.kubernetes.appKillPodDeletionGracePeriod")
_HADOOP_FOLDERS: Final = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")


def master_defaults(master: str) -> dict[str, str]:
    """Spark settings for a master; those of the profile override them."""
    if master == "yarn":
        return {_MODE: "client"}
    if not master.startswith("k8s://"):
        return {}
    defaults = {
        _MODE: "client",
        # The address given to executors may be that of a service, which is not on any interface of the pod.
        "spark.driver.bindAddress": "0.0.0.0",  # noqa: S104
    }
    if pod := os.environ.get("POD_NAME"):
        # Makes the driver's pod the owner of its executors, so that they end when it does.
        defaults["spark.kubernetes.driver.pod.name"] = pod
    return defaults


def master_problems(master: str, settings: Mapping[str, str]) -> Iterator[str]:
    """Why a target cannot run on its cluster; each problem with its remedy."""
    mode = settings.get(_MODE, "client")
    if mode != "client":
        yield (
            f"spark_config: {_MODE}={mode}: dbt's own process is Spark's driver, so only client mode works; "
            "leave it out, and run dbt itself in the cluster to have the driver there (docs/kubernetes.md)"
        )
    if master.startswith("k8s:"):
        yield from _kubernetes_problems(master, settings)
    elif master.startswith("yarn"):
        yield from _yarn_problems(master)


def unread_settings(settings: Mapping[str, str]) -> tuple[str, ...]:
    """A warning for each setting that only `spark-submit` reads, in cluster mode.

    Source: the callers of Config.KUBERNETES_FILE_UPLOAD_PATH and KUBERNETES_SUBMIT_GRACE_PERIOD in Spark 3.5.
    """
    return tuple(
        f"spark_config: {key} does nothing: spark-submit reads it in cluster mode, and dbt's own process is the "
        "driver. Remove it"
        for key in _OF_CLUSTER_MODE
        if key in settings
    )


def _kubernetes_problems(master: str, settings: Mapping[str, str]) -> Iterator[str]:
    if not _KUBERNETES.match(master):
        yield (
            f"spark_config: spark.master={master} is not an API server of Kubernetes; write "
            "k8s://https://host:port, in a pod k8s://https://kubernetes.default.svc"
        )
    if not any(settings.get(key) for key in _IMAGES):
        yield (
            f"spark_config: {_IMAGES[0]} is missing; on Kubernetes executors run in an image with Spark and "
            "Paimon's jars: set it (deploy/kubernetes/Dockerfile builds one)"
        )


def _yarn_problems(master: str) -> Iterator[str]:
    if master != "yarn":
        yield (
            f"spark_config: spark.master={master}: on YARN it is just yarn; leave the rest out (it is client "
            f"mode, and the address is in the files of {_HADOOP_FOLDERS[0]})"
        )
    named = {name: folder for name in _HADOOP_FOLDERS if (folder := os.environ.get(name))}
    if not named:
        yield (
            f"spark_config: spark.master=yarn needs {' or '.join(_HADOOP_FOLDERS)} in the environment of dbt; set it "
            "to the folder of the cluster's core-site.xml and yarn-site.xml"
        )
    elif not any(Path(folder, "yarn-site.xml").is_file() for folder in named.values()):
        shown = ", ".join(f"{name}={folder}" for name, folder in named.items())
        yield f"spark_config: spark.master=yarn: {shown} holds no yarn-site.xml; name the folder that does"


def require_master(master: str) -> None:
    """Check that a standalone cluster's master answers; Spark itself would try for a minute."""
    if master.startswith("spark://"):
        found = [addresses.host_and_port(item) for item in master.removeprefix("spark://").split(",")]
        addresses.require_listener(
            "A Spark master",
            [address for address in found if address is not None],
            "Start the cluster, or correct spark.master under spark_config in the profile.",
        )
