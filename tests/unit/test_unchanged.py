"""Keys of runs, their marks in commits, and which queries return the same rows again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.specs import table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.changes import positions
from dbt.adapters.paimon.metadata import table_versions
from dbt.adapters.paimon.metadata.commits import own_user
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.spark.analysis import Analyzed
from dbt.adapters.paimon.spec.problems import ConfigErrors
from dbt.adapters.paimon.unchanged import keys, nodes, queries
from dbt.adapters.paimon.unchanged.passed_tests import FILE, Pass, PassedTestsCache

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
UUID = "6f1f3b0a-1d3c-4b8e-9d2a-0123456789ab"


class TestKeys:
    def test_a_mark_is_read_back(self):
        key = keys.key_of({"sql": "select 1"}, {"t": "3.ab"})
        assert keys.found_in(f"{own_user(key.mark())}_{UUID}") == (key, "")
        assert keys.found_in(f"{key.mark('7.0123456789abcdef')}_{UUID}") == (key, "7.0123456789abcdef")
        assert keys.found_in(f"{key.mark(table_versions.EMPTY)}_{UUID}") == (key, table_versions.EMPTY)

    @pytest.mark.parametrize(
        "user", [UUID, f"dbt_12345678_{UUID}", "dbtk-1.2_x", "dbtk2-" + "a" * 24 + "." + "b" * 24 + "_"]
    )
    def test_other_commits_have_no_key(self, user):
        assert keys.found_in(user) is None

    def test_a_mark_is_no_position(self):
        assert positions.marked(f"{own_user(keys.key_of({}, {}).mark())}_{UUID}") == {}

    def test_each_difference_gives_another_key(self):
        key = keys.key_of({"sql": "select 1", "config": {"a": 1}}, {"t": "1.a", "u": "1.b"})
        assert key == keys.key_of({"config": {"a": 1}, "sql": "select 1"}, {"u": "1.b", "t": "1.a"})
        assert key.inputs != keys.key_of({}, {"t": "1.b", "u": "1.a"}).inputs
        assert key.inputs != keys.key_of({}, {"t": "1.a"}).inputs
        assert key.node != keys.key_of({"sql": "select 1", "config": {"a": 2}}, {}).node
        assert key.node != keys.key_of({"sql": "select  1", "config": {"a": 1}}, {}).node


def snapshot(**content: Any) -> Commit:
    given = {"id": 3, "commitUser": "u", "commitIdentifier": 1, "commitKind": "APPEND", "timeMillis": 5}
    return Commit.of_json(json.dumps({**given, "deltaManifestList": "m", "schemaId": 0, **content}))


class TestPositions:
    def test_a_position_has_the_number_and_who_committed(self):
        assert snapshot().unique == snapshot().unique
        assert snapshot().unique.startswith("3.")
        for other in ({"id": 4}, {"commitUser": "v"}, {"timeMillis": 6}, {"deltaManifestList": "n"}):
            assert snapshot(**other).unique != snapshot().unique

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"bucket": "1", "path": "/a", "branch": "main"}, ""),
            ({"scan.snapshot-id": "1"}, "is read by its option scan.snapshot-id=1"),
            ({"scan.tag-name": "x"}, "is read by its option scan.tag-name=x"),
            ({"branch": "b"}, "is read by its option branch=b"),
            ({"incremental-between": "1,2"}, "is read by its option incremental-between=1,2"),
            ({"record-level.expire-time": "1 d"}, "drops rows by itself (record-level.expire-time=1 d)"),
        ],
    )
    def test_options_that_read_another_state_than_the_newest(self, options, problem):
        assert table_versions.other_state(options) == problem

    @pytest.mark.parametrize(
        ("options", "shows"),
        [
            ({"merge-engine": "deduplicate", "bucket": "2"}, False),
            ({"merge-engine": "first-row"}, True),
            ({"deletion-vectors.enabled": "true"}, True),
            ({"bucket": "-2"}, True),
        ],
    )
    def test_compactions_that_show_rows(self, options, shows):
        assert table_versions.compaction_shows_rows(options) == shows


def analyzed(*classes: str, **more: Any) -> Analyzed:
    return Analyzed("", (), frozenset(classes), **more)


class TestQueries:
    def test_queries_that_return_the_same_rows(self):
        found = analyzed(
            *(_LOGICAL + name for name in ("Project", "Filter", "WithCTE", "Window")),
            *(_EXPRESSIONS + name for name in ("Add", "aggregate.CollectList", "objects.StaticInvoke")),
            "org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation",
        )
        assert queries.volatile(found) == ""

    @pytest.mark.parametrize(
        ("found", "reason"),
        [
            (analyzed(_EXPRESSIONS + "CurrentTimestamp"), "it calls current_timestamp"),
            (analyzed(_EXPRESSIONS + "VariableReference"), "it reads a session variable"),
            (analyzed(_EXPRESSIONS + "PythonUDF"), "it calls a user-defined Python function"),
            (
                analyzed(_EXPRESSIONS + "Rand", nondeterministic=frozenset({_EXPRESSIONS + "Rand"})),
                "it calls rand,",
            ),
            (analyzed(_LOGICAL + "Sample"), "its plan has a Sample"),
            (analyzed(_LOGICAL + "ScriptTransformation"), "its plan has a ScriptTransformation"),
            (
                analyzed("org.apache.spark.sql.hive.HiveSimpleUDF"),
                "it uses HiveSimpleUDF, which is not Spark's own",
            ),
            (analyzed("com.acme.Function"), "it uses Function"),
            (analyzed(reads_clock=True), "it reads the time"),
            (analyzed(others=("s.t, which is not a Paimon table",)), "it reads s.t, which is not a Paimon table"),
        ],
    )
    def test_queries_that_may_return_other_rows(self, found, reason):
        assert queries.volatile(found).startswith(reason)


class Macro:
    def __init__(self, package: str, name: str, sql: str = "") -> None:
        self.package_name, self.name, self.macro_sql = package, name, sql


class TestNodes:
    @pytest.mark.parametrize(
        ("config", "strategy", "reason"),
        [
            ({}, "", ""),
            ({"pre-hook": [], "post-hook": []}, "upsert", ""),
            ({"post-hook": [{"sql": "x"}]}, "", "it has hooks"),
            ({"sql_header": "set x=1"}, "", "it has a sql_header"),
            ({"table_tag": "x"}, "", "each run tags"),
            ({"merge_delete_condition": "s.gone"}, "merge", "its conditions"),
            ({"predicates": ["day > current_date() - 3"]}, "delete+insert", "its conditions"),
            ({"merge_delete_condition": "s.gone"}, "", ""),
            ({}, "microbatch", "its strategy is microbatch"),
            ({}, "apply_changes", "its strategy is apply_changes"),
            ({}, "of_the_project", "its strategy is of_the_project"),
            ({"materialized": "snapshot", "strategy": "check"}, "", ""),
            ({"materialized": "snapshot", "strategy": "mine"}, "", "its strategy is mine"),
        ],
    )
    def test_never(self, config, strategy, reason):
        found = nodes.never({"config": config}, strategy, reads_changes=False)
        assert found.startswith(reason)
        assert bool(found) == bool(reason)

    def test_never_by_language_or_input(self):
        assert nodes.never({"config": {}, "language": "python"}, "", reads_changes=False)
        assert nodes.never({"config": {}}, "append", reads_changes=True)

    def test_settings(self):
        conf = {
            "spark.sql.ansi.enabled": "true",
            "spark.paimon.x": "1",
            "spark.driver.port": "1234",
            "spark.sql.catalog.paimon.warehouse": "/a",
            "spark.sql.warehouse.dir": "/b",
        }
        assert nodes.settings(conf) == {"spark.sql.ansi.enabled": "true", "spark.paimon.x": "1"}

    def test_macros_of_the_project_that_override_ours(self):
        ours = [
            Macro("dbt_paimon", "paimon__insert_sql"),
            Macro("dbt", "run_hooks"),
            Macro("dbt", "default__x"),
        ]
        nothing = nodes.overrides(ours)
        assert nodes.overrides([*ours, Macro("shop", "cents", "a")]) == nothing
        for name in ("paimon__insert_sql", "run_hooks", "spark__x"):
            one = nodes.overrides([*ours, Macro("shop", name, "a")])
            assert one != nothing
            assert nodes.overrides([*ours, Macro("shop", name, "b")]) != one

    def test_macros_that_an_override_calls(self):
        ours = [Macro("dbt", "snapshot_merge_sql"), Macro("shop", "snapshot_merge_sql", "{{ helper() }}")]
        helpers = [Macro("shop", "helper", "{{ adapter.dispatch('inner')() }}"), Macro("shop", "other", "a")]
        one = nodes.overrides([*ours, *helpers, Macro("shop", "default__inner", "a")])
        assert nodes.overrides([*ours, *helpers, Macro("shop", "default__inner", "b")]) != one
        assert nodes.overrides([*ours, helpers[0], Macro("shop", "default__inner", "a")]) == one


@pytest.mark.parametrize("value", ["yes", 1, []])
def test_config_of_another_type_is_refused(value):
    with pytest.raises(ConfigErrors, match="skip_unchanged"):
        table_spec({"skip_unchanged": value}, model="m", versions=Versions.of("0.9.0"))


@pytest.mark.parametrize("value", [True, False, None, "true"])
def test_config(value):
    table_spec({"skip_unchanged": value}, model="m", versions=Versions.of("0.9.0"))


class TestPasses:
    KEY = keys.key_of({"sql": "select 1"}, {"t": "3.ab"})

    def test_the_last_line_counts(self, tmp_path):
        other = keys.key_of({"sql": "select 2"}, {"t": "3.ab"})
        for key in (self.KEY, other):
            PassedTestsCache(tmp_path).keep(Pass.of("test.a", key))
        assert PassedTestsCache(tmp_path).last("test.a").key == other
        assert PassedTestsCache(tmp_path).last("test.b") is None

    def test_invalid_lines(self, tmp_path):
        """Lines are ignored if they are cut off, lack fields or are not JSON objects."""
        PassedTestsCache(tmp_path).keep(Pass.of("test.a", self.KEY))
        path = tmp_path / FILE
        path.write_text(path.read_text() + '{"test": "test.a", "no\n{"test": "test.a"}\n[]\n7')
        passes = PassedTestsCache(tmp_path)
        assert passes.last("test.a").key == self.KEY
        passes.keep(Pass.of("test.b", self.KEY))
        assert PassedTestsCache(tmp_path).last("test.b").key == self.KEY

    def test_two_runs_side_by_side(self, tmp_path):
        one, two = PassedTestsCache(tmp_path), PassedTestsCache(tmp_path)
        assert one.last("test.b") is two.last("test.a") is None
        one.keep(Pass.of("test.a", self.KEY))
        two.keep(Pass.of("test.b", self.KEY))
        found = PassedTestsCache(tmp_path)
        assert found.last("test.a").key == found.last("test.b").key == self.KEY

    def test_the_file_does_not_grow_without_limit(self, tmp_path):
        for _ in range(300):
            PassedTestsCache(tmp_path).keep(Pass.of("test.a", self.KEY))
        assert len((tmp_path / FILE).read_text().split()) < 1000
        assert PassedTestsCache(tmp_path).last("test.a").key == self.KEY
