"""Data files of the adapter, read with importlib.resources."""
