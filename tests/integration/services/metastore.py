"""A Hive metastore over thrift, from PySpark's own jars, with Derby under it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from integration.services import maven
from integration.services.process import LOOPBACK, free_port, running

# Hive's logging asks for it, and Spark does not ship it.
_DISRUPTOR = ("com.lmax", "disruptor", "3.4.4")


@dataclass(frozen=True)
class Metastore:
    """Its address, and the folder in which databases live that say no other place."""

    uri: str
    warehouse: Path


@contextlib.contextmanager
def metastore(folder: Path, port: int | None = None) -> Iterator[Metastore]:
    """Run a metastore until the block ends.

    Args:
        folder: keeps its database and its configuration; a second one on the same folder knows what the first one knew.
        port: where it listens; a free one if none is said.
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
        # The metastore makes the tables of its locks by itself in this mode alone; elsewhere Hive's schematool does.
        "hive.in.tez.test": "true",
        "hive.metastore.metrics.enabled": "false",
    }
    properties = "".join(
        f"<property><name>{name}</name><value>{escape(value)}</value></property>"
        for name, value in settings.items()
    )
    (folder / "hive-site.xml").write_text(f"<configuration>{properties}</configuration>")
    jars = Path(pyspark.__file__).parent / "jars"
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    command = [
        *(java, "-Xmx512m", "-XX:TieredStopAtLevel=1", "-Dderby.system.durability=test"),
        f"-Dderby.stream.error.file={folder / 'derby.log'}",
        *("-cp", f"{folder}{os.pathsep}{jars}/*{os.pathsep}{maven.jar(*_DISRUPTOR)}"),
        *("org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port)),
    ]
    with running(command, folder / "metastore.log", [port], cwd=folder):
        yield Metastore(f"thrift://{LOOPBACK}:{port}", warehouse)
