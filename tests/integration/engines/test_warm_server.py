"""`dbt-paimon server`: it is found through the profile, refused if it does not fit, stopped by hand or when idle."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import psutil
import pytest
import yaml

from dbt.adapters.paimon.spark import server, server_token
from doc_pages import SHORT_LIVED
from integration import own_group
from integration.services.stranger import attempt

SECONDS = 900
# Hours of work. Every thousand rows of the first range (a million of the join), a task checks whether it is killed.
ENDLESS = """{{ config(materialized='table') }}
select cast(sum(hash(a.id, b.id)) % 9 as int) as id from range(10000000000) as a cross join range(1000) as b"""


class Folder:
    """A project with its profile, and a folder for its servers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.environment = {server.FOLDER_VARIABLE: str(path / "servers")}
        (path / "models").mkdir()
        (path / "models" / "one.sql").write_text("{{ config(materialized='table') }} select 1 as id")
        streamed = "{{ config(materialized='streaming') }} select * from {{ stream(ref('one')) }}"
        (path / "models" / "streamed.sql").write_text(streamed)
        (path / "dbt_project.yml").write_text(yaml.safe_dump({"name": "warm", "profile": "warm"}))
        self.write_profile()

    def write_profile(self, **more: object) -> None:
        target = {
            "type": "paimon",
            "paimon_version": "0.9.0",
            "method": "connect",
            "schema": "warm",
            "warehouse": "{{ env_var('LAKE', '') or '%s' }}" % (self.path / "lake"),
            "catalog_options": {"s3.secret-key": "hush-hush"},
            "spark_config": {
                "spark.master": "local[2]",
                "spark.driver.memory": "1g",
                "spark.driver.extraJavaOptions": SHORT_LIVED,
                **more,
            },
        }
        profiles = {"warm": {"target": "dev", "outputs": {"dev": target}}}
        (self.path / "profiles.yml").write_text(yaml.safe_dump(profiles))

    def run(self, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=self.path,
            env={**os.environ, **self.environment, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def tool(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("dbt_paimon.cli", "server", *arguments)

    def dbt(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("dbt.cli.main", *arguments)

    def note(self) -> tuple[Path, server.ServerNote]:
        (path,) = (self.path / "servers").glob("*.json")
        return path, server.ServerNote(**json.loads(path.read_text()))


@pytest.fixture(scope="class")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    found = Folder(tmp_path_factory.mktemp("warm"))
    yield found
    found.tool("stop", "--all", "--force")


def is_alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rsplit(") ", 1)[1][0] != "Z"


def wait_for_end(pid: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while is_alive(pid):
        assert time.monotonic() < end, f"process {pid} still runs"
        time.sleep(0.5)


def cpu_seconds(process: psutil.Process, during: float) -> float:
    """The CPU seconds that a process and its descendants use in the next `during` seconds."""

    def used() -> float:
        family = [process, *process.children(recursive=True)]
        return sum(each.cpu_times().user + each.cpu_times().system for each in family)

    before = used()
    time.sleep(during)
    return used() - before


class TestWarmServer:
    def test_no_server_runs(self, folder: Folder) -> None:
        ended = folder.dbt("run")
        assert ended.returncode != 0
        assert "Start it: dbt-paimon server start" in ended.stdout
        assert folder.tool("status").returncode == 1

    def test_start_and_run(self, folder: Folder) -> None:
        started = folder.tool("start")
        assert started.returncode == 0, started.stdout + started.stderr
        _, note = folder.note()
        assert is_alive(note.pid)
        again = folder.tool("start")
        assert again.returncode == 0
        assert folder.note()[1].pid == note.pid
        assert str(note.port) in folder.tool("status").stdout
        again = folder.dbt("run", "--select", "one")
        assert again.returncode == 0, again.stdout
        assert (folder.path / "lake" / "warm.db" / "one" / "snapshot" / "LATEST").read_text() == "1"
        # The run used that server: its own JVM would have written a log.
        assert not (folder.path / "logs" / "spark.log").exists()

    def test_a_stream_is_refused(self, folder: Folder) -> None:
        assert folder.dbt("run", "--select", "streamed").returncode == 1
        (result,) = json.loads((folder.path / "target" / "run_results.json").read_text())["results"]
        assert "Run it with a target of `method: session`" in result["message"]
        assert not (folder.path / "lake" / "warm.db" / "streamed").exists()

    def test_only_the_loopback_interface(self, folder: Folder) -> None:
        _, note = folder.note()
        listening = subprocess.run(
            ["cat", f"/proc/{note.pid}/net/tcp", f"/proc/{note.pid}/net/tcp6"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        port = f":{note.port:04X}"
        addresses = {
            line.split()[1].removesuffix(port)
            for line in listening.splitlines()
            if line.split()[1].endswith(port) and line.split()[3] == "0A"
        }
        assert addresses <= {"0100007F", "0000000000000000FFFF00000100007F"}
        assert addresses

    def test_only_its_user_can_read_the_note(self, folder: Folder) -> None:
        path, _ = folder.note()
        assert path.stat().st_mode & 0o077 == 0

    def test_only_its_owner_gets_in(self, folder: Folder) -> None:
        path, note = folder.note()
        (token,) = path.with_suffix("").glob("*.token")
        assert [stat.S_IMODE(found.stat().st_mode) for found in (token.parent, token)] == [0o700, 0o600]
        header = f";{server_token.HEADER}={token.read_text()}"
        guesses = ["", f";{server_token.HEADER}=guess", header[:-1], ";user_id=root"]
        assert attempt("connect", note.port, guesses, "select 1") == ["UNAUTHENTICATED"] * len(guesses)
        # The owner's processes need the token, too: one of them may act for another user.
        assert attempt("connect", note.port, ["", header], "select 1", stranger=False) == [
            "UNAUTHENTICATED",
            [[1]],
        ]
        files = [str(found) for found in (folder.path / "servers").rglob("*") if found.is_file()]
        assert str(token) in files
        assert attempt("readable", files) == []

    def test_the_token_is_nowhere_else(self, folder: Folder) -> None:
        assert folder.dbt("--debug", "--log-level-file", "debug", "run", "--select", "one").returncode == 0
        path, note = folder.note()
        (token,) = path.with_suffix("").glob("*.token")
        secret = token.read_text().encode()
        assert [
            found
            for found in folder.path.rglob("*")
            if found.is_file() and found != token and secret in found.read_bytes()
        ] == []
        process = psutil.Process(note.pid)
        for each in (process, *process.children(recursive=True)):
            # A process that has just ended has no command line.
            with suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
                assert secret.decode() not in " ".join(each.cmdline())

    def test_secrets_are_not_shown_in_set(self, folder: Folder) -> None:
        path, note = folder.note()
        (token,) = path.with_suffix("").glob("*.token")
        header = f";{server_token.HEADER}={token.read_text()}"
        (found,) = attempt("connect", note.port, [header], "set", stranger=False)
        settings = dict(row[:2] for row in found)
        assert "redacted" in settings["spark.sql.catalog.paimon.s3.secret-key"]
        assert not [key for key, value in settings.items() if "hush-hush" in value or token.read_text() in value]

    def test_another_version_is_refused(self, folder: Folder) -> None:
        path, note = folder.note()
        server.write_note(path, replace(note, versions={**note.versions, "PySpark": "3.5.0"}))
        try:
            ended = folder.dbt("run", "--select", "one")
        finally:
            path.write_text(json.dumps(asdict(note)))
        assert ended.returncode != 0
        assert "it runs PySpark 3.5.0, this is" in ended.stdout
        assert "dbt-paimon server stop && dbt-paimon server start" in ended.stdout

    def test_other_settings_are_refused(self, folder: Folder) -> None:
        folder.write_profile(**{"spark.driver.memory": "2g"})
        try:
            ended = folder.dbt("run", "--select", "one")
        finally:
            folder.write_profile()
        assert ended.returncode != 0
        assert "started with different settings (spark.driver.memory)" in ended.stdout

    def test_ctrl_c_leaves_the_server_idle_and_the_table_as_it_is(self, folder: Folder) -> None:
        model = folder.path / "models" / "one.sql"
        quick = model.read_text()
        java = psutil.Process(folder.note()[1].pid)
        before = (folder.path / "lake" / "warm.db" / "one" / "snapshot" / "LATEST").read_text()
        model.write_text(ENDLESS)
        process = own_group.start(folder.path, "run", "--select", "one", environment=folder.environment)
        deadline = time.monotonic() + 240
        # Wait until the server has been busy for longer than a run takes to start.
        busy = 0
        while busy < 3:
            assert process.poll() is None and time.monotonic() < deadline
            busy = busy + 1 if cpu_seconds(java, during=4) > 1.5 else 0
        assert own_group.press_ctrl_c(process) < 20
        ended = time.monotonic() + 60
        while cpu_seconds(java, during=4) >= 1:
            assert time.monotonic() < ended, "the server is still busy"
        assert (folder.path / "lake" / "warm.db" / "one" / "snapshot" / "LATEST").read_text() == before
        model.write_text(quick)
        ended = folder.dbt("run", "--select", "one")
        assert ended.returncode == 0, ended.stdout

    def test_stop(self, folder: Folder) -> None:
        _, note = folder.note()
        with socket.create_connection((server.LOOPBACK, note.port)):
            assert folder.tool("stop").returncode != 0
            assert is_alive(note.pid)
        ended = folder.tool("stop")
        assert ended.returncode == 0
        wait_for_end(note.pid, 5)
        assert not list((folder.path / "servers").glob("*.json"))

    @pytest.mark.full
    def test_idle(self, folder: Folder) -> None:
        assert folder.tool("start", "--idle-minutes", "0.2").returncode == 0
        _, note = folder.note()
        with socket.create_connection((server.LOOPBACK, note.port)):
            time.sleep(20)
            assert is_alive(note.pid)
        wait_for_end(note.pid, 60)
        assert not list((folder.path / "servers").glob("*.json"))
