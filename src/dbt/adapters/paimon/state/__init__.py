"""What the adapter keeps outside of models' own columns, each kind with a version; older ones are migrated."""
