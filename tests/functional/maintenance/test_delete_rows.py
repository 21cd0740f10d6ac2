"""For each kind of table, `delete_rows` and DELETE remove exactly the rows that meet the condition, or are refused."""

from __future__ import annotations

import pytest
from dbt.tests.util import get_connection, run_dbt
from dbt_common.exceptions import DbtRuntimeError

KEY = "'primary-key' = 'id', 'bucket' = '1'"
IN_PARTITIONS = "'primary-key' = 'id,p', 'bucket' = '1'"
# Kind of table -> its options; `k` is the row kind, `s` the sequence.
PLAIN = {
    "append": "",
    "append_with_vectors": "'deletion-vectors.enabled' = 'true'",
    "append_in_buckets": "'bucket' = '2', 'bucket-key' = 'id'",
    "keyed": KEY,
    "keyed_by_orc": f"{KEY}, 'file.format' = 'orc', 'changelog-producer' = 'input'",
    "keyed_dynamic": "'primary-key' = 'id', 'bucket' = '-1', 'sequence.field' = 's'",
    "with_lookup": f"{KEY}, 'changelog-producer' = 'lookup'",
    "ignores_deletes": f"{KEY}, 'ignore-delete' = 'true'",
    "by_kind": f"{KEY}, 'rowkind.field' = 'k', 'sequence.field' = 's,k'",
    "first_row": f"{KEY}, 'merge-engine' = 'first-row'",
    "partial": f"{KEY}, 'merge-engine' = 'partial-update'",
    "partial_with_vectors": f"{KEY}, 'merge-engine' = 'partial-update', 'deletion-vectors.enabled' = 'true'",
    "sums": f"{KEY}, 'merge-engine' = 'aggregation', 'fields.amount.aggregate-function' = 'sum'",
    "sums_by_kind": f"{KEY}, 'merge-engine' = 'aggregation', 'fields.amount.aggregate-function' = 'sum', "
    "'rowkind.field' = 'k'",
}
PARTITIONED = {
    "days": "",
    "days_with_vectors": "'deletion-vectors.enabled' = 'true'",
    "days_keyed": IN_PARTITIONS,
    "days_first_row": f"{IN_PARTITIONS}, 'merge-engine' = 'first-row'",
}
KINDS = {**PLAIN, **PARTITIONED}
NULLABLE = ("days", "days_with_vectors")
# Kinds on which Paimon's DELETE removes the wrong rows or none, even if the condition is rewritten.
REFUSED = ("ignores_deletes", "by_kind", "first_row", "days_first_row", "sums_by_kind")
UNCOMPACTED = ("partial", "sums")
# id, amount, p, f
BEFORE = [
    (1, 10, "a", 0.0),
    (2, 20, "", -0.0),
    (3, None, " ", None),
    (4, 30, "b", 1.0),
    (5, None, None, None),
]


# Kinds that behave like another kind; CI leaves them out.
ALIKE = (
    "append_in_buckets",
    "keyed_dynamic",
    "with_lookup",
    "partial_with_vectors",
    "days_with_vectors",
)
EACH = [pytest.param(name, marks=pytest.mark.full if name in ALIKE else ()) for name in KINDS]
RIGHT = [each for each in EACH if each.values[0] not in REFUSED + UNCOMPACTED]

# The query's rows in each of two runs, and the table's rows after both.
OURS = "values (1, 'a'), (2, ''), (3, null), (4, ' ')", "values (5, ''), (6, null)"
REPLACED = [(1, "a"), (4, " "), (5, ""), (6, None)]
# In `delete+insert`, NULL equals nothing, as in dbt's other adapters. In `insert_overwrite`, NULL is a partition.
AS_DBT = [(1, "a"), (3, None), (4, " "), (5, ""), (6, None)]
CHANGES = "values (1, 'I', 5), (2, 'I', 5)", "values (1, 'U', 4), (3, 'I', 6)"


def model(config, runs):
    return (
        f"{{{{ config(materialized='incremental', {config}) }}}} "
        f"select * from {{{{ {list(runs)}[var('run', 1) - 1] }}}}"
    )


class TestDeleteRows:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "hooked.sql": model(
                "merge_engine='first-row', primary_key='id', bucket=1, post_hook=\"{{ delete_rows(this, 'id = 2') }}\"",
                ["values (1), (2), (3) as t(id)"] * 2,
            ),
            "applied.sql": model(
                "incremental_strategy='apply_changes', primary_key='id', rowkind_field='k', sequence_field='s'",
                [f"{changes} as t(id, k, s)" for changes in CHANGES],
            ),
            "replaced.sql": model(
                "incremental_strategy='delete+insert', unique_key='p', partition_by='p'",
                [f"{values} as t(id, p)" for values in OURS],
            ),
            "overwritten.sql": model(
                "incremental_strategy='insert_overwrite', partition_by='p'",
                [f"{values} as t(id, p)" for values in OURS],
            ),
            "asked.sql": "select 1 as id -- {{ delete_rows('hooked', 'id = 1') }}",
        }

    @pytest.fixture
    def tables(self, project, rows):
        """Function: create a table of a kind, with the rows of `before`."""

        def make(name):
            rows(f"drop table if exists {{schema}}.{name}")
            where = " partitioned by (p)" if name in PARTITIONED else ""
            rows(
                f"create table {{schema}}.{name} (id int, amount int, p string, f double, k string, s int)"
                f"{where} tblproperties ('write-only' = 'false'{KINDS[name] and ', '}{KINDS[name]})"
            )
            if name in UNCOMPACTED:
                rows(f"insert into {{schema}}.{name} values (1, {0 if name == 'sums' else 9}, 'x', 5, '+I', 0)")
            values = ", ".join(
                f"({key}, {sql(amount)}, {sql(p)}, {sql(f)}, '+I', 1)" for key, amount, p, f in before(name)
            )
            rows(f"insert into {{schema}}.{name} values {values}")

        return make

    def left(self, rows, name):
        found = rows(f"select id, amount, p, f from {{schema}}.{name} order by id")
        return [(key, amount, p, f) for key, amount, p, f in found]

    @pytest.mark.parametrize("name", EACH)
    def test_delete_rows(self, project, rows, tables, name):
        tables(name)
        expected = before(name)
        for condition, meets in (CONDITIONS[name in PARTITIONED] | OF_A_ZERO).items():
            if name in REFUSED + UNCOMPACTED:
                with pytest.raises(DbtRuntimeError, match="delete_rows"):
                    self.delete(project, name, condition)
                assert (condition, self.left(rows, name)) == (condition, expected)
            with get_connection(project.adapter):
                deleted = project.adapter.row_deletes.run(self.relation(project, name), condition)
            stay = [row for row in expected if not meets(row)]
            assert (condition, deleted) == (condition, len(expected) - len(stay))
            assert (condition, self.left(rows, name)) == (condition, stay)
            expected = stay
            if name in UNCOMPACTED:
                return

    @pytest.mark.parametrize("name", RIGHT)
    def test_delete(self, project, rows, tables, name):
        tables(name)
        expected = before(name)
        for condition, meets in CONDITIONS[name in PARTITIONED].items():
            self.delete(project, name, condition)
            expected = [row for row in expected if not meets(row)]
            assert (condition, self.left(rows, name)) == (condition, expected)

    @pytest.mark.parametrize("name", ["ignores_deletes", "by_kind", "partial"])
    def test_merge(self, project, rows, tables, name):
        tables(name)
        with pytest.raises(DbtRuntimeError, match="delete_rows"):
            self.execute(
                project,
                f"merge into paimon.{project.test_schema}.{name} t using (select 2 as id) s on t.id = s.id "
                "when matched then delete",
            )
        assert self.left(rows, name) == before(name)

    def test_by_dbt(self, project, rows):
        def run(number):
            run_dbt(["run", "--exclude", "asked", "--vars", f"run: {number}"])

        def delete(relation, where, **more):
            run_dbt(
                ["run-operation", "delete_rows", "--args", str({"relation": relation, "where": where})],
                **more,
            )

        run(1)
        assert rows("select id from {schema}.hooked order by 1") == [(1,), (3,)]
        delete("applied", "id = 1")
        assert rows("select id from {schema}.applied") == [(2,)]
        run_dbt(["run-operation", "compact", "--args", "{relation: applied}"])
        # A change that is older than the deleted row does not bring it back.
        run(2)
        assert rows("select id from {schema}.applied order by 1") == [(2,), (3,)]
        assert rows("select id, p from {schema}.replaced order by 1") == AS_DBT
        assert rows("select id, p from {schema}.overwritten order by 1") == REPLACED

        with pytest.raises(DbtRuntimeError, match="not in a query"):
            run_dbt(["compile", "--select", "asked"])
        delete("hooked", "", expect_pass=False)
        assert rows("select id from {schema}.hooked order by 1") == [(1,), (3,)]

    def relation(self, project, name):
        return project.adapter.Relation.create("paimon", project.test_schema, name, type="table")

    def delete(self, project, name, condition):
        table = f"paimon.{project.test_schema}.{name}"
        self.execute(project, f"delete from {table} as t where {condition} -- all of it")

    def execute(self, project, statement):
        with get_connection(project.adapter):
            project.adapter.execute(statement)


def before(name):
    """The rows that a table begins with; keys have no NULL."""
    return [row for row in BEFORE if row[2] is not None or name not in PARTITIONED or name in NULLABLE]


def sql(value):
    return "null" if value is None else f"{value}D" if isinstance(value, float) else repr(value)


# Partitioned or not -> condition -> whether a row meets it.
CONDITIONS = {
    False: {
        "id = 4": lambda row: row[0] == 4,
        "amount < 15": lambda row: row[0] == 1,
    },
    True: {
        "p >= '' and upper(p) = 'ZZ'": lambda row: False,
        "p = ''": lambda row: row[2] == "",
        "amount > 15 or p = 'a'": lambda row: row[0] in (1, 2, 4),
        "p is null": lambda row: row[2] is None,
    },
}
# Some readers of Paimon skip -0.0.
OF_A_ZERO = {"f = 0 and amount > 15": lambda row: row[0] == 2}
