"""Generates YAML properties of existing tables for `generate_sources` and `generate_model_yaml`. Runs no statement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql.text import is_plain
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable

# Opening braces to escape, because dbt renders these files with Jinja.
_JINJA: Final = re.compile(r"\{(?=[{%#])")


@dataclass(frozen=True)
class FoundTable:
    """A table or view to describe; only its columns are known if it is not a Paimon table."""

    name: str
    table: ExistingTable
    is_paimon_table: bool = True


def sources_yaml(
    name: str, schema: str, database: str | None, tables: Iterable[FoundTable], *, columns: bool = True
) -> str:
    """The YAML of a source with a schema's tables; `database` is None for the target's catalog."""
    source: dict[str, Any] = {"name": name}
    if database is not None:
        source["database"] = database
    if schema != name:
        source["schema"] = schema
    source["tables"] = [_source_table(found, columns=columns) for found in tables]
    return _dumped({"version": 2, "sources": [source]})


def models_yaml(models: Iterable[tuple[str, str, FoundTable]], *, contract: bool = False) -> str:
    """The YAML properties of models, from each model's (name, description, table)."""
    described = [_model(name, description, found, contract=contract) for name, description, found in models]
    return _dumped({"version": 2, "models": described})


def write_file(path: Path, text: str, *, overwrite: bool) -> None:
    """Write a YAML file atomically; raises DbtRuntimeError if it exists (unless `overwrite`) or cannot be written."""
    if path.suffix not in (".yml", ".yaml"):
        raise DbtRuntimeError(f"path={path}: dbt reads properties from files that end in .yml or .yaml.")
    if path.exists() and not overwrite:
        raise DbtRuntimeError(f"path={path}: the file exists. Name another one, or add overwrite: true to replace it.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.new")
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as exc:
        raise DbtRuntimeError(f"path={path}: cannot be written: {exc.strerror}.") from exc


def _source_table(found: FoundTable, *, columns: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": found.name}
    if found.table.comment:
        entry["description"] = found.table.comment
    keys = {"primary_key": found.table.primary_key, "partition_by": found.table.partition_by}
    if meta := {name: list(columns) for name, columns in keys.items() if columns}:
        entry["config"] = {"meta": meta}
    if columns:
        entry["columns"] = [_column(column, found.table.primary_key) for column in found.table.columns]
    return entry


def _model(name: str, description: str, found: FoundTable, *, contract: bool) -> dict[str, Any]:
    table = found.table
    entry: dict[str, Any] = {"name": name}
    if description or table.comment:
        entry["description"] = description or table.comment
    if contract:
        entry["config"] = {"contract": {"enforced": True}}
    if table.primary_key:
        entry["constraints"] = [{"type": "primary_key", "columns": list(table.primary_key)}]
    # Only Paimon tables get constraints.
    entry["columns"] = [_column(column, (), constraints=found.is_paimon_table) for column in table.columns]
    return entry


def _column(column: ExistingColumn, primary_key: Sequence[str], *, constraints: bool = True) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": column.name, "data_type": column.data_type}
    if column.comment:
        entry["description"] = column.comment
    if not is_plain(column.name):
        entry["quote"] = True
    kinds = [] if column.nullable else ["not_null"]
    if column.name in primary_key:
        kinds.append("primary_key")
    if kinds and constraints:
        entry["constraints"] = [{"type": kind} for kind in kinds]
    return entry


def _dumped(content: Any) -> str:
    return str(yaml.safe_dump(_literal(content), sort_keys=False, allow_unicode=True, width=120))


def _literal(content: Any) -> Any:
    """The content with its strings escaped for Jinja."""
    if isinstance(content, str):
        return _JINJA.sub("{{ '{' }}", content)
    if isinstance(content, dict):
        return {key: _literal(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_literal(value) for value in content]
    return content
