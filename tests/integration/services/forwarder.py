"""A local port that forwards to another: shutting it makes a service unreachable without stopping it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

from integration.services.process import LOOPBACK, free_port


class Forwarder:
    """Forwards connections to the port `target`.

    `withhold` drops all answers, `shut` breaks connections; `open` after `shut` restores both.
    """

    def __init__(self, target: int) -> None:
        self.port = free_port()
        self._target = target
        self._server: socket.socket | None = None
        self._ends: set[socket.socket] = set()
        self._silent = threading.Event()

    def open(self) -> None:
        """Accept connections."""
        self._silent.clear()
        self._server = socket.create_server((LOOPBACK, self.port))
        threading.Thread(target=self._accept, args=(self._server,), daemon=True).start()

    def withhold(self) -> None:
        """Forward requests, but drop the answers."""
        self._silent.set()

    def shut(self) -> None:
        """Break all connections and refuse new ones."""
        if self._server is not None:
            with contextlib.suppress(OSError):
                self._server.shutdown(socket.SHUT_RDWR)
            self._server.close()
        for end in list(self._ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _accept(self, server: socket.socket) -> None:
        while True:
            try:
                near, _ = server.accept()
                far = socket.create_connection((LOOPBACK, self._target))
            except OSError:
                return
            self._ends |= {near, far}
            for source, sink, answers in ((near, far, False), (far, near, True)):
                threading.Thread(target=self._copy, args=(source, sink, answers), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while part := source.recv(65536):
                if not (answers and self._silent.is_set()):
                    sink.sendall(part)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._ends.discard(source)
        source.close()


@contextlib.contextmanager
def forwarding(target: int) -> Iterator[Forwarder]:
    """An open forwarder to a port; it is shut when the block ends."""
    forwarder = Forwarder(target)
    forwarder.open()
    try:
        yield forwarder
    finally:
        forwarder.shut()
