"""The rows of dbt's catalog keep names and comments as text, whatever they look like."""

from __future__ import annotations

from typing import Any

import pytest
from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, TableMetadata

from dbt.adapters.paimon.tables.docs_catalog import DocsCatalog


@pytest.mark.parametrize("name", ["1234", "2024_01", "true", "2024-01-31"])
def test_names_that_look_like_other_values(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    metadata = TableMetadata("table", name, name, "paimon", name, name)
    table = CatalogTable(metadata, {name: ColumnMetadata("int", 1, name, name)}, {}, None)
    monkeypatch.setattr(DocsCatalog, "entries", lambda self, relations: [table])
    catalog: Any = object.__new__(DocsCatalog)
    (row,) = catalog._rows([])
    texts = ("table_schema", "table_name", "table_comment", "table_owner", "column_name", "column_comment")
    assert [row[each] for each in texts] == [name] * len(texts)
    assert row["column_index"] == 1
