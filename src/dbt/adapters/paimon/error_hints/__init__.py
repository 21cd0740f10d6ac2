"""The hints that an error of a statement gets: the line in a node's source files, and names that exist."""
