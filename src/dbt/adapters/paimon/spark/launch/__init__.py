"""Launching Spark's JVM: its jars, Java options, log and CDS archive."""
