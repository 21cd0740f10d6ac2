"""The SQL of procedure calls, and the arguments that are refused."""

from datetime import date, datetime, timezone

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.sql import booleans
from dbt.adapters.paimon.sql.procedures import render
from dbt.adapters.paimon.sql.text import string_literal

TABLE = ("paimon", "db", "t")
P09, P10, P14 = (Versions.of(v) for v in ("0.9.0", "1.0.1", "1.4.2"))


def arguments_of(sql, name):
    start = f"CALL `paimon`.sys.{name}(table => 'paimon.db.t'"
    assert sql.startswith(start)
    assert sql.endswith(")")
    return sql[len(start) : -1].removeprefix(", ")


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("plain", "'plain'"),
        ("it's", r"'it\'s'"),
        ("a\\b", r"'a\\b'"),
        ("a\nb\r", r"'a\nb\r'"),
        ("\\'", r"'\\\''"),
        ("", "''"),
        ('"x"', "'\"x\"'"),
    ],
)
def test_string_literal(text, literal):
    assert string_literal(text) == literal


@pytest.mark.parametrize(
    ("procedure", "arguments", "versions", "expected"),
    [
        ("compact", {}, P09, ""),
        ("compact", {"order_by": None, "where": None}, P09, ""),
        ("compact", {"partitions": [{"dt": "2024-01-01"}]}, P09, r"where => '(`dt` = \'2024-01-01\')'"),
        (
            "compact",
            {"partitions": [{"dt": "2024-01-01", "hour": 7}, {"dt": date(2024, 1, 2), "hour": None}]},
            P09,
            r"where => '(`dt` = \'2024-01-01\' AND `hour` = 7) OR (`dt` = \'2024-01-02\' AND `hour` IS NULL)'",
        ),
        ("compact", {"partitions": {"name": "a,b;c=d"}}, P09, r"where => '(`name` = \'a,b;c=d\')'"),
        ("compact", {"partitions": {"name": "it's"}}, P09, r"where => '(`name` = \'it\\\'s\')'"),
        ("compact", {"where": "dt > '2024'"}, P09, r"where => 'dt > \'2024\''"),
        (
            "compact",
            {"order_strategy": "ZORDER", "order_by": ["a", "b"]},
            P09,
            "order_strategy => 'zorder', order_by => 'a,b'",
        ),
        (
            "compact",
            {"order_strategy": "order", "order_by": "a, b"},
            P09,
            "order_strategy => 'order', order_by => 'a,b'",
        ),
        (
            "compact",
            {"options": {"num-levels": 3, "write-only": False}},
            P09,
            "options => 'num-levels=3,write-only=false'",
        ),
        ("compact", {"partition_idle_time": "1 d"}, P09, "partition_idle_time => '1 d'"),
        ("compact", {"compact_strategy": "full"}, P10, "compact_strategy => 'full'"),
        ("expire_snapshots", {"retain_max": 10, "retain_min": "2"}, P09, "retain_max => 10, retain_min => 2"),
        ("expire_snapshots", {"max_deletes": 5}, P09, "max_deletes => 5"),
        (
            "expire_snapshots",
            {"older_than": "2024-01-31"},
            P09,
            "older_than => TIMESTAMP '2024-01-31 00:00:00'",
        ),
        (
            "expire_snapshots",
            {"older_than": datetime.fromisoformat("2024-01-31T12:30:01")},
            P10,
            "older_than => '2024-01-31 12:30:01'",
        ),
        ("expire_snapshots", {"older_than": date(2024, 1, 31)}, P14, "older_than => '2024-01-31 00:00:00'"),
        ("create_tag", {"tag": "v1"}, P09, "tag => 'v1'"),
        (
            "create_tag",
            {"tag": "it's", "snapshot": 4, "time_retained": "7 d"},
            P09,
            r"tag => 'it\'s', snapshot => 4L, time_retained => '7 d'",
        ),
        ("delete_tag", {"tag": "v1"}, P09, "tag => 'v1'"),
        (
            "remove_orphan_files",
            {"older_than": "2024-01-31 12:00", "dry_run": True},
            P09,
            "older_than => '2024-01-31 12:00:00', dry_run => true",
        ),
        ("remove_orphan_files", {"dry_run": "false"}, P09, "dry_run => false"),
        (
            "expire_partitions",
            {"expiration_time": "30 d", "timestamp_formatter": "yyyy-MM-dd", "timestamp_pattern": "$dt"},
            P09,
            "expiration_time => '30 d', timestamp_formatter => 'yyyy-MM-dd', timestamp_pattern => '$dt'",
        ),
        (
            "expire_partitions",
            {"expiration_time": "1 d", "expire_strategy": "update-time"},
            P09,
            "expiration_time => '1 d', expire_strategy => 'update-time'",
        ),
        (
            "expire_partitions",
            {"timestamp_pattern": "$dt"},
            P14,
            "max_expires => 2147483647, timestamp_pattern => '$dt'",
        ),
    ],
)
def test_render(procedure, arguments, versions, expected):
    assert arguments_of(render(procedure, TABLE, arguments, versions), procedure) == expected


@pytest.mark.parametrize(("version", "text"), [(4, "'4'"), ("4", "'4'"), ("v1", "'v1'")])
def test_rollback_to(version, text):
    sql = render("rollback_to", TABLE, {"version": version}, P09)
    assert arguments_of(sql, "rollback") == f"version => {text}"


@pytest.mark.parametrize(
    ("table", "call", "name"),
    [
        (("paimon", "db", "t"), "CALL `paimon`.sys", "'paimon.db.t'"),
        (("my-cat", "db", "we ird"), "CALL `my-cat`.sys", "'`my-cat`.db.`we ird`'"),
        (("c", "2024", "a`b"), "CALL `c`.sys", "'c.`2024`.`a``b`'"),
        (("c", "d", "o'neil"), "CALL `c`.sys", r"'c.d.`o\'neil`'"),
    ],
)
def test_table_names(table, call, name):
    sql = render("compact", table, {}, P09)
    assert sql == f"{call}.compact(table => {name})"


@pytest.mark.parametrize(
    ("procedure", "arguments", "versions", "part"),
    [
        ("compact", {"order_strategy": "zorder"}, P09, "needs order_by"),
        (
            "compact",
            {"order_strategy": "sorted", "order_by": "a"},
            P09,
            "must be one of order, zorder, hilbert",
        ),
        ("compact", {"order_strategy": "order", "order_by": []}, P09, "a column or a list of columns"),
        ("compact", {"order_strategy": "order", "order_by": "a,,b"}, P09, "contains an empty column name"),
        ("compact", {"where": "a = 1", "partitions": [{"a": 1}]}, P09, "cannot be combined"),
        ("compact", {"partitions": "dt=2024"}, P09, "as in [{'dt': '2024-01-01'}]"),
        ("compact", {"partitions": []}, P09, "must be a list of partitions"),
        ("compact", {"partitions": [{}]}, P09, "must be a list of partitions"),
        ("compact", {"partitions": [{"dt": 1.5}]}, P09, "a string, a whole number, a date or a boolean"),
        ("compact", {"where": "  "}, P09, "must be a string"),
        ("compact", {"options": "a=b"}, P09, "a mapping of Paimon's option names"),
        ("compact", {"options": {"num_levels": 3}}, P09, "Did you mean 'num-levels'?"),
        ("compact", {"options": {"file.format.per.level": {"0": "avro", "1": "orc"}}}, P09, "contains a comma"),
        ("compact", {"compact_strategy": "full"}, P09, "needs Paimon >= 1.0, this is 0.9.0"),
        ("compact", {"partition_idle_time": "a day"}, P09, "must be a duration"),
        ("expire_snapshots", {"retain_max": "ten"}, P09, "must be a whole number"),
        ("expire_snapshots", {"retain_max": True}, P09, "must be a whole number"),
        ("expire_snapshots", {"retain_max": 0}, P09, "at least 1"),
        ("expire_snapshots", {"retain_max": 2, "retain_min": 3}, P09, "retain_min=3 is greater than retain_max=2"),
        ("expire_snapshots", {"older_than": "yesterday"}, P09, "a timestamp is needed"),
        (
            "expire_snapshots",
            {"older_than": datetime(2024, 1, 1, tzinfo=timezone.utc)},
            P09,
            "without time zone",
        ),
        ("expire_snapshots", {"older_than": "2024-01-01T00:00:00+02:00"}, P09, "without time zone"),
        ("create_tag", {}, P09, "tag: required."),
        ("create_tag", {"tag": "17"}, P09, "a number means a table snapshot"),
        ("create_tag", {"tag": "v1", "snapshot": "newest"}, P09, "must be a whole number"),
        ("delete_tag", {"tag": None}, P09, "tag: required."),
        ("rollback_to", {"version": " "}, P09, "must be a string"),
        ("remove_orphan_files", {"dry_run": "maybe"}, P09, "must be true or false"),
        ("expire_partitions", {}, P10, "Give expiration_time."),
        # Paimon would read these as milliseconds, and drop all older partitions.
        ("expire_partitions", {"expiration_time": 30}, P09, "must be a duration with a unit"),
        ("expire_partitions", {"expiration_time": "30"}, P14, "must be a duration with a unit"),
        ("create_tag", {"tag": "v1", "time_retained": 7}, P09, "must be a duration with a unit"),
    ],
)
def test_refused(procedure, arguments, versions, part):
    with pytest.raises(DbtRuntimeError) as raised:
        render(procedure, TABLE, arguments, versions)
    assert part in str(raised.value)


def test_all_problems_and_the_usage_are_in_one_error():
    with pytest.raises(DbtRuntimeError) as raised:
        render("create_tag", TABLE, {"snapshot": "x", "time_retained": "a day"}, P09)
    message = str(raised.value)
    assert "create_tag on paimon.db.t" in message
    assert "snapshot='x'" in message
    assert "time_retained='a day': must be a duration" in message
    assert "tag: required." in message
    assert "Arguments: tag (name, required), snapshot (ID of a table snapshot), time_retained (duration)" in message


@pytest.mark.parametrize("missing", [("", "db", "t"), ("paimon", None, "t"), ("paimon", "db", "")])
def test_a_name_needs_its_three_parts(missing):
    with pytest.raises(DbtRuntimeError, match="a catalog, a schema and an identifier"):
        render("compact", missing, {}, P09)


@pytest.mark.parametrize(("given", "meant"), [(True, True), (False, False), ("true", True), ("False", False)])
def test_an_argument_that_is_true_or_false(given, meant):
    assert booleans.argument("erase", "dry_run", given) is meant


@pytest.mark.parametrize("given", [None, 0, 1, "", "no", "None", [], [False]])
def test_an_argument_that_is_neither_true_nor_false(given):
    with pytest.raises(DbtRuntimeError, match=r"dry_run=.*: must be true or false"):
        booleans.argument("erase", "dry_run", given)
