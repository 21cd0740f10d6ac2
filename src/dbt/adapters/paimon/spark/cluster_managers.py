"""Default settings and checks for a target on a cluster manager (YARN, Kubernetes, standalone).

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
_CLUSTER_MODE_SETTINGS: Final = ("spark.kubernetes.file.upload.path", "spark.kubernetes.appKillPodDeletionGracePeriod")
_HADOOP_FOLDERS: Final = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")


def master_defaults(master: str) -> dict[str, str]:
    """Default Spark settings for a master; the profile's settings override them."""
    if master == "yarn":
        return {_MODE: "client"}
    if not master.startswith("k8s://"):
        return {}
    defaults = {
        _MODE: "client",
        # The driver's address may be that of a Kubernetes service, to which the pod cannot bind.
        "spark.driver.bindAddress": "0.0.0.0",  # noqa: S104
    }
    if pod := os.environ.get("POD_NAME"):
        # Makes the driver's pod the owner of its executors, so that they end with it.
        defaults["spark.kubernetes.driver.pod.name"] = pod
    return defaults


def master_problems(master: str, settings: Mapping[str, str]) -> Iterator[str]:
    """The reasons why a target cannot run on its cluster, each with a remedy."""
    mode = settings.get(_MODE, "client")
    if mode != "client":
        yield (
            f"spark_config: {_MODE}={mode}: dbt's own process is Spark's driver, so only client mode works; "
            "remove it, and run dbt in the cluster if the driver should run there (docs/kubernetes.md)"
        )
    if master.startswith("k8s:"):
        yield from _kubernetes_problems(master, settings)
    elif master.startswith("yarn"):
        yield from _yarn_problems(master)


def unread_settings(settings: Mapping[str, str]) -> tuple[str, ...]:
    """A warning for each setting that only `spark-submit` in cluster mode reads.

    Source: the callers of Config.KUBERNETES_FILE_UPLOAD_PATH and KUBERNETES_SUBMIT_GRACE_PERIOD in Spark 3.5.
    """
    return tuple(
        f"spark_config: {key} has no effect: only spark-submit in cluster mode reads it, and dbt's own process is the "
        "driver. Remove it"
        for key in _CLUSTER_MODE_SETTINGS
        if key in settings
    )


def _kubernetes_problems(master: str, settings: Mapping[str, str]) -> Iterator[str]:
    if not _KUBERNETES.match(master):
        yield (
            f"spark_config: spark.master={master} is not an API server of Kubernetes; write "
            "k8s://https://host:port, or in a pod k8s://https://kubernetes.default.svc"
        )
    if not any(settings.get(key) for key in _IMAGES):
        yield (
            f"spark_config: {_IMAGES[0]} is missing; set it to an image with Spark and Paimon's jars for the executors "
            "(deploy/kubernetes/Dockerfile builds one)"
        )


def _yarn_problems(master: str) -> Iterator[str]:
    if master != "yarn":
        yield (
            f"spark_config: spark.master={master}: for YARN write just yarn (the mode is always client, and the "
            f"address is in the files of {_HADOOP_FOLDERS[0]})"
        )
    named = {name: folder for name in _HADOOP_FOLDERS if (folder := os.environ.get(name))}
    if not named:
        yield (
            f"spark_config: spark.master=yarn needs {' or '.join(_HADOOP_FOLDERS)} in dbt's environment; set it to the "
            "folder of the cluster's core-site.xml and yarn-site.xml"
        )
    elif not any(Path(folder, "yarn-site.xml").is_file() for folder in named.values()):
        shown = ", ".join(f"{name}={folder}" for name, folder in named.items())
        yield f"spark_config: spark.master=yarn: {shown} has no yarn-site.xml; set it to the folder that has one"


def require_master(master: str) -> None:
    """Check that the master of a standalone cluster answers; Spark itself would retry for a minute."""
    if master.startswith("spark://"):
        found = [addresses.host_and_port(item) for item in master.removeprefix("spark://").split(",")]
        addresses.require_listener(
            "A Spark master",
            [address for address in found if address is not None],
            "Start the cluster, or correct spark.master under spark_config in the profile.",
        )
