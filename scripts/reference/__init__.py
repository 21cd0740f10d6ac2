"""Writes docs/reference (`make reference`): what the pages say of a key or a macro stands beside it in the code."""
