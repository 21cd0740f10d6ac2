"""The dbt project of some plans, and the views and tables that their models read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from differential import dates, values
from differential.plan import Batch, Plan

# Consumers of a source's changes: a copy of it, and sums.
_COPY = """
{{{{ config(materialized='incremental', primary_key='id', rowkind_field='_row_kind', bucket=1) }}}}
select id, n, v, _row_kind from {{{{ paimon_changes(ref('{source}')) }}}}
"""
_SUMS = """
{{{{ config(
    materialized='incremental', primary_key='v', merge_engine='aggregation', bucket=1,
    fields={{'n': {{'aggregate_function': 'sum'}}, 'rows_there': {{'aggregate_function': 'sum'}}}}
) }}}}
select coalesce(v, 'none') as v,
    cast(sum(if(_row_kind in ('-U', '-D'), -n, n)) as bigint) as n,
    sum(if(_row_kind in ('-U', '-D'), -1, 1)) as rows_there
from {{{{ paimon_changes(ref('{source}'), before=true) }}}}
group by 1
"""
_CONSUMERS = {1: _COPY, 2: _SUMS}
OPERATIONS = """
{% macro differential_operation(name, relation, arguments) %}
  {%- do arguments.update({'relation': relation}) -%}
  {%- do run_query(context[name](**arguments)) -%}
{% endmacro %}

{% macro differential_statement(sql) %}
  {%- do run_query(sql) -%}
{% endmacro %}
"""


def write(root: Path, plans: Sequence[Plan], target: dict[str, Any], macros: dict[str, str]) -> None:
    """Write the project; `macros` are further files, which replace macros of the adapter."""
    files = {
        "dbt_project.yml": json.dumps({
            "name": "differential", "version": "1.0", "profile": "differential",
            "flags": {"send_anonymous_usage_stats": False, "use_auto_buckets": True},
        }),
        "profiles.yml": json.dumps({"differential": {"target": "t", "outputs": {"t": target}}}),
        **{f"macros/{name}": text for name, text in macros.items()},
    }  # fmt: skip
    tables = []
    for plan in plans:
        folder, text = _model(plan)
        files[f"{folder}/{plan.name}.sql"] = text
        for number in plan.consumers:
            files[f"models/{plan.consumer(number)}.sql"] = _CONSUMERS[number].format(source=plan.name)
        if plan.reads_source:
            time = {name: plan.config[name] for name in ("event_time",) if name in plan.config}
            tables.append({"name": source_name(plan), "config": time})
    if tables:
        source = {"name": "raw", "schema": target["schema"], "tables": tables}
        files["models/sources.yml"] = json.dumps({"version": 2, "sources": [source]})
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def source_name(plan: Plan) -> str:
    return f"in_{plan.number}"


def input_view(plan: Plan) -> str:
    return f"global_temp.{source_name(plan)}"


def _model(plan: Plan) -> tuple[str, str]:
    config = ", ".join(f"{key}={value!r}" for key, value in plan.config.items())
    config = "{{ config(" + config + ") }}\n"
    read = f"{{{{ source('raw', '{source_name(plan)}') }}}}" if plan.reads_source else input_view(plan)
    query = f"select * from {read}"
    if plan.is_snapshot:
        return "snapshots", f"{{% snapshot {plan.name} %}}\n{config}{query}\n{{% endsnapshot %}}\n"
    return "models", config + (dates.model(plan) if plan.family == "dates" else f"{query}\n")


def batch_query(batch: Batch) -> str:
    """The rows of a batch as a Spark query."""
    nulls = ", ".join(f"cast(null as {kind}) as `{name}`" for name, kind in batch.columns)
    if not batch.rows:
        return f"select {nulls} where false"
    rows = ",\n".join(
        "(" + ", ".join(values.literal(kind, value) for (_, kind), value in zip(batch.columns, row, strict=True)) + ")"
        for row in batch.rows
    )
    names = ", ".join(f"`{name}`" for name, _ in batch.columns)
    casts = ", ".join(f"cast(`{name}` as {kind}) as `{name}`" for name, kind in batch.columns)
    return f"select {casts} from values\n{rows}\nas t({names})"
