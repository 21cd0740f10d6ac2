"""Renders the adapter's macros without Spark: dbt's Jinja, its macros and dbt-spark's, and the real adapter.

Only the catalog is a stand-in: the tables that a test describes, and a list of the statements that are sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import dbt.include.global_project
import dbt.include.spark
from dbt.adapters.factory import FACTORY
from dbt.clients.jinja import MacroStack
from dbt.context.base import generate_base_context
from dbt.context.exceptions_jinja import wrapped_exports
from dbt.context.macros import MacroNamespaceBuilder
from dbt.context.providers import RuntimeDatabaseWrapper
from dbt.contracts.graph.nodes import Macro
from dbt.node_types import NodeType

import dbt.include.paimon
from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.errors.deprecations import OnceARun
from dbt.adapters.paimon.impl import PaimonAdapter
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.tables.changeset import ExistingTable, as_dbt_columns

# In the order in which dbt looks for a macro.
PACKAGES = {
    "dbt_paimon": dbt.include.paimon,
    "dbt_spark": dbt.include.spark,
    "dbt": dbt.include.global_project,
}
NOTHING: Mapping[str, Any] = MappingProxyType({})


def _macros(package: str, folder: Path) -> dict[str, Macro]:
    """The macros of a package; each has the text of its whole file, of which dbt takes the macro of its name."""
    texts = {str(path): path.read_text("utf-8") for path in sorted(folder.rglob("*.sql"))}
    return {
        name: Macro(name, NodeType.Macro, package, path, path, f"macro.{package}.{name}", text)
        for path, text in texts.items()
        for name in re.findall(r"\{%-?\s*macro\s+(\w+)\s*\(", text)
    }


MACROS = {name: _macros(name, Path(module.PACKAGE_PATH, "macros")) for name, module in PACKAGES.items()}


def relation(identifier: str, **more: Any) -> PaimonRelation:
    return PaimonRelation.create(
        **{"database": "lake", "schema": "shop", "identifier": identifier, "type": "table", **more}
    )


def with_conf(sql: str, conf: Mapping[str, str]) -> str:
    """A statement, after the Spark settings that it alone has; without blank lines."""
    settings = "".join(f"-- {name}={value}\n" for name, value in conf.items())
    return settings + re.sub(r"[ \t]*\n\s*\n|[ \t]+\n", "\n", sql.strip())


class Adapter(PaimonAdapter):
    """The adapter over tables that a test describes; keeps the statements that it is given."""

    versions = Versions.of("0.9.0")  # type: ignore[assignment]

    def __init__(self, known: Mapping[str, ExistingTable], answers: Sequence[Any]) -> None:
        credentials = PaimonCredentials(database="lake", schema="shop", warehouse="/lake")
        self.config = SimpleNamespace(
            credentials=credentials, quoting={}, dependencies={}, get_macro_search_order=lambda _: None
        )
        self.known, self.answers = known, list(answers)
        self.sent: list[str] = []
        self.once = OnceARun()
        self.connections = SimpleNamespace(execute=self.execute)  # type: ignore[assignment]
        self.tables.existing = lambda relation: known[relation.identifier]  # type: ignore[method-assign]
        self.builds.alone = lambda relation: nullcontext()  # type: ignore[method-assign]
        self.builds.write = self.write  # type: ignore[method-assign]

    def execute(self, sql: str, *_: Any, conf: Mapping[str, str] = NOTHING, **__: Any) -> Any:
        self.sent.append(with_conf(sql, conf))
        return None, None

    def write(self, target: Any, sql: str, kind: str, spec: Any, conf: Mapping[str, str]) -> Any:
        self.execute(sql, conf=conf)
        return SimpleNamespace(response="", table=None)

    def query(self, sql: str) -> list[Any]:
        self.execute(sql)
        return self.answers.pop(0) if self.answers else []

    def get_relation(self, database: Any, schema: Any, identifier: Any) -> Any:
        return relation(identifier) if identifier in self.known else None

    def list_relations(self, database: Any, schema: Any) -> list[Any]:
        return [relation(name) for name in self.known]

    def get_columns_in_relation(self, relation: Any) -> list[PaimonColumn]:
        return list(as_dbt_columns(self.known[relation.identifier].columns))

    def cache_added(self, relation: Any) -> str:
        return ""


class Rendering:
    """dbt's context of a node.

    Args:
        node: what differs from the node of a model without config.
        known: the existing tables, by their identifiers.
        answers: the rows that the adapter's own queries return, one after the other.
    """

    def __init__(
        self,
        node: Mapping[str, Any] = NOTHING,
        known: Mapping[str, ExistingTable] = NOTHING,
        answers: Sequence[Any] = (),
    ) -> None:
        FACTORY.load_plugin("paimon")
        names = {"name": "orders", "alias": "orders", "database": "lake", "schema": "shop"}
        kind = {
            "unique_id": "model.shop.orders",
            "resource_type": "model",
            "language": "sql",
            "compiled": True,
        }
        self.node: dict[str, Any] = {**names, **kind, "config": {}, **node}
        self.adapter = Adapter(known, answers)
        self.context = context = generate_base_context({})
        builder = MacroNamespaceBuilder("shop", "shop", MacroStack(), list(PACKAGES))
        macros = builder.build_namespace(MACROS, context)
        database = RuntimeDatabaseWrapper(self.adapter, macros)
        config = self.node["config"]
        context.update(macros)
        context.update(
            adapter=database,
            api=SimpleNamespace(Relation=database.Relation, Column=PaimonColumn),
            config=SimpleNamespace(get=lambda key, default=None, **_: config.get(key, default)),
            exceptions=wrapped_exports(self.node),
            execute=True,
            model=self.node,
            store_result=lambda *_, **__: "",
            target=SimpleNamespace(database="lake", schema="shop"),
            this=relation(self.node["alias"]),
            write=lambda _: "",
        )

    def __call__(self, macro: str, *arguments: Any, **more: Any) -> list[str]:
        """The statements that were sent so far and by a macro, then the one that it returns."""
        returned = self.context[macro](*arguments, **more)
        return [*self.adapter.sent, *([with_conf(returned, NOTHING)] if returned else [])]
