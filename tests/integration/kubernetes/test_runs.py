"""dbt in the Job of deploy/kubernetes: its executors are pods, and the loss of one loses no rows."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from integration.kubernetes.lakehouse import (
    NAMESPACE,
    Lakehouse,
    busy_executor,
    labels_of,
    pod_of,
)
from kubernetes_profile import EXECUTOR, container, of_kind

Rows = Callable[[str], list[tuple[Any, ...]]]
TABLE = "paimon.analytics"
# CPU seconds after which an executor is at work, not just starting.
STARTED = 12
SLOWLY = ("--select", "slow", "--vars", "slowly: true")


def test_upserts_and_python(lakehouse: Lakehouse, rows: Rows, tmp_path: Path) -> None:
    lakehouse.create()
    chosen = ("--select", "upserted", "tripled", "--vars")
    lakehouse.build(*chosen, "step: 1")
    with lakehouse.watched(tmp_path) as seen:
        lakehouse.build(*chosen, "step: 2")
        (driver,) = lakehouse.drivers()
        lakehouse.wait_for(lambda: not lakehouse.executors(), 60)
    assert rows(f"select step, count(*), min(id) from {TABLE}.upserted group by step order by step") == [
        (1, 1000, 1000),
        (2, 1000, 0),
    ]
    assert rows(f"select count(*), sum(tripled) from {TABLE}.tripled") == [(2000, 3 * sum(range(2000)))]
    executors = seen.pods()
    assert len(executors) == 2
    assert set(executors) <= seen.deleted()
    (account,) = of_kind("ServiceAccount")
    for pod in executors.values():
        spec = pod["spec"]
        assert labels_of(EXECUTOR).items() <= labels_of(pod).items()
        assert spec["serviceAccountName"] == account["metadata"]["name"]
        assert spec["securityContext"] == EXECUTOR["spec"]["securityContext"]
        assert container(pod)["securityContext"] == container(EXECUTOR)["securityContext"]
        assert container(pod)["image"] == container(driver)["image"]
        # Executors have no token of the account.
        assert [volume["name"] for volume in spec["volumes"] if "projected" in volume] == []
        (owner,) = pod["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["uid"]) == ("Pod", driver["metadata"]["uid"])


def _is_right(lakehouse: Lakehouse, rows: Rows) -> None:
    query = (Path(__file__).parent / "project" / "models" / "slow.sql").read_text()
    found = re.search(r"{% if [^%]*%}(.*?){% else", query, re.DOTALL)
    assert found
    assert rows(f"select * from ({found[1]}) except all select * from {TABLE}.slow") == []
    assert rows(f"select count(*) from {TABLE}.slow") == [(2000,)]
    assert rows(f"select count(*) from {TABLE}.`slow$snapshots`") == [(1,)]


def test_an_executor_dies(lakehouse: Lakehouse, rows: Rows, tmp_path: Path) -> None:
    lakehouse.create()
    with lakehouse.watched(tmp_path) as seen:
        lakehouse.start(*SLOWLY)
        killed = lakehouse.wait_for(lambda: busy_executor(STARTED))
        name = pod_of(killed)
        killed.send_signal(signal.SIGKILL)
        assert lakehouse.outcome() == "Complete", lakehouse.said()
    _is_right(lakehouse, rows)
    # Another executor replaced the killed one.
    assert name in seen.pods()
    assert len(seen.pods()) == 3


def test_an_executor_is_evicted(lakehouse: Lakehouse, rows: Rows, tmp_path: Path) -> None:
    lakehouse.create()
    with lakehouse.watched(tmp_path) as seen:
        lakehouse.start(*SLOWLY)
        name = pod_of(lakehouse.wait_for(lambda: busy_executor(STARTED)))
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": NAMESPACE},
        }
        path = f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/eviction"
        lakehouse.cluster.kubectl("create", "--raw", path, "-f", "-", given=json.dumps(eviction))
        assert lakehouse.outcome() == "Complete", lakehouse.said()
    _is_right(lakehouse, rows)
    assert name in seen.deleted()
    assert len(seen.pods()) == 3
