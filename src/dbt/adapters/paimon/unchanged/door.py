"""`adapter.unchanged`: finds out whether a node has anything to do, and leaves the key of what it did in its commit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version as metadata_version
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.__version__ import version as own_version
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.doors import while_parsing
from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.host import Host, is_empty_run
from dbt.adapters.paimon.spark import heads, responses
from dbt.adapters.paimon.spark.commits import COMMIT_USER_CONF
from dbt.adapters.paimon.spark.table_name import TableName
from dbt.adapters.paimon.spec import skipping
from dbt.adapters.paimon.tables import metadata
from dbt.adapters.paimon.tables.door import Tables
from dbt.adapters.paimon.unchanged import keys, nodes, queries
from dbt.adapters.paimon.unchanged.keys import Key
from dbt.adapters.paimon.writing import model_query, seeds
from dbt.adapters.paimon.writing.written import Written

if TYPE_CHECKING:
    import agate

    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.spark.heads import Snapshot, Stand
    from dbt.adapters.paimon.spark.in_process import InProcess
    from dbt.adapters.paimon.spec.table import TableSpec

logger = AdapterLogger("Paimon")
_NO_ROWS: Final = "0.0"
# The input that is a seed's file.
_SEED_FILE: Final = "its file"


@dataclass(frozen=True)
class _Planned:
    """A run under way, whose commit gets a key.

    Attributes:
        key: what it makes its table of.
        table: its table.
        before: where the table stood before; None if there was none.
    """

    key: Key
    table: TableName
    before: Stand | None


@dataclass(frozen=True)
class _Made:
    """What a node makes its table of: the key, and the columns of its query."""

    key: Key
    columns: tuple[PaimonColumn, ...]


class _RunIt(Exception):
    """A node has to run.

    Attributes:
        always: whether it has to in every run, as long as its SQL and config are what they are.
    """

    def __init__(self, reason: str, always: bool = False) -> None:
        super().__init__(reason)
        self.always = always


class Unchanged:
    """`adapter.unchanged` in macros.

    Args:
        host: the adapter.
        tables: the door of tables.
    """

    def __init__(self, host: Host, tables: Tables) -> None:
        self._host = host
        self._tables = tables
        # By node; a node runs on one thread.
        self._planned: dict[str, _Planned] = {}
        self._overrides: str | None = None

    @while_parsing(lambda *_, **__: None)
    def reused(
        self,
        model: Mapping[str, Any],
        target: PaimonRelation,
        existing: PaimonRelation | None,
        spec: TableSpec,
        *,
        strategy: str = "",
        reads_changes: bool = False,
        full_refresh: bool = False,
        rows: agate.Table | None = None,
    ) -> Written | None:
        """dbt's response for a node that has nothing to do; None if it has to run, which the log says why.

        Its table's lock is held. Nothing is asked of Spark for a node without `skip_unchanged`.

        Args:
            model: the node in the manifest, compiled.
            target: its table.
            existing: the relation that is there by that name.
            spec: its table spec.
            strategy: the strategy of an incremental model.
            reads_changes: whether it calls paimon_changes.
            full_refresh: whether the run rebuilds the table.
            rows: the rows of a seed.
        """
        self._planned.pop(model["unique_id"], None)
        if not skipping.is_on(model["config"]):
            return None
        try:
            return self._reused(model, target, existing, spec, strategy, reads_changes, full_refresh, rows)
        except _RunIt as reason:
            what = f"{model['resource_type']} {model['name']} is run although it has {skipping.KEY}: {reason}"
            if reason.always and self._host.once.first((skipping.KEY, model["unique_id"])):
                logger.info(what)
            else:
                logger.debug(what)
        except Exception as exc:  # noqa: BLE001 - of py4j, Spark or Paimon; what is wrong with the node, its run says
            logger.debug(
                f"{model['name']} is run although it has {skipping.KEY}: not known whether it has changed: "
                f"{messages.error_text(exc)}"
            )
        return None

    def _reused(
        self,
        model: Mapping[str, Any],
        target: PaimonRelation,
        existing: PaimonRelation | None,
        spec: TableSpec,
        strategy: str,
        reads_changes: bool,
        full_refresh: bool,
        rows: agate.Table | None,
    ) -> Written:
        if reason := nodes.never(model, strategy, reads_changes):
            raise _RunIt(reason, always=True)
        spark = self._host.handle.in_process()
        if spark is None:
            raise _RunIt("over a server the inputs of a query are not known", always=True)
        if is_empty_run():
            raise _RunIt("the run has --empty")
        table = TableName(target.database or "", target.schema or "", target.identifier or "")
        is_table = existing is not None and existing.is_table
        before = spark.stand(table) if is_table else None
        if before is not None and before.problem:
            raise _RunIt(f"its table {before.problem}", always=True)
        made = self._made(spark, model, table, before, rows)
        self._planned[model["unique_id"]] = _Planned(made.key, table, before)
        if full_refresh:
            raise _RunIt("the run rebuilds its table")
        if before is None:
            raise _RunIt("it has no table yet")
        head = _carrying(before, made.key)
        self._refuse_pending(model, spec, before, head, made.columns, seed=rows is not None)
        del self._planned[model["unique_id"]]
        return Written(responses.of_reuse(head.number, _words(rows is not None)))

    def _made(
        self,
        spark: InProcess,
        model: Mapping[str, Any],
        table: TableName,
        before: Stand | None,
        rows: agate.Table | None,
    ) -> _Made:
        node = {
            **nodes.parts(model),
            "adapter": own_version,
            "dbt": metadata_version("dbt-core"),
            "spark": spark.spark_version,
            "paimon": str(self._host.versions.paimon),
            "settings": nodes.settings(spark.settings()),
            "overrides": self._overridden(),
            "casts that lose": self._host.loses is not None,
            "config that is passed over": self._host.passes is not None,
        }
        if rows is not None:
            path = seeds.path_of(model, self._host.config)
            inputs = {_SEED_FILE: heads.fingerprint(path.read_bytes().hex())}
            names = [PaimonColumn(column=str(name), dtype="string") for name in rows.column_names]
            return _Made(keys.key_of(node, inputs), tuple(names))
        sql = model_query.one_query(model["compiled_code"])
        query = spark.analyzed(sql)
        if reason := queries.volatile(query):
            raise _RunIt(reason, always=True)
        inputs = dict(query.files)
        for name, stand in query.tables.items():
            # A table that is read by the node that writes it stands elsewhere after each write.
            at = before if before and name == table else stand
            if at.position is None:
                raise _RunIt(f"the last write of {name.schema}.{name.identifier} has expired")
            inputs[str(name)] = f"{at.position} {heads.fingerprint(at.schema)}"
        node |= {"sql": model["compiled_code"], "plan": query.text, "columns of the query": query.columns}
        columns = [PaimonColumn(column=name, dtype=kind) for name, kind in query.columns]
        return _Made(keys.key_of(node, inputs), tuple(columns))

    def _refuse_pending(
        self,
        model: Mapping[str, Any],
        spec: TableSpec,
        before: Stand,
        head: Snapshot,
        columns: Sequence[PaimonColumn],
        *,
        seed: bool,
    ) -> None:
        """Run a node whose table would be altered: a run before was killed at that, or somebody else has altered it."""
        content = json.loads(before.schema)
        lists = ("fields", "partitionKeys", "primaryKeys", "options")
        existing = metadata.existing_table(
            [*(json.dumps(content[part]) for part in lists), content.get("comment")]
        )
        if seed:
            # The types that a file gives are known by staging it; those of the table have not changed since.
            if content["id"] != head.schema:
                raise _RunIt("its table was altered")
            kinds = {column.name.lower(): column.data_type for column in existing.columns}
            columns = [replace(each, dtype=kinds.get(each.name.lower(), each.dtype)) for each in columns]
        changes = self._tables.changes(spec, existing)
        if not changes.is_empty:
            raise _RunIt(f"its table has to be altered ({(*changes.altered, *changes.immutable)[0]})")
        wanted = self._tables.wanted_columns(columns, model, spec)
        altered = self._tables.column_changes(wanted, existing, model)
        config = model["config"]
        rebuilds = config.get("materialized") not in ("incremental", "snapshot")
        on_change = config.get("on_schema_change") or "ignore"
        if config.get("materialized") == "snapshot":
            on_change = "append_new_columns"
        syncs = rebuilds or on_change == "sync_all_columns"
        pending = bool(
            altered.comment
            or (altered.add and (syncs or on_change == "append_new_columns"))
            or (syncs and (altered.drop or altered.alter or altered.retype))
            or (rebuilds and (altered.relax or altered.rebuild or altered.changed_types))
        )
        if pending:
            raise _RunIt("the columns of its table, or their comments, have to be altered")
        described = (config.get("persist_docs") or {}).get("relation")
        if described and existing.comment != (model.get("description") or ""):
            raise _RunIt("its table's comment has to be altered")

    def _overridden(self) -> str:
        if self._overrides is None:
            macros = getattr(self._host.get_macro_resolver(), "macros", {})
            self._overrides = nodes.overrides(macros.values())
        return self._overrides

    # -- the run of the node ----------------------------------------------------------------------------------------

    @while_parsing(lambda *_, **__: {})
    def commit_conf(self, model: Mapping[str, Any]) -> dict[str, str]:
        """The Spark setting that writes a node's key into its commit; empty if it has none."""
        planned = self._planned.get(model["unique_id"])
        return {} if planned is None else {COMMIT_USER_CONF: planned.key.mark()}

    @while_parsing(lambda *_, **__: None)
    def note(self, model: Mapping[str, Any]) -> None:
        """Called when a node's rows are written: commits its key if there were none, for Paimon commits no such run.

        Without it a query that finds nothing new would be run again and again. A failure is not the node's.
        """
        planned = self._planned.pop(model["unique_id"], None)
        if planned is None:
            return
        try:
            self._note(planned)
        except Exception as exc:  # noqa: BLE001 - of py4j or Paimon
            logger.debug(f"{model['name']}: its key could not be committed: {messages.error_text(exc)}")

    def _note(self, planned: _Planned) -> None:
        spark = self._host.handle.in_process()
        if spark is None:
            return
        now = spark.stand(planned.table)
        before = planned.before
        base = _NO_ROWS if before is None else before.position
        # A table that was not there has no table snapshot now, either: nobody else has written it.
        if now.position != base or now.head != (before.head if before else None) or base is None:
            return
        spark.commit_nothing(planned.table, planned.key.mark(base))


def _carrying(stand: Stand, key: Key) -> Snapshot:
    """The newest commit of a table, which carries this key.

    Raises:
        _RunIt: it does not.
    """
    head = stand.head
    if head is None:
        raise _RunIt("the last write of its table has expired, or there was none")
    found = keys.found_in(head.user)
    if found is None:
        raise _RunIt(f"table snapshot {head.number} is not of a run that could be skipped")
    if found.base and found.base != stand.position:
        raise _RunIt("its table was written by something else")
    if found.key.node != key.node:
        raise _RunIt(f"its query, a view in it or its config is another than at table snapshot {head.number}")
    if found.key.inputs != key.inputs:
        raise _RunIt(f"an input has changed since table snapshot {head.number}")
    return head


def _words(seed: bool) -> str:
    return "file and config" if seed else "inputs and query"
