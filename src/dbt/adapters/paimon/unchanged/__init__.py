"""`skip_unchanged`: a model whose query, config and inputs are those of its last commit is not run again."""
