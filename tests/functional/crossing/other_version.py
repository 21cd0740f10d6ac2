"""dbt and Spark with another connector and another Python, in a long-running process.

The script reads one request per line, `{"dbt": [arguments]}` or `{"sql": query}`, and answers with a line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[2]
_ANSWER = "answer: "


class OtherVersion:
    """The process, which runs until `close`.

    Args:
        folder: the project's folder, which also gets the log of the process.
        credentials: a profile's keys, for the session that runs queries.
        python: the interpreter of an environment with the other PySpark.
    """

    def __init__(self, folder: Path, credentials: dict[str, Any], python: str) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "DBT_PAIMON_JARS"}
        environment |= {"PYTHONPATH": str(TESTS), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
        self.folder = folder
        self._log = folder / "other_version.txt"
        self._output = self._log.open("w")
        self._process = subprocess.Popen(
            [python, "-m", "functional.crossing.other_version", json.dumps(credentials)],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            text=True,
        )

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=120)
        self._output.close()

    def dbt(self, *arguments: str) -> str:
        """Run a dbt command; returns the messages of failed nodes, '' if it succeeds."""
        return str(self._ask({"dbt": arguments}))

    def rows(self, query: str) -> list[tuple[Any, ...]] | str:
        """The rows of a query, or the message of its error."""
        found = self._ask({"sql": query})
        return found if isinstance(found, str) else [tuple(row) for row in found]

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin and self._process.stdout
        print(json.dumps(request), file=self._process.stdin, flush=True)
        for line in self._process.stdout:
            if line.startswith(_ANSWER):
                return json.loads(line.removeprefix(_ANSWER))
            self._output.write(line)
        raise AssertionError(self._log.read_text()[-4000:])


def _dbt(arguments: list[str]) -> str:
    from dbt.cli.main import dbtRunner

    result = dbtRunner().invoke(arguments)
    nodes = getattr(result.result, "results", None) or []
    failed = [f"{node.node.name}: {node.message}" for node in nodes if node.status in ("error", "fail")]
    return "" if result.success else "\n".join(failed) or str(result.exception or "failed")


def _answer(request: dict[str, Any], credentials: dict[str, Any]) -> Any:
    if "dbt" in request:
        return _dbt(request["dbt"])
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from dbt.adapters.paimon.credentials import PaimonCredentials
    from dbt.adapters.paimon.errors import messages
    from dbt.adapters.paimon.spark.runtime import Runtime
    from dbt.adapters.paimon.spark.session import open_session

    session = open_session(Runtime(PaimonCredentials(**credentials))).session
    try:
        return [list(row) for row in session.sql(request["sql"]).collect()]
    except (PySparkException, Py4JError) as exc:
        return messages.shorten(messages.error_text(exc))


if __name__ == "__main__":
    for asked in sys.stdin:
        answered = _answer(json.loads(asked), json.loads(sys.argv[1]))
        print(_ANSWER + json.dumps(answered, default=str), flush=True)
