"""A standalone Kafka Connect worker with Debezium's connectors, from Maven Central."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from integration.services.maven import jar, with_dependencies
from integration.services.process import LOOPBACK, SHORT_LIVED, free_port, running

RUNTIME: Final = ("org.apache.kafka", "connect-runtime", "3.9.1")
# Separate plugins with separate class loaders: they need different versions of Debezium's core.
PLUGINS: Final = (
    ("io.debezium", "debezium-connector-postgres", "2.7.4.Final"),
    # The last version that includes the adapter for MariaDB; in later versions, it is a separate connector.
    ("io.debezium", "debezium-connector-mysql", "2.6.2.Final"),
)
_LOGGING: Final = ("org.slf4j", "slf4j-simple", "1.7.36")
# Seconds to wait, on a busy machine.
TIMEOUT: Final = 300
_JSON: Final = "org.apache.kafka.connect.json.JsonConverter"


@dataclass
class Connect:
    """A worker and its connectors, which continue at their offsets after each start.

    Attributes:
        folder: holds its configuration, offsets and log.
        settings: the worker's settings.
        connectors: name -> settings, as in `PUT /connectors/<name>/config`.
    """

    folder: Path
    settings: Mapping[str, str]
    connectors: dict[str, dict[str, str]] = field(default_factory=dict)
    _port: int = field(default_factory=free_port)
    _process: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _worker: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the worker with its connectors, and wait until each has a running task.

        Raises:
            RuntimeError: a connector does not run.
        """
        listeners = {"listeners": f"http://{LOOPBACK}:{self._port}"}
        files = [_file(self.folder / "worker.properties", {**self.settings, **listeners})]
        for name, config in self.connectors.items():
            files.append(_file(self.folder / f"{name}.properties", {"name": name, **config}))
        command = [*_java(self.folder), "org.apache.kafka.connect.cli.ConnectStandalone", *files]
        log = self.folder / f"connect-{time.time_ns()}.log"
        self._worker = self._process.enter_context(running(command, log, [self._port], cwd=self.folder))
        # The port is open before the REST paths exist.
        end = time.monotonic() + TIMEOUT
        while not self._knows_its_paths() and time.monotonic() < end:
            time.sleep(0.1)
        for name in self.connectors:
            self.wait(name)

    def create(self, name: str, **config: str) -> None:
        """Add a connector to a running worker, and wait until the connector runs.

        Raises:
            RuntimeError: the connector does not run.
        """
        self.connectors[name] = dict(config)
        try:
            self.ask("PUT", f"/connectors/{name}/config", config)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"the connector {name} is refused: {error.read().decode()}") from error
        self.wait(name)

    def wait(self, name: str) -> None:
        """Wait until a connector and its task run.

        Raises:
            RuntimeError: one failed, or did not run in time; the message has their status.
        """
        end, said = time.monotonic() + TIMEOUT, ""
        while time.monotonic() < end:
            status = self.status(name)
            states = [each["state"] for each in (status.get("connector"), *status.get("tasks", ())) if each]
            if len(states) > 1 and set(states) == {"RUNNING"}:
                return
            said = json.dumps(status)
            if "FAILED" in states:
                break
            time.sleep(0.1)
        raise RuntimeError(f"the connector {name} does not run: {said[-3000:]}")

    def status(self, name: str) -> Mapping[str, Any]:
        """A connector's status; empty while the worker does not know the connector."""
        try:
            return dict(self.ask("GET", f"/connectors/{name}/status"))
        except urllib.error.HTTPError as error:
            # 409: the worker still sets up its connectors.
            if error.code in (404, 409):
                return {}
            raise

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request to the worker's REST API; returns the answer's JSON.

        Raises:
            urllib.error.HTTPError: the worker refuses it.
        """
        request = urllib.request.Request(
            f"http://{LOOPBACK}:{self._port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def _knows_its_paths(self) -> bool:
        with contextlib.suppress(urllib.error.HTTPError):
            self.ask("GET", "/connectors")
            return True
        return False

    def stop(self) -> None:
        """Stop the worker gracefully: all changes that it has read are in Kafka, and its offsets are up to date."""
        self._process.close()

    def kill(self) -> None:
        """Kill the worker, whatever it is doing."""
        assert self._worker is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._worker.pid, signal.SIGKILL)
        self._process.close()


@contextlib.contextmanager
def connect(folder: Path, broker: str, **settings: str) -> Iterator[Connect]:
    """A worker without connectors; call `start` to start it. It is stopped when the block ends.

    Args:
        folder: for its configuration, offsets and log.
        broker: Kafka's address.
        settings: further settings of the worker, with `_` for `.`.

    Raises:
        RuntimeError: jars cannot be downloaded.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plugins = folder / "plugins"
    plugins.mkdir(exist_ok=True)
    for plugin in PLUGINS:
        link = plugins / plugin[1]
        if not link.exists():
            link.symlink_to(with_dependencies(*plugin))
    own = {
        "bootstrap.servers": broker,
        "key.converter": _JSON,
        "value.converter": _JSON,
        "offset.storage.file.filename": str(folder / "offsets"),
        "plugin.path": str(plugins),
        # The plugins' manifests list the connectors, so Connect need not scan classes.
        "plugin.discovery": "service_load",
    }
    worker = Connect(folder, own | {key.replace("_", "."): text for key, text in settings.items()})
    try:
        yield worker
    finally:
        worker.stop()


def _java(folder: Path) -> list[str | Path]:
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    return [
        *(java, "-Xmx384m", *SHORT_LIVED["JAVA_TOOL_OPTIONS"].split(), f"-Djava.io.tmpdir={folder}"),
        *("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.log.io.debezium=info"),
        *("-cp", f"{with_dependencies(*RUNTIME)}/*{os.pathsep}{jar(*_LOGGING)}"),
    ]


def _file(path: Path, settings: Mapping[str, str]) -> Path:
    """Write a Java properties file."""
    lines = (f"{name}={text}\n".replace("\\", "\\\\") for name, text in settings.items())
    path.write_text("".join(lines))
    return path
