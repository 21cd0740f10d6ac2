"""Warnings as dbt's own events, so that --warn-error and --warn-error-options (`Deprecations`) apply."""

from __future__ import annotations

import threading
from collections.abc import Hashable

from dbt.adapters.events import types
from dbt_common.events.functions import warn_or_error
from dbt_common.ui import warning_tag


class AdapterDeprecationWarning(types.AdapterDeprecationWarning):
    """dbt's event with this name and code (D005), with a text that is not only about adapter methods."""

    def message(self) -> str:
        """What is deprecated, where it is used, and what to write instead."""
        return warning_tag(f"Deprecated functionality: {self.old_name} {self.new_name}")


class OnceARun:
    """Remembers what was reported in this run, so that it is reported once; shared by all threads."""

    def __init__(self) -> None:
        self._keys: set[Hashable] = set()
        self._lock = threading.Lock()

    def first(self, key: Hashable) -> bool:
        """Whether this key comes for the first time."""
        with self._lock:
            if key in self._keys:
                return False
            self._keys.add(key)
            return True


def deprecate(what: str, instead: str) -> None:
    """Warn of something that a later release will refuse or change.

    Args:
        what: a sentence: where it is (the model's name) and what is deprecated.
        instead: a sentence: what to write, and the release that changes it.

    Raises:
        EventCompilationError: dbt is configured to treat deprecations as errors.
    """
    warn_or_error(AdapterDeprecationWarning(old_name=what, new_name=instead))


def warn(text: str) -> None:
    """Warn of something that goes on.

    Args:
        text: what, where, and what to do about it.

    Raises:
        EventCompilationError: with dbt's --warn-error.
    """
    # dbt formats its text only if there are arguments.
    warn_or_error(types.AdapterEventWarning(name="Paimon", base_msg="{}", args=[text]))
