"""A warehouse records the newest Paimon version that opened it, and dbt does not open it with an older default."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from dbt.adapters.paimon.capabilities.version_numbers import DEFAULT_PAIMON_VERSION
from dbt.adapters.paimon.spark.launch.default_version import MARK
from functional.conftest import CONNECTOR

SCRIPT = """
import json, os, sys
from pathlib import Path
from dbt_common.exceptions import DbtRuntimeError
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.launch.default_version import MARK
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spark.session import open_session

folder, conf = Path(sys.argv[1]), json.loads(sys.argv[2])
seen = {}

def opened(warehouse, **profile):
    try:
        where = str(folder / warehouse)
        open_session(Runtime(PaimonCredentials(schema="s", warehouse=where, spark_config=dict(conf), **profile)))
        mark = folder / warehouse / MARK
        return mark.read_text() if mark.exists() else None
    except DbtRuntimeError as exc:
        return exc.msg

def mark(warehouse, version):
    (folder / warehouse / MARK).parent.mkdir(exist_ok=True, parents=True)
    (folder / warehouse / MARK).write_text(version)

seen["old"] = opened("old", paimon_version="0.9.0")
seen["new"] = opened("new", paimon_version="2.0.0")
mark("back", "2.0.0")
seen["back"] = opened("back", paimon_version="1.4.2")
# No newer connector can be downloaded, and this process keeps the Spark that it has started.
os.environ |= {"HOME": str(folder), "DEFAULT_ARTIFACT_REPOSITORY": "file:/none"}
first = opened("shared")
mark("shared", "99.0.0")
from dbt.adapters.paimon.spark import warehouse_version
warehouse_version._CHECKED.clear()
seen["shared"] = [first, opened("shared")]
print(json.dumps(seen))
"""


@pytest.mark.skipif(str(CONNECTOR) != DEFAULT_PAIMON_VERSION, reason="DBT_PAIMON_JARS names the version")
def test_a_mark_is_left_and_read(tmp_path, spark_config):
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), json.dumps(spark_config)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert ended.returncode == 0, ended.stderr
    seen = json.loads(ended.stdout.splitlines()[-1])
    assert seen["old"] is None
    assert seen["new"] == "2.0.0\n"
    assert seen["back"] == "2.0.0"
    first, second = seen["shared"]
    assert first is None
    assert "Set the version in the target: paimon_version: '99.0.0'" in second
    assert (tmp_path / "shared" / MARK).read_text() == "99.0.0"
