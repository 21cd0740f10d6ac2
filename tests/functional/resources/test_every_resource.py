"""A project with every resource type of dbt 1.12: it parses and builds, and dbt's commands work on it."""

from __future__ import annotations

import json
import shutil
from copy import deepcopy
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from dbt.adapters.factory import get_adapter_by_type
from dbt.tests.util import get_connection, run_dbt

PROJECT = Path(__file__).parent / "project"
# Spark 3.5 cannot create SQL functions: dbt parses and lists them, but building one is an error.
BUILT = ("--exclude", "resource_type:function")
KINDS = set("exposure function metric model saved_query seed semantic_model snapshot source test unit_test".split())
UNIT_TESTS = ("small_amounts_go", "days_of_csv", "totals_of_files")

ORDERS = [
    (1, "ann", date(2026, 1, 5), Decimal("2.50")),
    (2, "bob", date(2026, 2, 6), Decimal("1.25")),
    (3, "ann", date(2026, 2, 7), Decimal("7.00")),
]
TOTALS = [("ann", Decimal("9.50")), ("bob", Decimal("1.25"))]


def named(results: Any) -> set[str]:
    """The names of the nodes that a command ran, without hooks."""
    return {result.node.name for result in results if result.node.resource_type != "operation"}


class TestEveryResource:
    @pytest.fixture(scope="class")
    def other_schema(self, unique_schema):
        return f"{unique_schema}_other"

    @pytest.fixture(scope="class")
    def profiles_config_update(self, dbt_profile_target, unique_schema, other_schema):
        here, there = deepcopy(dbt_profile_target), deepcopy(dbt_profile_target)
        here["schema"], there["schema"] = unique_schema, other_schema
        return {"test": {"outputs": {"default": here, "other": there}, "target": "default"}}

    @pytest.fixture(scope="class")
    def dbt_project_yml(self, project_root, tmp_path_factory):
        shutil.copytree(PROJECT, project_root, dirs_exist_ok=True)
        catalogs = Path(project_root, "catalogs.yml")
        catalogs.write_text(catalogs.read_text().replace("ARCHIVE", str(tmp_path_factory.mktemp("archive"))))
        return yaml.safe_load((PROJECT / "dbt_project.yml").read_text())

    @pytest.fixture(scope="class")
    def project_files(self, dbt_project_yml):
        """Overrides dbt's fixture: the files are already copied."""

    @pytest.fixture(scope="class")
    def built(self, project) -> dict[str, tuple[str, int | None]]:
        """Build and save the state for later runs; returns each node's status and number of failures, by name."""
        results = run_dbt(["build", *BUILT])
        shutil.copytree(f"{project.project_root}/target", f"{project.project_root}/state")
        return {result.node.name: (str(result.status), result.failures) for result in results}

    def rows(self, table: str, schema: str, catalog: str = "paimon") -> list[tuple[Any, ...]]:
        """The sorted rows of a table. Uses the last command's adapter, which has read catalogs.yml."""
        adapter = get_adapter_by_type("paimon")
        with get_connection(adapter):
            return sorted(tuple(row) for row in adapter.query(f"select * from {catalog}.{schema}.{table}"))

    def listed(self, *flags: str) -> set[str]:
        keys = ("--output", "json", "--output-keys", "resource_type", "name")
        found = (json.loads(line) for line in run_dbt(["ls", *keys, *flags]))
        return {f"{node['resource_type']} {node['name']}" for node in found}

    def test_build(self, project, built):
        def rows(table: str, catalog: str = "paimon", suffix: str = "") -> list[tuple[Any, ...]]:
            return self.rows(table, project.test_schema + suffix, catalog)

        warned = {name: failures for name, (status, failures) in built.items() if status == "warn"}
        assert warned == {
            "at_least_stg_orders_2_5__amount__3": 1,
            "accepted_values_stg_orders_customer__ann": 1,
        }
        assert {built[name] for name in UNIT_TESTS} == {("pass", 0)}

        assert rows("orders") == ORDERS
        assert rows("stg_orders", "spark_catalog") == [(*order, datetime.combine(order[2], time())) for order in ORDERS]
        assert rows("totals") == rows("kept", "archive_lake") == TOTALS
        assert [row[0] for row in rows("by_day")] == [1, 2, 3]
        assert rows("customers") == [("ann",), ("bob",)]
        assert rows("customers_v2") == [("ann", 2), ("bob", 1)]
        # The pointer to the latest version (dbt 1.12) is a view, in spark_catalog like all views.
        assert rows("cities", "spark_catalog") == rows("cities_v1") == [(1, "Ulm")]
        assert rows("versions") == [(2, "bob", "bob")]
        assert rows("secret") == [("ann", 950), ("bob", 125)]
        assert rows("sum_of_secrets") == [(1075,)]
        assert rows("in_python") == [("ann", Decimal("19.00")), ("bob", Decimal("2.50"))]
        assert len(rows("days")) == 90
        assert [row[:2] for row in rows("totals_then")] == TOTALS
        assert [row[:2] for row in rows("orders_then")] == [(order[0], order[3]) for order in ORDERS]
        assert rows("accepted_values_stg_orders_customer__ann", suffix="_dbt_test__audit") == [("bob", 1)]
        assert rows("every_order_is_staged", "spark_catalog", "_dbt_test__audit") == []
        assert rows("runs") == [("build",)]

    def test_what_is_read(self, project, built):
        kinds = {line.split()[0] for line in self.listed()}
        assert kinds == KINDS
        assert self.listed("--selector", "staged", "--exclude-resource-type", "test", "unit_test") == {
            "model stg_orders",
            "model only_day",
            "seed raw_orders",
        }
        assert "saved_query revenue_by_day" in self.listed("--select", "+saved_query:*")

        shown, *_ = run_dbt(["show", "--select", "largest"])
        assert [tuple(row) for row in shown.agate_table.rows] == [(3,)]
        (fresh,) = (r for r in run_dbt(["source", "freshness"]) if r.node.name == "raw_orders")
        assert str(fresh.status) == "pass"
        assert fresh.max_loaded_at.date() == date(2026, 2, 7)

        run_dbt(["run-operation", "write_note", "--args", "{text: it's noted}"])
        assert ("it's noted",) in self.rows("runs", project.test_schema)
        catalog = run_dbt(["docs", "generate"])
        assert catalog.nodes["model.test.kept"].metadata.database == "archive_lake"
        assert catalog.nodes["model.test.orders"].columns["customer"].comment == "Who ordered"
        description = catalog.nodes["model.test.stg_orders"].columns["order_id"].comment
        assert description == """The order's number; "unique", it's said, in `orders`."""

    def test_retry(self, project, built):
        model = Path(project.project_root, "models", "marts", "broken.sql")
        model.write_text("select no_such_column from {{ ref('totals') }}")
        run_dbt(["build", "--select", "broken", "secret_sum"], expect_pass=False)
        model.write_text("select customer from {{ ref('totals') }}")
        again = named(run_dbt(["retry"]))
        model.unlink()
        assert again == {"broken"}
        assert self.rows("broken", project.test_schema) == [("ann",), ("bob",)]

    def test_another_schema(self, project, built, other_schema):
        """Nodes built in another schema read the first build's relations if their schema does not have them."""

        def there(*command: str) -> set[str]:
            return named(run_dbt([*command, "--state", "state", "--target", "other"]))

        model = Path(project.project_root, "models", "marts", "secret.sql")
        model.write_text(model.read_text().replace("as cents", "as cents, 'new' as mark"))
        assert {"secret", "secret_sum"} == there("run", "--select", "state:modified+", "--defer")
        assert self.rows("secret", other_schema) == [("ann", 950, "new"), ("bob", 125, "new")]

        sample = "{start: '2026-02-01', end: '2026-02-07'}"
        there("run", "--select", "orders", "--sample", sample, "--defer", "--favor-state")
        assert self.rows("orders", other_schema) == [ORDERS[1]]

        there("run", "--empty", "--select", "orders", "totals", "by_day", "--defer", "--favor-state")
        for table in ("orders", "totals", "by_day"):
            assert self.rows(table, other_schema) == []

        there("clone", "--select", "totals", "customers", "--full-refresh")
        assert self.rows("totals", other_schema) == TOTALS
        assert self.rows("customers_v2", other_schema) == [("ann", 2), ("bob", 1)]
