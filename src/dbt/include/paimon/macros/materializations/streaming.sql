{#- A table written by Structured Streaming (see the Python module plan.streams). -#}
{% materialization streaming, adapter='paimon', supported_languages=['sql'] %}
  {%- set run = adapter.runs.begin_stream(context) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- do adapter.runs.stream(context, run) -%}

  {{ return(paimon__ended(run)) }}
{% endmaterialization %}
