"""Each row of a statement is fetched exactly once, by any mix of fetch methods. No statement loses a table's rows."""

import pytest
from dbt_common.exceptions import DbtRuntimeError

# Queries of the table itself, which Paimon drops before it reads it.
OF_ITSELF = (
    "create or replace table {schema}.kept as select a.* from {schema}.other a, {schema}.kept",
    "create or replace table {schema}.kept as select k.id from /* x */ {schema}.kept k, (values (1))",
    "create or replace table {schema}.kept using paimon as select * from ({schema}.kept)",
    "create or replace table {schema}.kept as table {schema}.kept",
    "create /* c */ or replace table `{schema}`.`kept` as with x as (select count(*) as id from {schema}.kept) table x",
    "replace table {schema}.kept as select id from {schema}.other where id in (select id from {schema}.kept)",
    "create or replace table {schema}.kept as select snapshot_id as id from {schema}.`kept$snapshots`",
    "create temporary view of_kept as table {schema}.kept; create or replace table {schema}.kept as table of_kept",
)
OF_OTHERS = (
    "create or replace table {schema}.kept as select id from {schema}.other",
    "create or replace table {schema}.kept as with kept as (select 7 as id) select * from kept",
    "create or replace table {schema}.kept as select id from {schema}.other where 'from {schema}.kept' <> ''",
    "create or replace table {schema}.`kept-a` as select id from {schema}.`kept-b`",
)


class TestRows:
    def test_in_parts(self, project):
        with project.adapter.connection_named("rows"):
            cursor = project.adapter.handle.cursor()
            cursor.execute("select id from range(5) order by id")
            parts = [cursor.fetchmany(2) for _ in range(4)]
        assert parts == [[(0,), (1,)], [(2,), (3,)], [(4,)], []]

    def test_a_part_and_the_rest(self, project):
        with project.adapter.connection_named("rows"):
            cursor = project.adapter.handle.cursor()
            cursor.execute("select id from range(5) order by id")
            found = cursor.fetchmany(1), cursor.fetchone(), cursor.fetchall(), cursor.fetchall()
            cursor.execute("select id from range(2) order by id")
            again = cursor.fetchmany(5), cursor.fetchmany(5), cursor.fetchone()
        assert found == ([(0,)], (1,), [(2,), (3,), (4,)], [])
        assert again == ([(0,), (1,)], [], None)


class TestReplacedTables:
    def test_a_query_of_the_table_itself_is_refused(self, project, rows):
        for name in ("kept", "other", "kept-a", "kept-b"):
            rows(f"create table {{schema}}.`{name}` as select 7 as id")
        for script in OF_ITSELF:
            with pytest.raises(DbtRuntimeError):
                rows(script)
            assert rows("select id from {schema}.kept") == [(7,)], script
        for script in OF_OTHERS:
            rows(script)
            assert rows("select id from {schema}.kept") == [(7,)], script

    def test_an_invalid_query_loses_nothing(self, project, rows):
        with pytest.raises(DbtRuntimeError):
            rows("create or replace table {schema}.kept as select nope from {schema}.other")
        assert rows("select id from {schema}.kept") == [(7,)]
