"""Kubernetes: checks dbt's rights, reports why executors do not start, and releases executors at the end.

By itself, Spark would request pods again and again after a refusal, and report the refusal only in its log.
"""

from __future__ import annotations

import atexit
import json
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.spark.launch import jvm_process
from dbt.adapters.paimon.spark.launch.spark_log import log_path

logger = AdapterLogger("Paimon")

_MASTER: Final = "k8s://"
# The rights that Spark needs at its start, during a run and at its end.
_RIGHTS: Final = {
    "pods": ("get", "list", "watch", "create", "delete", "deletecollection"),
    "configmaps": ("create", "list", "delete", "deletecollection"),
}
_ROLE: Final = "deploy/kubernetes/service-account.yaml"
# Seconds until the first executor must have started; a cluster may need some minutes to add a node.
LONGEST_WAIT: Final = 900.0
# The same for errors that waiting does not resolve.
LONGEST_HOPELESS: Final = 60.0
# Seconds until the reason is logged, and between checks.
NOTICE_AFTER: Final = 20.0
LOOK_EVERY: Final = 2.0
# Reasons of waiting containers that more time does not fix (pkg/kubelet/images/types.go, container/sync_result.go).
_HOPELESS: Final = frozenset(
    "CreateContainerConfigError CreateContainerError ErrImageNeverPull ErrImagePull ImageInspectError "
    "ImagePullBackOff InvalidImageName RunContainerError".split()
)
# The API server's response in Spark's log, without the remark about the account that the client adds to every 401 and
# 403 (`errorMessages` of io.fabric8.kubernetes.client.Config).
_REFUSAL: Final = re.compile(
    r"KubernetesClientException: .*?POST at: \S+/pods\. Message: "
    r"(?:(?:Unauthorized|Forbidden)!.*?(?:revoked|again|permission)\. )?(.+)"
)
_LOG_TAIL: Final = 65536


def require_rights(jvm: Any, conf: Mapping[str, str]) -> None:
    """If Spark runs on Kubernetes, check that dbt's service account has the permissions that Spark needs."""
    if not conf["spark.master"].startswith(_MASTER):
        return
    namespace = _namespace(conf)
    with _client(jvm, conf) as client:
        missing = {
            resource: [verb for verb in verbs if not _is_allowed(jvm, client, namespace, verb, resource)]
            for resource, verbs in _RIGHTS.items()
        }
    lacking = " and ".join(f"{', '.join(verbs)} {resource}" for resource, verbs in missing.items() if verbs)
    if lacking:
        raise DbtRuntimeError(
            f"In the namespace {namespace} of the Kubernetes cluster (spark.kubernetes.namespace) dbt may not "
            f"{lacking}, so Spark would get no executors. Bind its service account (serviceAccountName of its pod; "
            f"outside of the cluster, the user of its kubeconfig) to the Role of {_ROLE}."
        )


def after_start(context: Any, conf: Mapping[str, str]) -> None:
    """Watch a new Spark until it has its first executor; stop its executors at the end of the process."""
    if not conf["spark.master"].startswith(_MASTER):
        return
    # In a container, all processes are killed when dbt ends, before Spark can notice that and stop by itself.
    atexit.register(_stop, context)
    # With dynamic allocation, executors start with the first job.
    if conf.get("spark.dynamicAllocation.enabled", "false") != "true":
        log = log_path()
        since = log.stat().st_size if log.exists() else 0
        Thread(target=_watch, args=(context, conf, log, since), name="executors", daemon=True).start()


def _stop(context: Any) -> None:
    if jvm_process.exit_status(0) is None:
        with suppress(Exception):
            context.stop()


def _watch(context: Any, conf: Mapping[str, str], log: Path, since: int) -> None:
    """Log why executors do not start; end the JVM if waiting longer is useless."""
    jvm, spark = context._jvm, context._jsc.sc()
    began = time.monotonic()
    hopeless_since = math.inf
    logged = ""
    with suppress(Exception), _client(jvm, conf) as client:
        own_pods = client.pods().inNamespace(_namespace(conf))
        own_pods = own_pods.withLabel("spark-app-selector", spark.applicationId())
        # The driver counts as an executor.
        while spark.getExecutorMemoryStatus().size() < 2:
            time.sleep(LOOK_EVERY)
            # A request that fails now may succeed at the next check.
            with suppress(Exception):
                now = time.monotonic()
                as_json = jvm.io.fabric8.kubernetes.client.utils.Serialization.asJson
                pods = json.loads(as_json(own_pods.withLabel("spark-role", "executor").list()))["items"]
                refusal = "" if pods else _refusal(log, since)
                reason = refusal or _reason(pods)
                hopeless_since = min(hopeless_since, now) if _is_hopeless(refusal, reason) else math.inf
                seconds = now - began
                if seconds >= LONGEST_WAIT or now - hopeless_since >= LONGEST_HOPELESS:
                    jvm_process.end_by(lambda: jvm.java.lang.System.exit(1), _failure(refusal, reason, seconds))
                    return
                if seconds >= NOTICE_AFTER and reason not in ("", logged):
                    logger.info(f"Waiting for executors: {reason}")
                    logged = reason


def _is_hopeless(refusal: str, reason: str) -> bool:
    return bool(refusal) or any(each in reason for each in _HOPELESS)


def _failure(refusal: str, reason: str, seconds: float) -> str:
    if refusal:
        return (
            f"{refusal}. Change their template (spark.kubernetes.executor.podTemplateFile) or the spark.kubernetes.* "
            "settings, or allow such pods in the namespace."
        )
    return (
        f"No executor started within {seconds:.0f} s: {reason or 'the pods report no reason'}. "
        "See `kubectl describe pods -l spark-role=executor`."
    )


def _reason(pods: Sequence[Mapping[str, Any]]) -> str:
    """Kubernetes' reason why pods do not run; '' if they only need more time."""
    for pod in pods:
        status = pod.get("status", {})
        for container in status.get("containerStatuses", []):
            waiting = container.get("state", {}).get("waiting", {})
            if waiting.get("reason") in _HOPELESS:
                return f"{waiting['reason']}: {waiting.get('message', container.get('image', ''))}"
        for condition in status.get("conditions", []):
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                return f"{condition.get('reason', 'Unschedulable')}: {condition.get('message', '')}"
    return ""


def _refusal(log: Path, since: int) -> str:
    """The API server's last refusal of pods in Spark's log, from an offset on, or ''."""
    with suppress(OSError), log.open("rb") as file:
        file.seek(max(since, log.stat().st_size - _LOG_TAIL))
        found = _REFUSAL.findall(file.read().decode(errors="replace"))
        return f"Kubernetes refused the executors' pods: {found[-1].strip().rstrip('.')}" if found else ""
    return ""


def _is_allowed(jvm: Any, client: Any, namespace: str, verb: str, resource: str) -> bool:
    builder = jvm.io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReviewBuilder()
    asked = builder.withNewSpec().withNewResourceAttributes()
    asked = asked.withNamespace(namespace).withVerb(verb).withResource(resource)
    review = asked.endResourceAttributes().endSpec().build()
    return bool(client.authorization().v1().selfSubjectAccessReview().create(review).getStatus().getAllowed())


@contextmanager
def _client(jvm: Any, conf: Mapping[str, str]) -> Iterator[Any]:
    """A client with the same credentials as Spark's own (KubernetesClusterManager.createSchedulerBackend)."""
    spark = jvm.org.apache.spark.SparkConf(False)
    for key, value in conf.items():
        if key.startswith("spark.kubernetes."):
            spark.set(key, value)
    factory = jvm.org.apache.spark.deploy.k8s.SparkKubernetesClientFactory
    kinds = getattr(jvm.org.apache.spark.deploy.k8s, "SparkKubernetesClientFactory$ClientType$")
    master = jvm.org.apache.spark.util.Utils.checkAndGetK8sMasterUrl(conf["spark.master"])
    client = factory.createKubernetesClient(
        str(master).removeprefix(_MASTER),
        jvm.scala.Option.apply(_namespace(conf)),
        "spark.kubernetes.authenticate",
        getattr(kinds, "MODULE$").Driver(),
        spark,
        jvm.scala.Option.empty(),
    )
    try:
        yield client
    finally:
        client.close()


def _namespace(conf: Mapping[str, str]) -> str:
    return conf.get("spark.kubernetes.namespace", "default")
