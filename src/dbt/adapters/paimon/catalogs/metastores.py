"""Checks that the servers of Hive metastores answer, before a JVM is started for them."""

from __future__ import annotations

from collections.abc import Iterable

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.machine import addresses

# Seconds; Hive's own client waits for a connection as long as for an answer.
_CONNECT_WITHIN = 5


def check_reachable(catalogs: Iterable[SparkCatalog]) -> None:
    """Check that a server of each Hive metastore takes connections.

    Raises:
        DbtRuntimeError: no server of a metastore does; one message with the reasons for all catalogs.
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
    """Address and reason; empty if the server takes connections."""
    error = addresses.refusal(host, port, _CONNECT_WITHIN)
    return f"{host}:{port} ({error.strerror or error})" if error is not None else ""
