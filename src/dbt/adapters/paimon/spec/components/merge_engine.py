"""The merge engine, and what it does with deletes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.options.table_options import canonical
from dbt.adapters.paimon.spec.component import Component, Found, PropertyChange, Types, config_key
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.data_types import type_name


@dataclass
class Keys:
    """The config keys."""

    merge_engine: str | None = config_key(
        "How rows with the same key are merged", option="merge-engine", page="merge-engines.md"
    )
    rowkind_field: str | None = config_key(
        "The column that says what a row does: `+I`, `-U`, `+U`, `-D`",
        "a column",
        option="rowkind.field",
        page="strategies.md#apply_changes-change-rows",
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


def _group_delete_rules(spec: TableSpec, versions: Versions) -> Found:
    name = "partial-update.remove-record-on-sequence-group"
    if name not in spec.options:
        return
    if spec.is_true("ignore-delete"):
        yield name, "contradicts 'ignore-delete'='true'. Keep one of the two"
    ordering = {column for columns in spec.sequence_groups for column in columns}
    missing = [column for column in spec.columns_in(name) if column not in ordering]
    if missing:
        yield name, f"{', '.join(missing)} orders no sequence_group. Name a column that has one"


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
    # RowKindGenerator: refused only when rows are written.
    name = spec.options.get("rowkind.field", "")
    if type_name(types.get(name, "string")) not in ("string", "varchar", "char"):
        yield "rowkind.field", f"'{name}' is {types[name]}. Give a string of '+I', '-U', '+U' or '-D'"


def _drops_changes(change: PropertyChange, options: Mapping[str, str], versions: Versions) -> bool:
    """Whether the table has dropped deletes or updates, which do not come back."""
    return canonical(change.name, change.old, versions.paimon) is True


COMPONENT: Final = Component(
    keys=Keys,
    values={
        "merge_engine": lambda value, key, problems: (
            value.strip().lower().replace("_", "-") if isinstance(value, str) else value
        )
    },
    columns=("rowkind.field", "partial-update.remove-record-on-sequence-group"),
    rules=(_retract_rules, _delete_rules, _group_delete_rules, _aggregation_delete_rules),
    column_rules=(_rowkind_rules,),
    guards=dict.fromkeys(("ignore-delete", "ignore-update-before"), _drops_changes),
)
