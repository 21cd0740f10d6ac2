"""Runs the commands of docs/pull-requests.md as written there, with clones as copies and as branches.

Also those of docs/column-lineage.md, which build only the affected nodes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from dbt.tests.util import run_dbt, write_file

from dbt_paimon.cli import main
from doc_pages import ROOT, Block, blocks_of

BLOCKS = blocks_of("docs/pull-requests.md", "## A pull request")
AFFECTED = blocks_of("docs/column-lineage.md", "### In a pull request")

ORDERS = """
{{ config(materialized='table') }}
select id as order_id, id % 20 as customer_id, concat('2026-11-0', 1 + id div 40) as day,
  if(id % 7 = 0, 'returned', 'paid') as status, cast(10 + id as decimal(10, 2)) as amount
from range(120)
"""
CUSTOMERS = """
{{ config(materialized='incremental', primary_key=['day', 'customer_id'], partition_by='day', bucket=1) }}
select day, customer_id, sum(amount) as revenue
from {{ ref('orders') }}
{% if is_incremental() %} where day >= (select max(day) from {{ this }}) {% endif %}
group by day, customer_id
"""
DAYS = "{{ config(materialized='table') }} select day, sum(revenue) as revenue from {{ ref('customers') }} group by day"
# It reads no column that the pull request changes.
SEEN = "{{ config(materialized='table') }} select distinct customer_id from {{ ref('customers') }}"
PROPERTIES = "models: [{name: customers, columns: [{name: revenue, data_tests: [not_null]}]}]"
BEFORE, AFTER = "sum(amount)", "sum(amount) filter (where status = 'paid')"


def block(language: str, number: int = 0) -> Block:
    return [each for each in BLOCKS if each.language == language][number]


def commands() -> list[str]:
    return block("sh").commands()


def of_dbt(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith(("dbt", "gh"))]


def test_the_workflow_has_the_same_commands() -> None:
    workflow = yaml.safe_load(block("yaml", 1).text)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    lines = [line for step in steps for line in step.get("run", "").splitlines()]
    assert of_dbt(commands()) == of_dbt(lines)
    assert AFTER in (ROOT / "docs/pull-requests.md").read_text()


class TheLoop:
    way: str
    # What the pull request builds.
    built: frozenset[str] = frozenset(("customers", "days", "seen"))

    def build_commands(self) -> list[str]:
        return commands()[:-1]

    @pytest.fixture(scope="class", autouse=True)
    def _of_the_forge(self) -> Iterator[None]:
        (assignment,) = (line for line in commands() if line.startswith("export "))
        name, _, value = assignment.removeprefix("export ").partition("=")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(name, value)
            yield

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "orders.sql": ORDERS,
            "customers.sql": CUSTOMERS,
            "days.sql": DAYS,
            "seen.sql": SEEN,
            "shop.yml": PROPERTIES,
        }

    @pytest.fixture(scope="class")
    def profiles_config_update(self, dbt_profile_target: dict[str, Any]) -> dict[str, Any]:
        """The profile from the page, with the test's warehouse."""
        outputs = yaml.safe_load(block("yaml").text)["shop"]["outputs"]
        assert outputs["pr"].pop("clone_by") == "branch"
        outputs["pr"]["clone_by"] = self.way
        return {
            "test": {
                "outputs": {name: {**output, **dbt_profile_target} for name, output in outputs.items()},
                "target": "prod",
            }
        }

    @pytest.fixture(scope="class", autouse=True)
    def _production(self, project: Any, _of_the_forge: None, rows: Any) -> Iterator[None]:
        run_dbt(["build"])
        state = Path(project.project_root) / "production"
        state.mkdir()
        (state / "manifest.json").write_bytes((Path(project.project_root) / "target/manifest.json").read_bytes())
        yield
        for schema in ("shop", "shop_pr_7"):
            rows(f"drop database if exists paimon.{schema} cascade")

    def run(self, project: Any, line: str) -> None:
        command, _, file = line.replace("$PR", "7").partition(" > ")
        name, *arguments = shlex.split(command)
        if name == "dbt":
            run_dbt(arguments)
        elif name == "dbt-paimon":
            places = ["--project-dir", project.project_root, "--profiles-dir", project.profiles_dir]
            done = CliRunner().invoke(main, [*arguments, *places])
            assert done.exit_code == 0, done.output
            if file:
                Path(project.project_root, file).write_text(done.stdout)
        else:
            assert name in ("export", "gh"), line

    def of_production(self, rows: Any) -> Any:
        table = "paimon.shop.`customers${}`"
        tags = [name for (name,) in rows(f"select tag_name from {table.format('tags')}") if name != "branch_shop_pr_7"]
        snapshots = rows(f"select * from {table.format('snapshots')} order by snapshot_id")
        return sorted(rows("select * from paimon.shop.customers")), snapshots, tags

    def test_the_loop(self, project: Any, rows: Any) -> None:
        production = self.of_production(rows)
        write_file(CUSTOMERS.replace(BEFORE, AFTER), project.project_root, "models", "customers.sql")
        for line in self.build_commands():
            self.run(project, line)

        assert self.of_production(rows) == production
        branches = rows("select branch_name from paimon.shop.`customers$branches`")
        assert branches == ([("shop_pr_7",)] if self.way == "branch" else [])
        home = "spark_catalog" if self.way == "branch" else "paimon"
        built = dict(rows(f"select customer_id, revenue from {home}.shop_pr_7.customers where day = '2026-11-03'"))
        was = {customer: revenue for day, customer, revenue in production[0] if day == "2026-11-03"}
        returned = {number % 20: 10 + number for number in range(80, 120) if number % 7 == 0}
        assert built == {customer: revenue - returned.get(customer, 0) for customer, revenue in was.items()}
        # The downstream model reads the clone.
        (total,) = rows("select revenue from paimon.shop_pr_7.days where day = '2026-11-03'")
        assert total == (sum(built.values()),)
        made = {row[1] for name in ("paimon", home) for row in rows(f"show tables in {name}.shop_pr_7")}
        assert made - {"_dbt_views"} == self.built

        # Which files are read depends on the way of cloning; their size depends on the version of Parquet.
        reads = r"^Read .*$" if self.way == "copy" else r"[\d.]+ KiB"
        told = Path(project.project_root, "diff.md").read_text()
        shown, told = (re.sub(reads, "", text, flags=re.MULTILINE) for text in (block("markdown").text, told))
        assert shown.strip() in told

        self.run(project, commands()[-1])
        assert self.of_production(rows) == production
        for what in ("branches", "tags"):
            assert rows(f"select * from paimon.shop.`customers${what}`") == []
        assert ("shop_pr_7",) not in rows("show databases in paimon")


class TestByBranch(TheLoop):
    way = "branch"


class TestByCopy(TheLoop):
    way = "copy"


class TestAffected(TheLoop):
    way = "branch"
    built = frozenset(("customers", "days"))

    def build_commands(self) -> list[str]:
        first = next(each for each in AFFECTED if each.language == "sh")
        return [commands()[0], *first.commands()]
