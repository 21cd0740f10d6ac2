"""From a model's config to a validated `TableSpec`, its incremental strategy and its maintenance policy."""
