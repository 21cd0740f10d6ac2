{#- The project's maintenance policy for tables that runs keep upserting into: merge the files of a bucket from two on,
    so that readers need not, and keep `keep` table snapshots. Tables that are rebuilt or overwritten by partition have
    no files to merge and need no policy. -#}
{% macro maintenance(keep=20) %}
    {{ return({
        'compact': {'small_files': 2},
        'expire_snapshots': {'retain_max': keep},
    }) }}
{% endmacro %}
