{% test at_least(model, column_name, least, but_for=[]) %}
{{ config(severity='error', warn_if='>0', error_if='>1') }}
select {{ column_name }} from {{ model }}
where {{ column_name }} < {{ least }}{% for value in but_for %} and {{ column_name }} <> {{ value }}{% endfor %}
{% endtest %}
