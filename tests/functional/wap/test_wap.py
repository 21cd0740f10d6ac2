"""Write, audit, publish: the table after a failed audit, and after a passed one."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.time_travel import audits

ORDERS = """
{{ config(materialized='table', primary_key=var('key', 'id'), bucket=1, wap=true, changelog_producer='input') }}
select * from {{ source('raw', 'orders') }} where {{ var('filter', 'true') }}
"""
PAYMENTS = """
{{ config(materialized='incremental', primary_key='id', bucket=1, wap=true) }}
select id, amount from {{ ref('orders') }}
{% if is_incremental() %} where id > (select max(id) from {{ this }}) {% endif %}
"""
DOWNSTREAM = "{{ config(materialized='table') }} select count(*) as n from {{ ref('payments') }}"
PROPERTIES = """
sources: [{name: raw, database: paimon, schema: "{{ target.schema }}", tables: [{name: orders, identifier: raw_orders}]}]
models:
  - name: orders
    columns:
      - {name: id, data_tests: [unique]}
      - name: amount
        data_tests:
          - not_null: {config: {where: "id < 100"}}
          - accepted_values:
              arguments: {values: [1, 2, 3], quote: false}
              config: {severity: warn}
          - relationships: {arguments: {to: "ref('downstream')", field: n}, config: {severity: warn}}
  - name: payments
    data_tests:
      - at_most: {arguments: {rows: 4}}
    columns:
      - {name: amount, data_tests: [not_null: {config: {error_if: ">1", warn_if: ">0"}}]}
"""
AT_MOST = """
{% test at_most(model, rows) %} select * from (select count(*) as n from {{ model }}) where n > {{ rows }} {% endtest %}
"""
SINGULAR = "select o.id from {{ ref('payments') }} p join {{ ref('orders') }} o using (id) where p.id = 13"


def messages(results):
    return [result.message for result in results if result.message]


class TestWap:
    """Each test continues from the state that the previous one left."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "orders.sql": ORDERS,
            "payments.sql": PAYMENTS,
            "downstream.sql": DOWNSTREAM,
            "properties.yml": PROPERTIES,
        }

    @pytest.fixture(scope="class")
    def macros(self):
        return {"at_most.sql": AT_MOST}

    @pytest.fixture(scope="class")
    def tests(self):
        return {"no_13.sql": SINGULAR}

    @pytest.fixture(scope="class")
    def state(self, rows):
        """Function: the rows, newest snapshot, tags and branches of a table."""

        def read(table):
            return (
                rows(f"select id, amount from {{schema}}.{table} order by id"),
                rows(f"select max(snapshot_id) from {{schema}}.`{table}$snapshots`")[0][0],
                [row[0] for row in rows(f"select tag_name from {{schema}}.`{table}$tags` order by 1")],
                [row[0] for row in rows(f"select branch_name from {{schema}}.`{table}$branches`")],
            )

        return read

    @pytest.fixture(scope="class")
    def raw(self, project, rows):
        """Function: set the rows of the source."""
        rows("create table {schema}.raw_orders (id int, amount int)")
        return lambda values: rows(f"insert overwrite {{schema}}.raw_orders values {values}")

    def test_a_first_build_that_fails_publishes_nothing(self, project, rows, raw):
        raw("(1, 1), (2, null)")
        results = run_dbt(["build"], expect_pass=False)
        assert [r.node.name for r in results if r.status == "error"] == ["orders"]
        assert {r.node.name for r in results if r.status == "skipped"} >= {"payments", "downstream"}
        message = messages(results)[0]
        assert "1 of 3 audits failed, and nothing was published" in message
        assert "not_null_orders_amount: 1 row\n" in message
        assert "`orders__dbt_tmp`" in message
        assert rows("show tables in {schema} like 'orders'") == []
        assert rows("select * from {schema}.orders__dbt_tmp order by id") == [(1, 1), (2, None)]

    def test_a_first_build_that_passes_is_published(self, project, state, raw, rows):
        raw("(1, 1), (2, 2)")
        run_dbt(["build"])
        assert state("orders") == ([(1, 1), (2, 2)], 1, [], [])
        assert state("payments") == ([(1, 1), (2, 2)], 1, [], [])
        assert not [row for row in rows("show tables in {schema}") if "__dbt" in row[1]]
        with_tag = "call sys.create_tag(table => '{schema}.%s', tag => 'kept')"
        rows("use paimon")
        rows(with_tag % "orders")
        rows(with_tag % "payments")

    def test_a_rebuild_that_fails_leaves_the_table_as_it_was(self, project, state, raw, rows):
        raw("(1, 9), (3, null), (100, null)")
        message = messages(run_dbt(["run", "--select", "orders"], expect_pass=False))[0]
        assert "not_null_orders_amount: 1 row\n" in message  # its own `where` leaves out 100
        assert "`orders$branch_dbt_audit`" in message
        assert state("orders") == ([(1, 1), (2, 2)], 1, ["kept"], ["dbt_audit"])
        assert rows("select id, amount from {schema}.`orders$branch_dbt_audit` order by id") == [
            (1, 9),
            (3, None),
            (100, None),
        ]

    def test_mended_it_is_published_in_one_commit(self, project, state, raw, rows):
        raw("(1, 9), (3, 3)")
        results = run_dbt(["run", "--select", "orders"])
        assert results[0].status == "success"
        assert state("orders") == ([(1, 9), (3, 3)], 2, ["kept"], [])
        assert rows("select id, amount from {schema}.orders version as of 'kept' order by id") == [
            (1, 1),
            (2, 2),
        ]
        # Orphan removal keeps the published file.
        now = f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M:%S}"
        run_dbt(["run-operation", "remove_orphan_files", "--args", f"{{relation: orders, older_than: '{now}'}}"])
        files = rows("select count(*) from {schema}.`orders$files`")
        assert files == [(1,)]

    def test_an_increment_that_fails(self, project, state, raw, rows):
        raw("(1, 9), (3, 3), (4, 1), (13, 2), (14, 3)")
        results = run_dbt(["build"], expect_pass=False)
        message = next(m for m in messages(results) if "payments" in m)
        # Rows 1, 2 and four new ones fail a generic test with arguments (at_most) and a singular one (no_13).
        assert "2 of 3 audits failed" in message
        assert "at_most_payments_4: 1 row\n" in message
        assert "no_13: 1 row\n" in message
        assert state("payments") == ([(1, 1), (2, 2)], 1, ["dbt_audit", "kept"], ["dbt_audit"])
        assert rows("select max(id) from {schema}.`payments$branch_dbt_audit`") == [(14,)]
        assert rows("select n from {schema}.downstream") == [(2,)]

    def test_the_next_increment_starts_from_the_published_state(self, project, state, raw, rows):
        raw("(1, 9), (3, 3), (4, 1)")
        run_dbt(["build"])
        assert state("payments") == ([(1, 1), (2, 2), (3, 3), (4, 1)], 2, ["kept"], [])
        assert rows("select n from {schema}.downstream") == [(4,)]

    @pytest.mark.parametrize("table", ["orders", "payments"])
    def test_a_run_that_ends_between_audit_and_publication(self, project, state, raw, rows, table, monkeypatch):
        raw("(1, 9), (3, 3), (4, 1), (5, 1)")
        before = state(table)

        def ends(*args):
            raise RuntimeError("the run ends here")

        with monkeypatch.context() as patched:
            patched.setattr(audits.Audits, "refuse_failed", ends)
            assert "the run ends here" in messages(run_dbt(["run", "--select", table], expect_pass=False))[0]
        assert state(table)[:2] == before[:2]
        raw("(1, 9), (3, 3), (4, 1)")
        run_dbt(["run", "--select", table])
        # The leftover branch and its tag were replaced, and then dropped.
        assert state(table)[0] == [row for row in before[0] if table == "payments" or row[0] != 2]
        assert state(table)[2:] == (["kept"], [])

    def test_another_key_is_audited_before_the_tables_change_names(self, project, state, raw, rows):
        before = state("orders")
        another = ["run", "--select", "orders", "--full-refresh", "--vars", "key: [id, amount]"]
        raw("(1, 9), (1, 8)")
        message = messages(run_dbt(another, expect_pass=False))[0]
        assert "unique_orders_id: 1 row\n" in message
        assert state("orders") == before
        raw("(1, 9), (3, 3), (4, 1)")
        run_dbt(another)
        assert state("orders")[0] == [(1, 9), (3, 3), (4, 1)]
        assert rows("select primary_keys from {schema}.`orders$schemas`") == [('["id","amount"]',)]

    def test_publish_by_hand(self, project, state, raw, rows):
        raw("(1, 9), (3, 3), (4, 1), (5, 5)")
        run_dbt(["run", "--select", "orders payments"], expect_pass=False)
        assert state("payments")[0][-1] == (4, 1)
        run_dbt(["run-operation", "publish", "--args", "{relation: payments}"])
        assert state("payments") == ([(1, 1), (2, 2), (3, 3), (4, 1), (5, 5)], 3, ["kept"], [])
        run_dbt(["run-operation", "publish", "--args", "{relation: payments}"], expect_pass=False)
        assert state("payments")[1] == 3

    def test_publish_refuses_a_branch_that_the_table_has_outrun(self, project, state, raw, rows):
        raw("(1, 9), (3, 3), (4, 1), (5, 5), (6, 6)")
        run_dbt(["run", "--select", "orders payments"], expect_pass=False)
        rows("insert into {schema}.payments values (7, 7)")
        before = state("payments")
        run_dbt(["run-operation", "publish", "--args", "{relation: payments}"], expect_pass=False)
        assert state("payments") == before

    def test_publish_refuses_a_full_branch_that_the_table_has_outrun(self, project, state, raw, rows):
        raw("(1, 9), (5, null)")
        run_dbt(["run", "--select", "orders"], expect_pass=False)
        rows("insert into {schema}.orders values (8, 8)")
        before = state("orders")
        assert (8, 8) in before[0]
        run_dbt(["run-operation", "publish", "--args", "{relation: orders}"], expect_pass=False)
        assert state("orders") == before

    def test_publish_refuses_rows_whose_query_failed(self, project, state, raw, rows):
        failing = ["--vars", "filter: raise_error('no') is null"]
        run_dbt(["run", "--select", "orders", *failing], expect_pass=False)
        before = state("orders")
        assert before[0] and before[3] == ["dbt_audit"]
        assert rows("select * from {schema}.`orders$branch_dbt_audit`") == []
        run_dbt(["run-operation", "publish", "--args", "{relation: orders}"], expect_pass=False)
        assert state("orders") == before

    def test_publish_all_rows_by_hand(self, project, state, raw, rows):
        raw("(1, 9), (5, null)")
        run_dbt(["run", "--select", "orders"], expect_pass=False)
        run_dbt(["run-operation", "publish", "--args", "{relation: orders}"])
        assert state("orders")[0] == [(1, 9), (5, None)]
        assert state("orders")[3] == []

    def test_publish_a_staged_table_by_hand(self, project, state, raw, rows):
        run_dbt(["run", "--select", "orders"], expect_pass=False)  # leaves a branch
        another = ["--full-refresh", "--vars", "{key: [id, note], filter: id > 1}"]
        rows("alter table {schema}.raw_orders add column note string")
        rows("insert overwrite {schema}.raw_orders values (1, 9, 'a'), (6, null, 'b')")
        run_dbt(["run", "--select", "orders", *another], expect_pass=False)
        # The newer rows are published, not those of the branch.
        run_dbt(["run-operation", "publish", "--args", "{relation: orders}"])
        assert state("orders") == ([(6, None)], 1, [], [])
        assert rows("select value from {schema}.`orders$options` where key = 'dbt.audit'") == []

    def test_publish_refuses_an_unfinished_staged_table(self, project, state, raw, rows):
        # A run that is killed between CREATE and INSERT leaves this table.
        rows("create table {schema}.orders__dbt_tmp (id int, amount int, note string)")
        before = state("orders")
        run_dbt(["run-operation", "publish", "--args", "{relation: orders}"], expect_pass=False)
        assert state("orders") == before


LOGGED = """
{{ config(materialized='incremental', incremental_strategy='append', wap=true) }}
select id, amount from {{ paimon_changes(source('raw', 'events')) }}
"""
LOGGED_TESTS = """
sources: [{name: raw, schema: "{{ target.schema }}", tables: [{name: events}]}]
models:
  - name: logged
    columns:
      - name: amount
        data_tests: [not_null: {config: {severity: "{{ var('severity', 'error') }}"}}]
"""


class TestPublishedChanges:
    @pytest.fixture(scope="class")
    def models(self):
        return {"logged.sql": LOGGED, "logged.yml": LOGGED_TESTS}

    def test_no_change_is_read_twice(self, project, rows):
        rows("create table {schema}.events (id int, amount int)")
        rows("insert into {schema}.events values (1, 1)")
        run_dbt(["run"])
        rows("insert into {schema}.events values (2, null)")
        run_dbt(["run"], expect_pass=False)
        assert rows("select id from {schema}.logged") == [(1,)]
        run_dbt(["run-operation", "publish", "--args", "{relation: logged}"])
        assert rows("select id from {schema}.logged order by id") == [(1,), (2,)]
        rows("insert into {schema}.events values (3, 3)")
        run_dbt(["run", "--vars", "severity: warn"])
        assert rows("select id from {schema}.logged order by id") == [(1,), (2,), (3,)]


GROWING = """
{{ config(
    materialized='incremental', incremental_strategy='merge', unique_key='id', on_schema_change='append_new_columns',
    wap=true, table_tag='of_run_' ~ var('run', 1), maintenance={'compact': {'small_files': 2}}, post_hook=[
        "{{ create_tag(this, 'run' ~ var('run', 1)) }}",
        "{{ create_branch(this, 'side' ~ var('run', 1), tag='run' ~ var('run', 1)) }}",
    ]
) }}
select id, {{ var('run', 1) }} as run {{ ", 'new' as added" if var('run', 1) > 1 }}
from values {{ '(1), (2)' if var('run', 1) == 1 else '(2), (3)' }} as v(id)
"""
GROWING_TESTS = "models: [{name: growing, columns: [{name: id, data_tests: [unique, not_null]}]}]"


class TestAlteredTable:
    """On Paimon 0.9, a branch has a single schema, but the table's files were written with several."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"growing.sql": GROWING, "growing.yml": GROWING_TESTS}

    def test_all_rows_are_audited_and_published(self, project, rows):
        for run in (1, 2, 3):
            run_dbt(["build", "--vars", f"run: {run}"])
            new = None if run == 1 else "new"
            expected = [(1, 1, None), (2, run, new)] + [(3, run, new)] * (run > 1)
            columns = "id, run, added" if run > 1 else "id, run, null"
            for table in ("growing", f"`growing$branch_side{run}`"):
                assert rows(f"select {columns} from {{schema}}.{table} order by id") == expected, (run, table)
            # Tags and compaction after a run also work after a publication.
            tags = rows("select tag_name from {schema}.`growing$tags` where tag_name like 'of_run%' order by 1")
            assert tags == [(f"of_run_{number}",) for number in range(1, run + 1)]
            assert rows("select count(*) from {schema}.`growing$files`") == [(1,)]
