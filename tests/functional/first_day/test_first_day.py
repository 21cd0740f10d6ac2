"""A project with one mistake per node (nodes.yml). Each node fails with its own message and does not stop the others.

Mistakes that are found without Spark are in tests/unit/test_first_day.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.tests.util import run_dbt, run_dbt_and_capture
from dbt_common.exceptions import DbtBaseException

from functional.conftest import VERSIONS

NODES: list[dict[str, Any]] = [
    node
    for node in yaml.safe_load((Path(__file__).parent / "nodes.yml").read_text("utf-8"))
    # Later versions of Spark accept some of the mistakes.
    if VERSIONS.spark.major < node.get("until_spark", 9)
]
MODELS = [node for node in NODES if "sql" in node or "python" in node]
GOOD = "{{ config(materialized='table') }} select 1 as id, 'ann' as customer"


def sql(node: dict[str, Any]) -> str:
    arguments = ", ".join(
        f"{key}={value!r}" for key, value in ({"materialized": "table"} | node.get("config", {})).items()
    )
    return f"{{{{ config({arguments}) }}}}\n{node['sql']}"


def python(node: dict[str, Any]) -> str:
    return f"def model(dbt, session):\n    dbt.config(materialized='table')\n    {node['python']}\n"


class TestFirstDay:
    @pytest.fixture(scope="class")
    def models(self):
        sources = [
            {"name": "raw", "schema": "{{ target.schema }}", "tables": [{"name": "order"}]},
            {"name": "elsewhere", "schema": "analytcs", "tables": [{"name": "orders"}]},
            {"name": "far", "database": "hve", "schema": "lake", "tables": [{"name": "orders"}]},
            {
                "name": "former",
                "database": "spark_catalog",
                "schema": "default",
                "tables": [{"name": "taken_over"}],
            },
        ]
        described = [{"name": node["name"], "columns": node["columns"]} for node in MODELS if "columns" in node]
        tested = [
            {"name": node["test"], "data_tests": [{"not_null": {"name": node["name"]}}]}
            for node in NODES
            if "test" in node
        ]
        files = {
            "left_out.sql": "select 1 as id",
            "orders.sql": GOOD,
            "tested.sql": GOOD,
            "yaml.yml": yaml.safe_dump(
                {"sources": sources, "models": [*described, {"name": "tested", "columns": tested}]}
            ),
        }
        files |= {f"{node['name']}.sql": sql(node) for node in MODELS if "sql" in node}
        return files | {f"{node['name']}.py": python(node) for node in MODELS if "python" in node}

    @pytest.fixture(scope="class")
    def seeds(self):
        seeds = [node for node in NODES if "csv" in node]
        types = [{"name": node["name"], "config": node["config"]} for node in seeds if "config" in node]
        return {f"{node['name']}.csv": node["csv"] for node in seeds} | {"seeds.yml": yaml.safe_dump({"seeds": types})}

    @pytest.fixture(scope="class")
    def said(self, project, tmp_path_factory) -> dict[str, str]:
        """The messages of all failed nodes. Nodes marked `second` must succeed in a first run."""
        archive = {
            "name": "archive_lake",
            "catalog_type": "filesystem",
            "external_volume": str(tmp_path_factory.mktemp("archive")),
        }
        (Path(project.project_root) / "catalogs.yml").write_text(
            yaml.safe_dump({"catalogs": [{"name": "archive", "write_integrations": [archive]}]})
        )
        first = run_dbt(["build", "--exclude", "left_out"], expect_pass=False)
        late = [node["name"] for node in NODES if node.get("second")]
        assert {r.node.name: str(r.status) for r in first if r.node.name in [*late, "orders"]} == dict.fromkeys(
            [*late, "orders"], "success"
        )
        second = run_dbt(["run", "--select", *late], expect_pass=False)
        return {r.node.name: r.message for r in (*first, *second) if str(r.status) == "error"}

    def test_each_node_ends_with_its_own_message(self, said):
        problems = []
        for node in NODES:
            message = said.get(node["name"])
            if message is None:
                problems.append(f"{node['name']}: no error")
                continue
            problems += [
                f"{node['name']}: {part} ({node[part]}) is not in: {message}"
                for part in ("what", "where", "remedy")
                if node[part] not in message
            ]
            if any(noise in message for noise in ("\tat ", "Traceback", "To tolerate the error", "'Project")):
                problems.append(f"{node['name']}: noise in: {message}")
        assert not problems, "\n".join(problems)

    def test_no_other_node_failed(self, said):
        assert said.keys() == {node["name"] for node in NODES}

    @pytest.mark.parametrize(
        ("operation", "parts"),
        [
            (["rollback_to"], ["rollback_to: name the table", "--args"]),
            (["compact"], ["'relation' was not provided", "macro compact"]),
            (["maintan"], ["could not find a macro with the name 'maintan'"]),
        ],
    )
    def test_operations(self, project, said, operation, parts):
        message = ""
        try:
            _, message = run_dbt_and_capture(["run-operation", *operation], expect_pass=False)
        except DbtBaseException as exc:
            message = str(exc)
        for part in parts:
            assert part in message

    def test_unknown_ref(self, project, said):
        """dbt fails while it parses the project, before it calls the adapter."""
        model = Path(project.project_root) / "models" / "unknown_ref.sql"
        model.write_text("select * from {{ ref('ordrs') }}")
        try:
            with pytest.raises(DbtBaseException, match=r"unknown_ref\.sql.*'ordrs' which was not found"):
                run_dbt(["parse"])
        finally:
            model.unlink()

    def test_catalog_name(self, project, said):
        """dbt asks the adapter for the catalog while it parses the project, and fails there."""
        model = Path(project.project_root) / "models" / "misnamed.sql"
        model.write_text("{{ config(catalog_name='archve') }} select 1 as id")
        try:
            with pytest.raises(DbtBaseException) as raised:
                run_dbt(["parse"])
        finally:
            model.unlink()
        message = str(raised.value)
        for part in ("misnamed", "'archve' is not in catalogs.yml", "Did you mean archive?"):
            assert part in message
