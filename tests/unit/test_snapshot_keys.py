"""The warning and the error about the keys of a snapshot's query."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.writing.dbt_snapshots import key_warning

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
