{% macro paimon__alter_relation_comment(relation, comment) %}
comment on table {{ relation }} is {{ adapter.string_literal(comment) }}
{% endmacro %}
