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
    ("statement", "replaces"),
    [
        ("create or replace table t as select 1", True),
        ("-- a\nCREATE /* b */ OR\nREPLACE/* c */TABLE `s`.`t` AS table u", True),
        ("replace table t as select 1", True),
        ("create or replace temporary view t as select 1", False),
        ("create table t as select replace(a, 'table') from u", False),
        ("select 'create or replace table t as select * from t'", False),
        ("", False),
    ],
)
def test_replaces_table(statement, replaces):
    assert users_statement.replaces_table(statement) is replaces


# As Spark 3.5 and 4.1 print the plan of a statement that replaces a table with the rows of another one.
REPLACES = """== Parsed Logical Plan ==
'ReplaceTableAsSelect unresolvedtablespec(None, optionlist(), None, None, None, false), true, false
:- 'UnresolvedIdentifier [{written}], false
+- 'Project [*]

== Analyzed Logical Plan ==
ReplaceTableAsSelect TableSpec(Map(),None,Map(),None,None,None,false), true, true
   :- ResolvedIdentifier org.apache.{catalog}@2aadd9bf, {table}
   +- Project [s.t AS text#1]
      +- RelationV2[id#39, a] b#40] {read}
         +- View (`s`.`t`, [id#1])

== Physical Plan ==
{physical} org.apache.{catalog}@2aadd9bf, {table}, Project [id#38]
"""


def refused(table, read, written="s, t", catalog="paimon.spark.SparkCatalog", physical="ReplaceTableAsSelect"):
    values = {"table": table, "read": read, "written": written, "catalog": catalog, "physical": physical}
    try:
        users_statement.refuse_loss(REPLACES.format(**values))
    except DbtRuntimeError:
        return True
    return False


@pytest.mark.parametrize(
    ("table", "read", "is_same"),
    [
        ("s.t", "paimon.s.t s.t", True),
        ("s.t", "paimon.s.t", True),
        ("s.T", "paimon.s.t", True),
        ("s.t", "paimon.s.`t$snapshots` t$snapshots", True),
        ("s.`a b`", "paimon.s.`a b` s.a b", True),
        ("`a-b`.`a-b`", "paimon.`a-b`.`a-b`", True),
        ("s.t", "paimon.s.t2 s.t2", False),
        ("s.t", "paimon.r.t r.t", False),
        ("s.t", "s.t.u t.u", False),
        ("s.`sales-a`", "paimon.s.`sales-b` s.sales-b", False),
    ],
)
def test_a_table_is_not_replaced_by_a_query_of_itself(table, read, is_same):
    assert refused(table, read) is is_same


def test_a_table_of_another_catalog_replaces_it():
    assert not refused("s.t", "prod.s.t s.t", written="dev, s, t")
    assert refused("s.t", "dev.s.t s.t", written="dev, s, t")
    # The plan does not have the current catalog.
    assert refused("s.t", "prod.s.t s.t")
    iceberg, atomic = "iceberg.spark.SparkCatalog", "AtomicReplaceTableAsSelect"
    assert not refused("s.t", "ice.s.t s.t", catalog=iceberg, physical=atomic)
    assert refused("s.t", "jdbc.s.t s.t", catalog="spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog")
    assert refused("s.t", "paimon.s.t", physical=atomic)


def test_an_invalid_query_is_left_to_spark():
    users_statement.refuse_loss("org.apache.spark.sql.AnalysisException: [TABLE_OR_VIEW_NOT_FOUND]")
