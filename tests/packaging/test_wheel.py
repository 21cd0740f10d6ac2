"""The wheel in an empty environment: the commands of the README and of docs/deployment.md, as a user types them.

No constraints file restricts pip: only the wheel's own requirements apply.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from doc_pages import ROOT, Shell, blocks_of


def new_environment(shell: Shell, python: str, uv: str) -> Path:
    """Create an empty virtual environment with a version of Python and activate it in the shell; returns its folder."""
    here = ".".join(map(str, sys.version_info[:2]))
    found = sys.executable if python == here else shell.run(f"HOME={Path.home()} {uv} python find {python}").strip()
    folder = shell.folder / "environment"
    shell.run(f"{found} -m venv {folder}")
    shell.environ["PATH"] = f"{folder / 'bin'}{os.pathsep}{shell.environ['PATH']}"
    return folder


def seen(shell: Shell, environment: Path, install: str, python: str, rows_after: float | None) -> str:
    """A row of the table in docs/install.md; `rows_after` are the seconds until the first rows."""
    listed = json.loads(shell.run("pip list --format json --disable-pip-version-check"))
    versions = {each["name"].lower(): each["version"] for each in listed}
    # pip installed this wheel, not a release from a registry.
    (wheel,) = Path(shell.environ["PIP_FIND_LINKS"]).glob("dbt_paimon-*.whl")
    assert wheel.name.split("-")[1] == versions["dbt-paimon"]
    size = sum(path.lstat().st_size for path in environment.rglob("*") if not path.is_symlink())
    first_rows = "not run" if rows_after is None else f"{rows_after:.0f} s"
    frames = ", ".join(versions.get(name, "none") for name in ("pandas", "pyarrow", "numpy"))
    return (
        f"| `{install}` | {python} | {versions['dbt-core']} | {versions['dbt-adapters']} | {versions['pyspark']} | {frames} "
        f"| {size / 2**20:.0f} MiB | {shell.seconds[f'pip install {install!r}']:.0f} s | {first_rows} |\n"
    )


def test_content(links: Path) -> None:
    (wheel,) = links.glob("dbt_paimon-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    content = {name for name in names if ".dist-info/" not in name}
    sources = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    assert content == sources
    # These files belong to dbt-core and dbt-adapters; ours would shadow them.
    assert not {"dbt/__init__.py", "dbt/adapters/__init__.py", "dbt/include/__init__.py"} & content
    assert "dbt/adapters/paimon/py.typed" in content
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.slow
@pytest.mark.usefixtures("transcript")
def test_first_hour(shell: Shell, uv: str, python_of_user: str, figures: list[str]) -> None:
    environment = new_environment(shell, python_of_user, uv)
    commands = blocks_of("README.md", "## Use it in a project of your own")[0].commands()
    assert [command.split()[:2] for command in commands] == [
        ["pip", "install"],
        ["dbt", "init"],
        ["cd", "my_lakehouse"],
        ["dbt", "debug"],
        ["dbt", "run"],
        ["dbt", "show"],
    ]
    install, init, enter, debug, run, show = commands
    shell.run(install, attempts=3)
    plugins = shell.run("python -c 'from dbt.version import _get_adapter_plugin_names as n; print(*n())'")
    warehouse = shell.folder / "warehouse"
    # The answers: adapter, connection method, warehouse, schema, threads.
    answers = [str(plugins.split().index("paimon") + 1), "1", str(warehouse), "analytics", "2", ""]
    shell.run(init, answers="\n".join(answers))
    profiles = yaml.safe_load(Path(shell.environ["HOME"], ".dbt", "profiles.yml").read_text())
    assert profiles["my_lakehouse"]["outputs"]["dev"] == {
        "type": "paimon",
        "method": "session",
        "warehouse": str(warehouse),
        "schema": "analytics",
        "threads": 2,
    }
    shell.run(enter)
    shell.run(debug)
    shell.run(run)
    assert "| id |" in " ".join(shell.run(show).split())
    rows_after = sum(seconds for command, seconds in shell.seconds.items() if command in commands)
    # The starter project has a row without an id, and a data test that finds it.
    shell.run("dbt test", returns=1)
    results = json.loads((shell.folder / "target" / "run_results.json").read_text())["results"]
    assert sorted(each["status"] for each in results) == ["fail", "pass", "pass", "pass"]
    assert [each["unique_id"].split(".")[2] for each in results if each["status"] == "fail"] == [
        "not_null_my_first_dbt_model_id"
    ]
    shell.run("dbt docs generate")
    nodes = json.loads((shell.folder / "target" / "catalog.json").read_text())["nodes"]
    table = nodes["model.my_lakehouse.my_first_dbt_model"]
    assert (table["metadata"]["type"], table["stats"]["rows"]["value"]) == ("table", 2)
    assert (warehouse / "analytics.db" / "my_first_dbt_model").is_dir()
    figures.append(seen(shell, environment, "dbt-paimon[session]", python_of_user, rows_after))


PANDAS_MODEL = """
def model(dbt, session):
    dbt.config(materialized="table")
    frame = dbt.ref("my_first_dbt_model").toPandas()
    frame["twice"] = frame["id"] * 2
    return frame
"""


@pytest.mark.slow
def test_warm_server(shell: Shell, uv: str, python_by_hand: str, figures: list[str]) -> None:
    """`dbt-paimon server` as in docs/deployment.md, with a pandas model; run by hand (`make wheel-check`)."""
    environment = new_environment(shell, python_by_hand, uv)
    install, start, run, status, stop = blocks_of("docs/deployment.md", "## A warm local server")[0].commands()
    shell.run(install, attempts=3)
    shell.run("dbt init --skip-profile-setup my_lakehouse")
    target = {"type": "paimon", "schema": "analytics", "paimon_version": "0.9.0", "threads": 2}
    target |= {"warehouse": str(shell.folder / "warehouse")}
    outputs = {"warm": {**target, "method": "connect"}, "cold": {**target, "method": "session"}}
    shell.run("cd my_lakehouse")
    (shell.folder / "profiles.yml").write_text(yaml.safe_dump({"my_lakehouse": {"target": "warm", "outputs": outputs}}))
    (shell.folder / "models" / "from_pandas.py").write_text(PANDAS_MODEL)
    try:
        shell.run(start)
        shell.run(run)
        rows_after = sum(shell.seconds[command] for command in (install, start, run))
        shell.run("dbt docs generate --target warm")
        shell.run(status)
    finally:
        shell.run(stop)
    # The same model in dbt's own process, and the table's rows afterwards.
    shell.run("dbt run --target cold")
    query = "select count(*) as n, sum(twice) as s from {{ ref('from_pandas') }}"
    shown = shell.run(f'dbt --quiet show --target cold --output json --inline "{query}"')
    assert json.loads(shown)["show"] == [{"n": 2, "s": 2.0}]
    figures.append(seen(shell, environment, "dbt-paimon[connect]", python_by_hand, rows_after))


@pytest.mark.slow
def test_spark_4(shell: Shell, uv: str, python_by_hand: str, figures: list[str]) -> None:
    """The packages for Spark 4.1 are installed. No model is run, because no registry here has the connector."""
    environment = new_environment(shell, python_by_hand, uv)
    shell.run("pip install 'dbt-paimon[spark4]'", attempts=3)
    assert "paimon" in shell.run("dbt --version")
    figures.append(seen(shell, environment, "dbt-paimon[spark4]", python_by_hand, None))
