"""How rows with the same key are merged (engine, order, row kinds), and which changes readers see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.config_keys import COLUMNS
from dbt.adapters.paimon.options.table_options import canonical
from dbt.adapters.paimon.spec.component import Columns, Component, Found, PropertyChange, Types, config_key
from dbt.adapters.paimon.spec.config_values import columns_text
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.data_types import type_name
from dbt.adapters.paimon.sql.type_trees import Atom, Map, TypeTree, parts_of, type_tree


@dataclass
class Keys:
    """The config keys."""

    merge_engine: str | None = config_key(
        "How rows with the same key are merged", option="merge-engine", page="merge-engines.md"
    )
    rowkind_field: str | None = config_key(
        "The column with the kind of change: `+I`, `-U`, `+U`, `-D`",
        "a column",
        option="rowkind.field",
        page="strategies.md#apply_changes-change-rows",
    )
    sequence_field: Columns = config_key(
        "The row with the highest value wins, regardless of arrival order",
        COLUMNS,
        option="sequence.field",
        page="merge-engines.md",
    )
    changelog_producer: str | None = config_key(
        "Which changes the table writes for readers: `input` those of the model's rows, `lookup` and `full-compaction` "
        "the old and new values. With `none`, readers see only the new rows",
        option="changelog-producer",
        page="changelog.md",
    )


def _retract_rules(spec: TableSpec, versions: Versions) -> Found:
    # Later reads fail if the merge engine cannot apply '-U' and '-D' rows [ran, 0.9.0].
    if "rowkind.field" not in spec.options or spec.is_true("ignore-delete"):
        return
    remedy = "Put 'ignore-delete': true into tblproperties, or remove it"
    removes = spec.is_true(f"{spec.merge_engine}.remove-record-on-delete")
    if spec.merge_engine == "first-row":
        # FirstRowMergeFunction.add
        yield "rowkind.field", f"first-row accepts no '-U' and '-D' rows. {remedy}"
    elif spec.merge_engine == "partial-update" and not spec.sequence_groups and not removes:
        # PartialUpdateMergeFunction.add
        yield (
            "rowkind.field",
            "partial-update accepts no '-U' and '-D' rows: the table would become unreadable. "
            f"{remedy}; or give it a sequence_group, whose columns a delete empties",
        )


def _delete_rules(spec: TableSpec, versions: Versions) -> Found:
    # PartialUpdateMergeFunction.Factory
    name = "partial-update.remove-record-on-delete"
    if not spec.is_true(name):
        return
    if missing := versions.explain(Capability.REMOVE_RECORD_ON_DELETE):
        yield name, missing
        return
    if spec.is_true("ignore-delete"):
        yield name, "contradicts 'ignore-delete'='true'. Keep one of the two"
    if spec.sequence_groups:
        yield name, "does not work with a sequence_group. Keep one of the two"
    if spec.primary_key and spec.merge_engine != "partial-update":
        yield name, f"is for merge_engine='partial-update', and this is '{spec.merge_engine}'. Remove it"


def _aggregation_delete_rules(spec: TableSpec, versions: Versions) -> Found:
    name = "aggregation.remove-record-on-delete"
    if not spec.is_true(name):
        return
    if spec.primary_key and spec.merge_engine != "aggregation":
        yield name, f"is for merge_engine='aggregation', and this is '{spec.merge_engine}'. Remove it"
    # FieldAggregatorFactory.create
    for option, _, _ in spec.field_options("ignore-retract"):
        if spec.is_true(option):
            yield option, f"contradicts '{name}'='true'. Keep one of the two"


def _rowkind_rules(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # RowKindGenerator refuses other types only when rows are written.
    name = spec.options.get("rowkind.field", "")
    if type_name(types.get(name, "string")) not in ("string", "varchar", "char"):
        yield "rowkind.field", f"'{name}' is {types[name]}. Give a string of '+I', '-U', '+U' or '-D'"


def _drops_changes(change: PropertyChange, options: Mapping[str, str], versions: Versions) -> bool:
    # With the old value, the table has dropped deletes or updates, which the change cannot restore.
    return canonical(change.name, change.old, versions.paimon) is True


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
            "cannot order rows that move between partitions: primary_key leaves out "
            f"{spec.partitions_outside_key}. Add it to primary_key, or remove sequence_field",
        )
    for name in fields:
        own = f"fields.{name}.aggregate-function"
        if own in spec.options:
            yield own, f"'{name}' is the sequence field, which Paimon keeps itself. Remove its aggregate_function"


def _order_rules(spec: TableSpec, types: Types, versions: Versions) -> Found:
    # UserDefinedSeqComparator: the first read of a table that is ordered by a map fails [ran, 0.9.0].
    ordering = [("sequence.field", name) for name in spec.columns_in("sequence.field")]
    for option, columns, _ in spec.field_options("sequence-group"):
        ordering += [(option, name) for name in columns]
    for where, name in ordering:
        if _has_no_order(type_tree(types.get(name, ""))):
            yield where, f"'{name}' is {types[name]}, which has no order. Use a number or a time"


def _has_no_order(tree: TypeTree | None) -> bool:
    return tree is not None and any(isinstance(part, Map) or part == Atom("variant") for part in parts_of(tree))


def _changelog_rules(spec: TableSpec, versions: Versions) -> Found:
    # SchemaValidation.validateTableSchema
    producer = spec.changelog_producer
    if spec.merge_engine == "first-row" and producer not in ("none", "lookup"):
        yield "changelog-producer", "first-row supports only 'none' and 'lookup'. Use one of them"
    name = "streaming-read-overwrite"
    if spec.is_true(name):
        if not spec.primary_key:
            yield name, "needs a primary key. Set primary_key, or remove it"
        elif producer in ("full-compaction", "lookup"):
            yield name, f"returns changes twice with changelog_producer='{producer}'. Remove one"
    both = producer == "lookup" and "full-compaction.delta-commits" in spec.options
    if both and (missing := versions.explain(Capability.LOOKUP_WITH_DELTA_COMMITS)):
        yield "full-compaction.delta-commits", missing


COMPONENT: Final = Component(
    keys=Keys,
    values={
        "merge_engine": lambda value, key, problems: (
            value.strip().lower().replace("_", "-") if isinstance(value, str) else value
        ),
        "sequence_field": columns_text,
    },
    columns=(
        "sequence.field",
        "rowkind.field",
        "partial-update.remove-record-on-sequence-group",
        "changelog-producer.row-deduplicate-ignore-fields",
    ),
    rules=(
        _sequence_rules,
        _retract_rules,
        _changelog_rules,
        _delete_rules,
        _aggregation_delete_rules,
    ),
    column_rules=(_order_rules, _rowkind_rules),
    guards={
        "ignore-delete": _drops_changes,
        "ignore-update-before": _drops_changes,
        "sequence.field.sort-order": lambda change, options, versions: "sequence.field" in options,
    },
)
