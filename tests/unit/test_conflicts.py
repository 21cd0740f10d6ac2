"""Which statements run again after a conflict with another writer, and which may run twice."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.concurrency import conflicts
from dbt.adapters.paimon.spec.strategies import is_idempotent, may_repeat
from dbt.adapters.paimon.spec.table import TableSpec

APPEND = TableSpec()
KEYED = TableSpec(primary_key=("id",))


def engine(name: str, **options: str) -> TableSpec:
    return TableSpec(primary_key=("id",), options={"merge-engine": name} | options)


@pytest.mark.parametrize(
    ("strategy", "spec", "idempotent"),
    [
        ("append", APPEND, False),
        ("merge", APPEND, True),
        ("merge", KEYED, True),
        ("delete+insert", APPEND, True),
        ("insert_overwrite", APPEND, True),
        ("microbatch", KEYED, True),
        ("upsert", KEYED, True),
        ("upsert", engine("first-row"), True),
        ("upsert", engine("partial-update"), True),
        ("upsert", engine("aggregation"), True),  # the default function is last_non_null_value
        ("upsert", engine("aggregation", **{"fields.n.aggregate-function": "max"}), True),
        ("upsert", engine("aggregation", **{"fields.n.aggregate-function": "sum"}), False),
        ("upsert", engine("aggregation", **{"fields.n.aggregate-function": "first_not_null_value"}), True),
        ("upsert", engine("aggregation", **{"fields.default-aggregate-function": "product"}), False),
        ("partial_update", engine("partial-update"), True),
        ("partial_update", engine("partial-update", **{"fields.n.aggregate-function": "listagg"}), False),
        ("upsert", engine("an-engine-to-come"), False),
        ("a_macro_of_the_project", KEYED, False),
    ],
)
def test_is_idempotent(strategy: str, spec: TableSpec, idempotent: bool) -> None:
    assert is_idempotent(strategy, spec) is idempotent


@pytest.mark.parametrize(
    ("kind", "spec", "repeated"),
    [
        (conflicts.REBUILD, APPEND, True),
        (conflicts.SNAPSHOT, KEYED, True),
        (conflicts.REFRESH, KEYED, True),
        (conflicts.REFRESH, APPEND, False),
        ("append", APPEND, False),
        ("upsert", KEYED, True),
        ("a_macro_of_the_project", KEYED, False),
    ],
)
def test_may_repeat(kind: str, spec: TableSpec, repeated: bool) -> None:
    assert may_repeat(kind, spec) is repeated


@pytest.mark.parametrize(
    ("text", "conflict"),
    [
        ("java.lang.RuntimeException: File deletion conflicts detected! Give up committing.", True),
        ("java.lang.RuntimeException: LSM conflicts detected! Give up committing. Conflict files are:", True),
        ("File 'x' not found, Possible causes: 1.snapshot expires too fast, you can configure …", True),
        (
            "java.lang.RuntimeException: Commit failed after 9223372036854775807 millis with 10 retries, there",
            True,
        ),
        ("[DIVIDE_BY_ZERO] Division by zero.", False),
        ("Cannot write null to non-null column(id)", False),
    ],
)
def test_is_conflict(text: str, conflict: bool) -> None:
    assert conflicts.is_conflict(text) is conflict


def test_pauses_are_bounded() -> None:
    assert sum(conflicts.BACK_OFF) < 20
    for seconds in conflicts.BACK_OFF:
        assert seconds <= conflicts.with_jitter(seconds) <= 1.5 * seconds
