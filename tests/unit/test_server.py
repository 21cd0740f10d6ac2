"""Notes of warm servers: private to the user, found by a target's master and catalog, compared with its settings."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.machine import processes
from dbt.adapters.paimon.machine.processes import started
from dbt.adapters.paimon.spark import server, server_token
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt_paimon import cli
from dbt_paimon.server import control


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(server.FOLDER_VARIABLE, str(tmp_path / "servers"))


def target(**more: Any) -> PaimonCredentials:
    return PaimonCredentials.from_dict(
        {"schema": "x", "method": "connect", "warehouse": "/lake", "paimon_version": "0.9.0", **more}
    )


def note_of(credentials: PaimonCredentials, **more: Any) -> server.ServerNote:
    runtime = Runtime(credentials)
    return replace(
        server.ServerNote(
            os.getpid(),
            1,
            server.versions(runtime),
            server.fixed_settings(runtime),
            server.works_on(credentials),
            30,
        ),
        **more,
    )


def test_a_note_is_read_back() -> None:
    credentials = target()
    path = server.note_path(credentials)
    note = note_of(credentials)
    server.write_note(path, note)
    assert server.read_note(path) == note
    assert server.running() == [note]
    assert path.stat().st_mode & 0o077 == 0
    assert server.mismatches(note, Runtime(credentials)) == []


def test_a_note_of_a_dead_server_is_deleted() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    path = server.note_path(target())
    server.write_note(path, note_of(target(), pid=ended.pid))
    assert server.read_note(path) is None
    assert not path.exists()
    with pytest.raises(DbtRuntimeError, match="dbt-paimon server start"):
        server.find(Runtime(target()))


@pytest.mark.skipif(not started(os.getpid()), reason="the system has no /proc")
def test_another_process_has_the_id_of_a_dead_server() -> None:
    path = server.note_path(target())
    server.write_note(path, note_of(target(), started=started(os.getpid())))
    assert server.read_note(path) is not None
    server.write_note(path, note_of(target(), started="1"))
    assert server.read_note(path) is None
    assert not path.exists()


def test_a_damaged_note_is_ignored() -> None:
    path = server.note_path(target())
    path.write_text("{")
    assert server.read_note(path) is None


@pytest.mark.parametrize(
    ("more", "same"),
    [
        ({"schema": "y"}, True),
        ({"spark_config": {"spark.sql.shuffle.partitions": "7"}}, True),
        ({"warehouse": "/other"}, False),
        ({"catalog": "lake", "database": "lake"}, False),
        ({"spark_config": {"spark.master": "local[1]"}}, False),
    ],
)
def test_what_tells_servers_apart(more: dict[str, Any], same: bool) -> None:
    assert (server.note_path(target()) == server.note_path(target(**more))) is same


def test_mismatches() -> None:
    credentials = target()
    note = note_of(credentials)
    older = replace(note, versions={**note.versions, "Paimon": "0.8"})
    assert server.mismatches(older, Runtime(credentials)) == [f"it runs Paimon 0.8, this is {note.versions['Paimon']}"]
    more = target(spark_config={"spark.driver.memory": "9g", "spark.sql.shuffle.partitions": "7"})
    assert server.mismatches(note, Runtime(more)) == ["it was started with different settings (spark.driver.memory)"]


def test_no_secret_in_a_note() -> None:
    credentials = target(
        spark_config={"spark.hadoop.fs.s3a.secret.key": "hush-hush"},
        catalog_options={"s3.secret-key": "hush-hush"},
    )
    path = server.note_path(credentials)
    server.write_note(path, note_of(credentials))
    assert "hush" not in path.read_text()


def test_each_server_has_its_own_token() -> None:
    path = server.note_path(target())
    first, second = server_token.create(path, 1), server_token.create(path, 2)
    assert len({first, second}) == 2
    assert server_token.read(path, 1, "") == first
    server_token.forget(path, 1)
    with pytest.raises(DbtRuntimeError, match="Restart it"):
        server_token.read(path, 1, "Restart it")
    assert server_token.read(path, 2, "") == second


def test_a_token_that_others_may_have_written_is_ignored() -> None:
    path = server.note_path(target())
    server_token.create(path, 1)
    (token,) = server_token.folder(path).iterdir()
    token.chmod(0o666)
    with pytest.raises(DbtRuntimeError, match="token"):
        server_token.read(path, 1, "")


def test_notes_in_a_folder_that_others_may_write_are_not_read() -> None:
    path = server.note_path(target())
    server.write_note(path, note_of(target()))
    path.parent.chmod(0o777)
    with pytest.raises(DbtRuntimeError, match="chmod 700"):
        server.running()


def test_who_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert processes.listener_uid(port) == os.geteuid()
    assert processes.listener_uid(port) is None


@pytest.mark.parametrize("has_clients", [True, None])
def test_a_server_that_may_have_clients_is_stopped_only_by_force(
    has_clients: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, stopped = server.note_path(target()), []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert processes.has_clients(port) is False
        with socket.create_connection(("127.0.0.1", port)):
            if has_clients is None:
                monkeypatch.setattr(processes, "_NET", tmp_path / "missing")
            assert processes.has_clients(port) is has_clients
            server.write_note(path, note_of(target(), port=port))
            monkeypatch.setattr(control, "stop", stopped.append)
            assert CliRunner().invoke(cli.main, ["server", "stop", "--all"]).exit_code == 1
            assert stopped == []
            assert CliRunner().invoke(cli.main, ["server", "stop", "--all", "--force"]).exit_code == 0
            assert len(stopped) == 1


@pytest.mark.parametrize(("spark", "name"), [("3.5.7", server_token.HEADER), ("4.1.4", "authorization")])
def test_the_header_of_a_token(spark: str, name: str) -> None:
    assert list(server_token.parameters("x", spark)) == [name]
