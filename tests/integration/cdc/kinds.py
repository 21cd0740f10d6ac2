"""Columns of a database's table and of its copy in Paimon: types, values, and expressions for the same text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

_DEBEZIUM: Final = "io.debezium.time"
_CONNECT: Final = "org.apache.kafka.connect.data"
_DECIMAL: Final = f"{_CONNECT}.Decimal"
_VARIABLE_DECIMAL: Final = "io.debezium.data.VariableScaleDecimal"
# The trailing zeros of a fraction of a second, which only some databases show.
_ZEROS: Final = re.compile(r"(:\d\d(?:\.\d*?[1-9])?)\.?0*$")


@dataclass(frozen=True)
class Kind:
    """A column.

    Attributes:
        name: its name.
        there: its type in the database.
        here: its type in the source's YAML.
        values: SQL literals of the database, which the rows take in turn.
        shown_there: the database's expression for a value's text; `{}` is the column.
        shown_here: Spark's expression for the same text.
        shown_in_millis: like `shown_there`, for `time.precision.mode: connect`; empty if it is the same.
        moment: the logical type of dates and times: `Date`, `Timestamp` or `MicroTimestamp`.
        decimal: the logical type of precise decimals: `Decimal` or `VariableScaleDecimal`.
        always_decimal: whether the column has that type with every `decimal.handling.mode`.
    """

    name: str
    there: str
    here: str
    values: Sequence[str]
    shown_there: str = "{}"
    shown_here: str = "{}"
    shown_in_millis: str = ""
    moment: str = ""
    decimal: str = ""
    always_decimal: bool = False


@dataclass(frozen=True)
class Settings:
    """The settings of a connector.

    Attributes:
        name: the name of the feed, the source and the model.
        with_schema: whether messages contain their schema.
        decimals: `decimal.handling.mode`.
        in_millis: whether `time.precision.mode` is `connect`.
    """

    name: str
    with_schema: bool
    decimals: str
    in_millis: bool

    def semantic(self, kind: Kind) -> str:
        """The `semantic` in the column's YAML; empty if the messages have it or none is needed."""
        if self.with_schema:
            return ""
        if kind.moment:
            return f"{_CONNECT}.{kind.moment.replace('Micro', '')}" if self.in_millis else f"{_DEBEZIUM}.{kind.moment}"
        in_bytes = self.decimals == "precise" or kind.always_decimal
        return (
            {"Decimal": _DECIMAL, "VariableScaleDecimal": _VARIABLE_DECIMAL}.get(kind.decimal, "") if in_bytes else ""
        )

    def source(self, kinds: Sequence[Kind], location: str) -> dict[str, Any]:
        """The source's YAML."""
        columns: list[dict[str, Any]] = [{"name": "id", "data_type": "int"}]
        for kind in kinds:
            column: dict[str, Any] = {"name": kind.name, "data_type": kind.here}
            if semantic := self.semantic(kind):
                column["meta"] = {"semantic": semantic}
            columns.append(column)
        external = {"using": "kafka", "location": location, "value_format": "debezium"}
        return {"name": self.name, "external": external, "columns": columns}

    def model(self, kinds: Sequence[Kind]) -> str:
        """The model's SQL."""
        columns = ", ".join(["id", *(kind.name for kind in kinds), "_row_kind", "_position"])
        return (
            "{{ config(materialized='streaming', incremental_strategy='apply_changes', primary_key='id', bucket=1, "
            "rowkind_field='_row_kind', sequence_field='_position') }}\n"
            f"select {columns} from {{{{ stream(source('types', '{self.name}')) }}}}"
        )


ALL: Final = (
    Settings("plain", with_schema=True, decimals="precise", in_millis=False),
    Settings("bare", with_schema=False, decimals="string", in_millis=False),
    Settings("millis", with_schema=True, decimals="string", in_millis=True),
    Settings("bare_millis", with_schema=False, decimals="precise", in_millis=True),
)


def inserted(kinds: Sequence[Kind], first: int) -> str:
    """A script that inserts all values of each column, and a row of NULLs; `first` is the first id."""
    count = max(len(kind.values) for kind in kinds)
    rows = [
        f"({first + row}, {', '.join(kind.values[row % len(kind.values)] for kind in kinds)})" for row in range(count)
    ]
    names = ", ".join(kind.name for kind in kinds)
    return (
        f"insert into kinds (id, {names}) values {', '.join(rows)};\ninsert into kinds (id) values ({first + count});"
    )


def texts_here(kinds: Sequence[Kind], table: str) -> str:
    """Spark's query for all values as text."""
    shown = (f"cast({kind.shown_here.format(kind.name)} as string)" for kind in kinds)
    return f"select id, {', '.join(shown)} from {table} order by id"


def texts_there(kinds: Sequence[Kind], settings: Settings) -> dict[str, str]:
    """The database's expression for each column's text, for a connector with these settings."""
    return {
        kind.name: ((settings.in_millis and kind.shown_in_millis) or kind.shown_there).format(kind.name)
        for kind in kinds
    }


def plain(kind: Kind, text: str | None) -> str | None:
    """A value's text without trailing zeros of seconds, which not all databases show."""
    return _ZEROS.sub(r"\1", text) if text and kind.moment and kind.moment != "Date" else text
