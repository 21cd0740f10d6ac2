"""Materialized views: tables that hold what a query gives, refreshed at the cost of what changed in its sources."""
