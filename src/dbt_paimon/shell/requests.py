"""Commands that other processes of this user ask the shell to run (see `dbt_paimon.client`)."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from dbt_paimon.client import INTERRUPT


@dataclass(frozen=True)
class Request:
    """A command, and where its answer goes.

    Attributes:
        words: the dbt command.
        folder: that of the client, by which it means relative paths.
        connection: to the client.
    """

    words: list[str]
    folder: Path
    connection: socket.socket

    def answer(self, run: Callable[[list[str]], int]) -> None:
        """Run it in this thread, the main one, and send what it prints and its exit code.

        Ctrl-C of the client, or its end, is Ctrl-C here while it runs.
        """
        with suppress(OSError), self.connection:
            with self._interruptible(), _inside(self.folder), redirect_stdout(_Text(self.connection)):
                try:
                    code = run(self.words)
                except KeyboardInterrupt:
                    code = 2
            _send(self.connection, {"code": code})

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        running = True

        def listen() -> None:
            with suppress(OSError):
                told = self.connection.recv(1)
                if running and told in (INTERRUPT, b""):
                    os.kill(os.getpid(), signal.SIGINT)

        Thread(target=listen, name="dbt-paimon client", daemon=True).start()
        try:
            yield
        finally:
            running = False


class Requests:
    """The socket, and the requests that wait.

    Args:
        path: of the socket; one that a killed shell left is replaced.
        wake: called, in another thread, when a request has come.
    """

    def __init__(self, path: Path, wake: Callable[[], None]) -> None:
        self._path = path
        self._wake = wake
        self._waiting: SimpleQueue[Request] = SimpleQueue()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def open(self) -> bool:
        """Begin to listen; False if another shell of the project does."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(str(self._path))
            except OSError:
                self._path.unlink(missing_ok=True)
            else:
                return False
        self._listener.bind(str(self._path))
        self._listener.listen()
        Thread(target=self._listen, name="dbt-paimon requests", daemon=True).start()
        return True

    def close(self) -> None:
        """Stop listening."""
        self._listener.close()
        self._path.unlink(missing_ok=True)

    @property
    def waits(self) -> bool:
        """Whether a request waits."""
        return not self._waiting.empty()

    def next(self) -> Request | None:
        """The request that has waited longest; None if there is none."""
        try:
            return self._waiting.get_nowait()
        except Empty:
            return None

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with suppress(OSError, ValueError, KeyError):
                asked = json.loads(_line(connection))
                self._waiting.put(Request(list(asked["words"]), Path(asked["folder"]), connection))
                self._wake()


class _Text(io.TextIOBase):
    """A stream of text that goes to the client."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        # A client that has gone is told of by its thread; what dbt prints meanwhile is lost.
        with suppress(OSError):
            _send(self._connection, {"text": text})
        return len(text)


def _line(connection: socket.socket) -> bytes:
    """The first line, byte by byte: what follows is for another reader."""
    line = b""
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte:
            raise ValueError("the client has gone")
        line += byte
    return line


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    connection.sendall(json.dumps(message).encode() + b"\n")


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
