{#- dbt's warning about columns that the YAML documents but the model does not return. -#}
{% macro paimon__check_documented_columns(target, columns) %}
  {%- if config.persist_column_docs() and model.columns -%}
    {%- do validate_doc_columns(target, model.columns, columns | map(attribute='name') | list) -%}
  {%- endif -%}
{% endmacro %}
