"""dbt imports no tool of `dbt-paimon`; a client of a running shell imports neither dbt nor Spark."""

from __future__ import annotations

import subprocess
import sys


def loaded(imports: str, *packages: str) -> list[str]:
    """The modules of these packages that a new Python process has loaded after these imports."""
    shown = f"import sys\n{imports}\nprint(*(name for name in sorted(sys.modules) if name.startswith({packages})))"
    ran = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return ran.stdout.split()


def test_dbt_loads_no_tool():
    imports = "from dbt.cli.main import dbtRunner\nfrom dbt.adapters.paimon import Plugin"
    assert loaded(imports, "dbt_paimon") == []


def test_the_command_line_loads_the_tools():
    assert "dbt_paimon.report.command" in loaded("import dbt_paimon.cli", "dbt_paimon")


def test_the_command_line_loads_no_lineage_of_columns():
    assert loaded("import dbt_paimon.cli", "dbt_paimon.lineage") == []


def test_a_client_of_a_running_shell_does_not_load_dbt_or_spark():
    imports = "from dbt_paimon import client, entry, words"
    assert loaded(imports, "dbt.cli", "dbt.adapters", "pyspark") == []
