"""Another user of the machine gets nothing from the ports and files of an embedded Spark."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.other_users import embedded_run
from integration.services.stranger import attempt

# Message.Type of Spark's network-common.
_RPC_REQUEST, _RPC_RESPONSE = 3, 4


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The output of `embedded_run`, whose Spark runs meanwhile."""
    folder = tmp_path_factory.mktemp("embedded")
    with (folder / "errors").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, embedded_run.__file__, str(folder)],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    assert process.stdin is not None and process.stdout is not None
    # The adapter's own output comes first.
    line = next((line for line in process.stdout if line.startswith(b"{")), None)
    assert line is not None, (folder / "errors").read_text()
    yield json.loads(line)
    process.stdin.close()
    process.wait(60)


def text(value: str) -> bytes:
    """A string as Spark's messages encode it (Encoders.Strings)."""
    return struct.pack(">i", len(value)) + value.encode()


def utf(value: str) -> bytes:
    """A string as Java's DataOutput encodes it."""
    return struct.pack(">h", len(value)) + value.encode()


def request(body: bytes) -> bytes:
    """A complete request in Spark's own protocol."""
    content = struct.pack(">bqi", _RPC_REQUEST, 7, len(body)) + body
    return struct.pack(">q", 8 + len(content)) + content


def is_answered(found: bytes) -> bool:
    """Whether a request got a response, not a refusal (an RpcFailure or a closed connection)."""
    return len(found) > 8 and found[8] == _RPC_RESPONSE


def messages(told: dict[str, Any]) -> dict[str, bytes]:
    """An attacker's first message in each protocol that a run speaks, without the run's secret."""
    block = b"\0" + text(told["application"]) + text("driver") + struct.pack(">i", 1) + text(told["block"])
    address = b"\1" + utf("127.0.0.1") + struct.pack(">i", told["rpc"])
    return {
        "open a block": request(block),
        "ask an endpoint": request(address + address + utf("endpoint-verifier") + bytes.fromhex(told["message"])),
        "call Java": b"c\nz:java.lang.System\nlineSeparator\ne\n",
        "call Python": f"c\n{told['callback']}\nreached\ne\n".encode(),
        "add to accumulators": b"x" * 64 + struct.pack(">i", 0),
    }


def is_success(name: str, found: bytes) -> bool:
    """Whether an answer shows that the attacker got in."""
    if name in ("open a block", "ask an endpoint"):
        return is_answered(found)
    if name == "add to accumulators":
        return found == b"\1"
    # py4j's answers: `!y` and the value, `!x` and an error.
    return found.startswith(b"!y") or embedded_run.SECRET.encode() in found


def test_every_port_refuses(told: dict[str, Any]) -> None:
    ports = {port: name for name, _, port in told["listening"]}
    # Spark's RPC and blocks, py4j's two, accumulators, Python workers.
    assert len(ports) >= 6
    assert {address for _, address, _ in told["listening"]} <= {"127.0.0.1", "::ffff:127.0.0.1"}
    tries = [(port, name, message.hex()) for port in ports for name, message in messages(told).items()]
    answers = attempt("send_all", [[port, message] for port, _, message in tries])
    got_in = [
        (ports[port], port, name)
        for (port, name, _), answer in zip(tries, answers, strict=True)
        if is_success(name, bytes.fromhex(answer))
    ]
    assert got_in == []


def test_the_owner_gets_in(told: dict[str, Any]) -> None:
    assert told["doubled"] == [0, 2, 4]
    assert told["batches"] == [3]


def test_only_the_owner_can_read_temporary_files(told: dict[str, Any]) -> None:
    for folder in {told["temporary"], told["local"]}:
        # Other runs delete their files in this folder meanwhile: `os.walk` skips missing files, `rglob` fails.
        files = [str(Path(where, name)) for where, _, names in os.walk(folder) for name in names]
        assert files
        assert attempt("readable", files) == []
