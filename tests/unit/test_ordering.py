"""ORDER BY clauses as sort keys."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.ordering import SortKey, sort_keys


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
