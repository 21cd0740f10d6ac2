"""Time travel, tags, rollbacks, branches, branch clones and audits."""
