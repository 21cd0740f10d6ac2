"""Which conditions of a statement lose rows with NULL, because Paimon 0.9 misreads them."""

import pytest

from dbt.adapters.paimon.sql.null_filters import lost_nulls

DONE = [("st is distinct from 'done'", "(st <> 'done' or st is null)")]
FLAG = [("flag is distinct from TRUE", "(flag <> TRUE or flag is null)")]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("st is distinct from 'done'", DONE),
        ("'done' is distinct from st and id > 0", DONE),
        ("not (st <=> 'done')", DONE),
        ("not st <=> 'done'", DONE),
        ("not (id = 1 and st is not distinct from 'done')", DONE),
        ("flag is not true", FLAG),
        ("not (flag is true or id = 1)", FLAG),
        ("id in (select id from u where flag is not true)", FLAG),
        ("st is not distinct from 'done'", []),
        ("not (st is distinct from 'done')", []),
        ("not (id = 1 or not (st <=> 'done'))", []),
        ("flag is true", []),
        ("st is distinct from other", []),
        ("st is distinct from null", []),
        ("st is not null", []),
        ("coalesce(st, '') is distinct from 'done'", []),
        ("(st is distinct from 'done') = flag", []),
        ("st <> 'x is distinct from' or st is null", []),
        ("st is distinct from (", []),
    ],
)
def test_conditions(condition, expected):
    found = lost_nulls(f"insert into a select id from t where {condition}")
    assert [(each.condition, each.instead) for each in found] == expected


def test_other_statements():
    assert lost_nulls("delete from t where flag is not true")
    assert lost_nulls("select * from a join t on a.id = t.id and t.flag is not true")
    assert lost_nulls("merge into t using s on t.id = s.id and t.flag is not true when matched then delete")
    assert not lost_nulls("select st is distinct from 'done' as open from t")
