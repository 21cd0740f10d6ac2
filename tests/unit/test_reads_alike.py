"""Whether a query on a server may return other rows when it is read again."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest

from dbt.adapters.paimon.writing.api import Rows
from dbt.adapters.paimon.writing.model_query import ModelQuery

# As Spark 3.5 prints it; the optimizer's limit is not the query's.
EXPLAINED = """== Parsed Logical Plan ==
'Project [*]
+- 'UnresolvedRelation [chosen], [], false

== Analyzed Logical Plan ==
id: int, day: date
Project [id#1, day#2]
+- SubqueryAlias chosen
   +- View (`chosen`, [id#1, day#2])
      +- {node}
         +- RelationV2[id#1, day#2] paimon.shop.orders

== Optimized Logical Plan ==
GlobalLimit 1
+- RelationV2[id#1, day#2] paimon.shop.orders
"""


def reads_alike(source: ModelQuery, node: str) -> bool:
    adapter = MagicMock()
    adapter.handle.embedded.return_value = None
    adapter.query.return_value = [(EXPLAINED.format(node=node),)]
    return Rows(adapter, MagicMock()).reads_alike(source)


@pytest.mark.parametrize(
    ("node", "alike"),
    [
        ("Filter (id#1 > 5)", True),
        ("Filter (kind#3 = sample)", True),
        ("Filter (rand(-12) < 0.5)", False),
        ("Project [id#1, uuid(Some(-3)) AS day#2]", False),
        ("Aggregate [id#1], [id#1, first(day#3, false) AS day#2]", False),
        ("Sample 0.0, 0.5, false, 7", False),
        ("GlobalLimit 5", False),
        ("Offset 5", False),
        ("Aggregate [id#1], [id#1, max_by(day#3, at#4) AS day#2]", False),
        ("Window [row_number() windowspecdefinition(id#1, at#4 DESC NULLS LAST) AS n#5], [id#1]", False),
        ("Window [max(day#3) windowspecdefinition(id#1) AS day#2], [id#1]", True),
        ("Project [id#1, java_method(java.util.UUID, randomUUID) AS day#2]", False),
        ("Filter (day#2 >= date_sub(current_date(Some(UTC)), 3))", False),
        ("Join Inner, (at#4 < now())", False),
        ("Project [id#1, current_timestamp() AS day#2]", True),
    ],
)
def test_the_view_that_a_query_reads(node: str, alike: bool) -> None:
    assert reads_alike(ModelQuery("(select * from chosen)", ()), node) is alike


@pytest.mark.parametrize(
    ("sql", "alike"),
    [
        ("select id, max(day) as day from orders group by id", True),
        ("select * from orders order by id offset 5", False),
        ("select id, row_number () over (order by day) from orders", False),
        ("select id, any_value(day) from orders group by id", False),
    ],
)
def test_a_query_that_spark_cannot_explain(sql: str, alike: bool) -> None:
    adapter = MagicMock()
    adapter.handle.embedded.return_value = None
    adapter.query.side_effect = RuntimeError
    assert Rows(adapter, MagicMock()).reads_alike(ModelQuery(f"({sql})", ())) is alike


def test_the_frame_of_a_python_model() -> None:
    """Spark does not print whether a Python function is deterministic."""
    frame = ModelQuery("`orders__dbt_tmp`", (), "orders__dbt_tmp")
    assert not reads_alike(frame, "LogicalRDD [id#1, day#2], false")
