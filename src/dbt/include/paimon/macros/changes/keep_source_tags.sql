{#- Before a model's rows are committed: the table snapshots that it will have read must not expire (keep=true). -#}
{% macro paimon__keep_source_tags() %}
  {%- for source, tag, snapshot in adapter.tags_to_keep(model) -%}
    {%- call statement('keep_tag') -%}{{ create_tag(source, tag, snapshot) }}{%- endcall -%}
  {%- endfor -%}
{% endmacro %}
