"""`dbt-paimon diff`: how the rows, columns and options of a table differ between two of its states."""
