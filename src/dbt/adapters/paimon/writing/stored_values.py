"""Changes or refuses values that Paimon filters, merges or reads differently from Spark.

- -0.0 becomes 0.0. Spark treats the two as equal, but Paimon's statistics, ORC's filters and, from 2.0, keys do not:
  `f = 0` does not find -0.0, and 0.0 and -0.0 are two keys [ran, 0.9.0, 1.4.2 and 2.0.0].
- `collect` with `distinct` stores the array of a key's first row unchanged, so its values are made distinct here.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.sql.type_trees import Array, Atom, Map, Struct, TypeTree, any_part, parts_of

_ZEROS = {"float": "0F", "double": "0D"}


def stored(value: str, tree: TypeTree, column: str, options: Mapping[str, str], versions: Versions) -> str:
    """The SQL of a value as it is stored; `value` has the type `tree` of the column."""
    if isinstance(tree, Atom) and tree.name in _ZEROS and not versions.supports(Capability.NEGATIVE_ZERO):
        return f"{value} + {_ZEROS[tree.name]}"
    # array_distinct cannot compare maps.
    has_map = any(isinstance(part, Map) for part in parts_of(tree))
    collects = isinstance(tree, Array) and not has_map and _collects_distinct(column, options)
    if collects and not versions.supports(Capability.COLLECT_DISTINCT_OF_FIRST_ROW):
        return f"array_distinct({value})"
    return value


def _collects_distinct(column: str, options: Mapping[str, str]) -> bool:
    own = options.get(f"fields.{column}.aggregate-function")
    function = own or options.get("fields.default-aggregate-function")
    return function == "collect" and options.get(f"fields.{column}.distinct", "").lower() == "true"


def null_around_struct(value: str, tree: TypeTree) -> str:
    """SQL condition: a value has NULL in place of a struct that contains a struct; '' if the type has no such struct.

    Source: NestedColumnReader and NestedPrimitiveColumnReader at release-0.9.0.
    """
    return any_part(value, tree, _is_null_around_struct)


def _is_null_around_struct(value: str, tree: TypeTree) -> str:
    has_struct = isinstance(tree, Struct) and any(isinstance(kind, Struct) for _, kind in tree.fields)
    return f"{value} is null" if has_struct else ""
