"""The table a model asks for: config in, a validated `TableSpec` out."""
