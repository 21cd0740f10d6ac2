{#- The project's maintenance policy: merge the files of a table that runs keep upserting into, so that readers need not,
    as soon as a bucket has two of them, and keep `keep` table snapshots. Tables rebuilt or overwritten by partition have
    no files to merge and do without. -#}
{% macro maintenance(keep=20) %}
    {{ return({
        'compact': {'small_files': 2},
        'expire_snapshots': {'retain_max': keep},
    }) }}
{% endmacro %}
