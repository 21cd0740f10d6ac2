"""What a statement does: recorded for the adapter's own statements, parsed from a user's."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.sql import procedures, users_statement
from dbt.adapters.paimon.sql.statements import (
    CACHE,
    CREATE_BRANCH,
    KEEPS_PLANS,
    SORTED_COMPACTION,
    Statement,
)

TABLE = ("lake", "s", "t.x")
COMMENT = '/* {"app": "dbt", "node_id": "call sys.compact()"} */\n'


@pytest.mark.parametrize(
    ("procedure", "arguments", "kind", "repeat"),
    [
        ("compact", {}, "compact", True),
        ("compact", {"where": "a = 'order'"}, "compact", True),
        ("compact", {"order_strategy": "zorder", "order_by": "a"}, SORTED_COMPACTION, True),
        ("expire_snapshots", {"retain_max": 5, "older_than": "2024-01-01"}, "expire_snapshots", True),
        ("remove_orphan_files", {"older_than": "2024-01-01"}, "remove_orphan_files", True),
        ("create_branch", {"branch": "b"}, CREATE_BRANCH, False),
        ("create_tag", {"tag": "sys.compact"}, "create_tag", False),
    ],
)
def test_a_rendered_procedure_is_parsed_back(procedure, arguments, kind, repeat):
    """A procedure reaches Spark as a statement in an operation, or as text in a hook."""
    own = procedures.statement(procedure, TABLE, arguments, Versions.of("0.9.0"))
    assert (own.kind, own.repeat, own.target) == (kind, repeat, TABLE)
    if "where" not in arguments:
        assert users_statement.read(own.sql) == own


@pytest.mark.parametrize(
    ("sql", "kind", "repeat", "target"),
    [
        ("call `paimon`.sys.compact(table => 'a.b')", "compact", True, ("a", "b")),
        (f"{COMMENT}CALL paimon.sys.expire_snapshots(table => 'a.b')", "expire_snapshots", True, ("a", "b")),
        ('CALL `p`.`sys`.`remove_orphan_files`(table => "a.b")', "remove_orphan_files", True, ("a", "b")),
        ("-- now\n(select 1)", "", False, ()),
        ("call paimon.sys.rollback(table => 'a.b')", "rollback", False, ("a", "b")),
        ("call paimon.sys.compact_database()", "compact_database", False, ()),
        ("call other.system.compact('order')", "", False, ()),
        ("call sys.compact('s.t', '', 'order', 'a')", SORTED_COMPACTION, True, ("s", "t")),
        ("call sys.compact(order_strategy => \"hilbert\", table => 't')", SORTED_COMPACTION, True, ("t",)),
        ("call /* by hand */ sys . compact (table => '`c`.`s`.`t.``x`', order_strategy => 'order')",
         SORTED_COMPACTION, True, ("c", "s", "t.`x")),
        ("select 'order' from compact", "", False, ()),
        ("insert into t select 'call sys.compact('", "", False, ()),
        ("create or replace temporary view v as select 1", "create view", False, ()),
        ("/* a */ -- b\n DROP table if exists t", "drop table", False, ()),
        ("alter table t add columns (a int)", "alter table", False, ()),
        ("describe table t", "", False, ()),
        ("merge into t …", "", False, ()),
    ],
)  # fmt: skip
def test_read(sql, kind, repeat, target):
    assert users_statement.read(sql) == Statement(sql, kind, {}, repeat, target)


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("CACHE TABLE v AS select rand()", CACHE),
        (f"{COMMENT}cache lazy table `a v` options ('storageLevel' 'DISK_ONLY') as select 1", CACHE),
        ("cache table v", ""),
        ("select * from cache table", ""),
    ],
)
def test_only_cached_queries_keep_their_plans(sql, kind):
    read = users_statement.read(sql, {"own": "1"})
    assert read.kind == kind
    assert read.conf == {"own": "1", **(KEEPS_PLANS if kind else {})}


COMPACT = "call sys.compact(table => 's.t')"
SORT = "call sys.compact(table => 's.t', order_strategy => 'order', order_by => 'a')"


@pytest.mark.parametrize(
    ("script", "kind", "repeat", "target"),
    [
        (f"{COMPACT}; call sys.expire_snapshots(table => 's.t');", "compact", True, ("s", "t")),
        # A repeated INSERT would duplicate its rows.
        (f"{COMPACT}; insert into s.t values (1)", "compact", False, ("s", "t")),
        (
            "call sys.create_tag('s.t', 'x', 1);\ncall sys.create_branch('s.t', 'b', 'x')",
            CREATE_BRANCH,
            False,
            ("s", "t"),
        ),
        (f"drop view v; {SORT}", SORTED_COMPACTION, False, ("s", "t")),
        ("set a = 1; cache table v as select 1", "", False, ()),
    ],
)
def test_scripts(script, kind, repeat, target):
    read = users_statement.read(script)
    assert (read.sql, read.kind, read.repeat, read.target) == (script, kind, repeat, target)
    assert dict(read.conf) == (KEEPS_PLANS if "cache" in script else {})


@pytest.mark.parametrize(
    ("statement", "reads"),
    [
        ("select 1", True),
        (f"{COMMENT}-- a\n ((with a as (select 1) select * from a))", True),
        ("table t", True),
        ("values (1)", True),
        ("with a as (select 1) insert into t select * from a", False),
        ("from a insert overwrite t select *", False),
        ("insert into t select 1", False),
        ("describe table t", False),
        ("", False),
    ],
)
def test_is_query(statement, reads):
    assert users_statement.is_query(statement) is reads


@pytest.mark.parametrize(
    "script",
    [
        "create or replace table s.t using paimon partitioned by (day) as select * from s.t",
        "CREATE OR REPLACE TABLE `s`.`t` AS select * from a join paimon.S.T on true",
        "/* a hook */ create or replace table t as select * from (select id from s.t)",
    ],
)
def test_a_table_is_not_replaced_by_a_query_of_itself(script):
    with pytest.raises(DbtRuntimeError, match="all rows would be lost; nothing was run"):
        users_statement.read(script)


@pytest.mark.parametrize(
    "script",
    [
        "create or replace table s.t as select * from s.t2",
        "create or replace table s.t (id int) using paimon",
        "create or replace temporary view t as select * from t",
        "create table s.t as select * from s.t",
    ],
)
def test_other_tables_are_replaced(script):
    assert users_statement.read(script).kind.startswith("create ")
