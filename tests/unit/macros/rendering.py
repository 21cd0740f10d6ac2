"""Renders the adapter's macros without Spark, using dbt's Jinja, the macros of dbt and dbt-spark, and the real adapter.

Only the catalog is fake: tests describe its tables, and statements are recorded instead of run.
"""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

from dbt.adapters.factory import FACTORY
from dbt.clients.jinja import MacroStack
from dbt.context.base import generate_base_context
from dbt.context.exceptions_jinja import wrapped_exports
from dbt.context.macros import MacroNamespaceBuilder
from dbt.context.providers import RuntimeDatabaseWrapper
from dbt.contracts.graph.nodes import Macro
from dbt.node_types import NodeType

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.errors.warnings import OnceARun
from dbt.adapters.paimon.impl import PaimonAdapter
from dbt.adapters.paimon.metadata.commits import COMMIT_USER_CONF
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import views
from dbt.adapters.paimon.sql.statements import Statement
from dbt.adapters.paimon.tables.existing import as_dbt_columns
from dbt.include import global_project, paimon, spark

# In dbt's search order for macros.
PACKAGES = {"dbt_paimon": paimon, "dbt_spark": spark, "dbt": global_project}
NOTHING = MappingProxyType({})


def _macros(package, folder):
    """The macros of a package; each has its file's whole text, in which dbt finds the macro by name."""
    texts = {str(path): path.read_text("utf-8") for path in sorted(folder.rglob("*.sql"))}
    return {
        name: Macro(name, NodeType.Macro, package, path, path, f"macro.{package}.{name}", text)
        for path, text in texts.items()
        for name in re.findall(r"\{%-?\s*macro\s+(\w+)\s*\(", text)
    }


MACROS = {name: _macros(name, Path(module.PACKAGE_PATH, "macros")) for name, module in PACKAGES.items()}


def relation(identifier, database="lake", schema="shop", type="table"):
    return PaimonRelation.create(database, schema, identifier, type)


def with_conf(sql, conf):
    """A statement without blank lines, below its Spark settings as comments."""
    settings = "".join(f"-- {name}={value}\n" for name, value in conf.items())
    return settings + re.sub(r"[ \t]*\n\s*\n|[ \t]+\n", "\n", sql.strip())


class Adapter(PaimonAdapter):
    """The adapter with tables that a test describes; it records statements instead of running them."""

    versions = Versions.of("0.9.0")

    def __init__(self, known, answers):
        credentials = PaimonCredentials(database="lake", schema="shop", warehouse="/lake")
        self.config = SimpleNamespace(
            credentials=credentials, quoting={}, dependencies={}, get_macro_search_order=lambda _: None
        )
        self.known, self.answers, self.sent = known, list(answers), []
        self.once = OnceARun()
        views.DIRECTORY.configure("lake", "lake", self)
        self.connections = SimpleNamespace(execute=self.execute)
        self.tables.existing = lambda relation: known[relation.identifier]
        self.builds.alone = lambda relation: nullcontext()
        self.builds.write = self.write

    def execute(self, sql, *_, **__):
        statement = sql if isinstance(sql, Statement) else Statement(sql, "")
        user = {COMMIT_USER_CONF: statement.commit_user} if statement.commit_user else {}
        self.sent.append(with_conf(statement.sql, {**statement.conf, **user}))
        return None, None

    def write(self, target, sql, kind, spec, conf, mark="", deletes=False, writes_rows=False):
        self.execute(Statement(sql, kind, conf))
        return SimpleNamespace(response="", table=None)

    def names_suggested(self):
        return nullcontext()

    def query(self, sql):
        self.execute(sql)
        return self.answers.pop(0) if self.answers else []

    def get_relation(self, database, schema, identifier):
        return relation(identifier) if identifier in self.known else None

    def list_relations(self, database, schema):
        return [relation(name) for name in self.known]

    def get_columns_in_relation(self, relation):
        return list(as_dbt_columns(self.known[relation.identifier].columns))

    def query_columns(self, sql):
        return ()

    def cache_added(self, relation):
        return ""

    def unique_suffix(self):
        return "unique"


class Rendering:
    """dbt's Jinja context of a node.

    Args:
        node: the fields in which the node differs from a model without config.
        known: the existing tables, by their identifiers.
        answers: the rows that the adapter's own queries return, one after the other.
    """

    def __init__(self, node=NOTHING, known=NOTHING, answers=()):
        FACTORY.load_plugin("paimon")
        names = {"name": "orders", "alias": "orders", "database": "lake", "schema": "shop"}
        kind = {
            "unique_id": "model.shop.orders",
            "resource_type": "model",
            "language": "sql",
            "compiled": True,
        }
        self.node = {**names, **kind, "config": {}, **node}
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

    def __call__(self, macro, *arguments, **more):
        """Call a macro; returns all statements sent so far, then the statement that the macro returns."""
        returned = self.context[macro](*arguments, **more)
        return [*self.adapter.sent, *([with_conf(str(returned), NOTHING)] if returned else [])]
