"""Builds small manifests in dbt's format, for unit tests."""

from __future__ import annotations

from typing import Any

from dbt_paimon.lineage.project import Project

COLUMNS = {
    "model.p.orders": "id customer amount state note",
    "model.p.customers": "id name region",
}


def node(name: str, sql: str = "", *, kind: str = "table", resource: str = "model", **more: Any) -> dict[str, Any]:
    config = {"materialized": kind, "meta": {}, "tags": [], **more.pop("config", {})}
    return {
        "unique_id": f"{resource}.p.{name}",
        "name": name,
        "resource_type": resource,
        "database": "paimon",
        "schema": "s",
        "alias": name,
        "relation_name": f"`paimon`.`s`.`{name}`",
        "language": "sql",
        "raw_code": sql,
        "compiled_code": sql,
        "columns": {},
        "config": config,
        "fqn": ["p", name],
        "depends_on": {"nodes": [], "macros": []},
        **more,
    }


def base(name: str) -> dict[str, Any]:
    """A model that selects constants, with the columns that COLUMNS lists for its name."""
    columns = ", ".join(f"{at} as {column}" for at, column in enumerate(COLUMNS[f"model.p.{name}"].split()))
    return node(name, f"select {columns}")


def project(*nodes: dict[str, Any], macros: dict[str, str] | None = None, schema: str = "s") -> Project:
    """A project of the nodes, `orders` and `customers`. A node depends on the models that its SQL names."""
    every = [base(name.rpartition(".")[2]) for name in COLUMNS if not any(n["unique_id"] == name for n in nodes)]
    every += nodes
    for each in every:
        if schema != "s":
            each["relation_name"] = each["relation_name"].replace("`s`", f"`{schema}`")
            each["compiled_code"] = each["compiled_code"].replace(" s.", f" {schema}.")
        named = [
            other["unique_id"] for other in every if f"s.{other['name']}" in each["raw_code"] and other is not each
        ]
        each["depends_on"]["nodes"] = each["depends_on"]["nodes"] or named
    found = {
        f"macro.p.{name}": {"name": name, "package_name": "p", "macro_sql": sql, "depends_on": {"macros": []}}
        for name, sql in (macros or {}).items()
    }
    return Project({"nodes": {each["unique_id"]: each for each in every}, "sources": {}, "macros": found})
