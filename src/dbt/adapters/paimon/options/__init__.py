"""Paimon's table options, per version."""
