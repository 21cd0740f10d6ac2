"""Paimon's table options: names, types and defaults per Paimon version, and which values are valid."""
