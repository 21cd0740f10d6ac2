{#- Tag a table snapshot (the newest by default), so that it does not expire; time_retained: for example '7 d'. -#}
{% macro create_tag(relation, tag, snapshot=none, time_retained=none) -%}
  {%- do return(paimon__call_procedure('create_tag', relation, {
    'tag': tag,
    'snapshot': snapshot,
    'time_retained': time_retained
  })) -%}
{%- endmacro %}
