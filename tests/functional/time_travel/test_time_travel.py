"""at(), the tags of runs, automatic tags, rollback and branches."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture
from dbt_common.exceptions import DbtBaseException
from tests.functional.conftest import VERSIONS

from dbt.adapters.paimon.capabilities import Capability

PRICES = """
{{ config(
    materialized='incremental', primary_key='id', bucket=1,
    table_tag={'name': 'run ' ~ var('run', 1), 'if_exists': var('if_exists', 'replace')},
    auto_tags={'creation': 'process-time', 'period': 'hourly', 'time_retained': '7 d'},
    post_hook="{{ create_branch(this, 'first', snapshot=1) if var('branch', false) }}"
) }}
select 1 as id, cast({{ var('run', 1) }} as int) as price
union all select {{ var('run', 1) }} + 1, 0
"""
READERS = {
    "by_snapshot.sql": "{{ config(materialized='table') }} select * from {{ at(ref('prices'), snapshot=1) }} as p",
    "by_tag.sql": "{{ config(materialized='table') }} select * from {{ at(ref('prices'), tag='run 2') }}",
    "by_time.sql": "{{ config(materialized='table') }} select * from {{ at(ref('prices'), timestamp='2999-01-01') }}",
    "by_branch.sql": "{{ config(materialized='table') }} select * from {{ at(ref('prices'), branch='first') }}",
}
VAR = "{{ config(materialized='view') }} select * from {{ at(ref('prices'), **var('at', {'snapshot': 1})) }}"
FALLING = """
{{ config(
    materialized=var('as', 'incremental'), partition_by='p',
    tblproperties={'scan.fallback-branch': 'kept'} if var('falls', false) else {}
) }}
select {{ var('run', 1) }} as id, 1 as p
"""
# Later runs of this model write nothing.
TAGGED = """{{ config(materialized='incremental', table_tag='latest') }}
select 1 as id {% if is_incremental() %} where false {% endif %}"""
PROPERTIES = """
sources: [{name: here, database: paimon, schema: "{{ target.schema }}", tables: [{name: prices}]}]
unit_tests:
  - name: the_fixture_is_read
    model: by_tag
    given: [{input: ref('prices'), rows: [{id: 7, price: 8}]}]
    expect: {rows: [{id: 7, price: 8}]}
"""
# A macro of the project that passes the returned statement on, as a hook would.
BRANCHES = """{% macro branched(relation, branch, tag) %}
  {%- do run_query(create_branch(relation, branch, tag=tag)) -%}
{% endmacro %}"""
THEN = "select * from {{ at(source('here', 'prices'), snapshot=1) }} where price <> 1 and id = 1"


def failure(*arguments):
    (result,) = run_dbt(list(arguments), expect_pass=False)
    return result.message


def operate(macro, *, expect_pass=True, **arguments):
    return run_dbt(["run-operation", macro, "--args", str({"relation": "prices"} | arguments)], expect_pass=expect_pass)


class TestTimeTravel:
    """Each test continues from the state that the previous one left."""

    @pytest.fixture(scope="class")
    def macros(self):
        return {"branches.sql": BRANCHES}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "prices.sql": PRICES,
            "falling.sql": FALLING,
            "any.sql": VAR,
            "tagged.sql": TAGGED,
            **READERS,
            "properties.yml": PROPERTIES,
        }

    @pytest.fixture(scope="class")
    def tests(self):
        return {"then.sql": THEN}

    @pytest.fixture(scope="class")
    def tags(self, rows):
        """Function: the tags whose names match a pattern (by default those of runs), and their table snapshots."""

        def read(like="run%"):
            return rows(
                f"select tag_name, snapshot_id from {{schema}}.`prices$tags` where tag_name like '{like}' order by 1"
            )

        return read

    def test_compile_without_a_table(self, project):
        results = run_dbt(["compile", "--select", "by_snapshot", "by_tag", "by_branch"])
        compiled = {r.node.name: r.node.compiled_code for r in results}
        assert compiled["by_snapshot"].endswith(".`prices` version as of 1 as p")
        assert compiled["by_tag"].endswith(".`prices` version as of 'run 2'")
        assert compiled["by_branch"].endswith(".`prices$branch_first`")

    def test_tags_of_runs(self, project, tags, rows):
        run_dbt(["run", "--select", "prices", "--vars", "branch: true"])
        run_dbt(["run", "--select", "prices", "--vars", "run: 2"])
        assert tags() == [("run 1", 1), ("run 2", 2)]
        # A rerun moves its tag to the new table snapshot; with if_exists=keep, the tag stays.
        run_dbt(["run", "--select", "prices", "--vars", "run: 2"])
        assert tags() == [("run 1", 1), ("run 2", 3)]
        run_dbt(["run", "--select", "prices", "--vars", "{run: 1, if_exists: keep}"])
        assert tags() == [("run 1", 1), ("run 2", 3)]
        run_dbt(["run", "--select", "prices", "--vars", "run: 3"])
        # The run may also have compacted, so the id of the newest table snapshot is not always the same.
        ((newest,),) = rows("select max(snapshot_id) from {schema}.`prices$snapshots`")
        assert tags() == [("run 1", 1), ("run 2", 3), ("run 3", newest)]
        assert rows("select * from {schema}.prices version as of 'run 1' order by id") == [(1, 1), (2, 0)]

    def test_the_tag_of_a_run_without_rows(self, project, rows):
        for _ in range(2):
            run_dbt(["run", "--select", "tagged"])
        assert rows("select tag_name, snapshot_id from {schema}.`tagged$tags`") == [("latest", 1)]

    def test_automatic_tags(self, project, tags, rows):
        # The first commit in an hour creates the tag for the previous hour.
        automatic = rows(
            "select snapshot_id, time_retained from {schema}.`prices$tags` where tag_name not like 'run%'"
            " and tag_name not like 'branch%'"
        )
        assert automatic[0] == (1, "PT168H")
        assert len(automatic) in (1, 2)  # the hour may change

    def test_every_way_to_read(self, project, rows):
        run_dbt(["build", "--select", "by_snapshot", "by_tag", "by_time", "by_branch", "then"])
        assert rows("select * from {schema}.by_snapshot order by id") == [(1, 1), (2, 0)]
        assert rows("select * from {schema}.by_tag order by id") == [(1, 2), (2, 0), (3, 0)]
        assert rows("select * from {schema}.by_time order by id") == [(1, 3), (2, 0), (3, 0), (4, 0)]
        assert rows("select * from {schema}.by_branch order by id") == [(1, 1), (2, 0)]

    def test_instants(self, project, rows):
        """at() with the time of a commit reads the table as of that commit."""
        made = rows("select snapshot_id, cast(commit_time as string) from {schema}.`prices$snapshots` order by 1")
        assert len(made) > 3
        for snapshot, instant in made[:3]:
            (shown,) = run_dbt(["show", "--select", "any", "--vars", f"at: {{timestamp: '{instant}'}}"])
            found = sorted(tuple(row) for row in shown.agate_table.rows)
            assert found == sorted(rows(f"select * from {{schema}}.prices version as of {snapshot}"))
        assert found == [(1, 2), (2, 0), (3, 0)]

    def test_empty(self, project, rows):
        run_dbt(["run", "--empty", "--select", "by_tag"])
        assert rows("select * from {schema}.by_tag") == []

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            ("{snapshot: 99}", "there is no table snapshot 99. It has: 1, 2, 3, "),
            ("{tag: run}", "there is no tag 'run'. It has: "),
            ("{branch: run}", "there is no branch 'run'. It has: first."),
            ("{timestamp: '2001-01-01 00:00:00.5'}", "the oldest table snapshot, 1, is of 20"),
            ("{timestamp: soon}", "a timestamp is needed"),
            ("{timestamp: '2024-01-01 00:00:00+02:00'}", "without time zone"),
            ("{snapshot: one}", "this must be the number of a table snapshot"),
            ("{snapshot: true}", "this must be the number of a table snapshot"),
            ("{tag: 5}", "this must be a name"),
            ("{tag: a, snapshot: 1}", "set exactly one of snapshot, tag, timestamp, branch"),
            ("{}", "set exactly one of snapshot, tag, timestamp, branch, not none"),
        ],
    )
    def test_what_is_not_there(self, project, asked, said):
        message = failure("run", "--select", "any", "--vars", f"at: {asked}")
        assert said in message
        assert "prices" in message

    @pytest.mark.parametrize("macro", ["at", "files_of", "paimon_changes", "stream", "dead_letters"])
    def test_a_name_instead_of_a_relation(self, project, macro):
        of = f"{macro}('prices'{', snapshot=1' if macro == 'at' else ''})"
        with pytest.raises(DbtBaseException, match=rf"{macro}\('prices'\): give ref\('prices'\)"):
            run_dbt(["compile", "--inline", f"select * from {{{{ {of} }}}}"])

    def test_a_tag_that_is_not_there_rolls_nothing_back(self, project, rows):
        before = rows("select snapshot_id from {schema}.`prices$snapshots` order by 1")
        words = ["run-operation", "rollback_to", "--args", "{relation: prices, version: run 9}"]
        _, output = run_dbt_and_capture(words, expect_pass=False)
        assert "there is no tag 'run 9'. It has: " in output
        assert "run 1" in output
        assert rows("select snapshot_id from {schema}.`prices$snapshots` order by 1") == before

    def test_branches(self, project, rows, tags):
        operate("branched", branch="b", tag="run 3")
        rows("insert into {schema}.`prices$branch_b` values (9, 9)")
        assert rows("select count(*) from {schema}.prices") == [(4,)]
        rows("insert into {schema}.prices values (8, 8)")
        rows("call paimon.sys.create_tag(table => '{schema}.prices', tag => 'mine')")
        # Refused: fast_forward would delete the commit and the tag that the branch does not have.
        operate("fast_forward", branch="b", expect_pass=False)
        assert rows("select max(id) from {schema}.prices") == [(8,)]
        # rollback_to deletes tags on later table snapshots only with drop_tags.
        made = tags("%")
        assert "mine" in dict(made)
        for version in ("run 3", 1):
            operate("rollback_to", version=version, expect_pass=False)
            assert tags("%") == made
            assert rows("select max(id) from {schema}.prices") == [(8,)]
        operate("rollback_to", version="run 3", drop_tags=True)
        assert tags("%") == [tag for tag in made if tag[1] <= dict(made)["run 3"]]
        operate("fast_forward", branch="b")
        assert rows("select max(id) from {schema}.prices") == [(9,)]
        operate("fast_forward", branch="first", expect_pass=False)
        operate("fast_forward", branch="first", discard=True)
        assert rows("select max(id) from {schema}.prices") == [(2,)]
        operate("delete_branch", branch="b")
        assert rows("select branch_name from {schema}.`prices$branches`") == [("first",)]

    def test_a_branch_that_an_option_names(self, project, rows):
        run, ids = ("run", "--select", "falling", "--vars"), "select id from {schema}.falling order by id"
        missing = "tblproperties['scan.fallback-branch']='kept': "
        assert missing + "a rebuilt table has no branches" in failure(*run, "falls: true")
        assert rows("show tables in {schema} like 'falling*'") == []
        run_dbt([*run, "run: 1"])
        for kind in ("incremental", "table"):
            message = failure(*run, str({"falls": True, "as": kind, "run": 2}))
            assert missing + "the table has no such branch" in message
            assert rows(ids) == [(1,)]
        operate("create_branch", relation="falling", branch="kept", snapshot=1)
        run_dbt([*run, "{falls: true, run: 2}"])
        operate("delete_branch", relation="falling", branch="kept", expect_pass=False)
        assert rows(ids) == [(1,), (2,)]
        run_dbt([*run, "run: 3"])
        operate("delete_branch", relation="falling", branch="kept")
        assert rows("select * from {schema}.`falling$branches`") == []
        assert rows(ids) == [(1,), (2,), (3,)]

    def test_rollback_to_a_timestamp(self, project, rows):
        rows("insert into {schema}.prices values (50, 0)")
        ((after,),) = rows("select cast(current_timestamp() as string)")
        rows("insert into {schema}.prices values (51, 0)")
        operate("rollback_to", timestamp="2001-01-01", expect_pass=False)
        operate("rollback_to", timestamp=after)
        assert rows("select max(id) from {schema}.prices") == [(50,)]

    def test_rollback_behind_compactions(self, project, rows):
        """Paimon before 1.2 deletes files that a compaction only moved to another level."""
        rows("create table {schema}.lifted (id int, v int) tblproperties ('primary-key' = 'id', 'bucket' = '1')")
        rows("insert into {schema}.lifted values (1, 1)")
        compact = ["run-operation", "compact", "--args", "{relation: lifted}"]
        back = ["run-operation", "rollback_to", "--args"]
        run_dbt(["run-operation", "create_tag", "--args", "{relation: lifted, tag: first}"])
        run_dbt(compact)
        rows("insert into {schema}.lifted values (2, 2)")
        run_dbt([*back, "{relation: lifted, version: first}"])
        assert rows("select * from {schema}.lifted") == [(1, 1)]

        # The compaction does not directly follow the target. Before 1.2, files would be lost, so rollback is refused.
        rows("create table {schema}.mixed (id int, v int) tblproperties ('primary-key' = 'id', 'bucket' = '2')")
        rows("insert into {schema}.mixed values (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1)")
        rows("insert into {schema}.mixed values (1, 2)")
        run_dbt(["run-operation", "compact", "--args", "{relation: mixed}"])
        if not VERSIONS.supports(Capability.ROLLBACK_KEEPS_FILES):
            run_dbt([*back, "{relation: mixed, version: '1'}"], expect_pass=False)
            assert sorted(rows("select id, v from {schema}.mixed"))[:2] == [(1, 2), (2, 1)]
        else:
            run_dbt([*back, "{relation: mixed, version: '1'}"])
            assert sorted(rows("select id, v from {schema}.mixed"))[:2] == [(1, 1), (2, 1)]

    def test_the_fixture_of_a_unit_test(self, project):
        run_dbt(["test", "--select", "the_fixture_is_read"])


class TestAutomaticTags:
    @pytest.fixture(scope="class")
    def models(self):
        tags = {
            "daily": "{'creation': 'process-time', 'period': 'daily'}",
            "two_hours": "{'creation': 'process-time', 'period': 'two-hours'}",
            "few": "{'creation': 'process-time', 'period': 'hourly', 'num_retained_max': 1} if var('run', 1) > 1 else {}",
            "by_watermark": "{'creation': 'watermark', 'period': 'hourly'}",
            "by_batch": "{'creation': 'batch'}",
        }
        return {
            f"{name}.sql": f"{{{{ config(materialized='incremental', incremental_strategy='append', auto_tags={value}) }}}}"
            " select 1 as id"
            for name, value in tags.items()
        }

    @pytest.fixture
    def tags(self, rows):
        return lambda table: [tag for (tag,) in rows(f"select tag_name from {{schema}}.`{table}$tags` order by 1")]

    def test_periods(self, project, tags):
        started = datetime.now(timezone.utc)
        run_dbt(["run", "--select", "daily", "two_hours"])
        ended = datetime.now(timezone.utc)
        assert tags("daily") in [[f"{at - timedelta(days=1):%Y-%m-%d}"] for at in (started, ended)]
        # The tag is of the last period that has ended.
        before = [at.replace(hour=at.hour // 2 * 2) - timedelta(hours=2) for at in (started, ended)]
        assert tags("two_hours") in [[f"{at:%Y-%m-%d %H}"] for at in before]

    def test_older_ones_than_num_retained_max_go(self, project, tags):
        run_dbt(["run", "--select", "few"])
        for tag in ("2020-01-01 00", "by hand"):
            run_dbt(["run-operation", "create_tag", "--args", f"{{relation: few, tag: '{tag}'}}"])
        run_dbt(["run", "--select", "few", "--vars", "run: 2"])
        newest, by_hand = tags("few")
        assert newest > "2026" and by_hand == "by hand"

    def test_policies_that_make_no_tag_are_warned_about(self, project, tags, rows):
        makes_some = VERSIONS.supports(Capability.BATCH_TAGS)
        names = ["by_watermark"] if makes_some else ["by_watermark", "by_batch"]
        results = run_dbt(["--warn-error", "run", "--select", *names], expect_pass=False)
        assert all("makes no tag here" in result.message for result in results) and len(results) == len(names)
        assert rows("show tables in {schema} like 'by_*'") == []
        run_dbt(["run", "--select", "by_watermark", "by_batch"])
        assert tags("by_watermark") == []
        assert len(tags("by_batch")) == makes_some
