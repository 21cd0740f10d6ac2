{#-
  dbt's `dbt.ref` for Python models, except that in a microbatch it returns the rows of the batch's window, as in SQL. As in
  dbt, --sample and --empty do not limit these rows. dbt does not dispatch this macro, so redefine it by name.
-#}
{% macro build_ref_function(model) %}
  {%- set names = {} -%}
  {%- for reference in model.refs -%}
    {%- set arguments = [reference.get('package'), reference['name']] if reference.get('package') else [reference['name']] -%}
    {%- set resolved = ref(*arguments, v=reference.get('version')) -%}
    {#- A project's own ref() may return a string, which has neither method. -#}
    {%- if model.batch and resolved.render_event_time_filtered is defined -%}
      {%- set resolved = resolved.render_event_time_filtered() -%}
    {%- elif resolved.render is defined -%}
      {%- set resolved = resolved.render() -%}
    {%- endif -%}
    {%- if reference.get('version') -%}{%- do arguments.append('v' ~ reference['version']) -%}{%- endif -%}
    {%- do names.update({arguments | join('.'): resolve_model_name(resolved)}) -%}
  {%- endfor %}

def ref(*args, **kwargs):
    refs = {{ names | tojson }}
    key = '.'.join(args)
    version = kwargs.get("v") or kwargs.get("version")
    if version:
        key += f".v{version}"
    dbt_load_df_function = kwargs.get("dbt_load_df_function")
    return dbt_load_df_function(refs[key])

{% endmacro %}
