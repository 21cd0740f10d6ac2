{#-
  dbt's macro sends `commit;` before the first hook outside a transaction, which Spark cannot parse. dbt does not dispatch
  this macro, so redefine it by name.
-#}
{% macro run_hooks(hooks, inside_transaction=True) %}
  {% for hook in hooks | selectattr('transaction', 'equalto', inside_transaction) %}
    {% set rendered = render(hook.get('sql')) | trim %}
    {% if rendered | length > 0 %}
      {% call statement(auto_begin=inside_transaction) %}
        {{ rendered }}
      {% endcall %}
    {% endif %}
  {% endfor %}
{% endmacro %}
