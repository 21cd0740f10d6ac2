"""The same project on every kind of catalog, and the rows of its tables after each step."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt, write_file
from pyspark.sql import SparkSession

from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spark.session import open_session
from own_process import credentials_of

MODELS = {
    "rebuilt.sql": "{{ config(materialized='table') }} select id, {{ var('step') }} as step from range(3)",
    # A new primary key needs a new table, which replaces the old one.
    "swapped.sql": """{{ config(materialized='table', on_rebuild='drop_history', primary_key=['id'] if var('step') % 2 else ['id', 'step']) }}
select id, {{ var('step') }} as step from {{ ref('rebuilt') }}""",
    "upserted.sql": """{{ config(materialized='incremental', primary_key='id', bucket=2) }}
select id, {{ var('step') }} as step from range(4) {% if is_incremental() %} where id % 2 = 0 {% endif %}""",
    "parted.sql": """{{ config(
    materialized='incremental', incremental_strategy='insert_overwrite', partition_by='part'
) }}
select id, {{ var('step') }} as step, id % 2 as part from range(4) {% if is_incremental() %} where id % 2 = 0 {% endif %}""",
    # The partitions are also in the metastore; expiring them must not fail.
    "recent.sql": """{{ config(
    materialized='table', partition_by='day', tblproperties={'metastore.partitioned-table': 'true'},
    maintenance={'on_failure': 'error', 'expire_partitions': {
        'expiration_time': '90 d', 'timestamp_formatter': 'yyyy-MM-dd'
    }}
) }}
select * from values ({{ var('step') }}, '2020-01-01'), ({{ var('step') }}, '2999-01-01') as _ (step, day)""",
    "seen.sql": "{{ config(materialized='view') }} select id, step from {{ ref('upserted') }} where id < 2",
    # This model is refused if the catalog does not return the query of the view.
    "kept_current.sql": """{{ config(materialized='materialized_view', refresh_mode='incremental') }}
select id, step from {{ ref('seen') }}""",
    "read_from_a_view.sql": "{{ config(materialized='table') }} select * from {{ ref('seen') }}",
    "items.yml": {
        "snapshots": [
            {
                "name": "history",
                "relation": "ref('swapped')",
                "config": {"unique_key": "id", "strategy": "check", "check_cols": ["step"]},
            }
        ]
    },
}
SEED = "id,name\n1,one\n2,two\n"

# Statements that write a model's rows or define its view.
_OWN = re.compile(r"^(insert|merge|create or replace view)\b", re.IGNORECASE)
_COMMENT = re.compile(r"^/\*.*?\*/\s*", re.DOTALL)


def states(step: int) -> dict[str, list[tuple[Any, ...]]]:
    """The sorted rows of every table after a step."""
    return {
        "rebuilt": [(number, step) for number in range(3)],
        "swapped": [(number, step) for number in range(3)],
        "upserted": [(number, 1 if number % 2 else step) for number in range(4)],
        "parted": [(number, 1 if number % 2 else step, number % 2) for number in range(4)],
        "recent": [(step, "2999-01-01")],
        "kept_current": [(0, step), (1, 1)],
        "read_from_a_view": [(0, step), (1, 1)],
        "planted": [(1, "one"), (2, "two")],
        "history": [(number, past, past == step) for number in range(3) for past in range(1, step + 1)],
    }


class Reader:
    """Another session on a target's catalog; it shares only the JVM with dbt's session."""

    def __init__(self, target: dict[str, Any]) -> None:
        credentials = credentials_of(target)
        self.session = open_session(Runtime(credentials)).session
        self.schema = f"{credentials.catalog}.{credentials.schema}"

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query; `{schema}` stands for the target's schema."""
        return [tuple(row) for row in self.session.sql(sql.format(schema=self.schema)).collect()]

    def state(self, table: str) -> list[tuple[Any, ...]]:
        """The sorted rows of a table."""
        columns = {"history": "id, step, dbt_valid_to is null"}.get(table, "*")
        return sorted(self.rows(f"select {columns} from {{schema}}.{table}"))

    def tables(self) -> set[str]:
        return {row[1] for row in self.rows("show tables in {schema}")}

    def has_schema(self) -> bool:
        catalog, _, schema = self.schema.partition(".")
        return schema in [row[0] for row in self.rows(f"show databases in {catalog}")]

    def primary_key(self, table: str) -> str:
        query = f"select primary_keys from {{schema}}.`{table}$schemas` order by schema_id desc limit 1"
        ((keys,),) = self.rows(query)
        return str(keys)


def sqlite_target(folder: Path, spark_config: dict[str, Any]) -> dict[str, Any]:
    """A target with a JDBC catalog in SQLite."""
    return {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "metastore": "jdbc",
        "uri": f"jdbc:sqlite:{folder / 'catalog.db'}",
        "warehouse": str(folder / "lake"),
        "threads": 2,
        "spark_config": spark_config,
    }


def schema_of(project: Any) -> tuple[Any, Any]:
    """The adapter of the last run, and the test's schema."""
    adapter = project.adapter
    return adapter, adapter.Relation.create(project.database, project.test_schema)


class CatalogTests:
    """Subclasses define `dbt_profile_target`."""

    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"planted.csv": SEED}

    @pytest.fixture(scope="class")
    def reader(self, project, dbt_profile_target) -> Reader:
        return Reader(dbt_profile_target)

    def build(self, step: int) -> None:
        assert len(run_dbt(["build", "--vars", f"{{step: {step}}}"])) == 10

    def assert_state(self, reader: Reader, step: int) -> None:
        for table, rows in states(step).items():
            assert reader.state(table) == rows, table
        assert reader.tables() - {"_dbt_views", "seen"} == set(states(step))

    def test_build(self, project, reader):
        self.build(1)
        self.assert_state(reader, 1)
        assert reader.primary_key("swapped") == '["id"]'

    def test_next_builds(self, project, reader):
        self.build(2)
        self.assert_state(reader, 2)
        assert reader.primary_key("swapped") == '["id","step"]'
        # A rebuild commits to the same table; a swap creates a new one.
        assert reader.rows("select count(*) from {schema}.`rebuilt$snapshots`") == [(2,)]
        assert reader.rows("select count(*) from {schema}.`swapped$snapshots`") == [(1,)]

    def test_a_view_becomes_a_table_and_back(self, project, reader):
        for step, kind in enumerate(("view", "incremental", "view", "table", "table")):
            # The last rebuild adds a column before the first one.
            added = "'new' as word, " if step == 4 else ""
            sql = f"{{{{ config(materialized='{kind}') }}}} select {added}{step} as step"
            write_file(sql, project.project_root, "models", "turned.sql")
            run_dbt(["run", "--select", "turned", "--full-refresh", "--vars", "step: 2"])
            adapter, schema = schema_of(project)
            with adapter.connection_named("turned"):
                (turned,) = (
                    each for each in adapter.list_relations_without_caching(schema) if "turned" in each.identifier
                )
                assert turned.is_view == (kind == "view")
                assert [tuple(row) for row in adapter.query(f"select step from {turned}")] == [(step,)]
        with adapter.connection_named("turned"):
            adapter.drop_relation(turned)
        Path(project.project_root, "models", "turned.sql").unlink()

    def test_a_view_of_star_takes_columns_by_name(self, project, reader):
        folder = Path(project.project_root, "models")
        (folder / "starred.yml").write_text(
            "models: [{name: starred, columns: [{name: name, description: its name}],"
            " config: {persist_docs: {relation: true, columns: true}}}]"
        )
        (folder / "starred.sql").write_text("{{ config(materialized='view') }} select * from {{ ref('wide') }}")
        wide = "{{ config(materialized='incremental', on_schema_change='sync_all_columns') }} select 1 as id, "
        (folder / "wide.sql").write_text(wide + "'a@x' as email, 'Ann' as name")
        run_dbt(["run", "--select", "wide", "starred", "--vars", "step: 2"])
        (folder / "wide.sql").write_text(wide + "'Ann' as name, 'Rome' as city, 'a@x' as email")
        run_dbt(["run", "--select", "wide", "--vars", "step: 2"])
        adapter, schema = schema_of(project)
        with adapter.connection_named("starred"):
            found = {each.identifier: each for each in adapter.list_relations_without_caching(schema)}
            rows = adapter.query(f"select id, email, name from {found['starred']}")
            assert {tuple(row) for row in rows} == {(1, "a@x", "Ann")}
            for name in ("starred", "wide"):
                adapter.drop_relation(found[name])
        for name in ("starred.yml", "starred.sql", "wide.sql"):
            (folder / name).unlink()

    def test_budget(self, project, monkeypatch):
        """At most 5 statements per run and 2 per model, as on a filesystem catalog, apart from those in `_OWN`."""
        models = ["rebuilt", "upserted", "parted", "seen"]
        statements: list[str] = []
        spark_sql = SparkSession.sql

        def counted(session, query, *args, **kwargs):
            statements.append(_COMMENT.sub("", query).strip())
            return spark_sql(session, query, *args, **kwargs)

        monkeypatch.setattr(SparkSession, "sql", counted)
        run_dbt(["run", "--select", *models, "--vars", "{step: 2}"])
        monkeypatch.undo()
        added = [statement for statement in statements if not _OWN.match(statement)]
        assert len(added) <= 5 + 2 * len(models), Counter(added)

    def test_docs(self, project):
        nodes = run_dbt(["docs", "generate", "--vars", "{step: 2}"]).nodes
        upserted = nodes["model.test.upserted"]
        assert [(c.name, c.type) for c in upserted.columns.values()] == [("id", "bigint"), ("step", "int")]
        assert upserted.stats["files"].value >= 1
        assert nodes["model.test.seen"].metadata.type == "view"
        assert nodes["seed.test.planted"].stats["rows"].value == 2

    def test_a_schema_goes_with_its_files(self, project, reader):
        run_dbt(["run", "--full-refresh", "--select", "rebuilt", "upserted", "--vars", "{step: 9}"])
        assert reader.state("upserted") == [(number, 9) for number in range(4)]
        adapter = project.adapter
        schema = adapter.Relation.create(adapter.credentials.database, project.test_schema)
        with adapter.connection_named("drop"):
            adapter.drop_schema(schema)
        assert not reader.has_schema()
        # Leftover files of the old tables would break the new ones.
        run_dbt(["run", "--select", "rebuilt", "upserted", "--vars", "{step: 1}"])
        for table in ("rebuilt", "upserted"):
            assert reader.state(table) == states(1)[table]
            assert reader.rows(f"select count(*) from {{schema}}.`{table}$snapshots`") == [(1,)]

    def test_debug(self, project, reader):
        before = reader.tables()
        run_dbt(["debug"])
        assert reader.tables() == before
