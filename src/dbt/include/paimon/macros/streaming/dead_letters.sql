{#- The table of messages that a streaming model could not parse, for FROM. -#}
{% macro dead_letters(relation) -%}
  {%- do paimon__require_relation('dead_letters', relation) -%}
  {#- While dbt parses, `paimon__require_relation` does not refuse a name. -#}
  {%- if relation is string -%}{%- do return(relation) -%}{%- endif -%}
  {%- do return(paimon__dead_letters_relation(relation)) -%}
{%- endmacro %}

{% macro paimon__dead_letters_relation(target) %}
  {%- do return(target.incorporate(path={'identifier': target.identifier ~ '__dead_letters'}, type='table')) -%}
{% endmacro %}
