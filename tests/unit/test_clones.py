"""Names of clone branches, how the view of a clone is recognized, and which tables are copied; no real tables."""

import itertools

import pytest

from dbt.adapters.paimon.changes.positions import NOTHING_READ, short_hash
from dbt.adapters.paimon.changes.read_modes import SourceTable
from dbt.adapters.paimon.changes.sources import Source
from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.metadata.tags import Refs
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.sql.names import branch_problem, tag_problem
from dbt.adapters.paimon.time_travel import clones
from dbt.adapters.paimon.time_travel.states import branch_of

TABLE = PaimonRelation.create(database="paimon", schema="my `db`", identifier="it`s", type="table")


@pytest.mark.parametrize(
    ("schema", "branch"),
    [
        ("shop_pr_7", "shop_pr_7"),
        ("7", "schema_7"),
        ("main", "schema_main"),
        ("dbt_audit", "schema_dbt_audit"),
        ("a$b,c", "a_b_c"),
    ],
)
def test_names(schema, branch):
    assert clones.branch_name(schema) == branch


@pytest.mark.parametrize("schema", ["x" * 250, "ü" * 120, "7" * 252, "$", " "])
def test_every_name_is_valid_for_a_branch_and_its_tag(schema):
    name = clones.branch_name(schema)
    assert not branch_problem(name)
    assert not tag_problem(clones.tag_name(name))


def test_long_names_stay_apart():
    schemas = ["x" * 250, "x" * 249 + "y", "x" * 251]
    for one, other in itertools.combinations(schemas, 2):
        assert clones.branch_name(one) != clones.branch_name(other)


def test_a_view_is_recognized_by_its_query():
    branch = branch_of(TABLE, "pr")
    text = clones.query(branch)
    assert text.endswith("from `paimon`.`my ``db```.`it``s$branch_pr`")
    found = clones.branch_in(text.replace(" from", "\n  from") + "\n", "pr")
    assert (found.render(), found.type) == (branch.render(), "table")
    assert clones.table_of(found).render() == TABLE.render()
    assert clones.name_of(found) == "pr"


@pytest.mark.parametrize(
    ("text", "schema"),
    [
        # A user's view, written by hand or with at().
        ("select * from `paimon`.`shop`.`orders$branch_pr`", "pr"),
        # A copy of the view in another schema, which has no branch of its own.
        (clones.query(branch_of(TABLE, "pr")), "other"),
        # A view of the table itself, not of a branch.
        (clones.query(TABLE), "pr"),
        (clones.query(branch_of(TABLE, "main")), "main"),
        (clones.query(branch_of(TABLE, "pr")) + " where true", "pr"),
        (clones.query(branch_of(TABLE, "pr")) + "; drop table x", "pr"),
        ("", "pr"),
    ],
)
def test_other_views_are_not_clones(text, schema):
    assert clones.branch_in(text, schema) is None


def test_a_table_is_its_own_original():
    assert clones.table_of(TABLE) == TABLE


@pytest.mark.parametrize(
    ("options", "strategy", "why"),
    [
        ({}, "upsert", ""),
        ({"metastore.partitioned-table": "false"}, "append", ""),
        ({}, "apply_changes", "apply_changes keeps the deletes"),
        ({}, "microbatch", "would run all batches"),
        ({"bucket": "-2"}, "upsert", "postpone"),
        ({"metadata.iceberg.storage": "table-location"}, "", "Iceberg"),
        ({"scan.fallback-branch": "b"}, "", "name a branch"),
        (
            {"metastore.partitioned-table": "true"},
            "",
            "have effects outside the table (metastore.partitioned-table)",
        ),
        ({"commit.callbacks": "a.B"}, "", "commit.callbacks"),
    ],
)
def test_which_tables_are_copied(options, strategy, why):
    found = clones.unsuited(TableSpec(options=options), strategy)
    assert bool(found) is bool(why)
    assert why in found


def refs(*branches: str, tag: str = "") -> Refs:
    return Refs(frozenset(branches), frozenset([tag] if tag else []))


def test_a_lost_branch_or_tag():
    branch = branch_of(TABLE, "pr")
    assert clones.missing("v", branch, refs("pr", tag="branch_pr"), {"branch_pr"}) == ""
    # The table was empty when it was cloned, so there was no snapshot to tag.
    assert clones.missing("v", branch, refs("pr"), set()) == ""
    assert "dropped or recreated" in clones.missing("v", branch, refs(), None)
    assert "dropped or recreated" in clones.missing("v", branch, refs(tag="branch_pr"), None)
    gone = clones.missing("v", branch, refs("pr"), {"branch_pr"})
    assert "rolled back" in gone and "--full-refresh" in gone


def test_the_tag_outlives_the_tables_default_retention():
    assert clones.retention({}) is None
    assert clones.retention({"tag.default-time-retained": "1 d"}) == clones.NEVER_EXPIRES


def test_a_position_in_the_table_counts_for_its_branch():
    def keys(name):
        table = SourceTable(TableName("paimon", "shop", name), ((("id", "int")),), (), (), {})
        return Source(TABLE, table, (), (), NOTHING_READ, None).keys

    of_table = short_hash("`paimon`.`shop`.`orders`")
    assert keys("orders") == (of_table,)
    assert keys("orders$branch_pr") == (short_hash("`paimon`.`shop`.`orders$branch_pr`"), of_table)
