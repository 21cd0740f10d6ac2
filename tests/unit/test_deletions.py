"""Statements that delete rows, found in scripts."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec import deleting
from dbt.adapters.paimon.spec.advice import advice
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.deletions import (
    deletions,
    may_delete,
    opaque,
    strict,
    with_condition,
)


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("delete from t where a > 1", [(("t",), "a > 1")]),
        ("DELETE/* x */FROM `a b`.`c``d` AS z\nWHERE z.`where` = ';'", [(("a b", "c`d"), "z.`where` = ';'")]),
        (
            "delete from a.b.c where x; -- delete from t where y\ndelete from 2024_t where (y) -- where z\n;",
            [(("a", "b", "c"), "x"), (("2024_t",), "(y) -- where z")],
        ),
        (
            "with w as (select 1 where 2 = 3) delete from t where a in (select 1 from w where true)",
            [(("t",), "a in (select 1 from w where true)")],
        ),
        ("delete from identifier('t') where a", [((), "a")]),
        ("delete from t", []),
        ("select 'delete from t where a', x from delete_from where y", []),
        ("insert into t select case when a then delete from b end", []),
        ("delete from t where a = 'unclosed", []),
        (
            "merge into s.t as x using y on x.a = y.a when matched and y.gone then\ndelete",
            [(("s", "t"), None)],
        ),
        ("merge into t using (select 'then delete') on true when matched then update set *", []),
    ],
)
def test_deletions(script, found):
    assert [
        (deletion.table, deletion.condition and script[slice(*deletion.condition)].strip())
        for deletion in deletions(script)
    ] == found
    assert may_delete(script) or not found


@pytest.mark.parametrize(
    "script",
    ["select * from deletes where op = 'delete'", "insert into t values ('delete', 'from')", "drop table t"],
)
def test_scripts_without_deletes_need_no_parser(script):
    assert not may_delete(script)


def test_conditions_that_are_never_null():
    script = "delete from t where a > 1 or b -- all\n; select 1"
    (deletion,) = deletions(script)
    assert with_condition(script, deletion, strict) == (
        "delete from t where(a > 1 or b -- all\n) and ( a > 1 or b -- all\n) is true; select 1"
    )
    assert with_condition(script, deletion, opaque) == (
        "delete from t where cast(( a > 1 or b -- all\n) as string) <=> 'true'; select 1"
    )


MOVING = {"bucket": "-1", "merge-engine": "first-row"}


@pytest.mark.parametrize(
    ("spec", "version", "refused"),
    [
        # The remaining rows would be lost: their keys are in the index, so first-row drops the rewritten rows.
        (TableSpec(("id",), ("p",), MOVING), "0.9.0", True),
        (TableSpec(("id", "p"), ("p",), MOVING), "0.9.0", False),
        (TableSpec(("id",), ("p",), {"bucket": "-1"}), "0.9.0", False),
        (
            TableSpec(("id",), (), {"bucket": "-2", "postpone.batch-write-fixed-bucket": "false"}),
            "1.4.2",
            True,
        ),
        (TableSpec(("id",), (), {"bucket": "-2"}), "1.4.2", False),
        (TableSpec((), ("p",), {"bucket": "-1"}), "2.0.0", False),
    ],
)
def test_whether_deletes_are_refused(spec, version, refused):
    versions = Versions.of(version)
    assert (deleting.refusal(spec, versions) is not None) == refused
    assert refused <= (deleting.delete_fault(spec, versions) is not None)


REMOVES = {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"}


def test_old_values_after_a_delete():
    spec = TableSpec(("id",), (), REMOVES)
    versions = Versions.of("1.4.2")
    for fault in (deleting.delete_fault(spec, versions), deleting.merge_fault(spec, versions)):
        assert fault is not None and "old values" in fault
    (warning,) = advice(spec, {"merge_delete_condition": "gone"}, "m", versions)
    assert "compact(this)" in warning
    assert deleting.way(spec, versions) is deleting.DeleteMethod.COMPACT_AND_DELETE


@pytest.mark.parametrize("condition", ["n is distinct from 10", "not (n <=> 10)", "(n > 10) is not true"])
def test_files_of_nulls_are_not_skipped(condition: str) -> None:
    """With such a condition, Paimon 0.9 skips files with NULLs."""
    assert strict(condition) == opaque(condition)
