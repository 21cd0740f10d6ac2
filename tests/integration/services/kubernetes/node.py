"""The node of a test's cluster, the first process of its own namespaces (processes, network, mounts).

`python -m integration.services.kubernetes.node FOLDER PROGRAMS`. When this process ends, Linux ends the node's other
processes and removes its network and mounts, whatever happened.
"""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from integration.services.kubernetes.addresses import (
    API_PORT,
    CABLE_BITS,
    DOMAIN,
    MACHINE,
    NODE,
    NODE_NAME,
    PODS,
    SERVICES,
)

_CONTAINERD = "/run/containerd/containerd.sock"
PAUSE_IMAGE = "registry.example.com/pause:1"
# Settings that the kubelet would change for the whole machine (k8s.io/component-helpers/node/util/sysctl).
_KERNEL = (
    *("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops"),
    *("kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes"),
)


class Node:
    """The node's processes and files.

    Attributes:
        folder: for configuration, state and logs; must contain `tokens.csv` and each component's kubeconfig.
        programs: the folder with Kubernetes' own programs.
    """

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.programs = programs
        self._started: dict[int, str] = {}

    def run(self) -> None:
        """Start all processes; exit when one of them ends."""
        # If a shell started this in the background, it ignores SIGINT, as would its children, including containers.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        self._make_mounts()
        self._connect()
        self._start_control_plane()
        self._wait_for_api()
        self._start_workers()
        while True:
            # As the first process of its namespace, this one must reap all orphans.
            ended, status = os.wait()
            if ended in self._started:
                sys.exit(f"{self._started[ended]} has ended with {os.waitstatus_to_exitcode(status)}")

    def _make_mounts(self) -> None:
        _run("mount", "-t", "tmpfs", "tmpfs", "/run")
        Path("/run/lock").mkdir()
        logs = self.folder / "log"
        logs.mkdir()
        _run("mount", "--bind", logs, "/var/log")
        for number, name in enumerate(_KERNEL):
            setting, own = Path("/proc/sys", name), Path(f"/run/kernel{number}")
            own.write_bytes(setting.read_bytes())
            _run("mount", "--bind", own, setting)

    def _connect(self) -> None:
        """Wait for this end of the cable, and configure it."""
        while not _has_device("eth0"):
            time.sleep(0.05)
        for command in (
            "link set lo up",
            f"address add {NODE}/{CABLE_BITS} dev eth0",
            "link set eth0 up",
            f"route add default via {MACHINE}",
        ):
            _run("ip", *command.split())
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")

    def _start_control_plane(self) -> None:
        etcd = self._folder("etcd")
        client, peer = "http://127.0.0.1:2379", "http://127.0.0.1:2380"
        self._start(
            "etcd",
            f"--data-dir={etcd}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            # etcd need not sync its data, which is only needed during the test.
            "--unsafe-no-fsync",
        )
        key = self.folder / "accounts.key"
        self._start(
            "kube-apiserver",
            f"--etcd-servers={client}",
            f"--bind-address={NODE}",
            f"--advertise-address={NODE}",
            f"--secure-port={API_PORT}",
            f"--cert-dir={self.folder / 'certificates'}",
            f"--service-cluster-ip-range={SERVICES}",
            f"--service-account-issuer=https://kubernetes.default.svc.{DOMAIN}",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=false",
            "--kubelet-preferred-address-types=InternalIP",
        )

    def _wait_for_api(self) -> None:
        certificate = self.folder / "certificates" / "apiserver.crt"
        while True:
            with suppress(OSError, ssl.SSLError):
                context = ssl.create_default_context(cafile=str(certificate))
                url = f"https://{NODE}:{API_PORT}/readyz"
                with urllib.request.urlopen(url, context=context, timeout=5):
                    return
            time.sleep(0.2)

    def _start_workers(self) -> None:
        key, certificate = self.folder / "accounts.key", self.folder / "certificates" / "apiserver.crt"
        self._start(
            "kube-controller-manager",
            self._kubeconfig("controllers"),
            "--leader-elect=false",
            "--use-service-account-credentials",
            f"--root-ca-file={certificate}",
            f"--service-account-private-key-file={key}",
        )
        self._start("kube-scheduler", self._kubeconfig("scheduler"), "--leader-elect=false")
        self._start_containerd()
        self._start_kubelet()
        proxy = {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "iptables",
            "clusterCIDR": PODS,
            "hostnameOverride": NODE_NAME,
            "clientConnection": {"kubeconfig": str(self.folder / "proxy.kubeconfig")},
            # Zero leaves these limits as they are, because they apply to the whole machine.
            "conntrack": {"maxPerCore": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        }
        self._start("kube-proxy", f"--config={self._json('proxy.json', proxy)}")
        names = self.folder / "Corefile"
        names.write_text(
            f"{DOMAIN}:53 {{\n"
            f"    bind {NODE}\n    errors\n"
            f"    kubernetes {DOMAIN} {{\n        kubeconfig {self.folder / 'admin.kubeconfig'}\n"
            # The service publishes the driver's address before the driver is ready, so no DNS answer may be cached.
            "        ttl 0\n    }\n}\n"
        )
        self._spawn("coredns", [self.programs / "dns", "-conf", names])

    def _start_containerd(self) -> None:
        network = self.folder / "network"
        network.mkdir()
        bridge = {
            "cniVersion": "0.4.0",
            "name": "pods",
            "plugins": [
                {
                    "type": "bridge",
                    "bridge": "pods",
                    "isGateway": True,
                    "hairpinMode": True,
                    "ipMasq": False,
                    "ipam": {
                        "type": "host-local",
                        "dataDir": str(self._folder("addresses")),
                        "ranges": [[{"subnet": PODS}]],
                        "routes": [{"dst": "0.0.0.0/0"}],
                    },
                },
                {"type": "portmap", "capabilities": {"portMappings": True}},
            ],
        }
        (network / "pods.conflist").write_text(json.dumps(bridge))
        config = self.folder / "containerd.toml"
        config.write_text(
            f"""version = 2
root = "{self._folder("containerd")}"
state = "/run/containerd"
[grpc]
address = "{_CONTAINERD}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{PAUSE_IMAGE}"
# A machine may forbid root to protect a process more than itself.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "{network}"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
"""
        )
        self._spawn("containerd", ["containerd", "--config", config])
        while not Path(_CONTAINERD).exists():
            time.sleep(0.05)
        for archive in sorted((self.folder / "images").glob("*.tar")):
            _run("ctr", "--address", _CONTAINERD, "--namespace", "k8s.io", "images", "import", archive)

    def _start_kubelet(self) -> None:
        nothing = {"imagefs.available": "0%", "nodefs.available": "0%", "nodefs.inodesFree": "0%"}
        config = {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": NODE,
            # Only this machine can reach the kubelet.
            "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
            "authorization": {"mode": "AlwaysAllow"},
            "cgroupDriver": "cgroupfs",
            "clusterDNS": [NODE],
            "clusterDomain": DOMAIN,
            "containerRuntimeEndpoint": f"unix://{_CONTAINERD}",
            "failSwapOn": False,
            "resolvConf": "",
            "evictionHard": nothing,
            "imageGCHighThresholdPercent": 100,
            "oomScoreAdj": 0,
            "podLogsDir": "/var/log/pods",
            "volumePluginDir": str(self._folder("plugins")),
        }
        self._start(
            "kubelet",
            self._kubeconfig("kubelet"),
            f"--config={self._json('kubelet.json', config)}",
            f"--root-dir={self._folder('kubelet')}",
            f"--cert-dir={self._folder('kubelet-certificates')}",
            f"--hostname-override={NODE_NAME}",
            f"--node-ip={NODE}",
        )

    def _kubeconfig(self, name: str) -> str:
        return f"--kubeconfig={self.folder / name}.kubeconfig"

    def _folder(self, name: str) -> Path:
        path = self.folder / name
        path.mkdir(exist_ok=True)
        return path

    def _json(self, name: str, content: Mapping[str, object]) -> Path:
        path = self.folder / name
        path.write_text(json.dumps(content))
        return path

    def _start(self, component: str, *arguments: str) -> None:
        self._spawn(component, [self.programs / "cluster", component, *arguments])

    def _spawn(self, name: str, command: list[str | Path]) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._started[process.pid] = name


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True)


def _has_device(name: str) -> bool:
    return subprocess.run(["ip", "link", "show", name], capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    Node(Path(sys.argv[1]), Path(sys.argv[2])).run()
