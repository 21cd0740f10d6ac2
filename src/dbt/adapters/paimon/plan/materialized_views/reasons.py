"""The reasons for a full refresh of a materialized view, documented in docs/materialized-views.md."""

from __future__ import annotations

from enum import Enum, unique


@unique
class Reason(Enum):
    """A reason, and its text on the console and in the docs; `{}` is a detail."""

    # The run.
    FIRST_RUN = "first run"
    FULL_REFRESH = "--full-refresh"
    LIMITED_RUN = "--empty or --sample"
    REFRESH_MODE = "refresh_mode is full"
    REBUILT = "its table is rebuilt ({})"
    NOT_FROM_HERE = "its query, a source's columns or Spark's settings have changed"
    WRITTEN_BY_OTHERS = "something other than its refresh wrote its table at snapshot {}"
    POSITION_LOST = "the changes of {} are lost: {}"
    TOO_MANY = "{} have changed, more than {}"
    FEW_GROUPS = "a full refresh is cheaper for {} groups of about {} rows"
    # The query.
    NOT_READABLE = "its SQL could not be parsed ({})"
    NOT_ANALYZED = "Spark cannot analyze it before its hooks run ({})"
    SQL_HEADER = "it has a sql_header"
    CASE_SENSITIVE = "spark.sql.caseSensitive is true"
    CHAR = "{} has a char column ({}), whose changed rows Spark would compare without its padding"
    NOT_PAIMON = "{} is not a Paimon table"
    VIEW_SETTINGS = "the view {} has other Spark settings"
    SESSION_VIEW = "the view {} is in spark_catalog, where Spark stores settings with it"
    FUNCTION = "{}, so the same sources may return different rows"
    UNKNOWN_FUNCTION = "it is not known whether {}() always gives the same result"
    SUBQUERY = "a subquery in an expression"
    WINDOW = "a window function"
    LIMIT = "a LIMIT"
    GENERATOR = "a row becomes several (explode, LATERAL VIEW, UNNEST)"
    PLAN = "Spark's plan has a {}"
    SET_OPERATION = "a set operation: {}"
    UNION_BRANCHES = "a UNION ALL whose branches have no literal column that tells them apart"
    RECURSION = "a recursive query"
    CLAUSE = "unsupported SQL: {}"
    READ_TWICE = "{} is read twice, once as the driving table"
    # The key.
    NO_KEY = "the driving table {} has no primary key, so only appended rows can be incremental"
    KEY_NOT_SELECTED = "the query does not return {}, part of the primary key of the driving table {}"
    KEY_TYPE = "its key has {}, of type {}"
    OTHER_KEY = "primary_key is ({}), but the key of the query is ({})"
    PARTITIONED = "partition_by has {}, which is not part of its key"
    # Joins.
    JOIN_KIND = "a {} join"
    JOIN_TO_QUERY = "a join with a query that joins or aggregates"
    JOIN_NOT_ON_KEY = "the join with {} does not compare its whole primary key with columns of the driving table"
    # Aggregates.
    NO_GROUP_BY = "an aggregate without GROUP BY"
    GROUPING_SETS = "GROUPING SETS, CUBE or ROLLUP"
    GROUP_NOT_SELECTED = "the query does not return {}, which it groups by"
    ABOVE_GROUPS = "a query over grouped rows that does more than select columns"

    def words(self, *details: object) -> str:
        """The text with its details filled in."""
        return self.value.format(*details)


class NotIncremental(Exception):
    """A query or a run needs a full refresh; `words` is the reason, as the console shows it."""

    def __init__(self, reason: Reason, *details: object) -> None:
        self.reason = reason
        self.words = reason.words(*details)
        super().__init__(self.words)
