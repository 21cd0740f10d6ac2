"""`adapter.operations`: operations for `dbt run-operation`, some of which also work in hooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.paimon.concurrency.conflicts import REBUILD
from dbt.adapters.paimon.formatting import counted
from dbt.adapters.paimon.kept_results import KEPT_RESULTS
from dbt.adapters.paimon.macro_api import while_parsing
from dbt.adapters.paimon.metadata import snapshots, tags
from dbt.adapters.paimon.operations import codegen
from dbt.adapters.paimon.operations.confirmation import TableContents, refuse_unconfirmed
from dbt.adapters.paimon.operations.erasing import Consent, Erasures
from dbt.adapters.paimon.options.table_options import suggestion
from dbt.adapters.paimon.plan.macros import Macros
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.strategies import WHOLE_TABLE
from dbt.adapters.paimon.sql import booleans
from dbt.adapters.paimon.sql.helper_names import is_helper
from dbt.adapters.paimon.sql.statements import Statement
from dbt.adapters.paimon.sql.text import ilike
from dbt.adapters.paimon.tables import described
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable
from dbt.adapters.paimon.time_travel import run_rollbacks

if TYPE_CHECKING:
    from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, Node
    from dbt.adapters.paimon.plan.api import Plans
    from dbt.adapters.paimon.sql.views import ViewDirectory

logger = AdapterLogger("Paimon")
# Operations that have the name of a dbt macro -> the argument whose string value distinguishes them from that macro.
_SHARED_NAMES: Final[Mapping[str, str]] = {"drop_table": "relation", "drop_schema": "schema"}


class Operations:
    """The methods that the macros of operations call."""

    def __init__(self, adapter: AdapterProtocol, plans: Plans, directory: ViewDirectory) -> None:
        self._adapter = adapter
        self._plans = plans
        self._directory = directory

    # -- operations that also work in hooks -------------------------------------------------------------------------

    def call(self, model: Node, name: str, relation: PaimonRelation, arguments: Mapping[str, Any]) -> str:
        """Return the CALL of a procedure, for a hook; in an operation, run it, log its result and return ''.

        Returns '' for a branch clone, too, because runs of the original maintain the table.
        """
        if self._is_clone(model, name, relation):
            return ""
        given = {key: value for key, value in arguments.items() if value is not None}
        # From 1.0 on, Paimon ignores a tag that does not exist.
        if name == "delete_tag" and _is_operation(model):
            self._plans.history.refuse_missing_tag(name, relation, str(given.get("tag")))
        return self._sent(model, name, relation, self._plans.maintenance.call(name, relation, given))

    def maintain_by(self, model: Node, name: str, relation: PaimonRelation, sql: str) -> str:
        """The same as `call` for a Spark statement that maintains a table."""
        if self._is_clone(model, name, relation):
            return ""
        return self._sent(model, name, relation, Statement(sql, name, target=relation.parts))

    def rescale(self, model: Node, relation: PaimonRelation, *arguments: Any) -> None:
        """Change the number of buckets of a table's partitions (see `Maintenance.rescale`)."""
        if not self._is_clone(model, "rescale", relation):
            self._plans.maintenance.rescale(relation, *arguments)

    def delete_rows(self, relation: PaimonRelation, where: str) -> None:
        """Delete rows of a table, or of a branch clone (see `RowDeletes.run`)."""
        self._plans.row_deletes.run(self._plans.clones.named(relation) or relation, where)

    def rollback_version(self, relation: PaimonRelation, version: Any, timestamp: Any, drop_tags: Any) -> str:
        """The table snapshot or tag to roll back to, from a `version` or a `timestamp`. Locks the table.

        Raises:
            DbtRuntimeError: the state does not exist or has another number of buckets, or the rollback would lose tags
                (unless `drop_tags`) or files.
        """
        drop_tags = booleans.argument("rollback_to", "drop_tags", drop_tags)
        history = self._plans.history
        self._plans.builds.hold(relation)
        if timestamp is not None:
            version = history.snapshot_at(relation, timestamp)
        history.refuse_stale_readers("rollback_to", relation)
        return history.rollback_version(relation, version, drop_tags=drop_tags)

    def tables_before_run(
        self,
        nodes: Sequence[Node],
        results: str | None,
        invocation_id: str | None,
        exclude: str | Sequence[str],
        drop_tags: Any,
    ) -> list[tuple[PaimonRelation, str]]:
        """The tables that a run wrote, each with the state to roll back to; locks them all before the first check.

        Args:
            nodes: the project's nodes.
            results: the run_results.json, relative to the project; None for the last run in the target folder.
            invocation_id: the expected invocation; None for any.
            drop_tags: whether later tags of users may be deleted.

        Raises:
            DbtRuntimeError: a table cannot be rolled back.
        """
        drop_tags = booleans.argument("rollback_run", "drop_tags", drop_tags)
        config = self._adapter.config
        path = Path(config.project_root, results) if results else Path(config.project_target_path, KEPT_RESULTS)
        written = []
        for node in run_rollbacks.without(run_rollbacks.ran(path, invocation_id, nodes), exclude):
            table = self._adapter.get_relation(*node.relation)
            is_in_paimon = node.relation[0] in self._adapter.credentials.paimon_catalogs
            if table is None or not (table.is_table and is_in_paimon):
                logger.info(f"rollback_run: {'.'.join(node.relation)} is not a Paimon table, and stays as it is")
                continue
            written.append((node, table))
        # Lock the tables in a fixed order, so that two rollbacks never wait for each other.
        for _, table in sorted(written, key=lambda each: each[1].parts):
            self._plans.builds.hold(table)
        found = []
        for node, table in written:
            before = run_rollbacks.before(node, snapshots.by_sql(self._adapter.query, table))
            if before is not None:
                found.append((table, self.rollback_version(table, before, None, drop_tags)))
        if not found:
            logger.info(f"rollback_run: no table has rows of the run in {path}")
        return found

    def check_fast_forward(self, relation: PaimonRelation, branch: str, discard: Any) -> None:
        """Lock the table; refuse a fast-forward that would lose its commits or tags, unless `discard` allows that."""
        discard = booleans.argument("fast_forward", "discard", discard)
        self._plans.builds.hold(relation)
        self._plans.history.refuse_stale_readers("fast_forward", relation)
        if not discard:
            self._plans.history.refuse_lossy_fast_forward(relation, branch)

    def _is_clone(self, model: Node, name: str, relation: PaimonRelation) -> bool:
        branch = self._plans.clones.named(relation)
        if branch is None:
            return False
        why = f"{name} on {relation}: nothing is done, because it is a branch clone ({branch})"
        if _is_operation(model):
            raise CompilationError(f"{why}. Name the branch or its table.")
        logger.info(why)
        return True

    def _sent(self, model: Node, name: str, relation: PaimonRelation, statement: Statement) -> str:
        if not _is_operation(model):
            return str(statement)
        result = self._plans.maintenance.run_operation(relation, name, statement).table
        if result is not None:
            for row in result.rows:
                for column in result.column_names:
                    # Most procedures only return a column `result`, which is true.
                    if row[column] is not True:
                        logger.info(f"  {column}: {row[column]}")
        return ""  # A macro may pass it to `run_query`, which must not send the statement again.

    # -- operations that write or delete rows -----------------------------------------------------------------------

    def erase(
        self, key: object, named: Sequence[PaimonRelation], nodes: Sequence[Node], dry_run: Any, **consent: Any
    ) -> None:
        """Remove the rows of a key from tables and from all their files (see `Erasures.run`).

        Args:
            consent: the values of a `Consent`.
        """
        dry_run = booleans.argument("erase", "dry_run", dry_run)
        given = {name: booleans.argument("erase", name, value) for name, value in consent.items()}
        Erasures(self._adapter, self._plans).run(key, named, nodes, Consent(**given), dry_run=dry_run)

    def publish(self, context: Mapping[str, Any], target: PaimonRelation) -> None:
        """Publish the rows of a model whose audit failed.

        Raises:
            CompilationError: there are no such rows.
            DbtRuntimeError: the audit did not end, or the table has changed since.
        """
        audits, builds, tables = self._plans.audits, self._plans.builds, self._plans.tables
        builds.hold(target)
        existing = self._adapter.get_relation(*target.parts)
        table = existing if existing is not None and existing.is_table else None
        staged = builds.staged(target)
        branch = None if table is None else audits.branch(table)
        done = "PUBLISH"
        if table is not None and branch is not None:
            audits.refuse_unaudited(table, branch, tables.existing(branch).options)
            audits.refuse_unknown_columns(table)
            columns = self._adapter.get_columns_in_relation(branch)
            sql = Macros(context).sql("paimon__overwrite_sql", table, columns, [], branch)
            spec, mark = tables.existing(table).as_spec(), self._plans.changes.published_mark(table, branch)
            done += f" by {builds.write(table, sql, REBUILD, spec, WHOLE_TABLE, mark).response}"
            audits.end(table)
        elif staged is not None:
            audits.refuse_unaudited(table, staged, tables.existing(staged).options)
            audits.unmark(staged)
            self._plans.put_in_place(staged, target, existing)
        else:
            raise CompilationError(f"publish: {target} has no rows whose audit failed.")
        builds.release()
        logger.info(f"{target.shown} {done}")

    def clear_table(self, relation: PaimonRelation, asked: str, confirm: Any) -> None:
        """Delete all rows of a table and of its helper tables, if confirmed; `asked` is the name that the user gave."""
        for each in self._confirmed("clear_table", relation, asked, confirm):
            self._plans.maintenance.run_operation(each, "clear_table", f"truncate table {each.render()}")

    def drop_table(self, relation: PaimonRelation, asked: str, confirm: Any) -> None:
        """Drop a table and its helper tables; the arguments are those of `clear_table`."""
        builds = self._plans.builds
        tables = self._confirmed("drop_table", relation, asked, confirm)
        # The table itself is the last, so that an interrupted operation can be repeated.
        for each in reversed(tables):
            builds.hold(each)
            builds.drop_leftovers(each)
            self._adapter.drop_relation(each)
            builds.release()
        logger.info(f"drop_table on {tables[0]}: done")

    def drop_schema(self, schema: PaimonRelation, confirm: Any) -> None:
        """Drop the branches of a schema's clones, and the schema, if `confirm` is the schema's name."""
        self._refuse_unconfirmed_schema(schema, confirm)
        for branch in self._plans.clones.end_in_schema(schema):
            logger.info(f"drop_schema on {schema.schema}: deleted the branch {branch}")
        self._adapter.drop_schema(schema)
        logger.info(f"drop_schema on {schema.schema}: done")

    def _confirmed(self, operation: str, wanted: PaimonRelation, asked: str, confirm: Any) -> list[PaimonRelation]:
        """A table and its helper tables, which keep deletes and positions; refuses an unconfirmed operation."""
        relation = self._adapter.get_relation(*wanted.parts)
        if relation is None:
            raise CompilationError(f"{operation}: there is no table {wanted}.")
        if not relation.is_table:
            raise CompilationError(
                f"{operation}: {wanted} is a view, which holds no rows. Remove its model, or drop the view in Spark."
            )
        refuse_unconfirmed(operation, relation, asked, confirm, lambda: self._contents(relation, operation))
        return [relation, *self._plans.helpers(relation)]

    def _contents(self, relation: PaimonRelation, operation: str) -> TableContents:
        ((rows,),) = self._adapter.query(f"select count(*) from {relation.render()}")
        if relation.database not in self._adapter.credentials.paimon_catalogs:
            return TableContents(rows)
        history = tags.history(self._adapter.query, relation)
        # `clear_table` keeps the branches.
        return TableContents(
            rows, history.snapshots, history.tags, history.branches if operation == "drop_table" else ()
        )

    def _refuse_unconfirmed_schema(self, schema: PaimonRelation, confirmation: object) -> None:
        name, catalog = schema.schema or "", schema.database or ""
        known = self._adapter.list_schemas(catalog)
        if name not in known:
            schemas = ", ".join(sorted(known))
            raise DbtRuntimeError(f"drop_schema: {catalog} has no schema {name}. Existing schemas: {schemas}.")
        if confirmation == name:
            return
        relations = self._adapter.list_relations_without_caching(schema.without_identifier())
        tables = sum(1 for relation in relations if relation.is_table)
        holds = f"{counted(tables, 'table')} and {counted(len(relations) - tables, 'view')}"
        given = "" if confirmation is None else f" confirm is '{confirmation}', which is a different name."
        raise DbtRuntimeError(
            f"drop_schema would drop {catalog}.{name}, which holds {holds}. They cannot be restored. Nothing was "
            f"done.{given} To continue, confirm the schema's name: --args '{{schema: {name}, confirm: {name}}}'"
        )

    # -- properties files -------------------------------------------------------------------------------------------

    @while_parsing(lambda *a, **k: "")
    def sources_yaml(
        self,
        database: str,
        schema: str,
        name: str | None = None,
        table_names: str | Sequence[str] | None = None,
        table_pattern: str = "%",
        exclude: str = "",
        columns: Any = True,
        path: str | None = None,
        overwrite: Any = False,
    ) -> str:
        """Generate a sources file for the tables and views of a schema, except helper tables (see `codegen`).

        Writes the file if `path` is set. Raises DbtRuntimeError if the schema has no such table or view.
        """
        columns = booleans.argument("generate_sources", "generate_columns", columns)
        overwrite = booleans.argument("generate_sources", "overwrite", overwrite)
        names = [table_names] if isinstance(table_names, str) else table_names
        relations = self._relations(PaimonRelation.create(database=database, schema=schema))
        selected = [each for each in sorted(relations) if _is_selected(each, names, table_pattern, exclude)]
        missing = sorted({*(names or ())} - {*selected})
        if missing or not selected:
            self._refuse_missing_sources(database, schema, missing, table_pattern)
        text = codegen.sources_yaml(
            name or schema,
            schema,
            None if database == self._adapter.credentials.database else database,
            [self._found(relations[name]) for name in selected],
            columns=columns,
        )
        return self._written(text, path, overwrite=overwrite)

    def _relations(self, place: PaimonRelation) -> dict[str, PaimonRelation]:
        """The relations in the schema of `place` by name, listed now: in a shell, the cache may be out of date."""
        listed = self._adapter.list_relations_without_caching(place.without_identifier())
        return {each.identifier or "": each for each in listed}

    def _refuse_missing_sources(self, database: str, schema: str, missing: Sequence[str], pattern: str) -> NoReturn:
        wanted = ", ".join(missing) or ("" if pattern == "%" else f"like {pattern}")
        schemas = self._adapter.list_schemas(database)
        if schema not in schemas:
            why = f"{database} has no schema {schema}. Existing schemas: {', '.join(sorted(schemas))}."
        else:
            what = f"table {wanted}" if wanted else "table"
            why = f"{database}.{schema} has no {what}."
        raise DbtRuntimeError(f"generate_sources: {why}")

    def refuse_missing_table(self, asked: str, relation: PaimonRelation, nodes: Sequence[str]) -> None:
        """Refuse a table that does not exist, and suggest a similar name of a table or a node."""
        if self._adapter.get_relation(*relation.parts):
            return
        tables = self._relations(relation)
        if relation.identifier in tables:
            return
        near = suggestion(asked.rpartition(".")[2], [*nodes, *sorted(tables)], cutoff=0.6)
        hint = "Run it first." if asked in nodes else f"Did you mean {near}?" if near else ""
        raise DbtRuntimeError(f"{asked}: there is no table {relation}. {hint}".rstrip())

    @while_parsing(lambda *a, **k: "")
    def models_yaml(
        self, nodes: Sequence[Node], contract: Any = False, path: str | None = None, overwrite: Any = False
    ) -> str:
        """Generate the properties of built models as YAML (see `codegen`); writes a file if `path` is set."""
        contract = booleans.argument("generate_model_yaml", "contract", contract)
        overwrite = booleans.argument("generate_model_yaml", "overwrite", overwrite)
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
        """Write a properties file into the project, if `path` is set, and return its text."""
        if path is not None:
            codegen.write_file(Path(self._adapter.config.project_root, path), text, overwrite=overwrite)
            logger.info(f"Wrote {path}")
        return text

    def macro_named(self, name: str, resolver: Any, project: str | None, arguments: Mapping[str, Any]) -> str:
        """The name of the macro to run for an operation that may have the name of a dbt macro (see `_SHARED_NAMES`).

        Args:
            resolver: dbt's manifest; None before it is loaded.
        """
        argument = _SHARED_NAMES.get(name, "")
        if argument == "schema" and isinstance(asked := arguments.get("relation"), str):
            raise DbtRuntimeError(f"{name} takes schema, not relation: --args '{{schema: {asked}}}'.")
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
            else described.comments(self._adapter.query(f"describe table {relation.render()}"))
        )
        columns = tuple(
            ExistingColumn(column.name, column.dtype, comment=comments.get(column.name) or "")
            for column in self._adapter.get_columns_in_relation(relation)
        )
        table = ExistingTable(columns=columns, comment=definition.comment if definition else "")
        return codegen.FoundTable(name, table, is_paimon_table=False)


def _is_operation(model: Node) -> bool:
    """Whether `model`, from dbt's context, is the macro of an operation."""
    return model.get("resource_type") == "macro"


def _is_selected(name: str, names: Sequence[str] | None, pattern: str, exclude: str) -> bool:
    """Whether a user's table is selected by its name and by patterns; never a helper table of the adapter."""
    if is_helper(name) or (names is not None and name not in names):
        return False
    return ilike(name, pattern) and not (exclude and ilike(name, exclude))
