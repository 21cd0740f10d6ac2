"""Versions of the state that the adapter stores in addition to models."""
