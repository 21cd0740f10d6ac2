"""Lists the schemas of a project when something first asks the catalog, for commands that may not ask it at all."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock


class DeferredCacheFill:
    """What dbt lists at the start of a command, put off."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._listing: Callable[[], None] | None = None

    def defer(self, listing: Callable[[], None]) -> None:
        """Keep a listing for later."""
        with self._lock:
            self._listing = listing

    def flush(self) -> None:
        """Do it now, if it was put off. Other threads wait until it is done; what it does itself must not call this."""
        with self._lock:
            listing, self._listing = self._listing, None
            if listing is not None:
                listing()
