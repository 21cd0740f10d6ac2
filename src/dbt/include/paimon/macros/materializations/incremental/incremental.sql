{% materialization incremental, adapter='paimon', supported_languages=['sql', 'python'] %}
  {{ return(paimon__write_model()) }}
{% endmaterialization %}
