"""Kubernetes: what keeps executors' pods from running, which Spark itself would wait for without end.

Spark asks for pods again and again, whatever the API server or the nodes answer, and says so in its log alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from threading import Thread
from typing import Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.machine.waiting import Wait, WaitedTooLongError
from dbt.adapters.paimon.spark.launch import jvm_process
from dbt.adapters.paimon.spark.launch.spark_log import log_path

logger = AdapterLogger("Paimon")

_MASTER: Final = "k8s://"
# Without any of these, a run has no executors, or does not learn that one has died.
_NEEDED: Final = (
    ("pods", ("create", "get", "list", "watch", "delete", "deletecollection")),
    ("configmaps", ("create", "get", "list", "delete", "deletecollection")),
)
_ROLE: Final = "deploy/kubernetes/service-account.yaml"
# Seconds in which the first executor has to come; a cluster that grows by a node takes some minutes.
LONGEST_WAIT: Final = 900.0
# Seconds after which a pod that cannot start by itself is given up.
LONGEST_HOPELESS: Final = 60.0
LOOK_EVERY: Final = 2.0
# Reasons of a container that waits (kubelet, `k8s.io/kubernetes/pkg/kubelet/images/types.go` and `.../container/sync_result.go`).
_HOPELESS: Final = frozenset(
    "ImagePullBackOff ErrImagePull ErrImageNeverPull InvalidImageName ImageInspectError CreateContainerConfigError "
    "CreateContainerError RunContainerError".split()
)


def require_rights(jvm: Any, conf: Mapping[str, str]) -> None:
    """Check that the API server answers, and that dbt's account may do what Spark does; other masters pass.

    Args:
        jvm: py4j's view of the JVM.
        conf: Spark's settings.

    Raises:
        DbtRuntimeError: it does not answer, or a right is missing; with the remedy.
    """
    if not conf["spark.master"].startswith(_MASTER):
        return
    namespace = _namespace(conf)
    with _client(jvm, conf) as client:
        missing = [
            f"{verb} {resource}"
            for resource, verbs in _NEEDED
            for verb in verbs
            if not _may(jvm, client, namespace, verb, resource)
        ]
    if missing:
        raise DbtRuntimeError(
            f"In the namespace {namespace} of the Kubernetes cluster (spark.kubernetes.namespace) dbt may not "
            f"{_listed(missing)}, and Spark would wait for its executors without end. Give the service account of dbt's "
            f"pod the Role of {_ROLE}, or name the one that has it as serviceAccountName of the pod."
        )


def watch_executors(context: Any, conf: Mapping[str, str]) -> None:
    """Watch, beside the run, whether executors come: say what they wait for, and end the run where waiting is no use.

    Args:
        context: the SparkContext.
        conf: Spark's settings.
    """
    # Executors that come with the first job may take their time.
    if conf["spark.master"].startswith(_MASTER) and conf.get("spark.dynamicAllocation.enabled") != "true":
        Thread(target=_watch, args=(context, conf), name="executors", daemon=True).start()


def _watch(context: Any, conf: Mapping[str, str]) -> None:
    jvm, spark = context._jvm, context._jsc.sc()
    wait = Wait("executors", LONGEST_WAIT, "")
    with suppress(Exception), _client(jvm, conf) as client:
        pods = client.pods().inNamespace(_namespace(conf))
        mine = pods.withLabel("spark-app-selector", spark.applicationId()).withLabel("spark-role", "executor")
