"""The columns by which the newest row of a key is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.keys import COLUMNS
from dbt.adapters.paimon.spec.component import Columns, Component, Found, Types, config_key
from dbt.adapters.paimon.spec.config_values import columns_text
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.type_trees import Array, Atom, Map, Struct, TypeTree, type_tree


@dataclass
class Keys:
    """The config key."""

    sequence_field: Columns = config_key(
        "The row with the highest value wins, regardless of arrival order",
        COLUMNS,
        option="sequence.field",
        page="merge-engines.md",
    )


def _sequence_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateSequenceField
    fields = spec.columns_in("sequence.field")
    if not fields or not spec.primary_key:
        return
    if spec.merge_engine == "first-row":
        yield (
            "sequence.field",
            "first-row keeps the row that was written first and has no sequence. "
            "Remove sequence_field, or use merge_engine='deduplicate' to keep the latest",
        )
    if spec.crosses_partitions:
        yield (
            "sequence.field",
            "cannot order rows that move between partitions: "
            f"primary_key leaves out {spec.partitions_outside_key}. "
            "Add it to primary_key, or remove sequence_field",
        )
    for name in fields:
        if f"fields.{name}.aggregate-function" in spec.options:
            yield (
                f"fields.{name}.aggregate-function",
                f"'{name}' is the sequence field, which Paimon keeps itself. Remove its aggregate_function",
            )


def _snapshot_ordering_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateSnapshotSequenceOrdering, 2.0
    name = "sequence.snapshot-ordering"
    if not spec.is_true(name):
        return
    if not spec.primary_key:
        yield name, "needs a primary key. Set primary_key, or remove it"
    if "sequence.field" in spec.options:
        yield name, "orders rows by table snapshot, and 'sequence.field' by a column. Remove one of the two"
    if not spec.is_true("write-only"):
        yield name, "needs 'write-only'='true', and compaction in a run of its own. Set it, or remove this"


def _order_rules(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # UserDefinedSeqComparator; a map fails at the first read [ran, 0.9.0].
    ordering = [("sequence.field", name) for name in spec.columns_in("sequence.field")]
    for option, columns, _ in spec.field_options("sequence-group"):
        ordering += [(option, name) for name in columns]
    for where, name in ordering:
        if _has_no_order(type_tree(types.get(name, ""))):
            yield where, f"'{name}' is {types[name]}, which has no order. Use a number or a time"


def _has_no_order(tree: TypeTree | None) -> bool:
    if isinstance(tree, Array):
        return _has_no_order(tree.element)
    if isinstance(tree, Struct):
        return any(_has_no_order(kind) for _, kind in tree.fields)
    return isinstance(tree, Map) or tree == Atom("variant")


COMPONENT: Final = Component(
    keys=Keys,
    values={"sequence_field": columns_text},
    columns=("sequence.field",),
    rules=(_sequence_rules, _snapshot_ordering_rules),
    column_rules=(_order_rules,),
    guards={"sequence.field.sort-order": lambda change, options, versions: "sequence.field" in options},
)
