{#-
  For automate_dv: the SQL of an effectivity satellite without QUALIFY, which Spark has not. The package writes it that way
  for a `target.type` of postgres only, so it is told that one: `target` is a dict of this node's own, and is put back.
  Found by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__eff_sat() -%}
  {%- set real_type = target.type -%}
  {%- do target.update({'type': 'postgres'}) -%}
  {%- set query = automate_dv.default__eff_sat(*varargs, **kwargs) -%}
  {%- do target.update({'type': real_type}) -%}
  {{- return(query) -}}
{%- endmacro %}
