{#-
  For dbt_expectations' tests of regular expressions. The package's macro for Spark ignores `flags` and `is_raw`, so it reads
  `\d` as `d`, and it does not find an empty match (`^$`). This one returns the position of the match, passes a raw
  expression unchanged, and takes Java's flags. dbt finds it by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__regexp_instr(source_value, regexp, position, occurrence, is_raw, flags) %}
  {%- if execute and (position != 1 or occurrence != 1) -%}
    {%- do exceptions.raise_compiler_error("Spark finds the first match only: regexp_instr takes no position and no occurrence here") -%}
  {%- endif -%}
  {%- set inline = [] -%}
  {#- Java has no flag `c`, because it respects case unless there is an `i`. If both are given, the last one counts. -#}
  {%- for flag in flags or '' if flag != 'c' and not (flag == 'i' and flags.rfind('c') > flags.rfind('i')) -%}
    {%- if execute and flag not in 'imsx' -%}
      {%- do exceptions.raise_compiler_error("Spark has no flag " ~ flag ~ " of regular expressions; it has c, i, m, s and x") -%}
    {%- endif -%}
    {%- do inline.append(flag) -%}
  {%- endfor -%}
  {%- set expression = ("(?" ~ inline | join ~ ")" if inline else "") ~ regexp -%}
  regexp_instr({{ source_value }}, {{ adapter.string_literal(expression) if is_raw else "'" ~ expression ~ "'" }})
{% endmacro %}
