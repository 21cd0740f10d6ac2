"""Versions of the state that the adapter keeps beside models, and migrations to the current versions."""
