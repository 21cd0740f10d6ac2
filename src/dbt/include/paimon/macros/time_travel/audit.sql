{#-
  Run the data tests of a model on rows that are not published yet; fails the node if one of them fails.

  target: the published table; audited: the relation with the new rows, a branch or a staged table; spec: see
  adapter.specs.of; staged: the query of the new rows, dropped if they do not pass.
-#}
{% macro paimon__audit(target, audited, spec, staged=none) %}
  {%- if not spec.wap -%}{%- do return(none) -%}{%- endif -%}
  {%- set results = adapter.audits.results(context, target, audited) -%}
  {%- if staged is not none and results | selectattr('is_error') | list -%}
    {%- do paimon__drop_staged(staged) -%}
  {%- endif -%}
  {%- do adapter.audits.refuse_failed(model, audited, results) -%}
{% endmacro %}
