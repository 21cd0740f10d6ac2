"""Locks by name, among the threads of this process."""

from __future__ import annotations

from threading import Lock


class NamedLocks:
    """A lock for each name that was ever asked for."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._locks: dict[str, Lock] = {}

    def of(self, name: str) -> Lock:
        """The lock of a name, the same one every time."""
        with self._guard:
            return self._locks.setdefault(name, Lock())
