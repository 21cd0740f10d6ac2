"""pytest plugin: what dbt does again in each of a thousand runs of one process, it does at less cost, to the same end."""

from __future__ import annotations

import sys

from dbt_common import behavior_flags
from dbt_common.tests import enable_test_caching


def pytest_configure() -> None:
    """Hold what dbt parsed of a macro's text; ask for a caller without its source."""
    # dbt's own fixtures do so, and not every test has them: a small project is parsed in 0.3 CPU seconds, not in 1.7.
    enable_test_caching()
    behavior_flags.BehaviorFlagRendered._default_source = staticmethod(_caller)


def _caller() -> str:
    """The module that declares a flag, as `inspect.stack` finds it, which reads the lines around each frame."""
    frame = sys._getframe(1)
    while frame.f_globals["__name__"] == behavior_flags.__name__ and frame.f_back:
        frame = frame.f_back
    return str(frame.f_globals["__name__"])
