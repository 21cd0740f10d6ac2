"""Requests of other processes to run a command in the shell (see `dbt_paimon.client`)."""

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
    """A client's command, its working directory, and the connection for the answer."""

    words: list[str]
    folder: Path
    connection: socket.socket

    def answer(self, run: Callable[[list[str]], int]) -> None:
        """Run the command in the main thread, and send its output and exit code.

        The command is interrupted if the client sends Ctrl-C or disconnects.
        """
        with suppress(OSError), self.connection:
            with self._interruptible(), _working_directory(self.folder), redirect_stdout(_Output(self.connection)):
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
                received = self.connection.recv(1)
                if running and received in (INTERRUPT, b""):
                    os.kill(os.getpid(), signal.SIGINT)

        Thread(target=listen, name="dbt-paimon client", daemon=True).start()
        try:
            yield
        finally:
            running = False


class Requests:
    """The socket of the shell and the queue of requests.

    Args:
        path: the socket; a file left by a killed shell is replaced.
        wake: called for each new request.
    """

    def __init__(self, path: Path, wake: Callable[[], None]) -> None:
        self._path = path
        self._wake = wake
        self._waiting: SimpleQueue[Request] = SimpleQueue()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._is_bound = False

    def open(self) -> bool:
        """Start to listen; return False if another shell of the project already listens."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(str(self._path))
            except OSError:
                self._path.unlink(missing_ok=True)
            else:
                return False
        self._listener.bind(str(self._path))
        self._is_bound = True
        self._listener.listen()
        Thread(target=self._listen, name="dbt-paimon requests", daemon=True).start()
        return True

    def close(self) -> None:
        self._listener.close()
        if self._is_bound:
            self._path.unlink(missing_ok=True)

    @property
    def waits(self) -> bool:
        return not self._waiting.empty()

    def next(self) -> Request | None:
        """The oldest request, if there is one."""
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
                request = json.loads(_line(connection))
                self._waiting.put(Request(list(request["words"]), Path(request["folder"]), connection))
                self._wake()


class _Output(io.TextIOBase):
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        # If the client has disconnected, drop the output: the command is interrupted anyway (see `Request.answer`).
        with suppress(OSError):
            _send(self._connection, {"text": text})
        return len(text)


def _line(connection: socket.socket) -> bytes:
    """The first line. Read byte by byte, because `_interruptible` reads the rest."""
    line = b""
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte:
            raise ValueError("the client has disconnected")
        line += byte
    return line


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    connection.sendall(json.dumps(message).encode() + b"\n")


@contextmanager
def _working_directory(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
