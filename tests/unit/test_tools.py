"""The tools of `dbt-paimon` import the adapter; `dbt run` imports none of them."""

from __future__ import annotations

import subprocess
import sys

_LOADED = """
import sys
{}
print(*sorted(name for name in sys.modules if name.partition(".")[0] == "dbt_paimon"))
"""


def _loaded(imports: str) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-c", _LOADED.format(imports)], capture_output=True, text=True, check=True
    )
    return ran.stdout.split()


def test_dbt_loads_no_tool():
    assert _loaded("from dbt.cli.main import dbtRunner\nfrom dbt.adapters.paimon import Plugin") == []


def test_the_command_line_loads_them():
    assert "dbt_paimon.report.command" in _loaded("import dbt_paimon.cli")


def test_a_question_to_a_running_shell_loads_neither_dbt_nor_spark():
    ran = _LOADED.format("from dbt_paimon import client, entry, words").replace(
        '== "dbt_paimon"', 'in ("dbt", "pyspark")'
    )
    found = subprocess.run([sys.executable, "-c", ran], capture_output=True, text=True, check=True)
    # The adapter's namespace is set up by its install.
    assert [
        name for name in found.stdout.split() if name.startswith(("dbt.cli", "dbt.adapters", "pyspark"))
    ] == []
