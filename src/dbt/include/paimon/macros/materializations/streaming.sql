{#- A table written by Structured Streaming (see the Python module plan.streams). -#}
{% materialization streaming, adapter='paimon', supported_languages=['sql'] %}
  {%- set run = adapter.runs.begin_stream(context) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- do adapter.runs.stream(context, run) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {%- do adapter.runs.end(run) -%}

  {{ return({'relations': run.relations}) }}
{% endmaterialization %}
