"""An embedded Spark that prints what another user would need for an attack, and runs until its input ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import psutil
from pyspark.sql import functions

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark import session
from dbt.adapters.paimon.spark.runtime import Runtime

SECRET = "the rows of somebody else"


class Callback:
    """An object of this process that the JVM may call."""

    def reached(self) -> str:
        """Return the secret."""
        return SECRET


def serialized(spark: Any, target: str) -> str:
    """A Java-serialized message that asks the driver whether it has an endpoint of this name."""
    jvm = spark._jvm
    kind = jvm.java.lang.Class.forName("org.apache.spark.rpc.netty.RpcEndpointVerifier$CheckExistence")
    arguments = spark.sparkContext._gateway.new_array(jvm.java.lang.Object, 1)
    arguments[0] = target
    out = jvm.java.io.ByteArrayOutputStream()
    stream = jvm.java.io.ObjectOutputStream(out)
    stream.writeObject(kind.getConstructors()[0].newInstance(arguments))
    stream.flush()
    return bytes(out.toByteArray()).hex()


def main(folder: Path, settings: dict[str, str]) -> None:
    """Start Spark, put something to steal into each place that other users may reach, and wait."""
    profile = {
        "schema": "s",
        "method": "session",
        "warehouse": str(folder / "lake"),
        "spark_config": {"spark.master": "local[2]", "spark.driver.memory": "1g", **settings},
    }
    spark: Any = session.open_session(Runtime(PaimonCredentials.from_dict(profile))).session
    context = spark.sparkContext
    # Start Python workers, and put rows into the block manager and on disk.
    double = functions.udf(lambda number: number * 2, "long")
    doubled = [row[0] for row in spark.range(3).select(double("id")).sort("id").collect()]
    blocks = context.parallelize([SECRET], 1).persist()
    blocks.count()
    seen: list[int] = []
    query = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", 3)
        .load()
        .writeStream.foreachBatch(lambda frame, _: seen.append(frame.count()))
        .trigger(availableNow=True)
        .start()
    )
    query.processAllAvailable()
    query.stop()
    callback = context._gateway.gateway_property.pool.put(Callback())
    me = psutil.Process()
    listening = [
        (process.name(), *found.laddr)
        for process in (me, *me.children(recursive=True))
        for found in process.net_connections(kind="inet")
        if found.status == psutil.CONN_LISTEN
    ]
    jvm = context._jvm
    told = {
        "listening": listening,
        "doubled": doubled,
        "batches": seen,
        "application": context.applicationId,
        "block": f"rdd_{blocks.id()}_0",
        "rpc": int(context.getConf().get("spark.driver.port")),
        "message": serialized(spark, "HeartbeatReceiver"),
        "callback": callback,
        "temporary": jvm.java.lang.System.getProperty("java.io.tmpdir"),
        "local": str(jvm.org.apache.spark.SparkEnv.get().blockManager().diskBlockManager().localDirsString()[0]),
    }
    print(json.dumps(told), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]), dict(pair.split("=", 1) for pair in sys.argv[2:]))
