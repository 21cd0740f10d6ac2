"""Features of the adapter: typed objects, each created when it is first used.

Macros call a `@macro_api` (`adapter.history.at(...)`); only Python uses a `@lazy_feature`. dbt finds a `macro_api`
by the same attributes that its own `@available` sets (`dbt.adapters.base.meta.AdapterMeta`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar, get_type_hints, overload

D = TypeVar("D")
F = TypeVar("F", bound=Callable[..., Any])

_WHILE_PARSING = "_while_parsing"
# dbt's threads must share each feature, which has state such as locks. Creating one may create others (RLock).
_CREATION_LOCK = threading.RLock()


def while_parsing(answer: Callable[..., Any]) -> Callable[[F], F]:
    """Decorator: dbt calls `answer` instead of a macro API's method while it parses (default: return None)."""

    def mark(method: F) -> F:
        setattr(method, _WHILE_PARSING, answer)
        return method

    return mark


class macro_api(Generic[D]):  # noqa: N801 - a decorator
    """A feature that is available in Jinja: decorates the method that creates it (called once), or takes its class."""

    _is_available_ = True

    def __init__(self, make: Callable[[Any], D]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, adapter: None, owner: type) -> macro_api[D]: ...

    @overload
    def __get__(self, adapter: object, owner: type) -> D: ...

    def __get__(self, adapter: object | None, owner: type) -> macro_api[D] | D:
        if adapter is None:
            return self
        with _CREATION_LOCK:
            made = adapter.__dict__.setdefault("_features", {})
            if self._name not in made:
                made[self._name] = self._make(adapter)
            feature: D = made[self._name]
        return feature

    @cached_property
    def kind(self) -> type[D]:
        kind: type[D] = self._make if isinstance(self._make, type) else get_type_hints(self._make)["return"]
        return kind

    @cached_property
    def _parse_replacement_(self) -> Parsing:
        return Parsing(self)


class lazy_feature(macro_api[D]):  # noqa: N801 - a decorator
    """Like `macro_api`, but not available in Jinja."""

    _is_available_ = False


class Parsing:
    """A macro API while dbt parses: static methods run, and `while_parsing` replaces all others."""

    def __init__(self, feature: macro_api[Any]) -> None:
        self._feature = feature

    def __getattr__(self, name: str) -> Callable[..., Any]:
        kind = self._feature.kind
        method = getattr(kind, name)
        if isinstance(kind.__dict__.get(name), staticmethod):
            found: Callable[..., Any] = method
            return found
        answer: Callable[..., Any] = getattr(method, _WHILE_PARSING, lambda *_, **__: None)
        return answer
