"""Writes docs/reference (`make reference`) from descriptions next to each key and macro in the code."""
