"""Time travel, tags, rollbacks, branches, and audits on a branch."""
