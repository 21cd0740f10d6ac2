"""Columns of a table there and of its copy here: types, values, and how each side shows a value as the same text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

_DEBEZIUM: Final = "io.debezium.time"
_CONNECT: Final = "org.apache.kafka.connect.data"
_DECIMAL: Final = f"{_CONNECT}.Decimal"
_VARIABLE_DECIMAL: Final = "io.debezium.data.VariableScaleDecimal"
# A fraction of a second: one database shows it without zeros at its end, another with them.
_ZEROS: Final = re.compile(r"(:\d\d(?:\.\d*?[1-9])?)\.?0*$")


@dataclass(frozen=True)
class Kind:
    """A column.

    Attributes:
        name: its name.
        there: its type in the database.
        here: its type in the source's YAML.
        values: SQL literals of the database; each row has one of them, from the first on.
        shown_there: the database's expression of a value's text; `{}` is the column.
        shown_here: Spark's.
        shown_in_millis: the database's, of what `time.precision.mode: connect` leaves; the same if it is empty.
        moment: for a time, the logical type of its number: `Date`, `Timestamp` or `MicroTimestamp`.
        decimal: the logical type that it has where decimals are precise: `Decimal` or `VariableScaleDecimal`.
        always_decimal: whether it has that type whatever `decimal.handling.mode` is.
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
    """How a connector is set.

    Attributes:
        name: the feed's, the source's and the model's.
        with_schema: whether a message brings its schema.
        decimals: `decimal.handling.mode`.
        in_millis: whether `time.precision.mode` is `connect`.
    """

    name: str
    with_schema: bool
    decimals: str
    in_millis: bool

    def semantic(self, kind: Kind) -> str:
        """What the column's YAML has to say where the messages do not."""
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
    """A script with a row for each of the values of the column that has most, and one without any; from an id on."""
    count = max(len(kind.values) for kind in kinds)
    rows = [
        f"({first + row}, {', '.join(kind.values[row % len(kind.values)] for kind in kinds)})" for row in range(count)
    ]
    names = ", ".join(kind.name for kind in kinds)
    return (
        f"insert into kinds (id, {names}) values {', '.join(rows)};\ninsert into kinds (id) values ({first + count});"
    )


def texts_here(kinds: Sequence[Kind], table: str) -> str:
    """Spark's query of all values as text."""
    shown = (f"cast({kind.shown_here.format(kind.name)} as string)" for kind in kinds)
    return f"select id, {', '.join(shown)} from {table} order by id"


def texts_there(kinds: Sequence[Kind], settings: Settings) -> dict[str, str]:
    """The database's expression of each column's text, for a connector with these settings."""
    return {
        kind.name: ((settings.in_millis and kind.shown_in_millis) or kind.shown_there).format(kind.name)
        for kind in kinds
    }


def plain(kind: Kind, text: str | None) -> str | None:
    """A value's text, without what databases show in different ways."""
    return _ZEROS.sub(r"\1", text) if text and kind.moment and kind.moment != "Date" else text
