"""Predicates on the rows of the target table (incremental_predicates)."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql.predicates import as_list, by_sqlglot, of_table, qualify


@pytest.mark.parametrize(
    ("value", "predicates"),
    [(None, []), ("", []), ([], []), ("id > 1", ["id > 1"]), (["a", "b"], ["a", "b"]), (("a",), ["a"])],
)
def test_as_list(value, predicates):
    assert as_list(value) == predicates


def test_columns_get_the_tables_alias():
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


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("id > 3", "T.id > 3"),
        ("`id` > 3 and lower(name) like '%id%'", "T.`id` > 3 and lower(T.name) like '%id%'"),
        ("T.day >= date'2026-01-01'", "T.day >= date'2026-01-01'"),
        ("exists(tags, id -> id > 3) and id in (1, 2)", "exists(T.tags, id -> id > 3) and T.id in (1, 2)"),
        ("id in (select id from x)", "T.id in (select id from x)"),
        ("pay.load = 1 or `we``ird` is null", "T.pay.load = 1 or T.`we``ird` is null"),
        ("DAY >= current_date - interval 3 days", "T.DAY >= current_date - interval 3 days"),
        ("`Msg x` = '😀 id' and id = 1", "T.`Msg x` = '😀 id' and T.id = 1"),
    ],
)
def test_by_sqlglot(text, written):
    columns = {"id", "name", "day", "tags", "pay", "we`ird", "msg x"}
    assert qualify(text, by_sqlglot(text), columns) == written.replace("T.", "DBT_INTERNAL_DEST.").replace(
        "DBT_INTERNAL_DEST.day", "T.day"
    )


def test_no_expression():
    with pytest.raises(DbtRuntimeError, match="not a SQL expression"):
        of_table(by_sqlglot, ["id >> (("], ["id"], "m")
