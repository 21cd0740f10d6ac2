"""`dbt-paimon report`: one page of tables, runs, advice and lineage, from metadata alone."""
