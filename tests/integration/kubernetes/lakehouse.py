"""deploy/kubernetes on a test's cluster: its manifests with this machine's values, and the outcome of its Jobs."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import yaml

from integration.services.kubernetes.cluster import Cluster
from integration.services.s3 import S3
from kubernetes_profile import FOLDER

NAMESPACE = "lakehouse"
JOB = "dbt-build"
EXECUTORS = "spark-role=executor"
# Small requests, because all pods share two cores.
SMALL = {
    "spark.executor.instances": 2,
    "spark.executor.cores": 1,
    "spark.executor.memory": "512m",
    "spark.kubernetes.executor.request.cores": "100m",
    "spark.driver.memory": "1g",
    # Without the C2 compiler, because these JVMs live only a minute.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}


def manifests(name: str) -> list[dict[str, Any]]:
    """The objects in a file of deploy/kubernetes."""
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


def config(warehouse: str, endpoint: str, **settings: str) -> dict[str, Any]:
    """config.yaml with this machine's warehouse, small executors and further Spark settings."""
    (found,) = manifests("config.yaml")
    profile = yaml.safe_load(found["data"]["profiles.yml"])
    profile["lakehouse"]["outputs"]["kubernetes"]["spark_config"] |= SMALL | settings
    found["data"] |= {
        "profiles.yml": yaml.safe_dump(profile),
        "WAREHOUSE": warehouse,
        "S3_ENDPOINT": endpoint,
    }
    return found


@dataclass
class Seen:
    """The executors' pods that a watch has seen.

    Attributes:
        events: the API's watch events, in order.
    """

    events: list[dict[str, Any]] = field(default_factory=list)

    def pods(self) -> dict[str, dict[str, Any]]:
        """Name -> the last object of each pod while it was running."""
        return {
            event["object"]["metadata"]["name"]: event["object"]
            for event in self.events
            if event["object"]["status"].get("phase") == "Running"
        }

    def deleted(self) -> set[str]:
        """The names of the deleted pods."""
        return {event["object"]["metadata"]["name"] for event in self.events if event["type"] == "DELETED"}


class Lakehouse:
    """The namespace of deploy/kubernetes, with its own warehouse."""

    def __init__(self, cluster: Cluster, store: S3, endpoint: str, name: str) -> None:
        self.cluster = cluster
        self.store = store
        self.endpoint = endpoint
        self.warehouse = f"s3://{store.bucket}/{name}"

    def create(self, **settings: str) -> None:
        """Create the objects that a Job needs; `settings` are further Spark settings for the profile."""
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "lakehouse-s3", "namespace": NAMESPACE},
            "stringData": {"S3_ACCESS_KEY": self.store.access_key, "S3_SECRET_KEY": self.store.secret_key},
        }
        self.cluster.apply(*manifests("namespace.yaml"), *manifests("service-account.yaml"), secret)
        self.cluster.apply(config(self.warehouse, self.endpoint, **settings))

    def start(self, *arguments: str, command: str = "build", account: str | None = None) -> None:
        """Start job.yaml's Job; it replaces an earlier one.

        Args:
            arguments: further arguments for dbt.
            command: dbt's command.
            account: a service account other than the manifest's.
        """
        self.delete()
        service, job = copy.deepcopy(manifests("job.yaml"))
        pod = job["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        container["command"] = ["dbt", command, *container["command"][2:], *arguments]
        pod["serviceAccountName"] = account or pod["serviceAccountName"]
        self.cluster.apply(service, job)

    def delete(self) -> None:
        """Delete the Job and its pods."""
        self.cluster.kubectl(*("-n", NAMESPACE, "delete", "job", JOB, "--ignore-not-found", "--cascade=foreground"))

    def outcome(self, seconds: float = 900) -> str:
        """How the Job ended: Complete or Failed.

        Raises:
            TimeoutError: the Job did not end in time.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            job = self.cluster.get("job", NAMESPACE, JOB)
            conditions = (job or {}).get("status", {}).get("conditions", [])
            for condition in conditions:
                if condition["type"] in ("Complete", "Failed") and condition["status"] == "True":
                    return str(condition["type"])
            time.sleep(1)
        raise TimeoutError(f"the Job runs after {seconds} s:\n{self.said()}")

    def said(self) -> str:
        """The end of dbt's output."""
        return self.cluster.kubectl("-n", NAMESPACE, "logs", f"job/{JOB}", "--tail=60", check=False)

    def build(self, *arguments: str) -> None:
        """Run a Job, which must complete."""
        self.start(*arguments)
        assert self.outcome() == "Complete", self.said()

    def drivers(self) -> list[dict[str, Any]]:
        """A list of the Job's pod; empty before the pod exists."""
        return self.cluster.list("pods", NAMESPACE, f"app.kubernetes.io/name={JOB}")

    def executors(self) -> list[dict[str, Any]]:
        """All existing executor pods, whatever their state."""
        return self.cluster.list("pods", NAMESPACE, EXECUTORS)

    def wait_for(self, condition: Callable[[], Any], seconds: float = 600) -> Any:
        """Wait until a condition's result is truthy, and return the result.

        Raises:
            TimeoutError: it did not become truthy in time.
        """
        end = time.monotonic() + seconds
        while not (found := condition()):
            if time.monotonic() > end:
                raise TimeoutError(self.said())
            time.sleep(0.3)
        return found

    @contextmanager
    def watched(self, folder: Path) -> Iterator[Seen]:
        """Watch executors' pods; `Seen` has the events once the block has ended."""
        seen = Seen()
        path = folder / "pods.json"
        command = [*self.cluster.kubectl_program, "-n", NAMESPACE, "get", "pods", "-l", EXECUTORS]
        with path.open("w") as output:
            watch = subprocess.Popen(
                [*command, "--watch", "--output-watch-events", "-o", "json"],
                env={**os.environ, "KUBECONFIG": str(self.cluster.kubeconfig)},
                stdout=output,
            )
            try:
                yield seen
            finally:
                # Events arrive with a delay.
                time.sleep(2)
                watch.terminate()
                watch.wait()
        seen.events += _documents(path.read_text())


def _documents(text: str) -> Iterator[dict[str, Any]]:
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        try:
            found, at = decoder.raw_decode(text, at)
        except ValueError:
            # The last document may be cut off.
            return
        yield found
        while at < len(text) and text[at].isspace():
            at += 1


def busy_executor(seconds: float) -> psutil.Process | None:
    """An executor's JVM that has used more than `seconds` of CPU time, if there is one."""
    for process in psutil.process_iter(["cmdline", "name"]):
        line = process.info["cmdline"] or []
        if process.info["name"] == "java" and any("KubernetesExecutorBackend" in part for part in line):
            used = process.cpu_times()
            if used.user + used.system > seconds:
                return process
    return None


def pod_of(process: psutil.Process) -> str:
    """The name of the pod in which an executor's JVM runs."""
    line = process.cmdline()
    return line[line.index("--podName") + 1]


def labels_of(pod: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = pod["metadata"]["labels"]
    return found
