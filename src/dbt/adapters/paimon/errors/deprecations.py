"""Deprecations as dbt's own warnings, about which --warn-error and --warn-error-options (`Deprecations`) decide."""

from __future__ import annotations

import threading
from collections.abc import Hashable

from dbt.adapters.events import types
from dbt_common.events.functions import warn_or_error
from dbt_common.ui import warning_tag


class AdapterDeprecationWarning(types.AdapterDeprecationWarning):
    """dbt's event of that name and code (D005), whose own text speaks of an adapter's methods only."""

    def message(self) -> str:
        """What goes, where it is, and what to write instead."""
        return warning_tag(f"Deprecated functionality: {self.old_name} {self.new_name}")


class OnceARun:
    """What has been told in a run, so that it is told once; for all threads."""

    def __init__(self) -> None:
        self._keys: set[Hashable] = set()
        self._lock = threading.Lock()

    def first(self, key: Hashable) -> bool:
        """Whether this is the first time that the key comes."""
        with self._lock:
            if key in self._keys:
                return False
            self._keys.add(key)
            return True


def deprecate(what: str, instead: str) -> None:
    """Warn of something that a later release refuses or does otherwise.

    Args:
        what: a sentence: where it is (the model's name) and what goes.
        instead: a sentence: what to write, and the release that changes it.

    Raises:
        EventCompilationError: where dbt is told to take deprecations for errors.
    """
    warn_or_error(AdapterDeprecationWarning(old_name=what, new_name=instead))
