{% macro paimon__alter_relation_comment(relation, comment) %}
comment on table {{ relation.render() }} is {{ adapter.string_literal(comment) }}
{% endmacro %}
