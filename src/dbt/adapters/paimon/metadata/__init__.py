"""Metadata of Paimon tables as typed values: the only code that reads system tables or uses Paimon's own classes.

Sizes are in bytes, times in seconds. A `by_classes` calls Paimon in this process, without a Spark job; a `by_sql` sends
one statement, over any connection.
"""
