"""`adapter.operations`: for `dbt run-operation`, properties files of existing tables, and confirmations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.doors import while_parsing
from dbt.adapters.paimon.options.table_options import suggestion
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spark.figures import counted
from dbt.adapters.paimon.spec.change_rows import DELETES_SUFFIX
from dbt.adapters.paimon.sql.staging_names import POSITIONS_SUFFIX, table_beside
from dbt.adapters.paimon.sql.text import ilike
from dbt.adapters.paimon.tables import codegen, metadata
from dbt.adapters.paimon.tables.changeset import ExistingColumn, ExistingTable
from dbt.adapters.paimon.tables.confirmation import Holdings
from dbt.adapters.paimon.tables.confirmation import refuse_unconfirmed as check_confirmation

if TYPE_CHECKING:
    from dbt.adapters.paimon.host import Host
    from dbt.adapters.paimon.sql.views import ViewDirectory
    from dbt.adapters.paimon.tables.door import Tables

# Operations that have the name of a macro of dbt's, and their argument: a name, where dbt's takes a `relation`.
_SHARED_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {"drop_table": "relation", "drop_schema": "schema"}
)


class Operations:
    """Called by the macros of operations.

    Args:
        host: the adapter.
        tables: describes existing tables.
        directory: the views, with their comments.
    """

    def __init__(self, host: Host, tables: Tables, directory: ViewDirectory) -> None:
        self._host = host
        self._tables = tables
        self._directory = directory

    @while_parsing(lambda *a, **k: "")
    def sources_yaml(
        self,
        database: str,
        schema: str,
        name: str | None = None,
        table_names: Sequence[str] | None = None,
        table_pattern: str = "%",
        exclude: str = "",
        columns: bool = True,
    ) -> str:
        """The tables and views of a schema as a sources file (see `tables.codegen`), without helper tables.

        Raises:
            DbtRuntimeError: the schema has no such table or view.
        """
        relations = [
            relation
            for relation in self._host.list_relations_without_caching(
                PaimonRelation.create(database=database, schema=schema).without_identifier()
            )
            if _is_chosen(relation.identifier or "", table_names, table_pattern, exclude)
        ]
        missing = sorted(set(table_names or ()) - {relation.identifier for relation in relations})
        if missing or not relations:
            schemas = self._host.list_schemas(database)
            wanted = ", ".join(missing) or ("" if table_pattern == "%" else f"like {table_pattern}")
            raise DbtRuntimeError(
                f"generate_sources: {database} has no schema {schema}. It has {', '.join(sorted(schemas))}."
                if schema not in schemas
                else f"generate_sources: {database}.{schema} has no table{wanted and f' {wanted}'}."
            )
        relations.sort(key=lambda relation: relation.identifier or "")
        return codegen.sources_yaml(
            name or schema,
            schema,
            None if database == self._host.credentials.database else database,
            [self._found(relation) for relation in relations],
            columns=columns,
        )

    def refuse_missing_table(self, asked: str, relation: PaimonRelation, nodes: Sequence[str]) -> None:
        """Refuse a name that is no table.

        Args:
            asked: what the user wrote.
            relation: the table that it means.
            nodes: the names of models, seeds and snapshots.

        Raises:
            DbtRuntimeError: there is no such table, and which may have been meant.
        """
        if self._host.get_relation(*relation.parts):
            return
        # The cache of a shell may be older than the table.
        tables = {
            table.identifier or ""
            for table in self._host.list_relations_without_caching(relation.without_identifier())
        }
        if relation.identifier in tables:
            return
        near = suggestion(asked.rpartition(".")[2], [*nodes, *sorted(tables)], cutoff=0.6)
        hint = "Run it first." if asked in nodes else f"Did you mean {near}?" if near else ""
        raise DbtRuntimeError(f"{asked}: there is no table {relation}. {hint}".rstrip())

    @while_parsing(lambda *a, **k: "")
    def models_yaml(self, nodes: Sequence[Mapping[str, Any]], contract: bool = False) -> str:
        """The properties of built models as YAML (see `tables.codegen`).

        Raises:
            DbtRuntimeError: a model is not built.
        """
        models: list[tuple[str, str, codegen.FoundTable]] = []
        for node in nodes:
            relation = self._host.get_relation(node["database"], node["schema"], node["alias"])
            if relation is None:
                raise DbtRuntimeError(
                    f"generate_model_yaml: model '{node['name']}' is not built: "
                    f"there is no {node['database']}.{node['schema']}.{node['alias']}. Run it first."
                )
            models.append((node["name"], node.get("description") or "", self._found(relation)))
        return codegen.models_yaml(models, contract=contract)

    def write_properties(self, path: str, text: str, overwrite: bool = False) -> None:
        """Write a properties file into the project (see `codegen.write_file`)."""
        codegen.write_file(Path(self._host.config.project_root, path), text, overwrite=overwrite)

    def refuse_unconfirmed(
        self, operation: str, relation: PaimonRelation, asked: str, confirmation: object
    ) -> None:
        """Refuse an operation that deletes rows unless it is confirmed (see `tables.confirmation`)."""
        ((rows,),) = self._host.query(f"select count(*) from {relation.render()}")
        holdings = Holdings(rows)
        if relation.database in self._host.credentials.paimon_catalogs:
            snapshots_sql = f"select count(*) from {relation.system_table('snapshots')}"
            ((snapshots,),) = self._host.query(snapshots_sql)
            tags_sql = f"select tag_name from {relation.system_table('tags')} order by tag_name"
            tags = [row[0] for row in self._host.query(tags_sql)]
            holdings = Holdings(rows, snapshots, tags)
        check_confirmation(operation, relation, asked, confirmation, holdings)

    def refuse_unconfirmed_schema(self, schema: PaimonRelation, confirmation: object) -> None:
        """Refuse to drop a schema that does not exist, or unless its name is confirmed.

        Raises:
            DbtRuntimeError: what would be lost, and how to confirm.
        """
        name, catalog = schema.schema or "", schema.database or ""
        known = self._host.list_schemas(catalog)
        if name not in known:
            raise DbtRuntimeError(
                f"drop_schema: {catalog} has no schema {name}. It has {', '.join(sorted(known))}."
            )
        if confirmation == name:
            return
        relations = self._host.list_relations_without_caching(schema.without_identifier())
        tables = sum(1 for relation in relations if relation.is_table)
        holds = f"{counted(tables, 'table')} and {counted(len(relations) - tables, 'view')}"
        given = "" if confirmation is None else f" confirm is '{confirmation}', which is a different name."
        raise DbtRuntimeError(
            f"drop_schema would drop {catalog}.{name}, which holds {holds}. They cannot be restored. Nothing was "
            f"done.{given} To go on, confirm the schema's name: --args '{{schema: {name}, confirm: {name}}}'"
        )

    def macro_named(self, name: str, resolver: Any, project: str | None, arguments: Mapping[str, Any]) -> str:
        """The macro that runs under a name: dbt has a `drop_table` and a `drop_schema` too, which take a relation.

        Args:
            name: the macro's name.
            resolver: dbt's manifest; None before it is loaded.
            project: the package that the macro is asked of; None: any.
            arguments: the macro's arguments.

        Raises:
            DbtRuntimeError: the operation's argument has the name of that of dbt's macro.
        """
        argument = _SHARED_NAMES.get(name, "")
        if argument == "schema" and isinstance(asked := arguments.get("relation"), str):
            raise DbtRuntimeError(f"{name}: takes schema, not relation: --args '{{schema: {asked}}}'.")
        if not isinstance(arguments.get(argument), str) or project is not None or resolver is None:
            return name
        found = resolver.find_macro_by_name(name, self._host.config.project_name, project)
        return f"paimon__{name}_operation" if getattr(found, "package_name", None) == "dbt" else name

    def _found(self, relation: PaimonRelation) -> codegen.FoundTable:
        name = relation.identifier or ""
        if relation.is_table and relation.database in self._host.credentials.paimon_catalogs:
            return codegen.FoundTable(name, self._tables.existing(relation))
        definition = self._directory.get(relation.schema or "", name) if relation.is_view else None
        comments = (
            definition.column_comments
            if definition
            else metadata.comments(self._host.query(f"describe table {relation.render()}"))
        )
        columns = tuple(
            ExistingColumn(column.name, column.dtype, comment=comments.get(column.name) or "")
            for column in self._host.get_columns_in_relation(relation)
        )
        table = ExistingTable(columns=columns, comment=definition.comment if definition else "")
        return codegen.FoundTable(name, table, is_paimon_table=False)


def _is_chosen(name: str, names: Sequence[str] | None, pattern: str, exclude: str) -> bool:
    """Whether a table is asked for, by its name and by patterns, and is not one of the adapter's own helpers."""
    if _is_helper(name) or (names is not None and name not in names):
        return False
    return ilike(name, pattern) and not (exclude and ilike(name, exclude))


def _is_helper(name: str) -> bool:
    """Whether a table is one of the adapter's helper tables, such as `<model>__dbt_changes`."""
    return table_beside(name) is not None or name.endswith((DELETES_SUFFIX, POSITIONS_SUFFIX))
