"""The rows of dbt's catalog keep names and comments as text, whatever they look like."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.base.impl import BaseAdapter
from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, TableMetadata

from dbt.adapters.paimon.impl import PaimonAdapter
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.tables.docs_catalog import DocsCatalog


@pytest.mark.parametrize("name", ["1234", "2024_01", "true", "2024-01-31", "null"])
def test_names_that_look_like_other_values(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    metadata = TableMetadata("table", name, name, "paimon", name, name)
    table = CatalogTable(metadata, {name: ColumnMetadata("int", 1, name, name)}, {}, None)
    monkeypatch.setattr(DocsCatalog, "entries", lambda self, relations: [table])
    catalog: Any = object.__new__(DocsCatalog)
    (row,) = catalog._rows([])
    texts = ("table_schema", "table_name", "table_comment", "table_owner", "column_name", "column_comment")
    assert [row[each] for each in texts] == [name] * len(texts)
    assert row["column_index"] == 1


def test_a_schema_whose_name_dbt_has_put_in_lower_case(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {"Marts": ["t"], "marts": ["u"], "other": ["v"]}
    adapter: Any = SimpleNamespace(
        list_schemas=lambda database: list(tables), list_relations=lambda database, schema: tables[schema]
    )
    monkeypatch.setattr(DocsCatalog, "_rows", lambda self, relations: relations)
    found: Any = DocsCatalog(adapter, SimpleNamespace()).of_schemas("paimon", {"marts"})  # type: ignore[arg-type]
    assert found == ["t", "u"]


def test_freshness_of_sources_with_one_name_in_two_catalogs(monkeypatch: pytest.MonkeyPatch) -> None:
    """dbt maps the times of a batch to its sources by schema and name."""

    def of_batch(self: Any, sources: list[Any], macro_resolver: Any = None) -> tuple[list[Any], dict[Any, Any]]:
        by_name = {(each.schema.lower(), each.identifier.lower()): each for each in sources}
        return [None], {by_name[each.schema.lower(), each.identifier.lower()]: each.database for each in sources}

    monkeypatch.setattr(BaseAdapter, "calculate_freshness_from_metadata_batch", of_batch)
    names = [("archive", "other", "c"), ("paimon", "shop", "orders"), ("archive", "shop", "orders")]
    sources: list[Any] = [PaimonRelation.create(*name) for name in names]
    adapter: Any = object.__new__(PaimonAdapter)
    _, found = adapter.calculate_freshness_from_metadata_batch(sources)
    assert [found.get(source) for source in sources] == ["archive", "paimon", "archive"]
