"""Runs an operation on a table under its lock, and logs what it did."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.adapter_protocol import AdapterProtocol, table_name
from dbt.adapters.paimon.spark import responses

if TYPE_CHECKING:
    from dbt.adapters.paimon.relation import PaimonRelation
    from dbt.adapters.paimon.writing.table_writer import TableWriter

logger = AdapterLogger("Paimon")
R = TypeVar("R")


def run_and_log(
    adapter: AdapterProtocol, builds: TableWriter, relation: PaimonRelation, name: str, work: Callable[[], R]
) -> tuple[R, AdapterResponse]:
    """Call `work`, log what it did to the table, and return its result and the response.

    Errors while reading that effect never fail the operation.
    """
    table = table_name(relation)
    with builds.alone(relation):
        began = time.monotonic()
        before = _read_or_none(relation, lambda: adapter.handle.kept(table))
        result = work()
        handle = adapter.handle
        statement = handle.statement_id
        effect = before and _read_or_none(relation, lambda: handle.effect(table, before))
    response = responses.of_operation(name, effect, statement) if effect else responses.unknown(name, statement)
    logger.info(f"{relation.shown} {response} in {time.monotonic() - began:.1f} s")
    return result, response


def _read_or_none(relation: PaimonRelation, read: Callable[[], R]) -> R | None:
    try:
        return read()
    except Exception as exc:  # noqa: BLE001 - of py4j, gRPC, Thrift or Spark
        logger.debug(f"{relation}: effect of an operation unknown: {exc}")
        return None
