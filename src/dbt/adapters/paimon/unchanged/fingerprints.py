"""Fingerprints of nodes: what a node's rows depend on, as far as it is known before its query runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version as metadata_version
from typing import TYPE_CHECKING, Any

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.__version__ import version as own_version
from dbt.adapters.paimon.adapter_protocol import AdapterProtocol
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.metadata.snapshots import fingerprint
from dbt.adapters.paimon.run_flags import is_empty_run
from dbt.adapters.paimon.spec import skipping
from dbt.adapters.paimon.unchanged import keys, nodes, queries
from dbt.adapters.paimon.unchanged.keys import Key
from dbt.adapters.paimon.writing import model_query, node_file

if TYPE_CHECKING:
    import agate

    from dbt.adapters.paimon.metadata.table_name import TableName
    from dbt.adapters.paimon.metadata.table_versions import TableVersion
    from dbt.adapters.paimon.spark.embedded import EmbeddedSpark

logger = AdapterLogger("Paimon")


@dataclass(frozen=True)
class NodeFingerprint:
    """The key of a node, and the columns of its query."""

    key: Key
    columns: tuple[PaimonColumn, ...]


class CannotSkip(Exception):
    """A node has to run; with `always`, in every run until its SQL or config changes."""

    def __init__(self, reason: str, always: bool = False) -> None:
        super().__init__(reason)
        self.always = always


class Fingerprinter:
    """Computes the fingerprints of nodes."""

    def __init__(self, adapter: AdapterProtocol) -> None:
        self._adapter = adapter

    @contextmanager
    def reason_logged(self, node: Mapping[str, Any]) -> Iterator[None]:
        """Suppress CannotSkip and other errors in the block, and log why the node has to run."""
        name = f"{node['resource_type']} {node['name']} is run although it has {skipping.KEY}"
        try:
            yield
        except CannotSkip as reason:
            if reason.always and self._adapter.once.first((skipping.KEY, node["unique_id"])):
                logger.info(f"{name}: {reason}")
            else:
                logger.debug(f"{name}: {reason}")
        except Exception as exc:  # noqa: BLE001 - from py4j, Spark or Paimon; running the node reports its faults
            logger.debug(f"{name}: cannot determine whether it has changed: {messages.error_text(exc)}")

    def spark(self) -> EmbeddedSpark:
        """The Spark in this process, which can return plans; raises CannotSkip with a server or --empty."""
        spark = self._adapter.handle.embedded()
        if spark is None:
            raise CannotSkip("a Spark server does not show the inputs of a query", always=True)
        if is_empty_run():
            raise CannotSkip("the run has --empty")
        return spark

    def of(
        self,
        spark: EmbeddedSpark,
        model: Mapping[str, Any],
        table: TableName | None = None,
        before: TableVersion | None = None,
        rows: agate.Table | None = None,
    ) -> NodeFingerprint:
        """Compute the current fingerprint of a node.

        Raises:
            CannotSkip: its inputs are unknown, or its query may return different rows each time.
        """
        node = {
            **nodes.parts(model),
            "adapter": own_version,
            "dbt": metadata_version("dbt-core"),
            "spark": spark.spark_version,
            "paimon": str(self._adapter.versions.paimon),
            "settings": nodes.settings(spark.settings()),
            "overrides": self._overrides,
            "casts that lose": self._adapter.defaults.warn_lossy_cast is not None,
            "config that is passed over": self._adapter.defaults.warn_ignored_config is not None,
        }
        if rows is not None:
            content = node_file.path_of(model, self._adapter.config).read_bytes()
            inputs = {"its file": fingerprint(content.hex())}
            columns = [PaimonColumn(column=str(name), dtype="string") for name in rows.column_names]
            return NodeFingerprint(keys.key_of(node, inputs), tuple(columns))
        query = spark.analyzed(model_query.one_query(model["compiled_code"]))
        if reason := queries.volatile(query):
            raise CannotSkip(reason, always=True)
        inputs = dict(query.files)
        for name, stand in query.tables.items():
            # A model that reads its own table changes it with each write, so the version before the run counts.
            at = before if before and name == table else stand
            if at.position is None:
                raise CannotSkip(f"the last write of {name.shown} has expired")
            inputs[str(name)] = f"{at.position} {fingerprint(at.schema_json)}"
        node |= {"sql": model["compiled_code"], "plan": query.text, "columns of the query": query.columns}
        columns = [PaimonColumn(column=name, dtype=kind) for name, kind in query.columns]
        return NodeFingerprint(keys.key_of(node, inputs), tuple(columns))

    @cached_property
    def _overrides(self) -> str:
        return nodes.overrides(getattr(self._adapter.get_macro_resolver(), "macros", {}).values())
