"""Predicates over the rows of the table."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.predicates import as_list, qualify


@pytest.mark.parametrize(
    ("value", "predicates"),
    [(None, []), ("", []), ([], []), ("id > 1", ["id > 1"]), (["a", "b"], ["a", "b"]), (("a",), ["a"])],
)
def test_as_list(value, predicates):
    assert as_list(value) == predicates


def test_columns_become_the_tables():
    text = "id = 1 and `Msg x` = '😀 id' and DBT_INTERNAL_SOURCE.id > dbt_internal_dest.Id and pay.load = current_date"
    references = [
        (text.index(word), parts)
        for word, parts in [
            ("id", ("id",)),
            ("`Msg x`", ("Msg x",)),
            ("DBT_INTERNAL_SOURCE.id", ("DBT_INTERNAL_SOURCE", "id")),
            ("dbt_internal_dest.Id", ("dbt_internal_dest", "Id")),
            ("pay.load", ("pay", "load")),
            ("current_date", ("current_date",)),
        ]
    ]
    assert qualify(text, references, {"id", "msg x", "pay"}) == (
        "DBT_INTERNAL_DEST.id = 1 and DBT_INTERNAL_DEST.`Msg x` = '😀 id' and DBT_INTERNAL_SOURCE.id > "
        "dbt_internal_dest.Id and DBT_INTERNAL_DEST.pay.load = current_date"
    )
