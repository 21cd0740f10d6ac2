"""Compares the columns that a model wants with those of its table."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, cast

from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.column import SIZED
from dbt.adapters.paimon.spec.spelling import with_column_case
from dbt.adapters.paimon.spec.strategies import MERGE, UPSERTING
from dbt.adapters.paimon.spec.table import TableSpec, lower_names
from dbt.adapters.paimon.sql.assignment import can_alter_type
from dbt.adapters.paimon.sql.data_types import FLOATS, TEXTS, typed_nulls
from dbt.adapters.paimon.sql.plain_values import INTEGERS
from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.sql.type_trees import Atom, TypeTree, type_tree
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable

# Type -> its kind; any other type is a kind of its own.
_KINDS = {
    **dict.fromkeys(INTEGERS, "integer"),
    **dict.fromkeys(FLOATS, "floating-point"),
    **dict.fromkeys(TEXTS, "text"),
}


@dataclass(frozen=True)
class ColumnChanges:
    """The changes that give a table its wanted columns.

    `add`, `move`, `retype` and `make_nullable` are applied before the rows are written, `drop` afterwards, so that no
    value is lost.
    """

    add: tuple[ExistingColumn, ...] = ()
    # Columns out of order, each with the column that comes before it, or ''. Increments do not move columns.
    move: tuple[tuple[str, str], ...] = ()
    # Columns whose new type holds all old values.
    retype: tuple[ExistingColumn, ...] = ()
    # Columns that become nullable, including those to be dropped.
    make_nullable: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    # (column, comment) pairs.
    comment: tuple[tuple[str, str], ...] = ()
    # Why a new table is needed.
    rebuild: tuple[str, ...] = ()
    # All columns whose wanted type differs from the table's.
    type_changes: tuple[ExistingColumn, ...] = ()
    # The type changes that sync_all_columns can apply in place, because existing values fit the new type.
    alterable_in_place: tuple[ExistingColumn, ...] = ()

    def __str__(self) -> str:
        found = [f"new column {column.name} {column.data_type}" for column in self.add]
        found += [f"column {name} is no longer in the model" for name in self.drop]
        found += [f"column {column.name} is now {column.data_type}" for column in self.type_changes]
        return "; ".join(found)

    def columns_during_increment(
        self, columns: Sequence[ExistingColumn], on_schema_change: str
    ) -> tuple[ExistingColumn, ...]:
        """A table's columns while an increment is written: after columns are added and before others are dropped."""
        if on_schema_change == "append_new_columns":
            return (*columns, *self.add)
        if on_schema_change != "sync_all_columns":
            return tuple(columns)
        same = (
            replace(column, nullable=column.nullable or column.name in self.nullable_before_drop)
            for column in _with_types(columns, self.alterable_in_place)
        )
        return (*same, *self.add)

    def columns_after_widening(self, columns: Sequence[ExistingColumn]) -> tuple[ExistingColumn, ...]:
        """A table's columns with the types of `widened_in_place`."""
        return tuple(_with_types(columns, self.widened_in_place))

    @property
    def widened_in_place(self) -> tuple[ExistingColumn, ...]:
        """The columns of `alterable_in_place` whose type is widened within its kind, such as int to bigint."""
        return tuple(column for column in self.alterable_in_place if column in self.retype)

    @property
    def nullable_before_drop(self) -> tuple[str, ...]:
        """The NOT NULL columns to be dropped; the rows that are written before the drop have no values for them."""
        return tuple(name for name in self.make_nullable if name in self.drop)

    def for_increment(self, on_schema_change: str) -> ColumnChanges:
        """The changes that an incremental run makes, as far as `on_schema_change` allows."""
        if on_schema_change == "append_new_columns":
            return ColumnChanges(add=self.add, comment=self.comment)
        if on_schema_change == "sync_all_columns":
            return ColumnChanges(
                add=self.add,
                retype=self.alterable_in_place,
                make_nullable=self.nullable_before_drop,
                drop=self.drop,
                comment=self.comment,
            )
        missing = {column.name for column in self.add}
        return ColumnChanges(comment=tuple(each for each in self.comment if each[0] not in missing))

    def for_snapshot(self) -> ColumnChanges:
        """The changes that a snapshot's run makes: it adds and widens columns, and does not drop any."""
        return ColumnChanges(add=self.add, retype=self.widened_in_place, comment=self.comment)

    @property
    def changes_schema(self) -> bool:
        """Whether dbt's `on_schema_change` applies."""
        return bool(self.add or self.drop or self.type_changes)


def _with_types(columns: Iterable[ExistingColumn], retyped: Iterable[ExistingColumn]) -> Iterator[ExistingColumn]:
    types = {column.name.lower(): column.data_type for column in retyped}
    for column in columns:
        yield replace(column, data_type=types.get(column.name.lower(), column.data_type))


def wanted_columns(
    query_columns: Sequence[tuple[str, str]],
    model: Mapping[str, Any],
    spec: TableSpec,
    also_not_null: Iterable[str] = (),
    stored: Iterable[ExistingColumn] = (),
) -> tuple[ExistingColumn, ...]:
    """The columns that a model's table should have, in the order of its query.

    Types come from the query; only `char(n)` and `varchar(n)` come from the contract or a seed's `column_types`. NOT
    NULL comes from the primary key and the contract, comments from the YAML. An untyped NULL (`void`) gets the type
    that the column has in the table. In a new column it becomes `string`, which can later change to any other type.

    Args:
        query_columns: (name, Spark type) of the query's columns.
        also_not_null: further columns that are NOT NULL.
        stored: the columns of the table, if it exists.
    """
    config = model.get("config", {})
    enforced = bool((config.get("contract") or {}).get("enforced"))
    comments = bool((config.get("persist_docs") or {}).get("columns"))
    required = lower_names((*spec.primary_key, *spec.partition_by)) if spec.primary_key else set()
    required |= lower_names(also_not_null) | (_not_null_of_the_model(model) if enforced else set())
    types = {column.name.lower(): column.data_type for column in stored}
    columns = []
    for name, given in query_columns:
        column = column_of_yaml(model, name)
        data_type = types.get(name.lower(), given) if given == "void" else given
        contract = column if enforced else {}
        columns.append(
            ExistingColumn(
                name=name,
                data_type=_type_of(name, data_type, config, contract),
                nullable=not (name.lower() in required or _is_required(contract)),
                comment=(column.get("description") or "") if comments else "",
            )
        )
    return tuple(columns)


def _type_of(name: str, data_type: str, config: Mapping[str, Any], contract: Mapping[str, Any]) -> str:
    """A column's type; char(n) and varchar(n) are taken from the config, because a query's schema lacks the length."""
    of_seed = {column.lower(): kind for column, kind in (config.get("column_types") or {}).items()}
    declared = (of_seed.get(name.lower()) or contract.get("data_type") or "").strip().lower()
    sized = SIZED.fullmatch(declared)
    if sized is None:
        return typed_nulls(data_type)
    return f"varchar({sized[1]})" if declared.startswith("var") else f"char({sized[1]})"


def column_of_yaml(model: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A column's entry in the model's YAML, or empty.

    As in dbt's validate_doc_columns, names are case-sensitive only if the entry has `quote: true`.
    """
    for written, column in (model.get("columns") or {}).items():
        if written == name or (not column.get("quote") and written.lower() == name.lower()):
            return cast("Mapping[str, Any]", column)
    return {}


def _is_required(column: Mapping[str, Any]) -> bool:
    """Whether a column's own constraints make it NOT NULL."""
    return any(each["type"] in ("not_null", "primary_key") for each in column.get("constraints") or [])


def _not_null_of_the_model(model: Mapping[str, Any]) -> set[str]:
    """The columns, in lower case, that model-level constraints declare NOT NULL."""
    constraints = (each for each in model.get("constraints") or [] if each["type"] == "not_null")
    return lower_names(name for each in constraints for name in each.get("columns") or [])


def compare_columns(
    wanted: Sequence[ExistingColumn], existing: ExistingTable, comments: bool, versions: Versions | None = None
) -> ColumnChanges:
    """Compare columns by name, ignoring case as Spark does.

    Args:
        comments: whether the model persists its columns' docs; if not, comments are left alone.
        versions: used to check that WHERE finds old rows after a type change; None skips the check.
    """
    both, add, removed = _paired(wanted, existing)
    keys = lower_names((*existing.primary_key, *existing.partition_by))
    changed = [(old, new) for old, new in both if not _same_type(old.data_type, new.data_type)]
    return ColumnChanges(
        add=add,
        move=tuple(_moves(wanted, existing)),
        retype=tuple(new for old, new in changed if _is_widened(old, new, keys)),
        make_nullable=_newly_nullable(both, removed, keys),
        drop=tuple(column.name for column in removed),
        comment=_commented(both, add) if comments else (),
        rebuild=tuple(_reasons_to_rebuild(wanted, existing, keys)),
        type_changes=tuple(new for _, new in changed),
        alterable_in_place=tuple(
            new for old, new in changed if _is_altered_in_place(old, new, existing.as_spec(), versions)
        ),
    )


_Pair = tuple[ExistingColumn, ExistingColumn]
_Columns = tuple[ExistingColumn, ...]


def _paired(wanted: Sequence[ExistingColumn], existing: ExistingTable) -> tuple[tuple[_Pair, ...], _Columns, _Columns]:
    """(existing, wanted) pairs of the common columns, the columns to add, and the columns to drop."""
    have = {column.name.lower(): column for column in existing.columns}
    want = {column.name.lower(): column for column in wanted}
    return (
        tuple((have[name], column) for name, column in want.items() if name in have),
        tuple(column for name, column in want.items() if name not in have),
        tuple(column for name, column in have.items() if name not in want),
    )


def _moves(wanted: Sequence[ExistingColumn], existing: ExistingTable) -> Iterator[tuple[str, str]]:
    """The moves that give the table, after its new columns are added, the order of the wanted columns."""
    both, add, _ = _paired(wanted, existing)
    names = {new.name.lower(): old.name for old, new in both} | {column.name.lower(): column.name for column in add}
    order = [column.name.lower() for column in wanted]
    have = [column.name.lower() for column in (*existing.columns, *add) if column.name.lower() in names]
    blocks = SequenceMatcher(None, have, order, autojunk=False).get_matching_blocks()
    stay = {name for block in blocks for name in order[block.b : block.b + block.size]}
    for before, name in zip(["", *order], order, strict=False):
        if name not in stay:
            yield names[name], names.get(before, "")


def _newly_nullable(both: Sequence[_Pair], removed: Sequence[ExistingColumn], keys: Container[str]) -> tuple[str, ...]:
    """The columns that become nullable, including those to be dropped."""
    found = [new for old, new in both if new.nullable and not old.nullable]
    found += [column for column in removed if not column.nullable]
    return tuple(column.name for column in found if column.name.lower() not in keys)


def _commented(both: Sequence[_Pair], add: Sequence[ExistingColumn]) -> tuple[tuple[str, str], ...]:
    """(column, comment) pairs whose comment differs from the table's."""
    changed = [new for old, new in both if new.comment != old.comment]
    return tuple((column.name, column.comment) for column in (*changed, *(c for c in add if c.comment)))


def _is_widened(old: ExistingColumn, new: ExistingColumn, keys: Container[str]) -> bool:
    """Whether a rebuild can alter a column's type before it overwrites the rows."""
    return new.name.lower() not in keys and widens(old.data_type, new.data_type)


def _is_altered_in_place(old: ExistingColumn, new: ExistingColumn, spec: TableSpec, versions: Versions | None) -> bool:
    """Whether a column is `alterable`, and WHERE still finds its old rows afterwards (not checked without versions)."""
    missing = versions and missing_filter_capability(old, new.data_type, spec, versions)
    return alterable(old, new.data_type, spec) and not missing


def _reasons_to_rebuild(
    wanted: Sequence[ExistingColumn], existing: ExistingTable, keys: Container[str]
) -> Iterator[str]:
    have = {column.name.lower(): column for column in existing.columns}
    for column in wanted:
        current = have.get(column.name.lower())
        if current is None:
            if not column.nullable:
                yield f"new column {column.name} is NOT NULL"
            continue
        if not _same_type(current.data_type, column.data_type):
            if not _is_widened(current, column, keys):
                yield f"type of column {column.name} changes from {current.data_type} to {column.data_type}"
        elif current.kept_type:
            yield f"column {column.name} is {current.kept_type} in the table"
        if current.nullable and not column.nullable:
            yield f"column {column.name} becomes NOT NULL"


def _lost_values(dropped: Sequence[str], strategy: str, spec: TableSpec) -> list[str]:
    """The columns that the query does not return, and whose stored values it would overwrite with NULL."""
    # These merge engines are meant for feeds that write only some columns of a row. With any other engine or strategy,
    # columns that the query does not return are lost.
    if strategy not in UPSERTING or spec.merge_engine not in ("partial-update", "aggregation"):
        return list(dropped)
    if strategy == MERGE:
        # MERGE writes whole rows, with the stored values of the other columns.
        return []
    # The query no longer has these columns, so the config's names may still be in another case.
    spec = with_column_case(spec, dropped)
    functions = {column: function for _, column, function in spec.aggregate_functions()}
    # A row with a sequence of its group sets all columns of the group, also to NULL, unless a function ignores NULL.
    grouped = {
        name for sequence, members in spec.sequence_groups.items() if set(sequence) - set(dropped) for name in members
    }

    def is_lost(name: str) -> bool:
        function = functions.get(name) or functions.get("")
        return name in grouped if function is None else function == "last_value"

    return [name for name in dropped if is_lost(name)]


def refuse_schema_change(
    model: str, on_schema_change: str, strategy: str, spec: TableSpec, changes: ColumnChanges
) -> None:
    """Raise CompilationError if `on_schema_change` forbids a change, or rows would lack values for some columns."""
    if on_schema_change == "fail" and changes.changes_schema:
        raise CompilationError(
            f"model '{model}': the columns changed and on_schema_change is 'fail': {changes}. "
            "Set on_schema_change to append_new_columns or sync_all_columns, or run once with --full-refresh."
            f"{_rename_remedy(changes)}"
        )
    required = [column.name for column in changes.add if not column.nullable]
    if required and on_schema_change in ("append_new_columns", "sync_all_columns"):
        # SchemaManager.commitChanges: "Column … cannot specify NOT NULL".
        raise CompilationError(
            f"model '{model}': new columns are NOT NULL, but existing rows have no value for them: "
            f"{', '.join(required)}. Remove their not_null constraint, or run once with --full-refresh."
        )
    if on_schema_change == "ignore" and (lost := _lost_values(changes.drop, strategy, spec)):
        raise CompilationError(
            f"model '{model}': its table has columns that the model no longer returns: {', '.join(lost)}. "
            "Set on_schema_change='sync_all_columns' to drop them, 'append_new_columns' to fill them with NULL, "
            f"or run once with --full-refresh.{_rename_remedy(changes)}"
        )


def _rename_remedy(changes: ColumnChanges) -> str:
    """Advice to rename the column, if the changes look like a rename; else ''."""
    if len(changes.drop) != 1 or len(changes.add) != 1:
        return ""
    old, new = changes.drop[0], changes.add[0].name
    return (
        f" If {old} is now called {new}, rename it in the table first, which keeps its values: "
        f"alter table <table> rename column {quoted(old)} to {quoted(new)}"
    )


def widens(old: str, new: str) -> bool:
    """Whether a type becomes a wider one of its kind, so that ALTER COLUMN TYPE loses nothing."""
    has, wants = type_tree(old), type_tree(new)
    if not isinstance(has, Atom) or not isinstance(wants, Atom):
        return False
    return _KINDS.get(has.name, has.name) == _KINDS.get(wants.name, wants.name) and can_alter_type(has, wants)


def missing_filter_capability(
    column: ExistingColumn, data_type: str, spec: TableSpec, versions: Versions
) -> Capability | None:
    """The capability that WHERE needs to find old rows after a type change, if this Paimon version lacks it; else None.

    Without FILTERS_AFTER_TYPE_CHANGE, `files.filterable` switches Parquet's filters off, and Avro has no filters.
    ORC's filters cannot be switched off, so they may miss rows or fail on a cast.
    """
    to_or_from_string = _is_string(type_tree(data_type)) != _is_string(type_tree(column.data_type))
    if to_or_from_string and not versions.supports(Capability.FILTERS_AFTER_CHANGE_TO_TEXT):
        return Capability.FILTERS_AFTER_CHANGE_TO_TEXT
    if "orc" in spec.file_formats and not versions.supports(Capability.FILTERS_AFTER_TYPE_CHANGE):
        return Capability.FILTERS_AFTER_TYPE_CHANGE
    return None


def alterable(column: ExistingColumn, data_type: str, spec: TableSpec) -> bool:
    """Whether ALTER may change a column's type while rows written with the old type remain."""
    # A key of a different type may hash to a different bucket. For a partition column, Paimon refuses the change.
    if spec.places(column.name):
        return False
    old, new = type_tree(column.data_type), type_tree(data_type)
    # As a string, 10 sorts before 9.
    if spec.compares(column.name) and _is_string(new) and not _is_string(old):
        return False
    return old is not None and new is not None and can_alter_type(old, new)


def _is_string(tree: TypeTree | None) -> bool:
    return isinstance(tree, Atom) and tree.name in TEXTS


def _same_type(old: str, new: str) -> bool:
    return old.replace(" ", "").lower() == new.replace(" ", "").lower()
