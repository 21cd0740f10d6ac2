"""Fills dbt's cache of relations when the catalog is first used, in commands that might not use it."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock


class DeferredCacheFill:
    """The deferred listing of schemas."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._listing: Callable[[], None] | None = None

    def defer(self, listing: Callable[[], None]) -> None:
        with self._lock:
            self._listing = listing

    def flush(self) -> None:
        """Run the deferred listing, if any. Other threads wait for it, so its own threads must not call `flush`."""
        with self._lock:
            listing, self._listing = self._listing, None
            if listing is not None:
                listing()
