{#- The properties of models as YAML, from their built tables. -#}
{% macro generate_model_yaml(model_names, contract=false, path=none, overwrite=false) %}
  {%- set wanted = [model_names] if model_names is string else model_names -%}
  {%- set nodes = [] -%}
  {%- for name in wanted -%}
    {%- set found = [] -%}
    {%- for node in graph.nodes.values() if node.resource_type == 'model' and node.name == name -%}
      {%- do found.append(node) -%}
    {%- endfor -%}
    {%- if not found -%}
      {%- do exceptions.raise_compiler_error("generate_model_yaml: there is no model '" ~ name ~ "'.") -%}
    {%- endif -%}
    {%- do nodes.append(found[0]) -%}
  {%- endfor -%}
  {%- set text = adapter.operations.models_yaml(nodes, contract, path, overwrite) -%}
  {%- if path is none -%}{%- do print(text) -%}{%- endif -%}
  {%- do return(text) -%}
{% endmacro %}
