"""Special cases of paimon_changes: lost changes, --empty, compile, unit tests, unsupported uses."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from dbt.tests.util import run_dbt

from dbt_paimon.cli import main

CONFIG = "{{ config(materialized='incremental', incremental_strategy='append') }}\n"
CHANGES = "select id, _row_kind from {{{{ paimon_changes(source('raw', 'events'){more}) }}}}"
SOURCES = """
sources:
  - name: raw
    schema: "{{ target.schema }}"
    tables: [{name: events}, {name: others}, {name: scripted_events}, {name: timed, config: {event_time: at}}]
unit_tests:
  - name: sees_all_as_inserted
    model: strict
    given: [{input: "source('raw', 'events')", rows: [{id: 1}]}]
    expect: {rows: [{id: 1, _row_kind: '+I'}]}
  - name: may_be_given_change_rows
    model: strict
    overrides: {macros: {paimon_changes: "(select 1 as id, '-D' as _row_kind)"}}
    given: [{input: "source('raw', 'events')", rows: []}]
    expect: {rows: [{id: 1, _row_kind: '-D'}]}
"""
EITHER = ("--select", "either")
IDS = "select id from {{schema}}.{name} order by id"
# All rows of another table in the first run, and later its new rows.
NEW = "select id from {{ source('raw', 'others') }} {% if is_incremental() %} where id > 100 {% endif %}"
# A project's own strategy, whose second statement may fail.
SCRIPT = """
{% macro get_incremental_script_sql(arg_dict) %}
  delete from {{ arg_dict.target_relation }} where id in (select id from {{ arg_dict.temp_relation }});
  insert into {{ arg_dict.target_relation }} select id from {{ arg_dict.temp_relation }}
  where assert_true({{ not var('fails', false) }}, 'fails') is null
{% endmacro %}
"""
SCRIPTED = """
{{ config(materialized='incremental', incremental_strategy='script') }}
select id from {{ paimon_changes(source('raw', 'scripted_events')) }}
"""
ALL = "select id from {{ paimon_changes(source('raw', 'events'), on_expired='full') }}"


class TestLostChanges:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "schema.yml": SOURCES,
            "strict.sql": CONFIG + CHANGES.format(more=""),
            "rebuilt.sql": CONFIG + CHANGES.format(more=", on_expired='full'"),
            "kept.sql": CONFIG + CHANGES.format(more=", keep=true"),
            "united.sql": CONFIG + ALL + "\nunion all\n" + NEW,
            "united_asks_first.sql": CONFIG + NEW + "\nunion all\n" + ALL,
            "twice.sql": CONFIG + CHANGES.format(more="") + "\nunion all\n" + CHANGES.format(more=""),
        }

    @pytest.fixture(scope="class")
    def planned_and_built(self, project, rows):
        """What `plan` says, and the results, by model, of a run after rows 2 and 3 were added and the snapshot that was read has expired."""
        rows("create table {schema}.events (id int)")
        rows("insert into {schema}.events values (1)")
        rows("create table {schema}.others as select 100 as id")
        run_dbt(["run", "--empty"])
        assert rows(IDS.format(name="strict")) == []
        run_dbt(["run"])
        assert rows(IDS.format(name="strict")) == [(1,)]
        rows("insert into {schema}.events values (2)")
        rows("insert into {schema}.events values (3)")
        rows("insert into {schema}.others values (101)")
        rows(
            "call paimon.sys.expire_snapshots(table => '{schema}.events', retain_max => 1, retain_min => 1)".replace(
                "{schema}", project.test_schema
            )
        )
        # The tag of this model keeps the changes for all models until it has read them.
        run_dbt(["run", "--select", "kept"])
        places = ["--project-dir", project.project_root, "--profiles-dir", project.profiles_dir]
        planned = CliRunner().invoke(main, ["plan", "--output", "json", *places]).stdout.splitlines()
        plans = [json.loads(line) for line in planned if line.startswith("{")]
        does = {line["unique_id"].rpartition(".")[2]: line["does"] for line in plans}
        return {result.node.name: result for result in run_dbt(["run"], expect_pass=False)}, does

    @pytest.fixture(scope="class")
    def built(self, planned_and_built):
        return planned_and_built[0]

    def test_the_plan_says_what_is_rebuilt_and_what_fails(self, planned_and_built):
        built, does = planned_and_built
        rebuilt = {name for name, result in built.items() if result.status == "success" and "rebuild" in does[name]}
        assert rebuilt == {"rebuilt", "united"}
        failed = {name for name, result in built.items() if result.status != "success"}
        assert failed == {"strict", "twice", "united_asks_first"}
        assert failed == {name for name, what in does.items() if what == "fail"}

    def test_the_error_says_what_is_lost_and_what_to_do(self, built, rows):
        message = built["strict"].message
        assert "model 'strict': paimon_changes(" in message
        assert "has read up to table snapshot 1, which has expired (available: 3 to 3)" in message
        assert "--full-refresh" in message
        assert "on_expired='full'" in message
        assert rows(IDS.format(name="strict")) == [(1,)]

    def test_a_full_read_rebuilds_the_model(self, built, rows):
        assert rows(IDS.format(name="rebuilt")) == [(1,), (2,), (3,)]

    def test_a_rebuild_is_not_incremental(self, built, rows):
        assert rows(IDS.format(name="united")) == [(1,), (2,), (3,), (100,), (101,)]

    def test_a_query_that_was_incremental_before_the_loss_was_found(self, built, rows):
        assert "its query calls is_incremental() before paimon_changes" in built["united_asks_first"].message
        assert rows(IDS.format(name="united_asks_first")) == [(1,)]

    def test_a_tag_keeps_what_is_not_read_yet(self, built, rows):
        assert rows(IDS.format(name="kept")) == [(1,), (2,), (3,)]
        assert rows("select snapshot_id from {schema}.`events$tags`") == [(3,)]

    def test_the_mark_of_a_commit_is_no_option_of_its_table(self, built, rows):
        options = rows("select key from {schema}.`strict$options`")
        assert ("commit.user-prefix",) not in options and options

    def test_full_refresh_then_two_reads_of_one_range(self, built, rows):
        run_dbt(["run", "--full-refresh", "--select", "strict", "twice", "united_asks_first"])
        rows("insert into {schema}.events values (4)")
        run_dbt(["run", "--empty"])
        run_dbt(["run"])
        for name in ("strict", "rebuilt", "kept"):
            assert rows(IDS.format(name=name)) == [(1,), (2,), (3,), (4,)]
        assert rows(IDS.format(name="twice")) == [(n,) for n in (1, 1, 2, 2, 3, 3, 4, 4)]

    def test_compile_and_unit_tests_move_nothing(self, built, rows):
        positions = "select snapshot_id, read_at from {schema}.strict__dbt_changes"
        before = rows(positions)
        rows("insert into {schema}.events values (5)")
        (compiled,) = run_dbt(["compile", "--select", "strict", "--exclude", "test_type:unit"])
        assert rows(compiled.node.compiled_code) == [(5, "+I")]
        assert [result.status for result in run_dbt(["test"])] == ["pass", "pass"]
        assert rows(positions) == before

    def test_an_emptied_model_starts_over(self, built, rows):
        run_dbt(["run-operation", "clear_table", "--args", "{relation: kept, confirm: kept}"])
        assert rows(IDS.format(name="kept")) == []
        run_dbt(["run", "--select", "kept"])
        assert rows(IDS.format(name="kept")) == rows(IDS.format(name="events"))

    def test_a_recreated_table_is_seen(self, built, rows):
        rows("drop table {schema}.events")
        rows("create table {schema}.events (id int)")
        for n in range(6):
            rows(f"insert into {{schema}}.events values ({n})")
        results = {r.node.name: r for r in run_dbt(["run", "--select", "strict", "rebuilt"], expect_pass=False)}
        assert "rolled back or recreated" in results["strict"].message
        assert rows(IDS.format(name="rebuilt")) == [(n,) for n in range(6)]


class TestRefused:
    @pytest.fixture(scope="class")
    def models(self):
        read = "select * from {{ paimon_changes(ref('plain')"
        return {
            "plain.sql": "{{ config(materialized='table') }} select 1 as id, 'x' as kind",
            "a_view.sql": "{{ config(materialized='view') }} select 1 as id",
            "no_increment.sql": "{{ config(materialized='table') }}" + read + ") }}",
            "over_a_view.sql": CONFIG + "select * from {{ paimon_changes(ref('a_view')) }}",
            "two_kinds.sql": CONFIG + read + ", row_kind='kind') }}",
            "foreign.sql": CONFIG + read + ") }}",
            "unclear.sql": CONFIG + read + ", keep='yes') }}",
            "converted.sql": CONFIG
            + "{% if var('converted', false) %}"
            + read
            + ") }}{% else %}select *, '' as _row_kind from {{ ref('plain') }}{% endif %}",
        }

    def test_each_with_its_remedy(self, project, rows):
        run_dbt(["run", "--select", "plain", "a_view", "converted"])
        rows("create table {schema}.foreign__dbt_changes as select 'another program' as word")
        names = ["no_increment", "over_a_view", "two_kinds", "converted", "foreign", "unclear"]
        results = run_dbt(["run", "--vars", "converted: true", "--select", *names], expect_pass=False)
        said = {result.node.name: result.message for result in results}
        assert "only an incremental model keeps track of what it has read" in said["no_increment"]
        assert "it is not a Paimon table" in said["over_a_view"]
        assert "already has a column kind" in said["two_kinds"]
        assert "keep='yes': must be true or false" in said["unclear"]
        assert "which dbt-paimon did not create" in said["foreign"]
        assert rows("select * from {schema}.foreign__dbt_changes") == [("another program",)]
        assert rows("show tables in {schema} like 'foreign'") == []
        assert "it is unknown how far the model has read this table" in said["converted"]
        assert "--full-refresh" in said["converted"]


class TestRebuiltWithoutChanges:
    """The position from before a rebuild that read no changes would give the same rows again."""

    @pytest.fixture(scope="class")
    def models(self):
        of_changes = CHANGES.format(more="").replace(", _row_kind", "")
        of_rows = "select id from {{ source('raw', 'events') }}"
        either = f"{{% if var('plain', false) %}}{of_rows}{{% else %}}{of_changes}{{% endif %}}"
        switched = "select id from {{ paimon_changes(source('raw', var('source', 'events'))) }}"
        sampled = "select id from {{ paimon_changes(source('raw', 'timed')) }}"
        return {
            "schema.yml": SOURCES.partition("unit_tests")[0],
            "either.sql": CONFIG + either,
            "switched.sql": CONFIG + switched,
            "sampled.sql": CONFIG + sampled,
            "scripted.sql": SCRIPTED,
        }

    @pytest.fixture(scope="class")
    def macros(self):
        return {"script.sql": SCRIPT}

    def test_the_position_is_refused(self, project, rows):
        rows("create table {schema}.events (id int)")
        rows("insert into {schema}.events values (1)")
        run_dbt(["run", *EITHER])
        rows("insert into {schema}.events values (2)")
        run_dbt(["run", *EITHER, "--full-refresh", "--vars", "plain: true"])
        (result,) = run_dbt(["run", *EITHER], expect_pass=False)
        assert "it is unknown how far the model has read this table" in result.message
        assert rows(IDS.format(name="either")) == [(1,), (2,)]
        run_dbt(["run", *EITHER, "--full-refresh"])
        rows("insert into {schema}.events values (3)")
        run_dbt(["run", *EITHER])
        assert rows(IDS.format(name="either")) == [(1,), (2,), (3,)]

    def test_the_position_is_refused_when_the_commit_of_the_rebuild_has_expired(self, project, rows):
        run_dbt(["run", *EITHER, "--full-refresh", "--vars", "plain: true"])
        rows("insert into {schema}.either values (0)")
        rows("call paimon.sys.expire_snapshots(table => '{schema}.either', retain_max => 1, retain_min => 1)")
        (result,) = run_dbt(["run", *EITHER], expect_pass=False)
        assert "it is unknown how far the model has read this table" in result.message
        assert rows(IDS.format(name="either")) == [(0,), (1,), (2,), (3,)]

    def test_the_position_from_before_a_rebuild_with_another_source(self, project, rows):
        rows("create table {schema}.others (id int)")
        rows("insert into {schema}.others values (7)")
        switched = ("--select", "switched")
        run_dbt(["run", *switched])
        run_dbt(["run", *switched, "--full-refresh", "--vars", "source: others"])
        assert rows("select split(source, '`')[5] from {schema}.switched__dbt_changes") == [("others",)]
        (result,) = run_dbt(["run", *switched], expect_pass=False)
        assert "it is unknown how far the model has read this table" in result.message
        assert rows(IDS.format(name="switched")) == [(7,)]

    def test_a_sample_is_no_position(self, project, rows):
        rows("create table {schema}.timed (id int, at timestamp)")
        rows("insert into {schema}.timed values (1, timestamp '2020-01-01'), (2, now())")
        run_dbt(["run", "--select", "sampled", "--sample", "1 day"])
        assert rows(IDS.format(name="sampled")) == [(2,)]
        (result,) = run_dbt(["run", "--select", "sampled"], expect_pass=False)
        assert "it is unknown how far the model has read this table" in result.message
        run_dbt(["run", "--select", "sampled", "--full-refresh"])
        assert rows(IDS.format(name="sampled")) == [(1,), (2,)]

    def test_the_first_statement_of_a_script_is_no_position(self, project, rows):
        """The DELETE of a strategy of the project's own has committed, and its INSERT has failed."""
        scripted = ("--select", "scripted")
        rows("create table {schema}.scripted_events (id int)")
        # A DELETE that leaves no row would count as a TRUNCATE from Paimon 1.3 on, after which all is read again.
        rows("insert into {schema}.scripted_events values (0), (1)")
        run_dbt(["run", *scripted])
        rows("insert into {schema}.scripted_events values (1), (2)")
        run_dbt(["run", *scripted, "--vars", "fails: true"], expect_pass=False)
        assert rows(IDS.format(name="scripted")) == [(0,)]
        run_dbt(["run", *scripted])
        assert rows(IDS.format(name="scripted")) == [(0,), (1,), (2,)]
        rows("insert into {schema}.scripted_events values (3)")
        run_dbt(["run", *scripted])
        assert rows(IDS.format(name="scripted")) == [(0,), (1,), (2,), (3,)]
