"""Metadata of Paimon tables as typed values: the only code that reads system tables or uses Paimon's own classes.

Sizes are in bytes, times in seconds. Functions named `by_classes` call Paimon in this process, without a Spark job;
those named `by_sql` send statements, over any connection.
"""
