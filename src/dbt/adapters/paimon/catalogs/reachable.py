"""Checks that metastores and storage answer before a JVM starts, because its clients would retry for minutes."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.catalogs.catalog import SparkCatalog
from dbt.adapters.paimon.catalogs.object_stores import STORES, ObjectStore
from dbt.adapters.paimon.catalogs.storage import Storage
from dbt.adapters.paimon.errors.redaction import redact_text
from dbt.adapters.paimon.machine import addresses

# Seconds. Hive's client would wait for a connection as long as for a response.
_METASTORE_TIMEOUT: Final = 5
# Seconds.
_STORAGE_TIMEOUT: Final = 5.0


def check_metastores(catalogs: Iterable[SparkCatalog]) -> None:
    """Check that each Hive metastore has a server that accepts connections; one error lists all that do not."""
    if problems := unreachable_metastores(catalogs):
        raise DbtRuntimeError(problems)


def unreachable_metastores(catalogs: Iterable[SparkCatalog]) -> str:
    """A message about each Hive metastore that accepts no connections; '' if all accept them."""
    problems = []
    for catalog in catalogs:
        reasons = [_refusal(host, port) for host, port in catalog.thrift_addresses]
        if reasons and all(reasons):
            problems.append(
                f"catalog {catalog.name}: the Hive metastore does not answer at {', '.join(reasons)}. "
                "Start it, or correct `uri` (usually thrift://host:9083). A firewall may also be the reason."
            )
    return "\n".join(problems)


def _refusal(host: str, port: int) -> str:
    """The address, and why the server accepts no connections; '' if it does."""
    error = addresses.refusal(host, port, _METASTORE_TIMEOUT)
    return f"{host}:{port} ({error.strerror or error})" if error is not None else ""


def check_storage(storage: Storage) -> None:
    """Check that the storage accepts connections, unless the catalog's options name a proxy."""
    catalog = storage.catalog
    if store := STORES.get(catalog.scheme):
        _check_endpoint(storage, store)
    elif catalog.scheme == "hdfs":
        _check_name_node(catalog.warehouse or "")


def _check_name_node(warehouse: str) -> None:
    address = urlsplit(warehouse)
    # Without a port this may be the logical name of a high-availability cluster, which DNS does not know.
    if port := _port(address.netloc):
        _check_connection(
            address.hostname or "",
            port,
            http=False,
            what=f"The name node of the warehouse {redact_text(warehouse)}",
            remedy="Correct the host and port in the profile's `warehouse` (see fs.defaultFS in the cluster's "
            "core-site.xml), or start HDFS.",
        )


def _check_endpoint(storage: Storage, store: ObjectStore) -> None:
    plain = {store.option(name): value for name, value in storage.options.items()}
    endpoint = plain.get("endpoint")
    if not endpoint or any(name and name.startswith("proxy.") for name in plain):
        return
    url = urlsplit(endpoint if "://" in endpoint else f"https://{endpoint}")
    if url.hostname:
        _check_connection(
            url.hostname,
            _port(url.netloc) or (80 if url.scheme == "http" else 443),
            http=url.scheme == "http",
            what=f"The {store.name} endpoint {redact_text(endpoint)} of the warehouse {storage.catalog.warehouse}",
            remedy=f"Correct {store.prefix}endpoint under catalog_options in the profile, or start the server.",
        )


def _port(netloc: str) -> int | None:
    found = re.search(r":(\d+)$", netloc)
    return int(found.group(1)) if found else None


@lru_cache(maxsize=32)
def _check_connection(host: str, port: int, http: bool, what: str, remedy: str) -> None:
    # Cached: all threads of this process together check an address once.
    try:
        with socket.create_connection((host, port), timeout=_STORAGE_TIMEOUT) as connection:
            if not http:
                return
            connection.sendall(f"HEAD / HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
            answer = connection.recv(8)
    except OSError as exc:
        reason = exc.strerror or str(exc)
        raise DbtRuntimeError(f"{what} does not answer ({reason}). {remedy}") from exc
    if not answer.startswith(b"HTTP/"):
        raise DbtRuntimeError(f"{what} does not speak HTTP. {remedy}")
