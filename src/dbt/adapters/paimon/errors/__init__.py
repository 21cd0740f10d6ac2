"""Errors and warnings as short messages (what, where, remedy), and the redaction of secrets."""
