"""Two profiles in one process: the second does not inherit the first one's catalog options."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import json, sys
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spark.session import open_session

first, second, conf = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
seen = []
for warehouse, options in ((first, {"fs.allow-hadoop-fallback": "true"}), (second, {}), (first, {"fs.allow-hadoop-fallback": "true"})):
    credentials = PaimonCredentials(
        paimon_version="0.9.0", schema="s", warehouse=warehouse, catalog_options=options, spark_config=dict(conf)
    )
    session = open_session(Runtime(credentials)).session
    names = ("warehouse", "fs.allow-hadoop-fallback")
    seen.append([session.conf.get(f"spark.sql.catalog.paimon.{name}", None) for name in names])
print(json.dumps(seen))
"""


def test_options_of_another_profile_are_not_taken_over(tmp_path, spark_config):
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, first, second, json.dumps(spark_config)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tmp_path,
    )
    assert ended.returncode == 0, ended.stderr
    seen = json.loads(ended.stdout.splitlines()[-1])
    assert [(warehouse.removeprefix("file:"), cached) for warehouse, cached in seen] == [
        (first, "true"),
        (second, None),
        (first, "true"),
    ]
