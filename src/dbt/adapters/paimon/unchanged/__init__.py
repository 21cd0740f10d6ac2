"""`skip_unchanged`: a model is skipped if its query, config and inputs are the same as at its last commit."""
