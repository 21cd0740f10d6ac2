"""pytest plugin: speeds up work that dbt repeats in each of a process's thousand runs, with the same results."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import lru_cache, wraps
from operator import attrgetter
from pathlib import Path
from typing import Any

from dbt.artifacts.schemas.manifest import WritableManifest
from dbt.clients import jinja, jinja_static
from dbt.contracts.graph.nodes import Macro
from dbt.parser import manifest
from dbt_common import behavior_flags
from dbt_common.constants import SECRET_ENV_PREFIX
from dbt_common.exceptions import base
from dbt_common.tests import enable_test_caching
from dbt_common.utils.encoding import JSONEncoder
from py4j import java_gateway


def pytest_configure() -> None:
    """Replace slow functions of dbt with faster equivalents."""
    # dbt then parses a small project in 0.3 CPU seconds, not 1.7. dbt's own fixtures call this, too, but not all tests
    # use them.
    enable_test_caching()
    behavior_flags.BehaviorFlagRendered._default_source = staticmethod(_caller)
    jinja_static.get_environment = lru_cache(jinja_static.get_environment)
    JSONEncoder.iterencode = _iterencode
    base.env_secrets = _env_secrets
    manifest.generate_runtime_docs_context = _later(manifest.generate_runtime_docs_context)
    manifest.get_rendered = _rendered
    WritableManifest.write = _write_manifest
    for package in (java_gateway.JVMView, java_gateway.JavaPackage):
        package.__getattr__ = _found_once(package.__getattr__)


def pytest_collection_finish() -> None:
    """Keep the garbage collector from scanning the modules of dbt and of the tests repeatedly.

    A manifest has many thousand objects, which live until the run ends. With Python's default threshold, the collector
    scans them dozens of times (7 % of the CPU seconds of `dbt parse`).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _caller() -> str:
    """The module that declares a flag. dbt's own way is slow: `inspect.stack` reads the source lines of each frame."""
    frame = sys._getframe(1)
    while frame.f_globals["__name__"] == behavior_flags.__name__ and frame.f_back:
        frame = frame.f_back
    return str(frame.f_globals["__name__"])


def _iterencode(encoder: JSONEncoder, value: Any, _one_shot: bool = False) -> Iterator[str]:
    """Encode a manifest in C, as `json.dumps` does but `json.dump` does not. The text is the same."""
    return iter(json.JSONEncoder.iterencode(encoder, value, _one_shot=True))


def _env_secrets() -> list[str]:
    """The values of the secret environment variables. dbt decodes all variables for each exception that it creates."""
    # A test may replace os.environ by a plain dictionary.
    encoded = getattr(os.environ, "_data", os.environ)
    names = [os.fsdecode(name) for name in encoded if os.fsencode(name).startswith(SECRET_ENV_PREFIX.encode())]
    return [os.environ[name] for name in names if os.environ[name].strip()]


def _later(context_of: Callable[..., dict[str, Any]]) -> Callable[..., Callable[[], dict[str, Any]]]:
    """Create a description's context only when rendering it: dbt creates one for each of 700 macros in advance."""
    return wraps(context_of)(lambda *arguments: lambda: context_of(*arguments))


def _rendered(text: str, context: Callable[[], dict[str, Any]]) -> str:
    """Render a description, and create its context only if there is Jinja in it."""
    jinja_in_it = not isinstance(text, str) or jinja._HAS_RENDER_CHARS_PAT.search(text)
    return jinja.get_rendered(text, context()) if jinja_in_it else text


def _found_once(look_up: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """Remember Java packages and classes. To find that `org.apache` is not a class, a JVM searches its 250 jars."""

    def get(self: Any, name: str) -> Any:
        found = look_up(self, name)
        # A package whose name has capitals may turn out to be a class that is imported later: do not remember it.
        if isinstance(found, java_gateway.JavaClass) or (
            isinstance(found, java_gateway.JavaPackage) and name.islower()
        ):
            self.__dict__[name] = found
        return found

    return get


_MACROS_HERE = "<macros>"
# The fields of a macro that `manifest.json` has, except the time at which dbt parsed it.
_of_macro = attrgetter(*(each.name for each in fields(Macro) if each.name != "created_at"))
# Macro -> its fields, and its JSON before and after that time.
_MACROS: dict[str, tuple[Any, str, str]] = {}


def _write_manifest(self: WritableManifest, path: str) -> None:
    """Write a manifest as dbt does, and encode again only the macros that have changed since the last one."""
    macros, self.macros = self.macros, {}
    try:
        found = self.to_dict(omit_none=False, context={"artifact": True})
    finally:
        self.macros = macros
    text = json.dumps(found | {"macros": _MACROS_HERE}, cls=JSONEncoder)
    nodes = getattr(macros, "node_mapping", macros)
    in_json = ", ".join(f"{json.dumps(name)}: {_macro_json(nodes[name], macros, name)}" for name in nodes)
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text.replace(json.dumps(_MACROS_HERE), f"{{{in_json}}}", 1), "utf-8")


def _macro_json(node: Macro, resources: Any, name: str) -> str:
    known, seen = _MACROS.get(name), _of_macro(node)
    if known is None or known[0] != seen:
        text = json.dumps(resources[name].to_dict(omit_none=False, context={"artifact": True}), cls=JSONEncoder)
        time = f'"created_at": {json.dumps(node.created_at)}'
        assert text.count(time) == 1
        known = (seen, *text.split(time))
        _MACROS[name] = known
    return f'{known[1]}"created_at": {json.dumps(node.created_at)}{known[2]}'
