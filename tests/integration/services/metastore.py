"""A Hive metastore (Thrift) from PySpark's own jars, with a Derby database."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from integration.services import maven
from integration.services.process import LOOPBACK, free_port, running

# Hive's logging needs it, but Spark does not ship it.
_DISRUPTOR = ("com.lmax", "disruptor", "3.4.4")


@dataclass(frozen=True)
class Metastore:
    """Its address, and the default folder of its databases."""

    uri: str
    warehouse: Path


@contextlib.contextmanager
def metastore(folder: Path, port: int | None = None) -> Iterator[Metastore]:
    """Run a metastore until the block ends.

    Args:
        folder: for its database and configuration; a second metastore on the same folder has the same tables.
        port: where it listens; a free port if not given.
    """
    import pyspark

    port = port or free_port()
    warehouse = folder / "warehouse"
    warehouse.mkdir(parents=True, exist_ok=True)
    settings = {
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder / 'derby'};create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": warehouse.as_uri(),
        "hive.metastore.metrics.enabled": "false",
    }
    site = folder / "hive-site.xml"
    jars = Path(pyspark.__file__).parent / "jars"
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    command = [
        *(java, "-Xmx512m", "-XX:TieredStopAtLevel=1", "-Dderby.system.durability=test"),
        f"-Dderby.stream.error.file={folder / 'derby.log'}",
        *("-cp", f"{folder}{os.pathsep}{jars}/*{os.pathsep}{maven.jar(*_DISRUPTOR)}"),
        *("org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port)),
    ]
    if not (folder / "derby").exists():
        # Only in this mode does a metastore create its lock tables, but then it grants no locks (TxnHandler).
        # Normally, Hive's schematool creates these tables.
        _write_settings(site, settings | {"hive.in.test": "true"})
        with running(command, folder / "first.log", [port], cwd=folder):
            _call(port, b"get_open_txns")
    _write_settings(site, settings)
    with running(command, folder / "metastore.log", [port], cwd=folder):
        yield Metastore(f"thrift://{LOOPBACK}:{port}", warehouse)


def _write_settings(path: Path, settings: Mapping[str, str]) -> None:
    properties = "".join(
        f"<property><name>{name}</name><value>{escape(value)}</value></property>" for name, value in settings.items()
    )
    path.write_text(f"<configuration>{properties}</configuration>")


def _call(port: int, method: bytes) -> None:
    """Call a method without arguments in Thrift's binary protocol, and wait for its answer."""
    message = struct.pack(">II", 0x80010001, len(method)) + method + struct.pack(">I", 0) + b"\0"
    with socket.create_connection((LOOPBACK, port), timeout=600) as connection:
        connection.sendall(message)
        answer = connection.recv(4)
    # 2 is a reply, 3 an exception.
    if answer != struct.pack(">I", 0x80010002):
        raise RuntimeError(f"the metastore answered {method.decode()} with {answer!r}")
