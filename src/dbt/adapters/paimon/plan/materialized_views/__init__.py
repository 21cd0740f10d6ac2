"""Materialized views: tables with the rows of a query, refreshed incrementally when its sources change."""
