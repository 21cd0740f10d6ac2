"""SQL that converts the change rows of an `apply_changes` model into rows that its table accepts.

The option `rowkind.field` names the column with the row kind: `+I`, `+U`, `-U` or `-D` in Paimon
(org.apache.paimon.types.RowKind), and other words in other tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.helper_names import DELETES_SUFFIX, STREAM_DELETES
from dbt.adapters.paimon.sql.literals import some_value
from dbt.adapters.paimon.sql.text import quoted, string_literal

ROWKIND: Final = "rowkind.field"
SEQUENCE: Final = "sequence.field"

INSERT: Final = "+I"
UPDATE_BEFORE: Final = "-U"
UPDATE: Final = "+U"
DELETE: Final = "-D"

# Paimon's row kind -> its names, ignoring case: in Paimon and Flink, in SQL (and Snowflake's streams), in Debezium's
# `op`, and in `_change_type` of Delta's change data feed.
WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    INSERT: ("+I", "INSERT", "I", "C", "R"),
    UPDATE: ("+U", "UPDATE", "U", "UPDATE_POSTIMAGE"),
    DELETE: ("-D", "DELETE", "D"),
    UPDATE_BEFORE: ("-U", "UPDATE_PREIMAGE"),
}


def ordered_by_kind(spec: TableSpec) -> TableSpec:
    """The table with the row kind as its last sequence field.

    Otherwise, of several changes with the same sequence, Paimon would keep the one written last. Which change that is
    depends on how the changes are split into runs. As strings, `+I` < `+U` < `-D`, so a delete always wins.
    """
    rowkind = spec.options.get(ROWKIND, "")
    if not rowkind or not spec.sequence_columns:
        return spec
    fields = [*spec.sequence_columns, rowkind]
    return replace(spec, options={**spec.options, SEQUENCE: ",".join(fields)})


def change_rows_sql(
    source: str, columns: Sequence[str], required: Mapping[str, str], spec: TableSpec, model: str
) -> str:
    """The query for the rows to write, with Paimon's row kinds and without the old values of updates.

    It fails on an unknown row kind and on a change without a key or sequence. Other NOT NULL columns of a delete get a
    placeholder, because Paimon checks a row before discarding it. `source` is the SQL after FROM, and `columns` are all
    its columns. `required` maps the columns that are NOT NULL in the table to their Spark types.
    """
    rowkind = spec.options[ROWKIND]
    ordering = [*spec.primary_key, *spec.sequence_columns]
    kind = _kind_sql(rowkind, ordering, model)
    selected = ", ".join(f"{kind} as {quoted(name)}" if name == rowkind else quoted(name) for name in columns)
    is_delete = f"{quoted(rowkind)} = {string_literal(DELETE)}"
    filled = {
        name: f"if({is_delete}, coalesce({quoted(name)}, {_placeholder(name, kind, spec)}), {quoted(name)}) "
        f"as {quoted(name)}"
        for name, kind in required.items()
        if name not in (rowkind, *ordering)
    }
    return (
        f"select {', '.join(filled.get(name, quoted(name)) for name in columns)}\n"
        f"from (select {selected} from {source})\n"
        f"where {quoted(rowkind)} <> {string_literal(UPDATE_BEFORE)}"
    )


def _placeholder(name: str, kind: str, spec: TableSpec) -> str:
    if spec.options.get("record-level.time-field") != name or "record-level.expire-time" not in spec.options:
        return some_value(kind)
    # With an old time, the delete would expire before the row that it deletes.
    is_long = spec.options.get("record-level.time-field-type", "").lower() == "millis-long"
    now = "now()" if kind.lower().startswith("timestamp") else "unix_millis(now())" if is_long else "unix_timestamp()"
    return f"cast({now} as {kind})"


def _kind_sql(rowkind: str, ordering: Sequence[str], model: str) -> str:
    column = f"cast({quoted(rowkind)} as string)"
    where = f"model '{model}': rowkind_field='{rowkind}':"
    known = "; ".join(", ".join(words) for words in WORDS.values())
    lines = [
        f"when {quoted(name)} is null then raise_error("
        + string_literal(
            f"{where} '{name}' is NULL in a change row, but is part of its key or its order. Set it in the model, "
            "or filter such rows out."
        )
        + ")"
        for name in ordering
    ]
    lines += [
        f"when upper(trim({column})) in ({', '.join(string_literal(word) for word in words)}) "
        f"then {string_literal(kind)}"
        for kind, words in WORDS.items()
    ]
    fault = string_literal(f"{where} unknown row kind ")
    remedy = string_literal(f". Known, in upper or lower case: {known}. Map it in the model, or filter such rows out.")
    lines.append(f"else raise_error(concat({fault}, coalesce(concat('\\'', {column}, '\\''), 'NULL'), {remedy}))")
    return "case " + " ".join(lines) + " end"


def deletes_table(target: str, stream: str = "") -> str:
    """The name of the table that keeps the deletes applied to `target`, or only those of the stream with this id.

    A new stream must not see the deletes of the previous one, which may be ordered differently.
    """
    return f"{target}__{stream}{DELETES_SUFFIX}" if stream else target + DELETES_SUFFIX


def deletes_tables(target: str, tables: Iterable[str]) -> list[str]:
    """The names in `tables` that belong to tables of deletes of `target`, sorted."""
    return sorted(
        name
        for name in tables
        if name == deletes_table(target) or (name.startswith(target) and STREAM_DELETES.fullmatch(name, len(target)))
    )
