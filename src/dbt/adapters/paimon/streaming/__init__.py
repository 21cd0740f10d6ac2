"""Models that are written by Structured Streaming: `materialized: streaming`."""
