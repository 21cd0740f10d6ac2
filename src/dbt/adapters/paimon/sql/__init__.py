"""SQL text: names, literals, types, casts, predicates, views and procedure calls. No module here runs a statement."""
