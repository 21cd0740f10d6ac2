"""dbt and Spark in a process of their own: what a JVM starts with cannot differ among the tests of one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from dbt.cli.main import dbtRunner

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spark.session import open_session

TESTS = Path(__file__).parent
_ANSWER = "answer.json"
_GOOD = ("success", "pass", "warn", "skipped")


def write_project(folder: Path, target: dict[str, Any], files: dict[str, str]) -> None:
    """A project and its profile in a folder."""
    (folder / "dbt_project.yml").write_text(
        yaml.safe_dump({"name": "own", "profile": "own", "flags": {"send_anonymous_usage_stats": False}})
    )
    (folder / "profiles.yml").write_text(yaml.safe_dump({"own": {"target": "here", "outputs": {"here": target}}}))
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def credentials_of(target: dict[str, Any]) -> PaimonCredentials:
    """A target of a profile as dbt reads it."""
    keys = {key: value for key, value in target.items() if key not in ("type", "threads")}
    credentials: PaimonCredentials = PaimonCredentials.from_dict(PaimonCredentials.translate_aliases(keys))
    return credentials


class OwnProcess:
    """Some steps, one after the other, in another process that begins at once.

    Args:
        folder: of `write_project`.
        target: of its profile.
        steps: `{"dbt": [arguments]}` or `{"sql": statement}`, the latter in a session that is not dbt's.
        name: tells several processes of one folder apart.
    """

    def __init__(self, folder: Path, target: dict[str, Any], steps: list[dict[str, Any]], name: str = "one") -> None:
        self._own = folder / name
        self._own.mkdir(exist_ok=True)
        task = {"folder": str(folder), "own": str(self._own), "target": target, "steps": steps}
        self._log = (self._own / "output.txt").open("w")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "own_process", json.dumps(task)],
            cwd=TESTS,
            env=os.environ | {"DBT_LOG_PATH": str(self._own / "logs")},
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    def answers(self, timeout: float = 900) -> list[Any]:
        """Of each step: the status of each node by its name, or the message of one that failed; or the rows.

        Raises:
            AssertionError: a step failed that is not dbt's; with what the process printed.
        """
        try:
            code = self._process.wait(timeout)
        finally:
            self._process.kill()
            self._log.close()
        assert code == 0, (self._own / "output.txt").read_text()[-4000:]
        found: list[Any] = json.loads((self._own / _ANSWER).read_text())
        return found


def _run(task: dict[str, Any]) -> list[Any]:
    places = ["--project-dir", task["folder"], "--profiles-dir", task["folder"]]
    places += ["--target-path", task["own"] + "/target"]
    answers: list[Any] = []
    session = None
    for step in task["steps"]:
        if "dbt" in step:
            result = dbtRunner().invoke([*step["dbt"], *places])
            answers.append(
                {
                    node.node.name: str(node.status if node.status in _GOOD else node.message)
                    for node in getattr(result.result, "results", None) or []
                }
                if result.exception is None
                else {"error": str(result.exception)}
            )
        else:
            session = session or open_session(Runtime(credentials_of(task["target"]))).session
            rows = session.sql(step["sql"]).collect()
            answers.append([list(row) for row in rows])
    return answers


if __name__ == "__main__":
    wanted = json.loads(sys.argv[1])
    Path(wanted["own"], _ANSWER).write_text(json.dumps(_run(wanted), default=str))
