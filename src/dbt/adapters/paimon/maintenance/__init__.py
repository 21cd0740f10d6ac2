"""Compaction, expiry, buckets, and the health of tables."""
