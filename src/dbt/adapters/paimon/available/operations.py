"""Methods on `adapter` for `dbt run-operation`: properties files of existing tables, operations that delete rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import available
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.available.base import AvailableMethods
from dbt.adapters.paimon.changes import positions
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec import change_rows
from dbt.adapters.paimon.sql import staging_names, views
from dbt.adapters.paimon.sql.text import ilike
from dbt.adapters.paimon.tables import codegen, metadata
from dbt.adapters.paimon.tables.changeset import ExistingColumn, ExistingTable
from dbt.adapters.paimon.tables.confirmation import Holdings
from dbt.adapters.paimon.tables.confirmation import refuse_unconfirmed as check_confirmation

if TYPE_CHECKING:
    from dbt.adapters.contracts.macros import MacroResolverProtocol


def _is_beside(name: str) -> bool:
    """Whether a table is one of the adapter's helper tables, such as `<model>__dead_letters`."""
    return staging_names.table_beside(name) is not None or name.endswith(
        (change_rows.DELETES_SUFFIX, positions.POSITIONS_SUFFIX)
    )


class OperationMethods(AvailableMethods):
    """Called by the macros of operations."""

    def execute_macro(
        self,
        macro_name: str,
        macro_resolver: MacroResolverProtocol | None = None,
        project: str | None = None,
        context_override: dict[str, Any] | None = None,
        kwargs: dict[str, Any] | None = None,
        needs_conn: bool = False,
    ) -> Any:
        """Run a macro; `drop_table` is the adapter's operation, not dbt's macro of that name (it takes a relation)."""
        resolver = macro_resolver or self._macro_resolver
        if (
            macro_name == "drop_table"
            and project is None
            and resolver is not None
            and "table" in (kwargs or {})
        ):
            found = resolver.find_macro_by_name(macro_name, self.config.project_name, project)
            if getattr(found, "package_name", None) == "dbt":
                macro_name = "paimon__drop_table_operation"
        return super().execute_macro(
            macro_name, macro_resolver, project, context_override, kwargs, needs_conn
        )

    @available.parse(lambda *a, **k: "")
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
        wanted = None if table_names is None else set(table_names)
        relations = [
            relation
            for relation in self.list_relations_without_caching(
                PaimonRelation.create(database=database, schema=schema).without_identifier()
            )
            if (wanted is None or relation.identifier in wanted)
            and not _is_beside(relation.identifier or "")
            and ilike(relation.identifier or "", table_pattern)
            and not (exclude and ilike(relation.identifier or "", exclude))
        ]
        missing = sorted((wanted or set()) - {relation.identifier for relation in relations})
        if missing or not relations:
            raise DbtRuntimeError(
                f"generate_sources: {database}.{schema} has no table {', '.join(missing) or table_pattern}. "
                f"Its catalog has the schemas {', '.join(self.list_schemas(database))}."
            )
        relations.sort(key=lambda relation: relation.identifier or "")
        return codegen.sources_yaml(
            name or schema,
            schema,
            None if database == self.credentials.database else database,
            [self._found_table(relation) for relation in relations],
            columns=columns,
        )

    @available.parse(lambda *a, **k: "")
    def models_yaml(self, nodes: Sequence[Mapping[str, Any]], contract: bool = False) -> str:
        """The properties of built models as YAML (see `tables.codegen`).

        Raises:
            DbtRuntimeError: a model is not built.
        """
        models: list[tuple[str, str, codegen.FoundTable]] = []
        for node in nodes:
            relation = self.get_relation(node["database"], node["schema"], node["alias"])
            if relation is None:
                raise DbtRuntimeError(
                    f"generate_model_yaml: model '{node['name']}' is not built: "
                    f"there is no {node['database']}.{node['schema']}.{node['alias']}. Run it first."
                )
            assert isinstance(relation, PaimonRelation)
            models.append((node["name"], node.get("description") or "", self._found_table(relation)))
        return codegen.models_yaml(models, contract=contract)

    @available.parse_none
    def write_properties(self, path: str, text: str, overwrite: bool = False) -> None:
        """Write a properties file into the project (see `codegen.write_file`)."""
        codegen.write_file(Path(self.config.project_root, path), text, overwrite=overwrite)

    @available.parse_none
    def refuse_unconfirmed(
        self, operation: str, relation: PaimonRelation, asked: str, confirmation: object
    ) -> None:
        """Refuse an operation that deletes rows unless it is confirmed (see `tables.confirmation`)."""
        ((rows,),) = self.query(f"select count(*) from {relation.render()}")
        holdings = Holdings(rows)
        if relation.database in self.credentials.paimon_catalogs:
            ((snapshots,),) = self.query(f"select count(*) from {relation.system_table('snapshots')}")
            tags = self.query(f"select tag_name from {relation.system_table('tags')} order by tag_name")
            holdings = Holdings(rows, snapshots, [row[0] for row in tags])
        check_confirmation(operation, relation, asked, confirmation, holdings)

    def _found_table(self, relation: PaimonRelation) -> codegen.FoundTable:
        name = relation.identifier or ""
        if relation.is_table and relation.database in self.credentials.paimon_catalogs:
            return codegen.FoundTable(name, self.existing_table(relation))
        definition = views.DIRECTORY.get(relation.schema or "", name) if relation.is_view else None
        comments = (
            definition.column_comments
            if definition
            else metadata.comments(self.query(f"describe table {relation.render()}"))
        )
        columns = tuple(
            ExistingColumn(column.name, column.dtype, comment=comments.get(column.name) or "")
            for column in self.get_columns_in_relation(relation)
        )
        table = ExistingTable(columns=columns, comment=definition.comment if definition else "")
        return codegen.FoundTable(name, table, is_paimon_table=False)
