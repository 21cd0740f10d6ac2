"""The rows of a snapshot's query: the warning and the error about its keys, and the types that its columns get."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.tables.existing import ExistingColumn
from dbt.adapters.paimon.writing.dbt_snapshots import key_warning, with_types_of_table
from dbt.adapters.paimon.writing.model_query import from_sql

MODEL = {
    "name": "planes",
    "config": {"unique_key": ["id", "part"], "strategy": "timestamp", "updated_at": "at"},
}


def test_a_time_that_is_null_is_warned_about():
    warning = key_warning(MODEL, (1, 7, None, 1))
    assert "'planes'" in warning
    assert "(id = 7, part = NULL)" in warning


def test_a_key_of_several_rows_is_refused():
    with pytest.raises(CompilationError, match=r"2 rows .* \(id = 7, part = a\)"):
        key_warning(MODEL, (2, 7, "a", 1))


@pytest.mark.parametrize(
    ("stored", "given", "config", "cast"),
    [
        ("string", "int", {"strategy": "check", "check_cols": ["v"]}, True),
        ("varchar(5)", "date", {"strategy": "check", "check_cols": ["v"]}, True),
        ("string", "decimal(10,2)", {"strategy": "timestamp", "updated_at": "at"}, True),
        # As strings, 10 is less than 9.
        ("string", "int", {"strategy": "timestamp", "updated_at": "V"}, False),
        ("string", "string", {"strategy": "check", "check_cols": ["v"]}, False),
        ("bigint", "int", {"strategy": "check", "check_cols": ["v"]}, False),
        ("int", "string", {"strategy": "check", "check_cols": ["v"]}, False),
    ],
)
def test_a_column_that_is_text_in_the_table(stored, given, config, cast):
    query = from_sql("select * from codes", (PaimonColumn("v", given),))
    found = with_types_of_table(query, [ExistingColumn("V", stored)], config)
    assert (found != query) is cast
    assert found.columns[0].dtype == (stored if cast else given)
