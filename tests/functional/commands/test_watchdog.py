"""The watchdog kills Spark's JVM when a lock is not renewed: in time, not early, and not if postponed or disarmed."""

from __future__ import annotations

import json
import subprocess
import sys

STEPS = """
import json, time
from pyspark import SparkContext
from pyspark.java_gateway import launch_gateway
from dbt.adapters.paimon.spark import watchdog
from dbt.adapters.paimon.spark.launch import jvm_exit, jvm_process
from py4j.protocol import Py4JError

watchdog.arm("nothing to end", 0.1)
with jvm_process.spawned():
    SparkContext._gateway = gateway = launch_gateway()
watchdog.arm("out", 0.5)
watchdog.arm("off", 0.5)
watchdog.arm("out", None)
for _ in range(4):
    time.sleep(0.3)
    watchdog.arm("off", 0.7)
alive = jvm_process.exit_status(0) is None
watchdog.arm("off", 0.5)
began = time.monotonic()
status = jvm_process.exit_status(30)
took = time.monotonic() - began
print(json.dumps([alive, status, took, jvm_exit.error(Py4JError("gone")).msg]))
"""


def test_it_ends_the_jvm_at_its_time() -> None:
    done = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    alive, status, took, message = json.loads(done.stdout.splitlines()[-1])
    assert alive
    assert status == 97
    assert 0.2 < took < 5
    assert "lock on a table, a lease in S3, could not be renewed" in message
