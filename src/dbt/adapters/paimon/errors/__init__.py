"""Errors and deprecations as short messages (what, where, remedy), and the redaction of secrets."""
