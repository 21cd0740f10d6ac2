"""Paimon's table options per Paimon version: their names, types, defaults and valid values."""
