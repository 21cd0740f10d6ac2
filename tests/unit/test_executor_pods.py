"""The messages about executor pods that do not start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.paimon.spark.kubernetes import _reason, _refusal


def waiting(**state: str) -> dict[str, Any]:
    return {"status": {"containerStatuses": [{"image": "x:1", "state": {"waiting": state}}]}}


UNSCHEDULED = {
    "status": {
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no cpu"}]
    }
}


@pytest.mark.parametrize(
    ("pods", "said"),
    [
        ([], ""),
        ([{}], ""),
        ([waiting(reason="ContainerCreating")], ""),
        ([waiting(reason="InvalidImageName")], "InvalidImageName: x:1"),
        ([{}, waiting(reason="ErrImagePull", message="not found")], "ErrImagePull: not found"),
        ([UNSCHEDULED], "Unschedulable: no cpu"),
    ],
)
def test_reason(pods: list[dict[str, Any]], said: str) -> None:
    assert _reason(pods) == said


def test_refusal(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"
    assert _refusal(log, 0) == ""
    line = "{} KubernetesClientException: Failure executing: POST at: https://x/api/v1/pods. Message: {}\n"
    log.write_text(line.format("Caused by:", "an earlier one."))
    since = log.stat().st_size
    assert _refusal(log, since) == ""
    with log.open("a") as file:
        file.write(line.format("WARN", "pods is forbidden.") + "\tat io.fabric8\n")
    assert _refusal(log, since) == "Kubernetes refused the executors' pods: pods is forbidden"
    # The client begins every 403 error with this guess, whatever the reason.
    guess = "Forbidden!Configured service account doesn't have access. Service account may have been revoked. "
    with log.open("a") as file:
        file.write(line.format("WARN", f'{guess}pods "x" is forbidden: exceeded quota.'))
    assert _refusal(log, since) == 'Kubernetes refused the executors\' pods: pods "x" is forbidden: exceeded quota'
