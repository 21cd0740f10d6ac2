"""YARN with one resource manager and one node manager: Hadoop's own daemons, from the jar of its test cluster."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from integration.services.hdfs import HADOOP, spark_jars
from integration.services.maven import jar
from integration.services.process import LOOPBACK, free_port, running

_RESOURCES = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
_APPLICATIONS = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
_NODE = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
# The memory and cores that a test machine can spare.
_MEGABYTES = 4096
_CORES = 4


@dataclass(frozen=True)
class Yarn:
    """A running cluster.

    Attributes:
        conf: the folder for HADOOP_CONF_DIR.
        address: the resource manager's REST address.
    """

    conf: Path
    address: str

    def last_application(self) -> dict[str, str]:
        """The newest application in the resource manager's list, once it has ended.

        Returns:
            Columns of `yarn application -list`: `Application-Id`, `Application-Type`, `State`, `Final-State`, …

        Raises:
            TimeoutError: it did not end within two minutes.
        """
        end = time.monotonic() + 120
        while time.monotonic() < end:
            newest = max(self._applications(), key=lambda application: application["Application-Id"])
            if newest["State"] in ("FINISHED", "FAILED", "KILLED"):
                return newest
        raise TimeoutError(f"{newest['Application-Id']} is {newest['State']}")

    def containers(self) -> int:
        """The number of containers that run on the nodes."""
        return sum(int(node["numContainers"]) for node in self.nodes())

    def nodes(self) -> list[dict[str, Any]]:
        """The nodes that have registered."""
        with urllib.request.urlopen(f"{self.address}/ws/v1/cluster/nodes", timeout=10) as answer:
            found: list[dict[str, Any]] = json.load(answer)["nodes"]
        return found

    def _applications(self) -> list[dict[str, str]]:
        # Not by REST: on Java 17, the shaded jar answers with status 500, or with applications without a state.
        ended = subprocess.run(
            [*_command(self.conf, _APPLICATIONS), "application", "-list", "-appStates", "ALL"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
            text=True,
        )
        lines = [[cell.strip() for cell in line.split("\t")] for line in ended.stdout.splitlines()]
        names = next(line for line in lines if line[0] == "Application-Id")
        return [dict(zip(names, line, strict=False)) for line in lines if line[0].startswith("application_")]


@contextlib.contextmanager
def yarn(folder: Path) -> Iterator[Yarn]:
    """Run a cluster on local disks; it ends with the block, as do its applications.

    Args:
        folder: for its configuration, its files and its logs.

    Raises:
        RuntimeError: the cluster did not start.
    """
    manager = {name: free_port() for name in ("address", "scheduler", "resource-tracker", "admin", "webapp")}
    node = {name: free_port() for name in ("address", "localizer", "webapp")}
    conf = folder / "conf"
    conf.mkdir(parents=True)
    _write(conf / "core-site.xml", {"fs.defaultFS": "file:///", "hadoop.tmp.dir": folder / "data"})
    _write(
        conf / "yarn-site.xml",
        {
            **_addresses("yarn.resourcemanager", manager),
            **_addresses("yarn.nodemanager", node),
            # Not the default scheduler, which needs a file of queues.
            "yarn.resourcemanager.scheduler.class": "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo."
            "FifoScheduler",
            "yarn.nodemanager.resource.memory-mb": _MEGABYTES,
            "yarn.nodemanager.resource.cpu-vcores": _CORES,
            "yarn.scheduler.minimum-allocation-mb": 256,
            # A JVM reserves much more virtual memory than it uses, so YARN would kill it.
            "yarn.nodemanager.vmem-check-enabled": "false",
            # A test machine's disk may be nearly full, which would make the node unhealthy.
            "yarn.nodemanager.disk-health-checker.enable": "false",
            "yarn.nodemanager.local-dirs": folder / "local",
            "yarn.nodemanager.log-dirs": folder / "containers",
        },
    )
    with contextlib.ExitStack() as stack:
        for main, ports in ((_RESOURCES, manager), (_NODE, node)):
            log = folder / f"{main.rpartition('.')[2]}.log"
            stack.enter_context(running(_command(conf, main), log, list(ports.values()), cwd=folder))
        cluster = Yarn(conf, f"http://{LOOPBACK}:{manager['webapp']}")
        end = time.monotonic() + 600
        while not cluster.nodes():
            if time.monotonic() > end:
                raise RuntimeError(f"YARN has no node: see {folder}")
            time.sleep(0.5)
        yield cluster


def _command(conf: Path, main: str) -> list[str | Path]:
    jars = [
        jar("org.apache.hadoop", "hadoop-client-minicluster", HADOOP),
        # The cluster's jar lacks only the library that signs its certificates.
        jar("org.bouncycastle", "bcprov-jdk15on", "1.68"),
        jar("org.bouncycastle", "bcpkix-jdk15on", "1.68"),
        spark_jars(),
    ]
    # Guice defines classes by reflection, which Java 17 allows only with this option.
    opens = "--add-opens=java.base/java.lang=ALL-UNNAMED"
    return ["java", opens, "-Xmx512m", "-cp", ":".join(map(str, (conf, *jars))), main]


def _addresses(daemon: str, ports: dict[str, int]) -> dict[str, object]:
    """Settings of a daemon's addresses: `<daemon>.address`, and `<daemon>.<part>.address` for each part."""
    own = ports["address"]
    parts = {f"{daemon}.{name}.address": f"{LOOPBACK}:{port}" for name, port in ports.items() if port != own}
    return {f"{daemon}.hostname": LOOPBACK, f"{daemon}.address": f"{LOOPBACK}:{own}", **parts}


def _write(path: Path, settings: dict[str, object]) -> None:
    root = ElementTree.Element("configuration")
    for name, value in settings.items():
        entry = ElementTree.SubElement(root, "property")
        ElementTree.SubElement(entry, "name").text = name
        ElementTree.SubElement(entry, "value").text = str(value)
    ElementTree.ElementTree(root).write(path)
