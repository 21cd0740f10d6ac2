{#- Before a model's rows are committed: tags the table snapshots up to which it reads, so that they stay. -#}
{% macro paimon__keep_source_tags() %}
  {%- for tag in adapter.changes.tags_to_keep(model) -%}
    {%- call statement('keep_tag') -%}{{ create_tag(tag.source, tag.name, tag.snapshot) }}{%- endcall -%}
  {%- endfor -%}
{% endmacro %}
