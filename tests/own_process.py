"""Runs dbt and Spark in a separate process, for tests that need JVM settings of their own."""

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
    """Write a project and its profile to a folder."""
    (folder / "dbt_project.yml").write_text(
        yaml.safe_dump({"name": "own", "profile": "own", "flags": {"send_anonymous_usage_stats": False}})
    )
    (folder / "profiles.yml").write_text(yaml.safe_dump({"own": {"target": "here", "outputs": {"here": target}}}))
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def credentials_of(target: dict[str, Any]) -> PaimonCredentials:
    """The credentials that dbt reads from a profile's target."""
    keys = {key: value for key, value in target.items() if key not in ("type", "threads")}
    credentials: PaimonCredentials = PaimonCredentials.from_dict(PaimonCredentials.translate_aliases(keys))
    return credentials


class OwnProcess:
    """A separate process, started at once, that runs some steps one after the other.

    Args:
        folder: the project, from `write_project`.
        target: the profile's target.
        steps: `{"dbt": [arguments]}` or `{"sql": statement}`, which runs in a session other than dbt's.
        name: a subfolder; each process of a folder needs its own.
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
        """An answer per step: for dbt, node name -> status, or message if the node failed; for SQL, the rows.

        Raises:
            AssertionError: an SQL step or the process failed; with the process's output. dbt's errors are answers.
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
