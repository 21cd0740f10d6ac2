"""Warnings as dbt's own events, so that --warn-error and --warn-error-options (`Deprecations`) apply."""

from __future__ import annotations

import threading
from collections.abc import Hashable

from dbt.adapters.events import types
from dbt_common.events.functions import warn_or_error
from dbt_common.ui import warning_tag


class AdapterDeprecationWarning(types.AdapterDeprecationWarning):
    """dbt's event of the same name and code (D005), but not limited to deprecated adapter methods."""

    def message(self) -> str:
        return warning_tag(f"Deprecated functionality: {self.old_name} {self.new_name}")


class OnceARun:
    """Remembers what this run has already reported; shared by all threads."""

    def __init__(self) -> None:
        self._keys: set[Hashable] = set()
        self._lock = threading.Lock()

    def first(self, key: Hashable) -> bool:
        """Whether this is the first call with this key."""
        with self._lock:
            is_first = key not in self._keys
            self._keys.add(key)
            return is_first


def deprecate(what: str, instead: str) -> None:
    """Warn about something that a later release will reject or change; both arguments are sentences."""
    warn_or_error(AdapterDeprecationWarning(old_name=what, new_name=instead))


def warn(text: str) -> None:
    """Send a warning; with --warn-error it raises EventCompilationError."""
    # As an argument, the text may contain braces: dbt formats only `base_msg`.
    warn_or_error(types.AdapterEventWarning(name="Paimon", base_msg="{}", args=[text]))
