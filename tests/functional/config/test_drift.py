"""A config that changed after its table was built: what is altered, reset, kept, refused or rebuilt."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture, write_file

MODELS = ("table", "incremental")
KINDS = (*MODELS, "snapshot", "seed")
QUERY = "select 1 as id, 'a' as name, 2 as n"
SNAPSHOT = """
{{% snapshot drift_snapshot %}}
{{{{ config(unique_key='id', strategy='check', check_cols=['name'], {config}) }}}}
{query}
{{% endsnapshot %}}
"""


def write(project, config: str, key: str = "'id'", query: str = QUERY) -> None:
    """Write the config into all four nodes; `key` is the primary key, except for the snapshot, whose key dbt sets."""
    root = project.project_root
    for kind in MODELS:
        text = f"{{{{ config(materialized='{kind}', primary_key={key}, {config}) }}}}\n{query}"
        write_file(text, root, "models", f"drift_{kind}.sql")
    write_file(SNAPSHOT.format(config=config, query=query), root, "snapshots", "drift_snapshot.sql")
    body = f"seeds:\n  - name: drift_seed\n    config: {{primary_key: {key}, {as_yaml(config)}}}\n"
    write_file(body, root, "seeds", "drift.yml")


def as_yaml(config: str) -> str:
    return config.replace("=", ": ")


@pytest.fixture(scope="class")
def models():
    return {"placeholder.sql": "{{ config(materialized='ephemeral') }} select 1 as id"}


@pytest.fixture(scope="class")
def seeds():
    return {"drift_seed.csv": "id,name,n\n1,a,2\n"}


def options(rows, kind: str) -> dict[str, str]:
    return dict(rows(f"select key, value from {{schema}}.`drift_{kind}$options`"))


def snapshots(rows, kind: str) -> int:
    return len(rows(f"select snapshot_id from {{schema}}.`drift_{kind}$snapshots`"))


def contents(rows, kind: str) -> list[tuple]:
    return rows(f"select id, name, n from {{schema}}.drift_{kind} order by id")


def statuses(results) -> dict[str, str]:
    return {result.node.name.removeprefix("drift_"): str(result.status) for result in results}


def messages(results) -> dict[str, str]:
    return {
        r.node.name.removeprefix("drift_"): r.message for r in results if str(r.status) not in ("success", "skipped")
    }


def without_ends(statements: list[str]) -> list[str]:
    return [statement for statement in statements if "__dbt_" not in statement]


class TestMutable:
    MIN = "tblproperties={'snapshot.num-retained.min': %s}"

    def test_set_changed_reset_and_left_alone(self, project, rows, sent):
        write(project, self.MIN % 5)
        run_dbt(["build"])
        assert {options(rows, kind)["snapshot.num-retained.min"] for kind in KINDS} == {"5"}

        sent.clear()
        run_dbt(["build"])
        assert sent.ddl == [], "nothing changed"

        write(project, self.MIN % 7)
        sent.clear()
        said = run_dbt_and_capture(["build"])[1].replace("`", "")
        assert len(sent.ddl) == len(KINDS) and all(" set tblproperties" in s for s in sent.ddl), sent.ddl
        assert {options(rows, kind)["snapshot.num-retained.min"] for kind in KINDS} == {"7"}
        for kind in KINDS:
            assert f"drift_{kind} is altered: snapshot.num-retained.min: '5' -> '7'" in said

        # 60 min is Paimon's default, so nothing is set.
        write(project, "tblproperties={'snapshot.time-retained': '60 min'}")
        sent.clear()
        said = run_dbt_and_capture(["build"])[1].replace("`", "")
        assert len(sent.ddl) == len(KINDS) and all(" unset tblproperties" in s for s in sent.ddl), sent.ddl
        for kind in KINDS:
            assert "snapshot.num-retained.min" not in options(rows, kind)
            assert f"drift_{kind} is altered: snapshot.num-retained.min: '7' -> not set" in said
            assert contents(rows, kind) == [(1, "a", 2)]
            # Three schemas: the table was altered, not replaced.
            assert len(rows(f"select schema_id from {{schema}}.`drift_{kind}$schemas`")) == 3

        sent.clear()
        run_dbt(["build"])
        assert sent.ddl == [], "nothing changed"

    def test_one_replaces_another_that_excludes_it(self, project, rows, sent):
        write(project, "changelog_producer='lookup'")
        run_dbt(["build"])
        write(project, "tblproperties={'streaming-read-overwrite': 'true'}")
        sent.clear()
        run_dbt(["build"])
        assert len(sent.ddl) == 2 * len(KINDS), sent.ddl
        for kind in KINDS:
            assert options(rows, kind)["streaming-read-overwrite"] == "true"
            assert "changelog-producer" not in options(rows, kind)
        write(project, "tblproperties={'snapshot.num-retained.min': 5, 'snapshot.num-retained.max': 8}")
        run_dbt(["build"])
        write(project, "tblproperties={'snapshot.num-retained.max': 20}")
        run_dbt(["build"])
        for kind in KINDS:
            assert options(rows, kind)["snapshot.num-retained.max"] == "20"
            assert "snapshot.num-retained.min" not in options(rows, kind)


class TestImmutable:
    def test_refused_where_rows_are_kept_and_rebuilt_where_not(self, project, rows, sent):
        write(project, "bucket=1")
        run_dbt(["build"])
        run_dbt(["build"])
        before = {kind: snapshots(rows, kind) for kind in KINDS}

        # A failing query changes nothing: the tables are swapped when the new one is complete.
        write(
            project,
            "on_rebuild='drop_history', file_format='orc', bucket=-1",
            query=QUERY.replace("2 as n", "int(raise_error('no')) as n"),
        )
        results = run_dbt(["build", "--select", "drift_table"], expect_pass=False)
        assert "no" in messages(results)["table"]
        assert contents(rows, "table") == [(1, "a", 2)] and snapshots(rows, "table") == before["table"]
        assert options(rows, "table")["bucket"] == "1"

        write(project, "on_rebuild='drop_history', file_format='orc', bucket=-1")
        sent.clear()
        results = run_dbt(["build"], expect_pass=False)
        assert statuses(results) == {
            "table": "success",
            "incremental": "error",
            "snapshot": "error",
            "seed": "success",
        }
        for kind in ("incremental", "snapshot"):
            found = messages(results)[kind]
            name = "model" if kind == "incremental" else "snapshot"
            assert f"{name} 'drift_{kind}'" in found and "bucket: '1' -> '-1'" in found, found
            assert "--full-refresh" in found and "evert the config" in found, found
            assert not [s for s in sent.changing if f"drift_{kind}" in s], "nothing was sent"
            assert options(rows, kind)["bucket"] == "1" and "file.format" not in options(rows, kind)
            assert snapshots(rows, kind) == before[kind]
        for kind in ("table", "seed"):
            assert options(rows, kind)["bucket"] == "-1" and options(rows, kind)["file.format"] == "orc"
            assert snapshots(rows, kind) == 1, "a new table"
            assert contents(rows, kind) == [(1, "a", 2)]
        assert {row[1] for row in rows("show tables in {schema}")} == {f"drift_{kind}" for kind in KINDS}

    def test_full_refresh_keeps_the_old_table_until_the_new_one_is_whole(self, project, rows, sent):
        before = snapshots(rows, "incremental")
        select = ["--select", "drift_incremental", "--full-refresh"]
        key = "['id', 'name']"
        write(project, "bucket=2", key, QUERY.replace("2 as n", "int(raise_error('no')) as n"))
        sent.clear()
        run_dbt(["run", *select], expect_pass=False)
        assert not without_ends(sent.changing), "the old table was not touched"
        assert contents(rows, "incremental") == [(1, "a", 2)]
        assert snapshots(rows, "incremental") == before and options(rows, "incremental")["bucket"] == "1"

        write(project, "bucket=2", key, QUERY.replace("'a'", "'b'"))
        run_dbt(["run", *select])
        assert contents(rows, "incremental") == [(1, "b", 2)]
        assert snapshots(rows, "incremental") == 1 and options(rows, "incremental")["bucket"] == "2"
        keys = rows("select primary_keys from {schema}.`drift_incremental$schemas` order by schema_id desc")[0]
        assert keys == ('["id","name"]',)
        assert {row[1] for row in rows("show tables in {schema}")} == {f"drift_{kind}" for kind in KINDS}


class TestBuckets:
    def test_a_new_number_of_buckets(self, project, rows):
        write(project, "bucket=1")
        run_dbt(["build"])
        write(project, "bucket=3")
        results = run_dbt(["build"], expect_pass=False)
        assert statuses(results) == {
            "table": "success",
            "incremental": "error",
            "snapshot": "error",
            "seed": "success",
        }
        for kind in ("incremental", "snapshot"):
            assert "bucket: '1' -> '3'" in messages(results)[kind]
            assert options(rows, kind)["bucket"] == "1"
        for kind in ("table", "seed"):
            assert options(rows, kind)["bucket"] == "3" and snapshots(rows, kind) == 2, "history stays"
            assert contents(rows, kind) == [(1, "a", 2)]

        # Do what the messages say.
        run_dbt(["run", "--select", "drift_incremental", "--full-refresh"])
        snapshot = "{schema}.drift_snapshot"
        rows(f"alter table {snapshot} set tblproperties ('bucket' = '3')")
        rows(f"insert overwrite {snapshot} select * from {snapshot}")
        write(project, "bucket=3", query="select * from values (1, 'b', 2), (2, 'c', 3) as v(id, name, n)")
        run_dbt(["build"])
        assert contents(rows, "incremental") == [(1, "b", 2), (2, "c", 3)]
        ended = rows(f"select id, name, dbt_valid_to is null from {snapshot} order by id, name")
        assert ended == [(1, "a", False), (1, "b", True), (2, "c", True)]


class TestOptionsOfColumns:
    """Options that name a column are set after the column is added, and unset before it is dropped."""

    @pytest.fixture(scope="class")
    def models(self):
        config = "primary_key='id', merge_engine='aggregation', fields=var('fields', {}), "
        query = "select 1 as id, {{ var('columns', '1 as old') }}"
        kinds = {"summed": "'incremental', on_schema_change='sync_all_columns'", "totals": "'table'"}
        return {
            f"{name}.sql": f"{{{{ config({config} materialized={kind}) }}}} {query}" for name, kind in kinds.items()
        }

    @pytest.fixture(scope="class")
    def seeds(self):
        return {}

    def test_columns_with_options_come_and_go(self, project, rows):
        run_dbt(["run", "--vars", "{fields: {old: {aggregate_function: sum}}}"])
        run_dbt(["run", "--vars", "{columns: 2 as new, fields: {new: {aggregate_function: max}}}"])
        for name in ("summed", "totals"):
            found = dict(rows(f"select key, value from {{schema}}.`{name}$options`"))
            assert found["fields.new.aggregate-function"] == "max"
            assert "fields.old.aggregate-function" not in found
            assert rows(f"select * from {{schema}}.{name}") == [(1, 2)]


class TestMergesOtherwise:
    """A setting that changes how Paimon merges stored rows, including those of older table snapshots."""

    MODEL = (
        "{{{{ config(materialized='{kind}', primary_key='id', merge_engine='aggregation', "
        "fields={{'n': {{'aggregate_function': var('function', 'sum')}}}}) }}}} select 1 as id, {{{{ var('n', 3) }}}} as n"
    )

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "adds.sql": self.MODEL.format(kind="incremental"),
            "rebuilt.sql": self.MODEL.format(kind="table"),
        }

    @pytest.fixture(scope="class")
    def seeds(self):
        return {}

    def test_another_merge_function_needs_a_full_refresh(self, project, rows):
        run_dbt(["run"])
        run_dbt(["run", "--vars", "n: 4"])
        changed = ["run", "--vars", "{function: max, n: 1}"]
        failed = messages(run_dbt(changed, expect_pass=False))
        assert "fields.n.aggregate_function" in failed["adds"] or "fields.n.aggregate-function" in failed["adds"]
        assert set(failed) == {"adds", "rebuilt"}
        assert rows("select * from {schema}.adds union all select * from {schema}.rebuilt") == [
            (1, 7),
            (1, 4),
        ]
        assert rows("select * from {schema}.adds version as of 2") == [(1, 7)]
        run_dbt([*changed, "--full-refresh"])
        assert rows("select * from {schema}.adds union all select * from {schema}.rebuilt") == [
            (1, 1),
            (1, 1),
        ]
