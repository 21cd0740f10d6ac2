"""Which statements are sorted compactions, and of which table."""

import pytest

from dbt.adapters.paimon.spark.sorted_compaction import may_sort, table_of
from dbt.adapters.paimon.spark.table_name import TableName


@pytest.mark.parametrize(
    ("statement", "sorts", "table"),
    [
        (
            "/* dbt */ CALL `lake`.sys.compact(table => '`lake`.`s`.`t.x`', order_strategy => 'zorder', order_by => 'a')",
            True,
            TableName("lake", "s", "t.x"),
        ),
        ("call sys.compact('s.t', '', 'order', 'a')", True, TableName("c", "s", "t")),
        ("call sys.compact(order_strategy => \"hilbert\", table => 't')", True, TableName("c", "d", "t")),
        ("call sys.compact(table => 's.t')", False, TableName("c", "s", "t")),
        ("select 'order' from compact", False, None),
    ],
)
def test_statements(statement, sorts, table):
    assert may_sort(statement) is sorts
    assert table_of(statement, "c", "d") == table
