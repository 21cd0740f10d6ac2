"""A node's `spark_config` applies to its own statements only, also if the node fails."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.sql import views

# Shows the effect of session settings: the number of tasks after a shuffle, and the time zone.
SEEN = """
select cast(count(distinct task) as int) as tasks, current_timezone() as zone,
  timestamp'2026-01-01 00:00:00' as midnight
from (select spark_partition_id() as task from (select id from range(1000) distribute by id))
"""
TOKYO = {"spark.sql.session.timeZone": "Asia/Tokyo"}
# The setting of the models' folder. Without it, Spark would combine small tasks.
OF_FOLDER = {"spark.sql.adaptive.enabled": False}


def model(sql: str = SEEN, **settings: object) -> str:
    return f"{{{{ config(materialized='table', spark_config={ {k.replace('__', '.'): v for k, v in settings.items()} }) }}}}{sql}"


def partitions(number: int, **more: object) -> str:
    return model(spark__sql__shuffle__partitions=number, **more)


PYTHON = """
def model(dbt, session):
    dbt.config(materialized='table', spark_config={'spark.sql.session.timeZone': 'Asia/Tokyo'})
    return session.sql("select current_timezone() as zone")
"""
HEADER = "{% call set_sql_header(config) %} set spark.sql.session.timeZone=Asia/Tokyo {% endcall %}"
NOON = "select hour(timestamp'2026-01-01 12:00:00Z') as noon"
QUOTED = {"spark.sql.ansi.enabled": True, "spark.sql.ansi.doubleQuotedIdentifiers": True}
# Views with the session's settings, with their own, and with those of a header.
VIEWS = {
    "usual_view.sql": NOON,
    "own_view.sql": f"{{{{ config(spark_config={TOKYO}) }}}} {NOON}",
    "header_view.sql": f"{HEADER} {NOON}",
    "quoted_view.sql": f'{{{{ config(spark_config={QUOTED}) }}}} select "id" from (select 1 as id)',
}
READ = """select usual.noon as usual, own.noon as own, header.noon as header, cast(id as string) as id,
  current_timezone() as zone
from {{ ref('usual_view') }} as usual, {{ ref('own_view') }} as own, {{ ref('header_view') }} as header,
  {{ ref('quoted_view') }}"""
PROPERTIES = {
    "models": [
        {
            "name": "five",
            "columns": [{"name": "zone", "data_tests": [{"accepted_values": {"values": ["Asia/Tokyo"]}}]}],
        }
    ],
    "unit_tests": [
        {
            "name": "its_model_has_a_clock",
            "model": "of_a_row",
            "given": [{"input": "ref('plain')", "rows": [{"tasks": 1}]}],
            "expect": {"rows": [{"zone": "Asia/Tokyo"}]},
        }
    ],
    "snapshots": [
        {
            "name": "kept",
            "relation": "ref('clock')",
            "config": {
                "unique_key": "id",
                "strategy": "check",
                "check_cols": "all",
                "spark_config": TOKYO,
            },
        }
    ],
}


class TestSparkConfig:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "a_broken.sql": model(
                "select raise_error('no') as no",
                spark__sql__shuffle__partitions=9,
                spark__sql__session__timeZone="Asia/Tokyo",
            ),
            "five.sql": partitions(5, spark__sql__session__timeZone="Asia/Tokyo"),
            "of_a_row.sql": model(
                "select tasks, current_timezone() as zone from {{ ref('plain') }}",
                spark__sql__session__timeZone="Asia/Tokyo",
            ),
            "clock.sql": "{{ config(materialized='ephemeral') }} select 1 as id, current_timezone() as zone",
            "plain.sql": model(),
            "in_python.py": PYTHON,
            "seven.sql": partitions(7),
            "strict.sql": model("select cast('x' as int) as number", spark__sql__ansi__enabled=True),
            "lenient.sql": model("select cast('x' as int) as number", spark__sql__ansi__enabled=False),
            "refused.sql": "{{ config(materialized='table', spark_config={var('name', 'spark.sql.ansi.enabled'): var('value', 'true')}) }} select 1 as id",
            "properties.yml": PROPERTIES,
            **VIEWS,
            "reader_1.sql": model(READ, spark__sql__session__timeZone="Asia/Tokyo"),
            "reader_2.sql": model(f"{HEADER} {READ}"),
            "reader_3.sql": model(READ),
        }

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"planted.csv": "midnight\n2026-01-01 00:00:00\n"}

    @pytest.fixture(scope="class")
    def tests(self):
        return {
            "on_another_clock.sql": f"{{{{ config(spark_config={TOKYO}) }}}} select 1 where current_timezone() <> 'Asia/Tokyo'",
            "on_the_usual_clock.sql": "select 1 where current_timezone() <> 'UTC'",
        }

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "models": {"+spark_config": OF_FOLDER},
            "seeds": {"+column_types": {"midnight": "timestamp"}, "+spark_config": TOKYO},
        }

    @pytest.fixture(scope="class")
    def built(self, project):
        """The status of each node of one run with four threads."""
        results = run_dbt(["build", "--threads", "4", "--exclude", "a_broken", "refused"], expect_pass=False)
        return {result.node.name: str(result.status) for result in results}

    def test_each_model_has_its_own(self, built, rows):
        """Four threads ran models with different settings; each model's settings are combined with its folder's."""
        seen = {
            name: rows(f"select tasks, zone, hour(midnight) from {{schema}}.{name}")
            for name in ("five", "seven", "plain")
        }
        assert seen == {
            "five": [(5, "Asia/Tokyo", 15)],
            "seven": [(7, "UTC", 0)],
            "plain": [(2, "UTC", 0)],
        }

    def test_ansi(self, built, rows):
        assert (built["strict"], built["lenient"]) == ("error", "success")
        assert rows("select number from {schema}.lenient") == [(None,)]

    def test_a_python_model_a_seed_and_a_snapshot(self, built, rows):
        assert rows("select zone from {schema}.in_python") == [("Asia/Tokyo",)]
        assert rows("select hour(midnight) from {schema}.planted") == [(15,)]
        assert rows("select zone from {schema}.kept") == [("Asia/Tokyo",)]

    def test_data_tests_and_unit_tests(self, built):
        """A data test has the settings of its own config, a unit test those of its model."""
        assert built["on_another_clock"] == built["on_the_usual_clock"] == "pass"
        assert built["its_model_has_a_clock"] == "pass"

    def test_after_an_error(self, built, rows):
        """The next node on the same thread has the session's settings again."""
        results = run_dbt(["run", "--threads", "1", "--select", "a_broken", "plain"], expect_pass=False)
        assert [(result.node.name, str(result.status)) for result in results] == [
            ("a_broken", "error"),
            ("plain", "success"),
        ]
        assert rows("select tasks, zone from {schema}.plain") == [(2, "UTC")]

    @pytest.mark.parametrize("first", ["reader_1", "reader_2"])
    def test_a_view_keeps_its_own(self, built, rows, first):
        """A new process creates the views for the first reader, in another time zone."""
        views.DIRECTORY.configure("", "", None)
        run_dbt(["run", "--threads", "1", "--select", first, "reader_3"])
        for reader, zone in ((first, "Asia/Tokyo"), ("reader_3", "UTC")):
            assert rows(f"select usual, own, header, id, zone from {{schema}}.{reader}") == [(12, 21, 21, "1", zone)]

    @pytest.mark.parametrize(
        ("setting", "value", "remedy"),
        [
            ("spark.executor.memory", "4g", "spark_config in the profile"),
            ("spark.sql.warehouse.dir", "/tmp", "spark_config in the profile"),
            ("spark.sql.shufle.partitions", 3, "Did you mean spark.sql.shuffle.partitions?"),
            ("spark.sql.shuffle.partitions", "many", "spark.sql.shuffle.partitions"),
        ],
    )
    def test_what_a_model_cannot_have(self, project, rows, setting, value, remedy):
        (refused,) = run_dbt(
            ["run", "--select", "refused", "--vars", f"{{name: {setting}, value: {value}}}"],
            expect_pass=False,
        )
        assert setting in refused.message and remedy in refused.message
        assert "\tat " not in refused.message
        assert rows("show tables in {schema} like 'refused'") == []
