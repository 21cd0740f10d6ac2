"""dbt snapshots on Paimon primary-key tables."""

from __future__ import annotations

import datetime as dt

import pytest
from dbt.tests.util import run_dbt, write_file

# On day 2, one row changed, one is new, one is gone, and the column names are in another case.
PLANES = """
{{ config(materialized='view') }}
{% if var('day', 1) == 1 %}
select id, owner, cast(at as timestamp) as at, cast(at as date) as day from values
  (1, 'a', '2024-01-01 10:00:00'), (2, 'b', '2024-01-01 10:00:00'), (4, 'd', '2024-01-01 10:00:00') as t(id, owner, at)
{% else %}
select ID, Owner, cast(at as timestamp) as AT, cast(at as date) as DAY from values
  (1, 'a', '2024-01-01 10:00:00'), (2, 'B', '2024-01-02 10:00:00'), (3, 'c', '2024-01-02 10:00:00') as t(ID, Owner, at)
{% endif %}
"""
# On day 2, a column is gone, and a struct has its fields in another order.
SHAPES = """
{{ config(materialized='view') }}
{% if var('day', 1) == 1 %}
select id, 5 as n, array(named_struct('x', id, 'y', 'a')) as s, timestamp'2024-01-01' as at from values (1), (2), (3) as v(id)
{% else %}
select id, array(named_struct('y', if(id = 2, 'b', 'a'), 'x', id)) as s,
  if(id = 2, timestamp'2024-01-02', timestamp'2024-01-01') as at
from values (1), (2) as v(id)
{% endif %}
"""
# On day 2, numbers are wider and `m` has its entries in another order. Only row 2 changes a value (in `deep`).
GROWN = """
{{ config(materialized='view') }}
{% if var('day', 1) == 1 %}
select id, cast(id as decimal(10,2)) as price, map('a', 1, 'b', 2) as m, array(map(1, named_struct('x', map('k', 1)))) as deep
from values (1), (2), (3) as v(id)
{% else %}
select cast(id as bigint) as ID, cast(id as decimal(20,4)) as price, map('b', 2, 'a', 1) as m,
  array(map(1, named_struct('x', map('k', if(id = 2, 5, 1))))) as deep
from values (1L), (2L), (10000000000L) as v(id)
{% endif %}
"""
# On day 2, a column of strings has numbers. Compared as numbers, '001' equals 1.00, and 'b' is NULL.
CODES = """
{{ config(materialized='view') }}
{% if var('day', 1) == 1 %} select * from values (1, '001'), (2, 'b'), (3, '003') as v(id, code)
{% else %} select * from values (1, 1.00), (2, 2.00), (4, 12345678901234567.89) as v(id, code) {% endif %}
"""
# On day 2, a key occurs twice.
REPEATED = """
{{ config(materialized='view') }}
select * from values (1, 'a'), (2, 'b') {% if var('day', 1) == 2 %}, (2, 'c') {% endif %} as v(id, word)
"""
# As in dbt's docs, without `hard_deletes` in the result.
CUSTOM = """
{% macro snapshot_by_owner_strategy(node, snapshotted_rel, current_rel, config, target_exists) %}
  {%- set changed = snapshotted_rel ~ '.owner <> ' ~ current_rel ~ '.owner' -%}
  {%- set hash = snapshot_hash_arguments([config.unique_key, 'owner']) -%}
  {%- do return({'unique_key': config.unique_key, 'updated_at': snapshot_get_time(), 'row_changed': changed, 'scd_id': hash}) -%}
{% endmacro %}
"""
YAML = """
snapshots:
  - name: codes_by_record
    relation: ref('codes')
    config:
      unique_key: id
      strategy: check
      check_cols: all
      hard_deletes: new_record
      spark_config: {spark.sql.ansi.enabled: true}
  - name: codes_by_check
    relation: ref('codes')
    config: {unique_key: id, strategy: check, check_cols: [code]}
  - name: by_custom
    relation: ref('planes')
    config: {unique_key: id, strategy: by_owner}
  - name: grown
    relation: ref('grown_planes')
    config:
      unique_key: id
      strategy: check
      check_cols: all
      hard_deletes: new_record
      spark_config: {spark.sql.ansi.enabled: true, spark.sql.ansi.enforceReservedKeywords: true}
  - name: repeated
    relation: ref('planes_repeated')
    config: {unique_key: id, strategy: check, check_cols: [word]}
  - name: by_own_key
    relation: ref('planes')
    config: {unique_key: id, strategy: check, check_cols: [owner], primary_key: "{{ var('own_key', 'dbt_scd_id') }}"}
  - name: shapes_by_check
    relation: ref('shapes')
    config: {unique_key: id, strategy: check, check_cols: [s], hard_deletes: invalidate}
  - name: shapes_by_time
    relation: ref('shapes')
    config: {unique_key: id, strategy: timestamp, updated_at: at, hard_deletes: new_record}
  - name: by_check
    relation: ref('planes')
    config: {unique_key: id, strategy: check, check_cols: [OWNER]}
  - name: by_all
    relation: ref('planes')
    config: {unique_key: [id, owner], strategy: check, check_cols: all}
  - name: by_time
    relation: ref('planes')
    config: {unique_key: id, strategy: timestamp, updated_at: at, hard_deletes: invalidate}
  - name: by_record
    relation: ref('planes')
    config: {unique_key: id, strategy: timestamp, updated_at: at, hard_deletes: new_record}
  - name: by_day
    relation: ref('planes')
    config: {unique_key: id, strategy: timestamp, updated_at: day, hard_deletes: new_record}
"""
# The first two snapshots store dates. On day 2 (see TIMES), they would have to store timestamps.
DAYS = """
snapshots:
  - name: day_then_time
    relation: ref('planes')
    config: {unique_key: id, strategy: timestamp, updated_at: day}
  - name: day_then_clock
    relation: ref('planes')
    config: {unique_key: id, strategy: timestamp, updated_at: day, hard_deletes: invalidate}
  - name: documented
    description: day one
    columns: [{name: owner, description: who had it}, {name: dbt_valid_to, description: until then}]
    relation: ref('planes')
    config: {unique_key: id, strategy: check, check_cols: [owner], persist_docs: {relation: true, columns: true}}
"""
TIMES = """
snapshots:
  - name: day_then_time
    relation: ref('planes')
    config: {unique_key: id, strategy: timestamp, updated_at: at}
  - name: day_then_clock
    relation: ref('planes')
    config: {unique_key: id, strategy: check, check_cols: [owner], hard_deletes: invalidate}
  - name: documented
    description: day two
    columns: [{name: owner, description: who has it}, {name: dbt_valid_to, description: until then}]
    relation: ref('planes')
    config: {unique_key: id, strategy: check, check_cols: [owner], persist_docs: {relation: true, columns: true}}
"""
ONCE = [(1, "a", True), (2, "b", False), (2, "B", True), (3, "c", True)]
# name -> (id, owner, whether the version is current) on day 2
VERSIONS = {
    "by_check": [*ONCE, (4, "d", True)],
    "by_custom": [*ONCE, (4, "d", True)],
    "by_own_key": [*ONCE, (4, "d", True)],
    "by_all": [(1, "a", True), (2, "b", True), (2, "B", True), (3, "c", True), (4, "d", True)],
    "by_time": [*ONCE, (4, "d", False)],
    "by_record": [*ONCE, (4, "d", False), (4, "d", True)],
    "by_day": [*ONCE, (4, "d", False), (4, "d", True)],
}
# (id, n, s[0].y, whether the version is current) on day 2
SHAPED = [(1, 5, "a", True), (2, 5, "a", False), (2, None, "b", True), (3, 5, "a", False)]
GROWN_THEN = [(1, 1, True), (2, 1, False), (2, 5, True), (3, 1, False), (3, 1, True), (10000000000, 1, True)]
CODES_THEN = [
    (1, "001", False),
    (1, "1.00", True),
    (2, "b", False),
    (2, "2.00", True),
    (3, "003", False),
    (3, "003", True),
    (4, "12345678901234567.89", True),
]
SHAPES_THEN = {"shapes_by_check": SHAPED, "shapes_by_time": [*SHAPED, (3, None, "a", True)]}


class TestSnapshot:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "planes.sql": PLANES,
            "shapes.sql": SHAPES,
            "grown_planes.sql": GROWN,
            "codes.sql": CODES,
            "planes_repeated.sql": REPEATED,
        }

    @pytest.fixture(scope="class")
    def macros(self):
        return {"by_owner.sql": CUSTOM}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"snapshots.yml": YAML, "days.yml": DAYS}

    def test_versions(self, project, rows):
        run_dbt(["run"])
        # With the key of the query, a new version would replace the ended one.
        (refused,) = run_dbt(["snapshot", "--select", "by_own_key", "--vars", "own_key: id"], expect_pass=False)
        assert "primary_key=['id']: lacks dbt_scd_id" in refused.message
        assert "by_own_key" not in {row[1] for row in rows("show tables in {schema}")}
        run_dbt(["snapshot"])
        run_dbt(["snapshot"])
        for name in VERSIONS:
            assert rows(f"select count(*) from {{schema}}.{name}") == [(3,)]
            keys = rows(f"select primary_keys from {{schema}}.`{name}$schemas` order by schema_id desc limit 1")
            assert keys == [('["dbt_scd_id"]',)]
        days = {name: rows(f"select * from {{schema}}.{name}") for name in ("day_then_time", "day_then_clock")}

        run_dbt(["run", "--vars", "day: 2"])
        write_file(TIMES, project.project_root, "snapshots", "days.yml")
        for _ in range(2):
            results = run_dbt(["snapshot"], expect_pass=False)
            # A timestamp is not truncated to a date, and a key that occurs twice is refused.
            assert {result.node.name for result in results if result.status == "error"} == {*days, "repeated"}
            assert rows("select id, word from {schema}.repeated order by 1") == [(1, "a"), (2, "b")]
            assert [tuple(row[1:]) for row in rows("describe {schema}.grown")[:2]] == [
                ("bigint", None),
                ("decimal(20,4)", None),
            ]
            found = rows("select id, deep[0][1].x['k'], dbt_valid_to is null from {schema}.grown order by 1, 2, 3")
            assert found == GROWN_THEN
            found = rows("select id, code, dbt_valid_to is null from {schema}.codes_by_record order by 1, 3")
            assert found == CODES_THEN
            found = rows("select id, code, dbt_valid_to is null from {schema}.codes_by_check order by 1, 3")
            assert found == [row for row in CODES_THEN if row != (3, "003", False)]
            for name, before in days.items():
                assert rows(f"select * from {{schema}}.{name}") == before, name
            for name, expected in VERSIONS.items():
                found = rows(f"select id, owner, dbt_valid_to is null from {{schema}}.{name} order by 1, 3, 2 desc")
                assert found == expected, name
            for name, expected in SHAPES_THEN.items():
                found = rows(f"select id, n, s[0].y, dbt_valid_to is null from {{schema}}.{name} order by 1, 4, 3")
                assert found == expected, name
        comments = rows("select comment from {schema}.`documented$schemas` order by schema_id desc limit 1")
        assert comments == [("day two",)]
        columns = {row[0]: row[2] for row in rows("describe {schema}.documented")}
        assert (columns["owner"], columns["dbt_valid_to"]) == ("who has it", "until then")
        # In a table of dates, a deleted row's version ends on the date of the run, not at its time.
        ended = rows("select dbt_valid_to from {schema}.by_day where id = 4 and dbt_is_deleted = 'False'")
        assert ended == [(dt.datetime.now(dt.timezone.utc).date(),)]
