{#- The project's maintenance policy, as post-hooks: merge the files of a table that runs keep upserting into, so that
    readers need not, then let go of old table snapshots beyond `keep`. Tables rebuilt or overwritten by partition have
    no files to merge and do without. -#}
{% macro maintenance(keep=20) %}
    {{ return([
        "{{ compact(this) }}",
        "{{ expire_snapshots(this, retain_max=" ~ keep ~ ") }}",
    ]) }}
{% endmacro %}
