"""Metadata of Paimon's tables as typed values: the only code that reads system tables or Paimon's own classes.

Sizes are bytes, times are seconds. A `by_classes` reads in this process without a Spark job; a `by_sql` sends one
statement, on any connection.
"""
