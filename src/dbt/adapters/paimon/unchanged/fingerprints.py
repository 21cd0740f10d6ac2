"""What a node is made of, as far as it can be known before its query runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version as metadata_version
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.__version__ import version as own_version
from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, is_empty_run
from dbt.adapters.paimon.column import PaimonColumn
from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.spark import table_versions
from dbt.adapters.paimon.spec import skipping
from dbt.adapters.paimon.unchanged import keys, nodes, queries
from dbt.adapters.paimon.unchanged.keys import Key
from dbt.adapters.paimon.writing import model_query, seeds

if TYPE_CHECKING:
    import agate

    from dbt.adapters.paimon.spark.embedded import EmbeddedSpark
    from dbt.adapters.paimon.spark.table_name import TableName
    from dbt.adapters.paimon.spark.table_versions import TableVersion

logger = AdapterLogger("Paimon")
_Found = TypeVar("_Found")
# The input that is a seed's file.
_SEED_FILE: Final = "its file"


@dataclass(frozen=True)
class NodeFingerprint:
    """What a node is made of: the key, and the columns of its query."""

    key: Key
    columns: tuple[PaimonColumn, ...]


class CannotSkip(Exception):
    """A node has to run.

    Attributes:
        always: whether it has to in every run, as long as its SQL and config are what they are.
    """

    def __init__(self, reason: str, always: bool = False) -> None:
        super().__init__(reason)
        self.always = always


class Fingerprinter:
    """Finds out what nodes are made of.

    Args:
        adapter: the adapter.
    """

    def __init__(self, adapter: AdapterProtocol) -> None:
        self._adapter = adapter
        self._overrides: str | None = None

    def unless_run(self, node: Mapping[str, Any], found: Callable[[], _Found]) -> _Found | None:
        """What a function finds; None where the node has to run, which the log says why.

        Args:
            node: the node in the manifest.
            found: raises CannotSkip where the node has to run.
        """
        name = f"{node['resource_type']} {node['name']} is run although it has {skipping.KEY}"
        try:
            return found()
        except CannotSkip as reason:
            if reason.always and self._adapter.once.first((skipping.KEY, node["unique_id"])):
                logger.info(f"{name}: {reason}")
            else:
                logger.debug(f"{name}: {reason}")
        except Exception as exc:  # noqa: BLE001 - of py4j, Spark or Paimon; what is wrong with the node, its run says
            logger.debug(f"{name}: not known whether it has changed: {messages.error_text(exc)}")
        return None

    def spark(self) -> EmbeddedSpark:
        """The Spark of this process, which knows plans.

        Raises:
            CannotSkip: there is none, or the run reads no rows.
        """
        spark = self._adapter.handle.embedded()
        if spark is None:
            raise CannotSkip("over a server the inputs of a query are not known", always=True)
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
        """What a node is made of now.

        Args:
            spark: of this process.
            model: the node in the manifest, compiled.
            table: the table that it writes.
            before: where that stands.
            rows: the rows of a seed.

        Raises:
            CannotSkip: what it is made of cannot be known.
        """
        node = {
            **nodes.parts(model),
            "adapter": own_version,
            "dbt": metadata_version("dbt-core"),
            "spark": spark.spark_version,
            "paimon": str(self._adapter.versions.paimon),
            "settings": nodes.settings(spark.settings()),
            "overrides": self._overridden(),
            "casts that lose": self._adapter.defaults.warn_lossy_cast is not None,
            "config that is passed over": self._adapter.defaults.warn_ignored_config is not None,
        }
        if rows is not None:
            path = seeds.path_of(model, self._adapter.config)
            inputs = {_SEED_FILE: table_versions.fingerprint(path.read_bytes().hex())}
            names = [PaimonColumn(column=str(name), dtype="string") for name in rows.column_names]
            return NodeFingerprint(keys.key_of(node, inputs), tuple(names))
        sql = model_query.one_query(model["compiled_code"])
        query = spark.analyzed(sql)
        if reason := queries.volatile(query):
            raise CannotSkip(reason, always=True)
        inputs = dict(query.files)
        for name, stand in query.tables.items():
            # A table that is read by the node that writes it stands elsewhere after each write.
            at = before if before and name == table else stand
            if at.position is None:
                raise CannotSkip(f"the last write of {name.shown} has expired")
            inputs[str(name)] = f"{at.position} {table_versions.fingerprint(at.schema)}"
        node |= {"sql": model["compiled_code"], "plan": query.text, "columns of the query": query.columns}
        columns = [PaimonColumn(column=name, dtype=kind) for name, kind in query.columns]
        return NodeFingerprint(keys.key_of(node, inputs), tuple(columns))

    def _overridden(self) -> str:
        if self._overrides is None:
            macros = getattr(self._adapter.get_macro_resolver(), "macros", {})
            self._overrides = nodes.overrides(macros.values())
        return self._overrides
