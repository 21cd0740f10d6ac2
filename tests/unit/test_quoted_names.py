"""Strings in double quotes that may be meant as columns."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.sql import quoted_names


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ('select "from" as from_email from t', ["from"]),
        ('select id, "Order Id" from (select "x" y from t)', ["Order Id", "x"]),
        ('select distinct "a" as `a`, a.b from t', ["a"]),
        (
            'with f as (select cast("from" as string) as f, try_cast( "n" as int) from t) select f from f',
            ["from", "n"],
        ),
        ('select count(distinct "id"), sum("n") from t where "day" >= current_date', ["id", "n", "day"]),
        ('select 1 from t where not "a" is null and (x or "b" not in ("c", "d"))', ["a", "b"]),
        ('select case when "a" = 1 then "b" else "c" end from t', ["a"]),
        ('select rank() over (partition by "k" order by "day" desc nulls last, x) from t', ["k", "day"]),
        ('select "a", count(*) from t group by "a" having "n" > 1 order by "a"', ["a", "n"]),
        ('select a.id from a join b on "id" = b.id', ["id"]),
        ('select coalesce("a", 0) as b -- "c"\nfrom t', ["a"]),
        # Constants and arguments.
        ("select 'from' as f, r\"a\" as b from t where 'x' = y", []),
        ('select id, "sales" as metric, sales as value from t', []),
        ('select "US" || country, concat("a", b), date_trunc("day", at), struct("id", id) from t', []),
        ('select * from t where status = "active" and kind in ("a", "b") and "a" || b = c', []),
        ('select if(x, "a", "b"), case x when 1 then "a" end from values ("a", "b") as t(a, b)', []),
        ('select "unclosed from t', []),
        ('select x as "a" from t', []),
    ],
)
def test_suspects(sql, names):
    assert [found.name for found in quoted_names.suspects(sql)] == names


def test_all_places_of_a_name_are_written_in_backticks():
    sql = 'select "a", upper("a"), sum("b") from t group by "a" order by "c d"'
    found = quoted_names.suspects(sql)
    assert quoted_names.as_columns(sql, found) == (
        'select `a`, upper("a"), sum(`b`) from t group by `a` order by `c d`'
    )
    assert quoted_names.as_columns(sql, found[1:2]) == sql.replace('"b"', "`b`")
