"""Compaction, expiry, rescaling of buckets, table health, and maintenance by policy."""
