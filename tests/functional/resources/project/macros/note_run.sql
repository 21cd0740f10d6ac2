{% macro note_run(command) %}
{% if execute and command == 'build' %}
insert into {{ target.schema }}.runs values ('{{ command }}')
{% endif %}
{% endmacro %}
