"""`adapter.operations`: what `dbt run-operation` runs; most of it stands in hooks, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.paimon.changes.positions import positions_of
from dbt.adapters.paimon.concurrency.conflicts import REBUILD
from dbt.adapters.paimon.features import while_parsing
from dbt.adapters.paimon.kept_results import KEPT
from dbt.adapters.paimon.options.table_options import suggestion
from dbt.adapters.paimon.plan.macros import Macros
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spark.formatting import counted
from dbt.adapters.paimon.spec.change_rows import DELETES_SUFFIX
from dbt.adapters.paimon.spec.strategies import WHOLE_TABLE
from dbt.adapters.paimon.sql.staging_names import POSITIONS_SUFFIX, base_table_name
from dbt.adapters.paimon.sql.statements import Statement
from dbt.adapters.paimon.sql.text import ilike
from dbt.adapters.paimon.tables import codegen, metadata
from dbt.adapters.paimon.tables.changeset import ExistingColumn, ExistingTable
from dbt.adapters.paimon.tables.confirmation import TableContents, refuse_unconfirmed
from dbt.adapters.paimon.time_travel import run_rollbacks

if TYPE_CHECKING:
    from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
    from dbt.adapters.paimon.plan.api import Plans
    from dbt.adapters.paimon.sql.views import ViewDirectory

logger = AdapterLogger("Paimon")
# Operations that have the name of a macro of dbt's, and their argument: a name, where dbt's takes a `relation`.
_SHARED_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {"drop_table": "relation", "drop_schema": "schema"}
)


class Operations:
    """Called by the macros of operations.

    Args:
        adapter: the adapter.
        plans: has the other features.
        directory: the views, with their comments.
    """

    def __init__(self, adapter: AdapterProtocol, plans: Plans, directory: ViewDirectory) -> None:
        self._adapter = adapter
        self._plans = plans
        self._directory = directory

    # -- what also stands in hooks ----------------------------------------------------------------------------------

    def call(
        self, model: Mapping[str, Any], name: str, relation: PaimonRelation, arguments: Mapping[str, Any]
    ) -> str:
        """The CALL of a Paimon procedure, for a hook; in an operation it is run, and its result is printed.

        Args:
            model: the node whose hook calls; in an operation dbt's `model` is the macro itself.
            name: the procedure (see `sql.procedures`).
            relation: the table.
            arguments: typed; None is left out.

        Returns:
            '' for a clone that is a branch: its table is maintained by its own runs.

        Raises:
            DbtRuntimeError: an unknown argument, a wrong type, or a Paimon version without it.
        """
        if self._is_clone(model, name, relation):
            return ""
        given = {key: value for key, value in arguments.items() if value is not None}
        return self._sent(model, name, relation, self._plans.maintenance.call(name, relation, given))

    def maintain_by(self, model: Mapping[str, Any], name: str, relation: PaimonRelation, sql: str) -> str:
        """The same for a statement of Spark's that maintains a table."""
        if self._is_clone(model, name, relation):
            return ""
        return self._sent(model, name, relation, Statement(sql, name, target=relation.parts))

    def rescale(self, model: Mapping[str, Any], relation: PaimonRelation, *arguments: Any) -> None:
        """Change the number of buckets of a table's partitions (see `Maintenance.rescale`)."""
        if not self._is_clone(model, "rescale", relation):
            self._plans.maintenance.rescale(relation, *arguments)

    def delete_rows(self, relation: PaimonRelation, where: str) -> None:
        """Delete rows of a table, or of a clone that is a branch (see `RowDeletes.run`)."""
        self._plans.row_deletes.run(self._plans.clones.named(relation) or relation, where)

    def rollback_version(
        self, relation: PaimonRelation, version: Any, timestamp: Any, drop_tags: bool
    ) -> Any:
        """The table snapshot or tag that a rollback goes back to.

        Args:
            relation: the table.
            version: a table snapshot or a tag; None if there is a timestamp.
            timestamp: the time whose table snapshot is meant.
            drop_tags: whether later tags of users may be deleted.

        Raises:
            DbtRuntimeError: there is none, or the rollback would lose what nobody gave up.
        """
        history = self._plans.history
        if timestamp is not None:
            version = history.snapshot_at(relation, timestamp)
        history.refuse_stale_readers("rollback_to", relation)
        version = history.rollback_version(relation, version)
        history.drop_later_tags(relation, version, drop_tags)
        return version

    def tables_before_run(
        self, results: str | None, invocation_id: str | None, exclude: Sequence[str], drop_tags: bool
    ) -> list[tuple[PaimonRelation, str]]:
        """The tables that a run wrote, each with the state to roll back to; every rollback has been checked.

        Args:
            results: the run_results.json, relative to the project; None: that of the last run in the target folder.
            invocation_id: the invocation that they have to be of; None: any.
            exclude: names of nodes to leave out.
            drop_tags: whether later tags of users may be deleted.

        Raises:
            DbtRuntimeError: a table cannot be rolled back.
        """
        config = self._adapter.config
        path = Path(config.project_root, results) if results else Path(config.project_target_path, KEPT)
        found = []
        for node in run_rollbacks.without(run_rollbacks.ran(path, invocation_id), exclude):
            table = self._adapter.get_relation(*node.relation)
            is_paimons = node.relation[0] in self._adapter.credentials.paimon_catalogs
            if table is None or not (table.is_table and is_paimons):
                logger.info(f"rollback_run: {'.'.join(node.relation)} is no Paimon table, and stays as it is")
                continue
            rows = self._adapter.query(run_rollbacks.snapshots_sql(node, table))
            before = run_rollbacks.before(node, (run_rollbacks.Snapshot(*row) for row in rows))
            if before is not None:
                found.append((table, str(self.rollback_version(table, before, None, drop_tags))))
        if not found:
            logger.info(f"rollback_run: no table has rows of the run in {path}")
        return found

    def check_fast_forward(self, relation: PaimonRelation, branch: str, discard: bool) -> None:
        """Refuse a fast-forward that would lose commits or tags of the table, unless they may be discarded."""
        self._plans.history.refuse_stale_readers("fast_forward", relation)
        if not discard:
            self._plans.history.refuse_lossy_fast_forward(relation, branch)

    def _is_clone(self, model: Mapping[str, Any], name: str, relation: PaimonRelation) -> bool:
        branch = self._plans.clones.named(relation)
        if branch is None:
            return False
        why = f"{name} on {relation}: nothing is done, because it is a clone, the branch {branch}"
        if _is_operation(model):
            raise CompilationError(f"{why}. Name that, or the table.")
        logger.info(why)
        return True

    def _sent(
        self, model: Mapping[str, Any], name: str, relation: PaimonRelation, statement: Statement
    ) -> str:
        if _is_operation(model):
            answer = self._plans.maintenance.run_operation(relation, name, statement).table
            for row in answer.rows if answer else ():
                # Of most procedures the one column `result`, true.
                for column in answer.column_names if answer else ():
                    if row[column] is not True:
                        logger.info(f"  {column}: {row[column]}")
        return str(statement)

    # -- what deletes -----------------------------------------------------------------------------------------------

    def publish(self, context: Mapping[str, Any], target: PaimonRelation) -> None:
        """Publish the rows of a model whose audit failed, unchanged.

        Args:
            context: dbt's.
            target: the model's table.

        Raises:
            CompilationError: there are no such rows.
            DbtRuntimeError: the table has changed since.
        """
        plans, macros = self._plans, Macros(context)
        audits, builds = plans.audits, plans.builds
        existing = self._adapter.get_relation(*target.parts)
        table = existing if existing is not None and existing.is_table else None
        staged = builds.staged(target)
        branch = None if table is None else audits.branch(table)
        if table is not None and branch is not None:
            audits.refuse_stale(table)
        elif staged is None or (existing is not None and table is None):
            raise CompilationError(f"publish: {target} has no rows whose audit failed.")
        builds.hold(target)
        done = "PUBLISH"
        if table is not None and branch is not None:
            sql = macros.sql(
                "paimon__overwrite_sql", table, self._adapter.get_columns_in_relation(branch), [], branch
            )
            spec = plans.tables.existing(table).as_spec()
            done += f" by {builds.write(table, sql, REBUILD, spec, WHOLE_TABLE).response}"
            audits.end(table)
        elif staged is not None and table is None:
            self._adapter.rename_relation(staged, target)
        elif staged is not None and table is not None:
            builds.swap(staged, table)
        builds.release()
        logger.info(f"{target.shown} {done}")

    def clear_table(self, relation: PaimonRelation, asked: str, confirm: Any) -> None:
        """Delete all rows of a table, with those of its helper tables.

        Args:
            relation: the table.
            asked: what the user wrote.
            confirm: the user's confirmation.

        Raises:
            DbtRuntimeError: there is no such table, or it is not confirmed (see `tables.confirmation`).
        """
        for each in self._confirmed("clear_table", relation, asked, confirm):
            self._plans.maintenance.run_operation(each, "clear_table", f"truncate table {each.render()}")

    def drop_table(self, relation: PaimonRelation, asked: str, confirm: Any) -> None:
        """Drop a table, with its helper tables; arguments and errors as of `clear_table`."""
        builds = self._plans.builds
        tables = self._confirmed("drop_table", relation, asked, confirm)
        for each in tables:
            builds.hold(each)
            self._adapter.drop_relation(each)
            builds.release()
        logger.info(f"drop_table on {tables[0]}: done")

    def drop_schema(self, schema: PaimonRelation, confirm: Any) -> None:
        """Drop a schema, with the branches that its clones are.

        Raises:
            DbtRuntimeError: there is no such schema, or its name is not confirmed.
        """
        self._refuse_unconfirmed_schema(schema, confirm)
        clones = self._plans.clones
        branches = clones.in_schema(schema)
        self._adapter.drop_schema(schema)
        for branch in branches:
            if clones.end(branch):
                logger.info(f"drop_schema on {schema.schema}: deleted the branch {branch}")
        logger.info(f"drop_schema on {schema.schema}: done")

    def _confirmed(
        self, operation: str, wanted: PaimonRelation, asked: str, confirm: Any
    ) -> list[PaimonRelation]:
        """A table, and the helper tables that apply_changes and paimon_changes keep for it."""
        relation = self._adapter.get_relation(*wanted.parts)
        if relation is None:
            raise CompilationError(f"{operation}: there is no table {wanted}.")
        if not relation.is_table:
            raise CompilationError(
                f"{operation}: {wanted} is a view, which holds no rows: remove its model, or drop it in Spark."
            )
        self._refuse_unconfirmed(operation, relation, asked, confirm)
        positions = self._adapter.get_relation(*positions_of(relation).parts)
        return [relation, *self._plans.deletes.relations(relation), *([positions] if positions else [])]

    # -- properties files -------------------------------------------------------------------------------------------

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
        path: str | None = None,
        overwrite: bool = False,
    ) -> str:
        """The tables and views of a schema as a sources file (see `tables.codegen`), without helper tables.

        With a path, it is written there.

        Raises:
            DbtRuntimeError: the schema has no such table or view.
        """
        relations = [
            relation
            for relation in self._adapter.list_relations_without_caching(
                PaimonRelation.create(database=database, schema=schema).without_identifier()
            )
            if _is_chosen(relation.identifier or "", table_names, table_pattern, exclude)
        ]
        missing = sorted(set(table_names or ()) - {relation.identifier for relation in relations})
        if missing or not relations:
            schemas = self._adapter.list_schemas(database)
            wanted = ", ".join(missing) or ("" if table_pattern == "%" else f"like {table_pattern}")
            raise DbtRuntimeError(
                f"generate_sources: {database} has no schema {schema}. It has {', '.join(sorted(schemas))}."
                if schema not in schemas
                else f"generate_sources: {database}.{schema} has no table{wanted and f' {wanted}'}."
            )
        relations.sort(key=lambda relation: relation.identifier or "")
        text = codegen.sources_yaml(
            name or schema,
            schema,
            None if database == self._adapter.credentials.database else database,
            [self._found(relation) for relation in relations],
            columns=columns,
        )
        return self._written(text, path, overwrite=overwrite)

    def refuse_missing_table(self, asked: str, relation: PaimonRelation, nodes: Sequence[str]) -> None:
        """Refuse a name that is no table.

        Args:
            asked: what the user wrote.
            relation: the table that it means.
            nodes: the names of models, seeds and snapshots.

        Raises:
            DbtRuntimeError: there is no such table, and which may have been meant.
        """
        if self._adapter.get_relation(*relation.parts):
            return
        # The cache of a shell may be older than the table.
        tables = {
            table.identifier or ""
            for table in self._adapter.list_relations_without_caching(relation.without_identifier())
        }
        if relation.identifier in tables:
            return
        near = suggestion(asked.rpartition(".")[2], [*nodes, *sorted(tables)], cutoff=0.6)
        hint = "Run it first." if asked in nodes else f"Did you mean {near}?" if near else ""
        raise DbtRuntimeError(f"{asked}: there is no table {relation}. {hint}".rstrip())

    @while_parsing(lambda *a, **k: "")
    def models_yaml(
        self,
        nodes: Sequence[Mapping[str, Any]],
        contract: bool = False,
        path: str | None = None,
        overwrite: bool = False,
    ) -> str:
        """The properties of built models as YAML (see `tables.codegen`); with a path, they are written there.

        Raises:
            DbtRuntimeError: a model is not built.
        """
        models: list[tuple[str, str, codegen.FoundTable]] = []
        for node in nodes:
            relation = self._adapter.get_relation(node["database"], node["schema"], node["alias"])
            if relation is None:
                raise DbtRuntimeError(
                    f"generate_model_yaml: model '{node['name']}' is not built: "
                    f"there is no {node['database']}.{node['schema']}.{node['alias']}. Run it first."
                )
            models.append((node["name"], node.get("description") or "", self._found(relation)))
        return self._written(codegen.models_yaml(models, contract=contract), path, overwrite=overwrite)

    def _written(self, text: str, path: str | None, *, overwrite: bool) -> str:
        """A properties file, which is written into the project if it has a path (see `codegen.write_file`)."""
        if path is not None:
            codegen.write_file(Path(self._adapter.config.project_root, path), text, overwrite=overwrite)
            logger.info(f"Wrote {path}")
        return text

    # -- what is refused --------------------------------------------------------------------------------------------

    def _refuse_unconfirmed(
        self, operation: str, relation: PaimonRelation, asked: str, confirmation: object
    ) -> None:
        """Refuse an operation that deletes rows unless it is confirmed (see `tables.confirmation`)."""
        ((rows,),) = self._adapter.query(f"select count(*) from {relation.render()}")
        holdings = TableContents(rows)
        if relation.database in self._adapter.credentials.paimon_catalogs:
            snapshots_sql = f"select count(*) from {relation.system_table('snapshots')}"
            ((snapshots,),) = self._adapter.query(snapshots_sql)
            tags_sql = f"select tag_name from {relation.system_table('tags')} order by tag_name"
            tags = [row[0] for row in self._adapter.query(tags_sql)]
            holdings = TableContents(rows, snapshots, tags)
        refuse_unconfirmed(operation, relation, asked, confirmation, holdings)

    def _refuse_unconfirmed_schema(self, schema: PaimonRelation, confirmation: object) -> None:
        """Refuse to drop a schema that does not exist, or unless its name is confirmed.

        Raises:
            DbtRuntimeError: what would be lost, and how to confirm.
        """
        name, catalog = schema.schema or "", schema.database or ""
        known = self._adapter.list_schemas(catalog)
        if name not in known:
            raise DbtRuntimeError(
                f"drop_schema: {catalog} has no schema {name}. It has {', '.join(sorted(known))}."
            )
        if confirmation == name:
            return
        relations = self._adapter.list_relations_without_caching(schema.without_identifier())
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
        found = resolver.find_macro_by_name(name, self._adapter.config.project_name, project)
        return f"paimon__{name}_operation" if getattr(found, "package_name", None) == "dbt" else name

    def _found(self, relation: PaimonRelation) -> codegen.FoundTable:
        name = relation.identifier or ""
        if relation.is_table and relation.database in self._adapter.credentials.paimon_catalogs:
            return codegen.FoundTable(name, self._plans.tables.existing(relation))
        definition = self._directory.get(relation.schema or "", name) if relation.is_view else None
        comments = (
            definition.column_comments
            if definition
            else metadata.comments(self._adapter.query(f"describe table {relation.render()}"))
        )
        columns = tuple(
            ExistingColumn(column.name, column.dtype, comment=comments.get(column.name) or "")
            for column in self._adapter.get_columns_in_relation(relation)
        )
        table = ExistingTable(columns=columns, comment=definition.comment if definition else "")
        return codegen.FoundTable(name, table, is_paimon_table=False)


def _is_operation(model: Mapping[str, Any]) -> bool:
    """Whether a macro runs by itself: in an operation the `model` of dbt's context is the macro."""
    return model.get("resource_type") == "macro"


def _is_chosen(name: str, names: Sequence[str] | None, pattern: str, exclude: str) -> bool:
    """Whether a table is asked for, by its name and by patterns, and is not one of the adapter's own helpers."""
    if _is_helper(name) or (names is not None and name not in names):
        return False
    return ilike(name, pattern) and not (exclude and ilike(name, exclude))


def _is_helper(name: str) -> bool:
    """Whether a table is one of the adapter's helper tables, such as `<model>__dbt_changes`."""
    return base_table_name(name) is not None or name.endswith((DELETES_SUFFIX, POSITIONS_SUFFIX))
