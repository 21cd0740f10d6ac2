"""Each error names its node's file, line and column, and shows that line. All errors come from one run of a project."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt

HEAD = "\n\n{{ config(materialized='table') }}\n"


@dataclass(frozen=True)
class Wrong:
    """A file with a mistake: its error has Spark's words `said`, points to `where` and underlines `marked`."""

    text: str
    said: str
    where: str
    marked: str
    also: str = ""


MODELS = {
    "unknown_column.sql": Wrong(
        HEAD + "select\n  o.id,\n  o.custmer\nfrom {{ ref('orders') }} as o",
        "[UNRESOLVED_COLUMN.WITH_SUGGESTION]",
        "models/unknown_column.sql:6:3",
        "o.custmer",
        "`o`.`customer`",
    ),
    "unknown_function.sql": Wrong(
        HEAD + "{% for n in [1, 2] %}\n-- {{ n }}\n{% endfor %}\nselect upprr(customer) as x\nfrom {{ ref('orders') }}",
        "[UNRESOLVED_ROUTINE]",
        "models/unknown_function.sql:7:8",
        "upprr",
        "Did you mean upper?",
    ),
    "unknown_table.sql": Wrong(
        HEAD + "with o as (\n  select * from lake.ordrs\n)\nselect * from o",
        "[TABLE_OR_VIEW_NOT_FOUND]",
        "models/unknown_table.sql:5:17",
        "lake.ordrs",
    ),
    "unknown_source.sql": Wrong(
        HEAD + "select * from\n  {{ source('raw', 'order') }} -- depends_on: {{ ref('orders') }}",
        "[TABLE_OR_VIEW_NOT_FOUND]",
        "models/unknown_source.sql:5:3",
        "{{ source('raw', 'order') }}",
        "Did you mean orders?",
    ),
    "syntax.sql": Wrong(
        HEAD + "select id,\n\tcustomer,\nfrom {{ ref('orders') }}",
        "[PARSE_SYNTAX_ERROR]",
        "models/syntax.sql:6:6",
        "{{ ref('orders') }}",
        "remove the comma before FROM",
    ),
    "data_type.sql": Wrong(
        HEAD + "select {% if true %}id{% endif %},\n  array_contains(id, 1) as x from {{ ref('orders') }}",
        "[DATATYPE_MISMATCH",
        "models/data_type.sql:5:3",
        "array_contains",
    ),
    "ambiguous.sql": Wrong(
        HEAD + "select a.id, customer\nfrom {{ ref('orders') }} a join {{ ref('orders') }} b on a.id = b.id",
        "[AMBIGUOUS_REFERENCE]",
        "models/ambiguous.sql:4:14",
        "customer",
    ),
    "group_by.sql": Wrong(
        HEAD + "select\n  count(*) as n,\n  customer\nfrom {{ ref('orders') }}",
        "[MISSING_GROUP_BY]",
        "models/group_by.sql:4:1",
        "select",
    ),
    "not_grouped.sql": Wrong(
        HEAD + "select\n  id, count(*) as n,\n  customer\nfrom {{ ref('orders') }} group by id",
        "[MISSING_AGGREGATION]",
        "models/not_grouped.sql:6:3",
        "customer",
    ),
    "zero.sql": Wrong(
        HEAD + "{%- set count = 'id - 1' %}\nselect id,\n  id / ({{ count }}) as x\nfrom {{ ref('orders') }}",
        "[DIVIDE_BY_ZERO]",
        "models/zero.sql:6:3",
        "id / ({{ count }})",
    ),
    "bad_cast.sql": Wrong(
        HEAD + "select id, /* é ü */ cast(customer as int) as n\nfrom {{ ref('orders') }}",
        "[CAST_INVALID_INPUT]",
        "models/bad_cast.sql:4:22",
        "cast(customer as int)",
    ),
    "of_a_macro.sql": Wrong(
        HEAD + "select\n  {{ two_columns() }}\nfrom {{ ref('orders') }}",
        "[UNRESOLVED_COLUMN",
        "models/of_a_macro.sql:5:3",
        "{{ two_columns() }}",
        "compiled: custmer as c",
    ),
    "of_an_ephemeral.sql": Wrong(
        HEAD + "with x as (select 1 as id)\nselect e.* from {{ ref('ephemeral') }} e join x on x.id = e.id",
        "[UNRESOLVED_COLUMN",
        "models/ephemeral.sql:3:4",
        "custmer",
    ),
    "with_an_ephemeral.sql": Wrong(
        HEAD + "with x as (select 1 as id)\nselect * from {{ ref('good_ephemeral') }} e\n  join x on x.idd = e.id",
        "[UNRESOLVED_COLUMN",
        "models/with_an_ephemeral.sql:6:13",
        "x.idd",
    ),
    "in_a_hook.sql": Wrong(
        "{{ config(materialized='table', post_hook='delete from {{ this }} where idd = 1') }}\nselect 1 as id",
        "[UNRESOLVED_COLUMN",
        "models/in_a_hook.sql:1:73, post_hook of in_a_hook",
        "idd",
    ),
    "under_a_contract.sql": Wrong(
        "{{ config(materialized='table', contract={'enforced': true}) }}\nselect custmer as id from {{ ref('orders') }}",
        "[UNRESOLVED_COLUMN",
        "models/under_a_contract.sql:2:8",
        "custmer",
    ),
    "in_a_header.sql": Wrong(
        "{% call set_sql_header(config) %}\nselect bad from range(2);\n{% endcall %}" + HEAD + "select 1 as id",
        "[UNRESOLVED_COLUMN",
        "models/in_a_header.sql:2:8",
        "bad",
    ),
    "in_a_view.sql": Wrong(
        "{{ config(materialized='view') }}\nselect custmer from {{ ref('orders') }}",
        "[UNRESOLVED_COLUMN",
        "models/in_a_view.sql:2:8",
        "custmer",
    ),
    "in_python.py": Wrong(
        "\n\ndef model(dbt, session):\n    orders = dbt.ref('orders')\n    return orders.select('custmer')\n",
        "[UNRESOLVED_COLUMN",
        "models/in_python.py:5:12",
        "orders.select('custmer')",
    ),
    "later_in_python.py": Wrong(
        "def model(dbt, session):\n    return session.sql('''\n      select 1 / (id - id) as x from range(2)\n    ''')\n",
        "[DIVIDE_BY_ZERO]",
        "models/later_in_python.py:3:14",
        "1 / (id - id)",
    ),
}
GOOD = {
    "orders.sql": "{{ config(materialized='table') }} select 1 as id, 'ann' as customer",
    "ephemeral.sql": "{{ config(materialized='ephemeral') }}\nselect id,\n   custmer from {{ ref('orders') }}",
    "good_ephemeral.sql": "{{ config(materialized='ephemeral') }} select id from {{ ref('orders') }}",
    "tested.sql": "{{ config(materialized='table') }} select 1 as id",
    "unit_tested.sql": HEAD + "select o.custmer from {{ ref('orders') }} as o",
    "schema.yml": """
sources: [{name: raw, schema: "{{ target.schema }}", tables: [{name: order}]}]
models:
  - name: under_a_contract
    columns: [{name: id, data_type: int}]
  - name: tested
    columns: [{name: idd, data_tests: [not_null]}]
unit_tests:
  - name: unit
    model: unit_tested
    given: [{input: ref('orders'), rows: [{id: 1}]}]
    expect: {rows: [{id: 1}]}
""",
}
SNAPSHOT = """
{% snapshot changed %}
  {{ config(unique_key='id', strategy='check', check_cols='all') }}
  select id, custmer
  from {{ ref('orders') }}
{% endsnapshot %}
"""
OTHERS = {
    "changed": Wrong(SNAPSHOT, "[UNRESOLVED_COLUMN", "snapshots/changed.sql:4:14", "custmer"),
    "unit": Wrong("", "[UNRESOLVED_COLUMN", "models/unit_tested.sql:4:8", "o.custmer"),
    "singular": Wrong(
        "select *\nfrom {{ ref('tested') }} where ids > 1",
        "[UNRESOLVED_COLUMN",
        "tests/singular.sql:2:32",
        "ids",
    ),
    "not_null_tested_idd": Wrong(
        "", "[UNRESOLVED_COLUMN", "target/compiled/test/models/schema.yml/not_null_tested_idd.sql:", "idd"
    ),
    "test-on-run-end-0": Wrong(
        "select nme from (select 1 as name)",
        "[UNRESOLVED_COLUMN.WITH_SUGGESTION]",
        "dbt_project.yml:",
        "nme",
    ),
}
WRONG = {Path(name).stem: wrong for name, wrong in MODELS.items()} | OTHERS


class TestLines:
    @pytest.fixture(scope="class")
    def models(self):
        return {name: wrong.text for name, wrong in MODELS.items()} | GOOD

    @pytest.fixture(scope="class")
    def macros(self):
        return {
            "two.sql": "{% macro two_columns() %}id,\n  custmer as c{% endmacro %}",
            "greeting.sql": "{% macro greeting() %}select 1 as name{% endmacro %}",
        }

    @pytest.fixture(scope="class")
    def project_config_update(self):
        # This hook is only Jinja, so the adapter cannot rule it out as the origin of a statement.
        return {"on-run-start": ["{{ greeting() }}"], "on-run-end": [OTHERS["test-on-run-end-0"].text]}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"changed.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def tests(self):
        return {"singular.sql": OTHERS["singular"].text}

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target: dict[str, Any]) -> dict[str, Any]:
        conf = dbt_profile_target.get("spark_config", {}) | {"spark.sql.ansi.enabled": "true"}
        return dbt_profile_target | {"spark_config": conf}

    @pytest.fixture(scope="class")
    def said(self, project) -> dict[str, list[str]]:
        results = run_dbt(["build"], expect_pass=False)
        return {one.node.name: one.message.split("\n") for one in results if str(one.status) == "error"}

    @pytest.mark.parametrize("name", WRONG)
    def test_line(self, said, name):
        wrong, lines = WRONG[name], said[name]
        place = next(place for place, line in enumerate(lines) if wrong.said in line) + 1
        assert lines[place].strip().startswith(wrong.where)
        carets = lines[place + 2]
        assert set(carets) == {" ", "|", "^"}
        assert lines[place + 1][carets.index("^") : len(carets)] == wrong.marked
        assert wrong.also in "\n".join(lines)

    def test_no_other_node_failed(self, said):
        assert said.keys() == WRONG.keys()
