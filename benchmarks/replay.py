"""A plain PySpark script: starts a session and runs statements one after another. `python replay.py CONF STATEMENTS`.

dbt is compared with this script, so it imports only PySpark.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

conf, statements = (json.loads(Path(path).read_text()) for path in sys.argv[1:])
builder = SparkSession.builder
if conf.pop("hive", False):
    builder = builder.enableHiveSupport()
for key, value in conf.items():
    builder = builder.config(key, value)
session = builder.getOrCreate()
for statement in statements:
    session.sql(statement).collect()
session.stop()
