"""pytest plugin: what dbt and PySpark do again in each of a thousand runs of one process, they do at less cost, to the same end."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import lru_cache
from typing import Any

from dbt.artifacts.resources import Macro as MacroResource
from dbt.clients import jinja_static
from dbt.contracts.graph.nodes import Macro
from dbt_common import behavior_flags
from dbt_common.tests import enable_test_caching
from dbt_common.utils.encoding import JSONEncoder
from py4j.java_gateway import JVMView


def pytest_configure() -> None:
    """Put the quicker ones in their place."""
    # dbt's own fixtures do so, and not every test has them: a small project is parsed in 0.3 CPU seconds, not in 1.7.
    enable_test_caching()
    behavior_flags.BehaviorFlagRendered._default_source = staticmethod(_caller)
    jinja_static.get_environment = lru_cache(jinja_static.get_environment)
    JSONEncoder.iterencode = _iterencode
    Macro.to_resource = _to_resource
    JVMView.__getattr__ = _remembering(JVMView.__getattr__)


def pytest_collection_finish() -> None:
    """Whatever is there by now stays: the collector need not look at dbt's and the tests' modules again and again."""
    gc.collect()
    gc.freeze()


def _caller() -> str:
    """The module that declares a flag, as `inspect.stack` finds it, which reads the lines around each frame."""
    frame = sys._getframe(1)
    while frame.f_globals["__name__"] == behavior_flags.__name__ and frame.f_back:
        frame = frame.f_back
    return str(frame.f_globals["__name__"])


def _iterencode(encoder: JSONEncoder, value: Any, _one_shot: bool = False) -> Iterator[str]:
    """A manifest by the encoder in C, which `json.dump` leaves alone and `json.dumps` takes: the same text."""
    return iter(json.JSONEncoder.iterencode(encoder, value, _one_shot=True))


def _to_resource(macro: Macro) -> MacroResource:
    """One of a thousand macros in a manifest that is written: the same fields, not by way of a dictionary and back."""
    return MacroResource(**{field.name: getattr(macro, field.name) for field in fields(MacroResource)})


def _remembering(ask: Callable[[JVMView, str], Any]) -> Callable[[JVMView, str], Any]:
    """What PySpark asks for by a name without a package, which the JVM looks for in each package and all of 300 jars."""

    def found(view: JVMView, name: str) -> Any:
        # Under the name itself: Python asks `__getattr__` for what is not there. A new JVM has a new view.
        view.__dict__[name] = ask(view, name)
        return view.__dict__[name]

    return found
