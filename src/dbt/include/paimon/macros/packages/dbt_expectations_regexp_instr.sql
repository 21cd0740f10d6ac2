{#-
  For dbt_expectations' tests of regular expressions. The package's macro for Spark ignores `flags` and `is_raw`, so that
  `\d` is read as `d`, and takes a match of no characters (`^$`) for none. Here the position of the match is asked for, a
  raw expression reaches Spark as it is, and flags are Java's. Found by the search order of `dispatch.py`
  (docs/packages.md).
-#}
{% macro paimon__regexp_instr(source_value, regexp, position, occurrence, is_raw, flags) %}
  {%- if execute and (position != 1 or occurrence != 1) -%}
    {%- do exceptions.raise_compiler_error("Spark finds the first match only: regexp_instr takes no position and no occurrence here") -%}
  {%- endif -%}
  {%- set inline = [] -%}
  {#- Java knows no `c`: without `i`, case matters. Of the two, the last one counts. -#}
  {%- for flag in flags or '' if flag != 'c' and not (flag == 'i' and flags.rfind('c') > flags.rfind('i')) -%}
    {%- if execute and flag not in 'imsx' -%}
      {%- do exceptions.raise_compiler_error("Spark has no flag " ~ flag ~ " of regular expressions; it has c, i, m, s and x") -%}
    {%- endif -%}
    {%- do inline.append(flag) -%}
  {%- endfor -%}
  {%- set expression = ("(?" ~ inline | join ~ ")" if inline else "") ~ regexp -%}
  regexp_instr({{ source_value }}, {{ adapter.string_literal(expression) if is_raw else "'" ~ expression ~ "'" }})
{% endmacro %}
