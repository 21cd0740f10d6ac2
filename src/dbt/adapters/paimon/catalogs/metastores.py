"""Whether the servers that keep a catalog's names answer, asked before a JVM is started for them."""

from __future__ import annotations

from collections.abc import Iterable

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.machine import addresses

# Seconds; a connection of Hive's own client waits as long as an answer may take.
_CONNECT_WITHIN = 5


def check_reachable(catalogs: Iterable[SparkCatalog]) -> None:
    """See that a server of each Hive metastore listens.

    Raises:
        DbtRuntimeError: none does, and why; of all catalogs in one message.
    """
    problems = [problem for catalog in catalogs for problem in _unreachable(catalog)]
    if problems:
        raise DbtRuntimeError("\n".join(problems))


def _unreachable(catalog: SparkCatalog) -> Iterable[str]:
    reasons = [_why_not(host, port) for host, port in catalog.thrift_addresses]
    if reasons and all(reasons):
        yield (
            f"catalog {catalog.name}: the Hive metastore does not answer at {', '.join(reasons)}. "
            "Start it, or correct `uri` (thrift://host:9083 as a rule); a firewall between may be the reason, too."
        )


def _why_not(host: str, port: int) -> str:
    """Address and reason; empty if somebody listens there."""
    error = addresses.refusal(host, port, _CONNECT_WITHIN)
    return f"{host}:{port} ({error.strerror or error})" if error is not None else ""
