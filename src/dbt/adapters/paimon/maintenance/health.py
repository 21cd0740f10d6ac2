"""`adapter.health`: system tables, table health and the operation `table_health`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, Node
from dbt.adapters.paimon.formatting import age, size
from dbt.adapters.paimon.macro_api import while_parsing
from dbt.adapters.paimon.maintenance import selection
from dbt.adapters.paimon.metadata import health, system_tables
from dbt.adapters.paimon.metadata.health import TableHealth
from dbt.adapters.paimon.options.table_options import is_age, parse_duration
from dbt.adapters.paimon.relation import PaimonRelation

logger = AdapterLogger("Paimon")
_HEADINGS: Final[Mapping[str, str]] = {"mean_file_bytes": "mean file", "bytes": "size", "levels": "files by level"}
_OF_BUCKETS: Final = ("bucket_size", "bucket_skew", "compaction_needed")


class Health:
    """`adapter.health` in macros."""

    def __init__(self, adapter: AdapterProtocol) -> None:
        self._adapter = adapter

    @while_parsing(lambda *a, **k: "")
    def system_table(self, relation: PaimonRelation, name: str) -> str:
        """The rendered name of a system table (see `metadata.system_tables`)."""
        return system_tables.system_table(relation, name, self._adapter.versions)

    @while_parsing(lambda *a, **k: "")
    def sql(self, relation: Any, test: str) -> str:
        """The subquery that a data test selects from: one row with a table's health, or one row per bucket.

        Raises:
            DbtRuntimeError: the relation is a view, or a subquery made by `where`.
        """
        if isinstance(relation, str):
            raise DbtRuntimeError(
                f"data test {test}: it checks the table's files and snapshots, which `where` cannot filter. "
                "Remove `where` from its config."
            )
        system_tables.system_table(relation, "files", self._adapter.versions)  # refuses a view
        return health.bucket_skew_sql(relation) if test in _OF_BUCKETS else health.health_sql(relation)

    @staticmethod
    def seconds(duration: str, test: str) -> int:
        """A duration such as '2 d' in seconds; raises DbtRuntimeError if it is invalid."""
        if not is_age(duration):
            raise DbtRuntimeError(
                f"{test}: '{duration}' is not a duration. Write a whole number and a unit, as in '2 d' or '12 h'."
            )
        return parse_duration(str(duration)) // 10**9

    @while_parsing(lambda *a, **k: [])
    def report(self, nodes: Iterable[Node], select: str | Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Print and return the health of the selected tables (None: all that are built).

        Raises:
            DbtRuntimeError: the selection matches nothing, or (raised after the report) tables cannot be read.
        """
        found, failures = [], []
        for node in selection.select(nodes, select, "table_health"):
            relation = self._adapter.get_relation(node["database"], node["schema"], node["alias"])
            if relation is None or not relation.is_table:
                if select is not None:
                    logger.info(f"{node['name']}: not built yet")
                continue
            try:
                found.append(health.of_table(self._adapter.query, relation))
            except DbtRuntimeError as exc:
                failures.append(f"{relation}: {exc}")
        if found:
            logger.info("\n" + _table(found))
        if failures:
            raise DbtRuntimeError("table_health: " + "\n".join(failures))
        return [asdict(table) for table in found]


def _table(tables: Sequence[TableHealth]) -> str:
    names = [field.name for field in fields(TableHealth)]
    rows = [[_HEADINGS.get(name, name.replace("_", " ")) for name in names]]
    rows += [[_shown(name, getattr(table, name)) for name in names] for table in tables]
    widths = [max(len(row[position]) for row in rows) for position in range(len(names))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if name in ("table", "levels") else text.rjust(width)
            for name, text, width in zip(names, row, widths, strict=True)
        ).rstrip()
        for row in rows
    )


def _shown(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name in ("bytes", "mean_file_bytes"):
        return size(value)
    if name in ("oldest_snapshot", "newest_snapshot"):
        return age(value)
    return f"{value:.1f}" if name == "skew" else str(value)
