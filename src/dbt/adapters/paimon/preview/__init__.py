"""What a run would do, without doing it: `dbt-paimon plan`, and the limit of a model's scans."""
