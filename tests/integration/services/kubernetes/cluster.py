"""A real one-node cluster: etcd, API server, scheduler, controllers, kube-proxy, CoreDNS and kubelet with containerd.

The node has its own namespaces (`node.py`) and a virtual cable to this machine: pods reach services that listen on
`addresses.MACHINE`, and this machine reaches pods and the API server.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import yaml

from integration.services.kubernetes.addresses import API_PORT, CABLE_BITS, MACHINE, NODE, NODE_NAME, PODS
from integration.services.kubernetes.programs import programs
from integration.services.process import running

# The programs that the node needs -> the Debian packages that have them.
_NEEDED = {
    "containerd": "containerd",
    "runc": "runc",
    "iptables": "iptables",
    "ip": "iproute2",
    "unshare": "util-linux",
}
_PLUGINS = Path("/usr/lib/cni")
# Component -> its user and its groups.
_USERS = {
    "admin": ("admin", "system:masters"),
    "controllers": ("system:kube-controller-manager", ""),
    "scheduler": ("system:kube-scheduler", ""),
    "proxy": ("system:kube-proxy", ""),
    "kubelet": (f"system:node:{NODE_NAME}", "system:nodes"),
}
_LONGEST_START = 600.0


@dataclass(frozen=True)
class Cluster:
    """A running cluster.

    Attributes:
        folder: its files, including the components' logs.
        address: the API server's URL.
        kubeconfig: the administrator's.
        kubectl_program: the command line before kubectl's own arguments.
    """

    folder: Path
    address: str
    kubeconfig: Path
    kubectl_program: tuple[str, ...]

    @property
    def certificate(self) -> Path:
        """The CA certificate for the API server, which is the server's own, self-signed certificate."""
        return self.folder / "certificates" / "apiserver.crt"

    def kubectl(self, *arguments: str, given: str | None = None, check: bool = True) -> str:
        """Run kubectl as the administrator; returns what it prints.

        Args:
            arguments: kubectl's arguments.
            given: the standard input.
            check: whether to raise an error if kubectl fails.

        Raises:
            RuntimeError: kubectl failed; with its message.
        """
        ended = subprocess.run(
            [*self.kubectl_program, *arguments],
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig)},
            input=given,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        if check and ended.returncode != 0:
            raise RuntimeError(f"kubectl {' '.join(arguments)}: {ended.stderr.strip()}")
        return ended.stdout

    def apply(self, *documents: Mapping[str, Any]) -> None:
        """Create or change objects."""
        self.kubectl("apply", "-f", "-", given=yaml.safe_dump_all(documents))

    def get(self, kind: str, namespace: str, name: str) -> dict[str, Any] | None:
        """An object, or None if it does not exist."""
        text = self.kubectl("-n", namespace, "get", kind, name, "--ignore-not-found", "-o", "json")
        return json.loads(text) if text else None

    def list(self, kind: str, namespace: str, selector: str = "") -> list[dict[str, Any]]:
        """The objects of a kind with certain labels."""
        text = self.kubectl("-n", namespace, "get", kind, "-l", selector, "-o", "json")
        found: list[dict[str, Any]] = json.loads(text)["items"]
        return found


@contextlib.contextmanager
def cluster(folder: Path, images: Sequence[Path]) -> Iterator[Cluster]:
    """Run a cluster; everything in it ends with the block.

    Args:
        folder: for its files.
        images: archives of all container images, including `node.PAUSE_IMAGE`: nothing is pulled.

    Raises:
        RuntimeError: this machine lacks a program or right, or the cluster did not start.
    """
    _check_machine()
    own = programs()
    (folder / "images").mkdir(parents=True)
    for image in images:
        (folder / "images" / image.name).symlink_to(image)
    _write_access(folder)
    subprocess.run(["openssl", "genrsa", "-out", folder / "accounts.key", "2048"], check=True, capture_output=True)
    command: list[str | Path] = [
        "unshare",
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]
    command += [sys.executable, "-m", "integration.services.kubernetes.node", folder, own]
    with _without_cgroups(), running(command, folder / "node.log", [], cwd=Path(__file__).parents[3]) as node:
        _plug_in(node)
        found = Cluster(
            folder,
            f"https://{NODE}:{API_PORT}",
            folder / "admin.kubeconfig",
            (str(own / "cluster"), "kubectl"),
        )
        _wait_until_ready(found, node)
        yield found


def _check_machine() -> None:
    if sys.platform != "linux" or os.geteuid() != 0:
        raise RuntimeError("a node's containers need Linux and root")
    missing = sorted(package for program, package in _NEEDED.items() if shutil.which(program) is None)
    missing += [] if _PLUGINS.exists() else ["containernetworking-plugins"]
    if missing:
        raise RuntimeError(f"install {' '.join(missing)} (the names are Debian's)")


@contextlib.contextmanager
def _without_cgroups() -> Iterator[None]:
    """Remove the cgroups that a node leaves behind, because they do not end with its namespaces."""
    try:
        yield
    finally:
        for group in sorted(Path("/sys/fs/cgroup").glob("**/kubepods*/**/"), reverse=True):
            with contextlib.suppress(OSError):
                group.rmdir()


def _write_access(folder: Path) -> None:
    tokens = {name: secrets.token_hex(16) for name in _USERS}
    lines = [f'{tokens[name]},{user},{user},"{group}"' for name, (user, group) in _USERS.items()]
    (folder / "tokens.csv").write_text("\n".join(lines) + "\n")
    for name, token in tokens.items():
        _write_kubeconfig(folder / f"{name}.kubeconfig", folder, token)


def _write_kubeconfig(path: Path, folder: Path, token: str) -> None:
    """Write a kubeconfig with a token.

    Args:
        path: the file.
        folder: the cluster's folder.
        token: the user's bearer token.
    """
    server = {
        "server": f"https://{NODE}:{API_PORT}",
        "certificate-authority": str(folder / "certificates" / "apiserver.crt"),
    }
    path.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "it", "cluster": server}],
                "users": [{"name": "it", "user": {"token": token}}],
                "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
                "current-context": "it",
            }
        )
    )


def _plug_in(node: subprocess.Popen[bytes]) -> None:
    """Connect a new node with a virtual cable, which disappears with the node."""
    own = Path("/proc/self/ns/net").readlink()
    end = time.monotonic() + 60
    while not (inside := _inside(node.pid, own)):
        if time.monotonic() > end or node.poll() is not None:
            raise RuntimeError("the node has no namespaces")
        time.sleep(0.05)
    device = f"k8s{node.pid}"
    for command in (
        f"link add {device} type veth peer name eth0 netns {inside}",
        f"address add {MACHINE}/{CABLE_BITS} dev {device}",
        f"link set {device} up",
        f"route add {PODS} via {NODE}",
    ):
        done = subprocess.run(["ip", *command.split()], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            # The addresses are fixed, so a machine runs one cluster at a time.
            raise RuntimeError(f"ip {command}: {done.stderr.strip()}; is there another test's cluster?")


def _inside(pid: int, own: Path) -> int | None:
    """The child process of `unshare` that has its own namespaces."""
    with contextlib.suppress(psutil.NoSuchProcess, OSError):
        for child in psutil.Process(pid).children():
            if Path(f"/proc/{child.pid}/ns/net").readlink() != own:
                return child.pid
    return None


def _wait_until_ready(found: Cluster, node: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _LONGEST_START
    while True:
        if node.poll() is not None or time.monotonic() > end:
            said = (found.folder / "node.log").read_text(errors="replace")[-3000:]
            raise RuntimeError(f"the cluster did not start:\n{said}")
        state = found.kubectl(
            *("get", "node", NODE_NAME, "--ignore-not-found", "-o"),
            "jsonpath={.status.conditions[?(@.type=='Ready')].status}",
            check=False,
        )
        # The controllers create the account some seconds after the namespace.
        account = found.kubectl("get", "serviceaccount", "default", "--ignore-not-found", check=False)
        if state == "True" and account:
            return
        time.sleep(0.5)
