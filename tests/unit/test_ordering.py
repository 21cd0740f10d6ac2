"""ORDER BY clauses as sort keys, and values that cannot order rows (NaN, maps)."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.spec.column_rules import check_columns
from dbt.adapters.paimon.spec.ordering_values import select_list
from dbt.adapters.paimon.spec.problems import ConfigErrors
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.ordering import SortKey, sort_keys


@pytest.mark.parametrize(
    ("clause", "keys"),
    [
        ("order by n", [("n", False, True)]),
        ("n", [("n", False, True)]),
        ("ORDER  BY n DESC", [("n", True, False)]),
        ("order by n asc nulls last", [("n", False, False)]),
        ("order by n desc\n  Nulls First ", [("n", True, True)]),
        ("order by a, b desc", [("a", False, True), ("b", True, False)]),
        (
            "order by coalesce(a, ', )'), m[f(1, 2)] desc",
            [("coalesce(a, ', )')", False, True), ("m[f(1, 2)]", True, False)],
        ),
        ('order by `a, b``,` desc, "it\'s"', [("`a, b``,`", True, False), ('"it\'s"', False, True)]),
        (r"order by 'it\', s', 2", [(r"'it\', s'", False, True), ("2", False, True)]),
        ("order by descending, `asc`", [("descending", False, True), ("`asc`", False, True)]),
    ],
)
def test_keys(clause: str, keys: list[tuple[str, bool, bool]]) -> None:
    assert sort_keys(clause) == tuple(SortKey(*key) for key in keys)


@pytest.mark.parametrize(
    ("data_type", "condition"),
    [
        ("double", "isnan(`s`)"),
        ("struct<a:int,`b c`:float>", "(isnan(`s`.`b c`))"),
        ("array<double>", "exists(`s`, __dbt_0 -> isnan(__dbt_0))"),
        (
            "array<struct<a:double,b:array<float>>>",
            "exists(`s`, __dbt_0 -> (isnan(__dbt_0.`a`) or exists(__dbt_0.`b`, __dbt_1 -> isnan(__dbt_1))))",
        ),
        ("bigint", ""),
        ("struct<a:int,b:array<string>>", ""),
    ],
)
def test_a_sequence_has_no_nan(data_type, condition):
    spec = TableSpec(primary_key=("id",), options={"sequence.field": "s"})
    columns = [PaimonColumn("id", "int"), PaimonColumn("s", data_type)]
    selected = select_list(columns, spec, {"name": "m", "resource_type": "model"})
    if not condition:
        assert selected is None
    else:
        assert selected is not None and selected.startswith(f"`id`, if({condition}, raise_error(")


def test_a_key_has_no_nan():
    columns = [PaimonColumn("id", "double"), PaimonColumn("v", "double")]
    selected = select_list(columns, TableSpec(primary_key=("id",)), {"name": "m", "resource_type": "model"})
    assert selected is not None and selected.startswith("if(isnan(`id`), raise_error('model \\'m\\': the key column id")
    assert selected.endswith("as `id`, `v`")


@pytest.mark.parametrize("data_type", ["map<int,int>", "struct<a:array<map<int,int>>>", "struct<a:variant>"])
def test_a_sequence_has_no_map(data_type):
    spec = TableSpec(primary_key=("id",), options={"sequence.field": "s"})
    columns = [("id", "int"), ("s", data_type)]
    with pytest.raises(ConfigErrors, match=r"'s' is .*, which has no order"):
        check_columns(spec, columns, config={}, model="m", versions=Versions.of("0.9.0"))
