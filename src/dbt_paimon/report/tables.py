"""Reads the figures of a node's table, and how far models and streams have read their inputs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtBaseException

from dbt.adapters.paimon.adapter_protocol import table_name
from dbt.adapters.paimon.changes import positions
from dbt.adapters.paimon.connection_methods import PaimonConnectionMethod
from dbt.adapters.paimon.errors.redaction import redact_text, redacted
from dbt.adapters.paimon.metadata import facts
from dbt.adapters.paimon.spec import advice as config_advice
from dbt.adapters.paimon.spec.maintenance_policy import read_policy
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.sql.text import name_parts
from dbt.adapters.paimon.streaming import checkpoints
from dbt.adapters.paimon.streaming.sources.ranges import PlannedRanges
from dbt.adapters.paimon.tables.existing import STREAM_ID
from dbt_paimon.report import advice, figures
from dbt_paimon.report.figures import Reader, Table

if TYPE_CHECKING:
    from dbt.adapters.paimon.impl import PaimonAdapter
    from dbt.adapters.paimon.relation import PaimonRelation

logger = AdapterLogger("Paimon")

SOURCE: Final = "source"
CLASSES: Final = "Paimon's classes"
SQL: Final = "system tables"


class TableReader:
    """Reads only metadata: Paimon's, and the checkpoints of streams. The adapter needs an open connection."""

    def __init__(self, adapter: PaimonAdapter) -> None:
        self._adapter = adapter

    def of(self, node: Mapping[str, Any], now: float) -> Table | None:
        """The table of a node or source; None if it is not built, or not a Paimon table. `now`: epoch seconds."""
        identifier = node.get("alias") or node.get("identifier") or node["name"]
        kind = str(node.get("config", {}).get("materialized") or node["resource_type"])
        kind = SOURCE if node["resource_type"] == SOURCE else kind
        table = Table(node["unique_id"], self._shown(node["database"], node["schema"], identifier), kind, node["name"])
        begun = time.perf_counter()
        try:
            relation = self._adapter.get_relation(node["database"], node["schema"], identifier)
            ours = self._adapter.credentials.paimon_catalogs
            if relation is None or not relation.is_table or relation.database not in ours:
                return None
            # Measure from here: the first catalog query waits for Spark to start.
            begun = time.perf_counter()
            known, by = self._facts(relation)
            found = figures.figures(known)
            saved = tuple(self._incremental(node, relation, known))
            policy = read_policy(node.get("config", {}).get("maintenance"), Problems(node["name"]))
            compacts = policy is not None and policy.compact is not None
            name = "" if kind == SOURCE else node["name"]
            condition = figures.condition(known, found, name, table.name, compacts, now)
            found |= {"layout": redacted("", found["layout"]), "statements": known.statements + bool(saved)}
            return replace(
                table,
                **found,
                by=by,
                readers=figures.consumers(known, table.name),
                reads=(*self._streams(node, relation, known), *saved),
                advice=(*advice.advice(condition), *self._of_config(node)),
                seconds=time.perf_counter() - begun,
            )
        # A table that cannot be read must not prevent the report on the others.
        except Exception as exc:  # noqa: BLE001
            logger.debug(f"{table.name} cannot be read: {exc!r}")
            return replace(table, problem=_first_line(exc), seconds=time.perf_counter() - begun)

    def _shown(self, catalog: str, schema: str, identifier: str) -> str:
        """A table's name in the report: with its catalog, unless this is the target's."""
        own = catalog == self._adapter.credentials.database
        return f"{schema}.{identifier}" if own else f"{catalog}.{schema}.{identifier}"

    def _facts(self, relation: PaimonRelation) -> tuple[facts.Facts, str]:
        if self._adapter.credentials.method == PaimonConnectionMethod.SESSION:
            try:
                return facts.by_classes(self._adapter.handle.session, table_name(relation)), CLASSES
            except Exception as exc:  # noqa: BLE001
                logger.debug(f"{relation} is read from its system tables: {exc!r}")
        return facts.by_sql(self._adapter.query, relation), SQL

    def _of_config(self, node: Mapping[str, Any]) -> Iterable[advice.Advice]:
        """The advice of `spec.advice` on a node's config; nothing if a run would refuse the config."""
        if node["resource_type"] == SOURCE:
            return
        config = node["config"]
        try:
            is_incremental = config.get("materialized") == "incremental"
            spec = self._adapter.specs.incremental(node).table if is_incremental else self._adapter.specs.of(node)
            texts = config_advice.advice(spec, config, node["name"], self._adapter.versions)
        except DbtBaseException as exc:
            logger.debug(f"No advice on the config of {node['name']}: {exc}")
            return
        for text in texts:
            yield advice.Advice("config", text, f"dbt build --select {node['name']}", "After changing the config.")

    def _streams(self, node: Mapping[str, Any], relation: PaimonRelation, known: facts.Facts) -> Iterable[Reader]:
        """How far the stream that writes a table has read its inputs, from its checkpoint."""
        stream = known.schema.options.get(STREAM_ID)
        if not stream or self._adapter.credentials.method != PaimonConnectionMethod.SESSION:
            return
        session = self._adapter.handle.session
        folder = node["config"].get("checkpoint_location") or checkpoints.folder_of(session, relation.render())
        checkpoint = checkpoints.Checkpoint(session, f"{folder.rstrip('/')}/{stream}")
        note, unfinished = checkpoint.note(), checkpoint.unfinished_batch()
        state = f"{checkpoint.last_batch() + 1} batches"
        if unfinished is not None:
            state += f"; batch {unfinished[0]} is unfinished"
        offsets = checkpoint.last_offsets()
        for index, identity in enumerate(note.inputs if note else ()):
            if table := identity.get("table"):
                source, position = self._shown(*table.split(".", 2)), _planned(session, checkpoint, index)
            else:
                source = next((f"{key} {value}" for key, value in identity.items()), "")
                position = offsets[index] if index < len(offsets) else "nothing read yet"
            yield Reader(node["name"], "stream", source, position, state=state)

    def _incremental(self, node: Mapping[str, Any], relation: PaimonRelation, known: facts.Facts) -> Iterable[Reader]:
        """How far an incremental model has read its inputs, from its commits and its positions table."""
        found = self._adapter.get_relation(*positions.positions_of(relation).parts)
        if node["resource_type"] != "model" or found is None:
            return
        for name, saved in positions.saved_in(self._adapter.query, found).items():
            place = positions.find(positions.short_hash(name), known.snapshots, saved, relation)
            source = self._shown(*name_parts(name)[:3])
            read = "not known" if place is None else str(place.snapshot)
            yield Reader(node["name"], "incremental model", source, read)


def _planned(session: Any, checkpoint: checkpoints.Checkpoint, index: int) -> str:
    """The last table snapshot in the planned batches of an input."""
    planned = PlannedRanges(session, f"{checkpoint.location}/{checkpoints.PLANS}/{index}").last()
    return str((planned.end if planned else positions.NOTHING_READ).snapshot)


def _first_line(exc: Exception) -> str:
    text = redact_text(str(getattr(exc, "msg", "") or exc)).strip()
    return text.splitlines()[0] if text else type(exc).__name__
