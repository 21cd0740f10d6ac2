"""Which commands and targets start Spark while dbt parses."""

from __future__ import annotations

import subprocess
import sys
from argparse import Namespace

import pytest
from dbt.flags import set_flags

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark import early_start
from dbt.adapters.paimon.spark.runtime import Runtime

SESSION = {"warehouse": "lake"}


@pytest.mark.parametrize(
    ("command", "target", "starts"),
    [
        ("run", SESSION, True),
        ("test", SESSION, True),
        ("parse", SESSION, False),
        ("compile", SESSION, False),
        ("list", SESSION, False),
        ("debug", SESSION, False),
        ("run", {**SESSION, "method": "connect"}, False),  # the warm server
        ("run", {**SESSION, "method": "connect", "host": "server"}, False),
        ("run", {"method": "thrift", "host": "server"}, False),
    ],
)
def test_what_starts_early(monkeypatch, command, target, starts) -> None:
    started = []
    monkeypatch.setattr(early_start, "_start", started.append)
    set_flags(Namespace(WHICH=command))
    runtime = Runtime(PaimonCredentials(schema="s", **target))
    thread = early_start.begin(runtime)
    if thread is not None:
        thread.join()
    assert started == ([runtime] if starts else [])


# The thread that starts Spark imports numpy through PySpark; numpy would unset variables that it has set.
IMPORTS_NUMPY = """
import sys
from dbt.adapters.paimon.spark import early_start
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.credentials import PaimonCredentials

early_start._command = lambda: "parse"
early_start.begin(Runtime(PaimonCredentials(schema="s", warehouse="lake")))
sys.addaudithook(lambda event, names: event == "os.unsetenv" and print(*names))
import numpy
"""


def test_no_environment_variable_is_unset_while_dbt_reads_them() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", IMPORTS_NUMPY], capture_output=True, text=True, timeout=120, check=True
    )
    assert ended.stdout == ""
