"""Unit tests of a streaming model whose source is in no catalog: the columns come from YAML."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

YML = """
sources:
  - name: registry
    tables:
      - name: planes
        external: {using: kafka, location: planes, value_format: debezium}
        columns:
          - {name: id, data_type: bigint}
          - {name: price, data_type: "decimal(12, 2)"}
unit_tests:
  - name: a_row
    model: planes
    given:
      - input: source('registry', 'planes')
        rows:
          - {id: 1, price: 10.55, _row_kind: +U, _offset: 7}
          - {id: 2, _row_kind: -D}
    expect:
      rows:
        - {id: 1, price: 21.10, _row_kind: +U, _position: null, _offset: 7, header: null}
        - {id: 2, price: null, _row_kind: -D, _position: null, _offset: null, header: null}
"""
MODEL = """
{{ config(
    materialized='streaming', incremental_strategy='apply_changes', primary_key='id', rowkind_field='_row_kind',
    sequence_field='_position'
) }}
select id, price * 2 as price, _row_kind, _position, _offset, _headers[0].key as header
from {{ stream(source('registry', 'planes')) }}
"""


class TestStreams:
    @pytest.fixture(scope="class")
    def models(self):
        return {"models.yml": YML, "planes.sql": MODEL}

    def test_rows_of_a_source(self, project):
        (result,) = run_dbt(["test"])
        assert result.status == "pass"

    def test_columns(self, project):
        columns = (
            "{{ adapter.get_columns_in_relation(source('registry', 'planes')) | map(attribute='name') | join(' ') }}"
        )
        (shown,) = run_dbt(["show", "--inline", f"select '{columns}' as columns"])
        assert shown.agate_table.rows[0][0] == (
            "id price _row_kind _position _source_time _key _topic _partition _offset _timestamp _headers"
        )
