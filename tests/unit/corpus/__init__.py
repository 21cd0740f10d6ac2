"""The corpus of valid and invalid configs: the *.yml files in this folder, which explain the format of their cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from tests.unit.specs import incremental_spec, snapshot_spec, stream_spec, table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.advice import advice
from dbt.adapters.paimon.spec.column_rules import check_columns
from dbt.adapters.paimon.spec.doubtful_merges import doubtful
from dbt.adapters.paimon.spec.spark_settings import settings_of
from dbt.adapters.paimon.spec.table import TableSpec

FOLDER = Path(__file__).parent
MODEL = "orders"


@dataclass(frozen=True)
class Case:
    """A config and the expected message; `where`, `reason` and `remedy` are empty if the config is valid.

    `columns` are the (name, type) pairs of the model's query. `paimon` says what Paimon 0.9.0 does with the config.
    """

    about: str
    config: Mapping[str, Any]
    where: str = ""
    reason: str = ""
    remedy: str = ""
    version: str = "0.9.0"
    catalog: str = "filesystem"
    columns: tuple[tuple[str, str], ...] = ()
    contract: Mapping[str, Any] = field(default_factory=dict)
    paimon: str = ""

    @property
    def id(self) -> str:
        """The pytest ID."""
        return f"{self.about}: {self.where or self.config}"

    def plan(self) -> TableSpec:
        """The table that the adapter plans from the config, without SQL.

        Raises:
            ConfigErrors: the config is invalid.
        """
        versions = Versions.of(self.version, catalog_kind=self.catalog)
        settings_of(MODEL, self.config.get("spark_config"), versions.paimon)
        contract = {
            "model": MODEL,
            "versions": versions,
            "constraints": self.contract.get("constraints", ()),
            "columns": self.contract.get("columns", {}),
        }
        if self.config.get("materialized") == "incremental":
            spec = incremental_spec(self.config, **contract).table
        elif self.config.get("materialized") == "streaming":
            spec = stream_spec(self.config, **contract).table
        else:
            build = snapshot_spec if self.config.get("materialized") == "snapshot" else table_spec
            spec = build(self.config, **contract)
        check_columns(spec, self.columns, config=self.config, model=MODEL, versions=versions)
        return spec


@cache
def column_table() -> Mapping[str, tuple[str, str]]:
    """Column name -> (Spark type, SQL of a value)."""
    return {name: tuple(entry) for name, entry in _load("columns.yml").items()}


def good() -> list[Case]:
    """Every config that must pass."""
    return [
        Case(**common, config={**group.get("config", {}), **case})
        for group, common in _groups("good.yml")
        for case in group["cases"]
    ]


def bad() -> list[Case]:
    """Every config that must be refused."""
    cases = []
    for group, common in (*_groups("bad_tables.yml"), *_groups("bad_policies.yml")):
        for config, where, reason, remedy in group["cases"]:
            cases.append(Case(**common, config={**group.get("config", {}), **config}, **_said(where, reason, remedy)))
    for group, common in _groups("bad_options.yml"):
        for name, value, reason, remedy in group["cases"]:
            config = {**group.get("config", {}), "tblproperties": {name: value}}
            where = f"tblproperties['{name}']={value!r}"
            cases.append(Case(**common, config=config, **_said(where, reason, remedy)))
    return cases


@dataclass(frozen=True)
class Warned:
    """A valid config that causes a warning: see warnings.yml."""

    config: Mapping[str, Any]
    where: str
    reason: str
    remedy: str
    versions: tuple[str, ...]
    silent: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    typed: tuple[Mapping[str, Any], ...] = ()

    def told(self, version: str) -> tuple[str, ...]:
        """The warnings for a Paimon version."""
        versions = Versions.of(version)
        spec = table_spec(self.config, model=MODEL, versions=versions)
        doubts = doubtful(spec, self.config, MODEL, versions).messages
        return (*advice(spec, self.config, MODEL, versions, self.columns), *doubts)


def warned() -> list[Warned]:
    """Every config with a warning."""
    tuples = ("versions", "silent", "typed")
    return [
        Warned(**{key: tuple(value) if key in tuples else value for key, value in case.items()})
        for case in _load("warnings.yml")
    ]


def changes() -> list[dict[str, Any]]:
    """Configs that differ from an existing table: see changes.yml."""
    loaded: list[dict[str, Any]] = _load("changes.yml")
    return loaded


def _said(where: str, reason: str, remedy: str) -> dict[str, str]:
    return {"where": str(where), "reason": reason, "remedy": remedy}


def _groups(name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each group, with the fields that its cases share."""
    for group in _load(name):
        contract = group.get("contract", {})
        if contract:
            group["config"] = {**group.get("config", {}), "contract": {"enforced": True}}
        columns = group.get("columns") or {column: kind for column, (kind, _) in column_table().items()}
        yield (
            group,
            {
                "about": group["about"],
                "version": group.get("version", "0.9.0"),
                "catalog": group.get("catalog", "filesystem"),
                "columns": tuple(columns.items()),
                "contract": contract,
                "paimon": group.get("paimon", ""),
            },
        )


def _load(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text("utf-8"))
