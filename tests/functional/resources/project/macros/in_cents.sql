{% macro in_cents(column, digits=0) %}{{ return(adapter.dispatch('in_cents')(column, digits)) }}{% endmacro %}

{% macro default__in_cents(column, digits) %}({{ column }} * 100)::numeric(18, {{ digits }}){% endmacro %}

{% macro spark__in_cents(column, digits) %}cast({{ column }} * 100 as decimal(18, {{ digits }})){% endmacro %}
