"""Streaming models (`materialized: streaming`), written by Spark Structured Streaming."""
