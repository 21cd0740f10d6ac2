"""SQL text: names, literals, types and procedures. Nothing here runs a statement."""
