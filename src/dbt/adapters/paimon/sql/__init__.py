"""SQL text: names, literals, types, casts, predicates, views and procedure calls. Nothing here runs a statement."""
