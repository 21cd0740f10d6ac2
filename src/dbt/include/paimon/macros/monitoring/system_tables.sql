{% macro aggregation_fields_of(relation) -%}
  {{- system_table(relation, 'aggregation_fields') -}}
{%- endmacro %}

{% macro audit_log_of(relation) -%}
  {{- system_table(relation, 'audit_log') -}}
{%- endmacro %}

{% macro binlog_of(relation) -%}
  {{- system_table(relation, 'binlog') -}}
{%- endmacro %}

{% macro branches_of(relation) -%}
  {{- system_table(relation, 'branches') -}}
{%- endmacro %}

{% macro buckets_of(relation) -%}
  {{- system_table(relation, 'buckets') -}}
{%- endmacro %}

{% macro consumers_of(relation) -%}
  {{- system_table(relation, 'consumers') -}}
{%- endmacro %}

{% macro file_key_ranges_of(relation) -%}
  {{- system_table(relation, 'file_key_ranges') -}}
{%- endmacro %}

{% macro files_of(relation) -%}
  {{- system_table(relation, 'files') -}}
{%- endmacro %}

{% macro manifests_of(relation) -%}
  {{- system_table(relation, 'manifests') -}}
{%- endmacro %}

{% macro options_of(relation) -%}
  {{- system_table(relation, 'options') -}}
{%- endmacro %}

{% macro partitions_of(relation) -%}
  {{- system_table(relation, 'partitions') -}}
{%- endmacro %}

{% macro ro_of(relation) -%}
  {{- system_table(relation, 'ro') -}}
{%- endmacro %}

{% macro row_tracking_of(relation) -%}
  {{- system_table(relation, 'row_tracking') -}}
{%- endmacro %}

{% macro schemas_of(relation) -%}
  {{- system_table(relation, 'schemas') -}}
{%- endmacro %}

{% macro snapshots_of(relation) -%}
  {{- system_table(relation, 'snapshots') -}}
{%- endmacro %}

{% macro statistics_of(relation) -%}
  {{- system_table(relation, 'statistics') -}}
{%- endmacro %}

{% macro table_indexes_of(relation) -%}
  {{- system_table(relation, 'table_indexes') -}}
{%- endmacro %}

{% macro tags_of(relation) -%}
  {{- system_table(relation, 'tags') -}}
{%- endmacro %}
