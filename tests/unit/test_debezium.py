"""How a source's YAML describes Debezium messages; functional tests read real messages on Spark."""

from __future__ import annotations

from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.streaming.descriptions import Description, SourceColumn
from dbt.adapters.paimon.streaming.formats.debezium import DebeziumMessages
from dbt.adapters.paimon.streaming.formats.debezium_types import UnknownTypeError, innermost, target


def messages(
    columns: dict[str, str], meta: dict[str, Any] | None = None, row_kind: str | None = None
) -> DebeziumMessages:
    described = tuple(SourceColumn(name, kind, nullable=name != "id") for name, kind in columns.items())
    nodes = {name: {"name": name, "meta": (meta or {}).get(name, {})} for name in columns}
    description = Description("tower.planes", "kafka", "planes", "debezium", {}, described)
    return DebeziumMessages.of(description, {"columns": nodes}, row_kind)


@pytest.mark.parametrize(
    ("written", "kind", "data_type"),
    [
        ("bigint", "integer", "bigint"),
        ("decimal(10,2)", "decimal", "decimal(10,2)"),
        ("varchar(5)", "text", "varchar(5)"),
        ("array<array<date>>", "array", "array<array<date>>"),
        ("timestamp_ntz", "timestamp_ntz", "timestamp_ntz"),
    ],
)
def test_types(written: str, kind: str, data_type: str) -> None:
    assert (target(written).kind, target(written).data_type) == (kind, data_type)


@pytest.mark.parametrize("written", ["struct<a:int>", "map<string,int>", "array<struct<a:int>>"])
def test_invalid_types(written: str) -> None:
    with pytest.raises(UnknownTypeError, match="string"):
        target(written)


@pytest.mark.parametrize(
    ("written", "data_type"),
    [("decimal(5,2)", "decimal(5,2)"), ("array<array<decimal(5,2)>>", "decimal(5,2)")],
)
def test_innermost_type_of_an_array(written: str, data_type: str) -> None:
    assert innermost(target(written)).data_type == data_type


def test_an_array_of_decimals_has_their_scale() -> None:
    decimals = {"semantic": "org.apache.kafka.connect.data.Decimal"}
    (found,) = messages({"prices": "array<decimal(5,2)>"}, {"prices": decimals}).columns
    assert (found.semantic, found.scale) == (decimals["semantic"], None)


def test_columns() -> None:
    found = messages(
        {"id": "bigint", "price": "string"},
        {"price": {"semantic": "org.apache.kafka.connect.data.Decimal", "scale": 2}},
    )
    assert [(c.name, c.nullable, c.scale) for c in found.columns] == [("id", False, None), ("price", True, 2)]
    grown = found.with_columns({"seats": "int", "id": "string"})
    assert [(c.name, c.data_type) for c in grown.columns] == [
        ("id", "bigint"),
        ("price", "string"),
        ("seats", "int"),
    ]


@pytest.mark.parametrize(
    ("columns", "meta", "said"),
    [
        ({"id": "struct<a:int>"}, {}, "Declare the column as string"),
        ({"_position": "bigint"}, {}, "_position"),
        ({"op": "string"}, {}, "row_kind"),
        ({"day": "timestamp"}, {"day": {"semantic": "MicroTimestamp"}}, "io.debezium.time.MicroTimestamp"),
        ({"price": "string"}, {"price": {"semantic": "org.apache.kafka.connect.data.Decimal"}}, "meta.scale"),
        ({"price": "decimal(5,2)"}, {"price": {"scale": "two"}}, "meta.scale"),
        (
            {"prices": "array<string>"},
            {"prices": {"semantic": "org.apache.kafka.connect.data.Decimal"}},
            "meta.scale",
        ),
    ],
)
def test_wrong_descriptions_are_refused(columns: dict[str, str], meta: dict[str, Any], said: str) -> None:
    with pytest.raises(DbtRuntimeError, match=r"tower\.planes") as told:
        messages(columns, meta, "op")
    assert said in str(told.value)
