"""What a run does with a node's table, decided only by the node's config, the table and the query's columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError
from tests.unit.specs import table_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.plan.decide import adds, decide, steps_of
from dbt.adapters.paimon.plan.steps import Action, Plan, SettledPlan, Step, StepKind
from dbt.adapters.paimon.spec.table import TableSpec
from dbt.adapters.paimon.tables.changeset import Changeset, compute_changeset
from dbt.adapters.paimon.tables.column_changes import compare_columns
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable, as_dbt_columns
from dbt.adapters.paimon.writing.model_query import ModelQuery

# Separates the steps before the rows are written from those after.
ROWS = "the rows"

ID = ExistingColumn("id", "int", nullable=False)
V = ExistingColumn("v", "int")
W = ExistingColumn("w", "string")
WIDE = ExistingColumn("v", "bigint")
TEXT = ExistingColumn("v", "string")
FLAG = ExistingColumn("v", "boolean")
REQUIRED = ExistingColumn("w", "string", nullable=False)
SAID = ExistingColumn("v", "int", comment="said")
SAID_OF_NEW = ExistingColumn("w", "string", comment="said")

APPEND_NEW, SYNC = {"on_schema_change": "append_new_columns"}, {"on_schema_change": "sync_all_columns"}
FAIL = {"on_schema_change": "fail"}
KEY = {"primary_key": ["id"]}
SCD_KEY = {"primary_key": "dbt_scd_id"}
COMMENTS = {"persist_docs": {"columns": True}}

MOVE_W = (StepKind.MOVE_COLUMN, "columns: moves w after id")
ADD_W = (StepKind.ADD_COLUMNS, "columns: adds w string")
DROP_W = (StepKind.DROP_COLUMNS, "columns: drops w")
WIDEN_V = (StepKind.CHANGE_TYPE, "type of v: bigint")
V_TO_TEXT = (StepKind.CHANGE_TYPE, "type of v: string")
W_NULLABLE = (StepKind.DROP_NOT_NULL, "w: may be NULL")
COMMENT_V, COMMENT_W = ((StepKind.COMMENT_COLUMN, f"comment of {name}") for name in "vw")
COMMENT_TABLE = (StepKind.COMMENT_TABLE, "comment")
WRITE_ONLY = {"tblproperties": {"write-only": True}}
SET_WRITE_ONLY = (StepKind.SET_OPTIONS, "write-only: not set -> 'true'")
UNSET_FILE_SIZE = (StepKind.UNSET_OPTIONS, "target-file-size: '64 mb' -> not set")
UNSET_RETAINED = (StepKind.UNSET_OPTIONS, "snapshot.num-retained.max: '5' -> not set")
SUM = "fields.v.aggregate-function"
AGGREGATING = {**KEY, "merge_engine": "aggregation"}


def table(
    *columns: ExistingColumn,
    key: Sequence[str] = (),
    days: Sequence[str] = (),
    comment: str = "",
    **options: str,
):
    named = {name.replace("_", "-"): value for name, value in options.items()}
    return ExistingTable(tuple(key), tuple(days), named, columns or (ID, V), comment)


@dataclass(frozen=True)
class Case:
    """A node, its table and the columns of its query, with the expected plan or refusal."""

    config: Mapping[str, Any] = field(default_factory=dict)
    table: ExistingTable = field(default_factory=table)
    columns: Sequence[ExistingColumn] | None = (ID, V)
    action: Action | None = None
    steps: Sequence[Any] = ()
    refused: str = ""
    rebuild: str = ""
    strategy: str = ""
    description: str = ""
    paimon: str = "0.9.0"

    def plan(self, materialized: str, compare: Any = None, full_refresh: bool = False) -> Plan:
        kind = materialized if materialized in ("snapshot", "seed") else "model"
        config = {**self.config, "materialized": materialized}
        node = {"name": "m", "database": "paimon", "resource_type": kind, "config": config} | {
            "description": self.description
        }
        versions = Versions.of(self.paimon)
        spec = table_spec(config, model="m", versions=versions)
        changes = None
        if self.columns is not None:
            comments = bool((config.get("persist_docs") or {}).get("columns"))
            changes = compare_columns(self.columns, self.table, comments, versions)
        return decide(
            node,
            spec,
            self.table,
            changes,
            compare or partial(compute_changes, versions),
            adds=adds(node, full_refresh),
            strategy=self.strategy,
        )


def compute_changes(versions: Versions, catalog: str, spec: TableSpec, existing: ExistingTable, **_: bool) -> Changeset:
    return compute_changeset(spec, existing, versions)


def steps(plan: Plan) -> list[Any]:
    """(kind, words) of each step, in order, with ROWS where the rows are written."""
    before, after = ([(step.kind, "; ".join(step.alters)) for step in each] for each in (plan.before, plan.after))
    return [*before, ROWS, *after]


REBUILDS = {
    "nothing differs": Case(action=Action.REBUILD, steps=[ROWS]),
    "columns not known": Case(WRITE_ONLY, columns=None, action=Action.REBUILD, steps=[SET_WRITE_ONLY, ROWS]),
    "new column": Case(columns=(ID, V, W), action=Action.REBUILD, steps=[ADD_W, ROWS]),
    "column gone": Case(table=table(ID, V, W), action=Action.REBUILD, steps=[ROWS, DROP_W]),
    "NOT NULL column gone": Case(table=table(ID, V, REQUIRED), action=Action.REBUILD, steps=[W_NULLABLE, ROWS, DROP_W]),
    "NOT NULL removed": Case(table=table(ID, V, REQUIRED), columns=(ID, V, W), action=Action.REBUILD, steps=[W_NULLABLE, ROWS]),
    "wider type": Case(columns=(ID, WIDE), action=Action.REBUILD, steps=[WIDEN_V, ROWS]),
    "other type": Case(columns=(ID, FLAG), action=Action.SWAP, steps=[ROWS], rebuild="type of column v changes from int to boolean"),
    "new NOT NULL column": Case(columns=(ID, V, REQUIRED), action=Action.SWAP, steps=[ROWS], rebuild="new column w is NOT NULL"),
    "options": Case(WRITE_ONLY, table(target_file_size="64 mb"), action=Action.REBUILD, steps=[
        SET_WRITE_ONLY, UNSET_FILE_SIZE, ROWS]),
    "options that are reset first": Case(WRITE_ONLY, table(**{"snapshot.num-retained.max": "5"}), action=Action.REBUILD, steps=[
        UNSET_RETAINED, SET_WRITE_ONLY, ROWS]),
    "buckets": Case({**KEY, "bucket": 4}, table(key=["id"], bucket="2"), action=Action.REBUILD, steps=[
        (StepKind.SET_OPTIONS, ""), (StepKind.SET_OPTIONS, "bucket: '2' -> '4'"), ROWS, (StepKind.UNSET_OPTIONS, "")]),
    "primary key": Case(KEY, action=Action.SWAP, steps=[ROWS], rebuild="primary-key: none -> id"),
    "partitions": Case({"partition_by": ["v"]}, action=Action.SWAP, steps=[ROWS], rebuild="partition: none -> v"),
    "immutable option and other options": Case({**KEY, "merge_engine": "first-row", **WRITE_ONLY}, table(key=["id"]), columns=(ID, V, W),
        action=Action.SWAP, steps=[ROWS], rebuild="merge-engine: none -> first-row"),
    "keys that move between partitions": Case({**KEY, "partition_by": ["v"], "merge_engine": "partial-update"}, table(key=["id"], days=["v"], merge_engine="partial-update"),
        action=Action.SWAP, steps=[ROWS], rebuild="an INSERT OVERWRITE would keep keys in their old partitions"),
    "merge option": Case({**AGGREGATING, "tblproperties": {SUM: "max"}}, table(key=["id"], **{"merge-engine": "aggregation", SUM: "sum"}),
        action=Action.SWAP, steps=[ROWS], rebuild=f"{SUM}: sum -> max"),
    "comment of a column": Case(COMMENTS, columns=(ID, SAID), action=Action.REBUILD, steps=[ROWS, COMMENT_V]),
    "new column with a comment": Case(COMMENTS, columns=(ID, SAID, SAID_OF_NEW), action=Action.REBUILD, steps=[ADD_W, ROWS, COMMENT_V]),
    "column comment removed": Case(COMMENTS, table(ID, SAID), action=Action.REBUILD, steps=[ROWS, COMMENT_V]),
    "comments that are not persisted": Case(columns=(ID, SAID), description="said", action=Action.REBUILD, steps=[ROWS]),
    "comment of the table": Case({"persist_docs": {"relation": True}}, description="said", action=Action.REBUILD, steps=[ROWS, COMMENT_TABLE]),
    "same comment of the table": Case({"persist_docs": {"relation": True}}, table(comment="said"), description="said", action=Action.REBUILD, steps=[ROWS]),
    "all at once": Case(
        {"persist_docs": {"columns": True, "relation": True}, **WRITE_ONLY},
        table(ID, ExistingColumn("v", "int", nullable=False), ExistingColumn("old", "int", nullable=False), target_file_size="64 mb"),
        columns=(ID, W, ExistingColumn("v", "bigint", comment="said")),
        description="said",
        action=Action.REBUILD,
        steps=[
            ADD_W,
            MOVE_W,
            SET_WRITE_ONLY,
            UNSET_FILE_SIZE,
            WIDEN_V,
            (StepKind.DROP_NOT_NULL, "v: may be NULL"),
            (StepKind.DROP_NOT_NULL, "old: may be NULL"),
            ROWS,
            (StepKind.DROP_COLUMNS, "columns: drops old"),
            COMMENT_V,
            COMMENT_TABLE,
        ],
    ),
}  # fmt: skip

INCREMENTS = {
    "nothing differs": Case(action=Action.INCREMENT, steps=[ROWS]),
    "columns not known": Case(WRITE_ONLY, columns=None, action=Action.INCREMENT, steps=[SET_WRITE_ONLY, ROWS]),
    "ignore: new column": Case(columns=(ID, V, W), action=Action.INCREMENT, steps=[ROWS]),
    "ignore: new column with a comment": Case(COMMENTS, columns=(ID, SAID, SAID_OF_NEW), action=Action.INCREMENT, steps=[ROWS, COMMENT_V]),
    "ignore: other type": Case(columns=(ID, WIDE), action=Action.INCREMENT, steps=[ROWS]),
    "ignore: column gone": Case(table=table(ID, V, W), refused="no longer returns: w.*sync_all_columns.*append_new_columns"),
    "ignore: column that the merge engine keeps": Case({**KEY, "merge_engine": "partial-update"}, table(ID, V, W, key=["id"], merge_engine="partial-update"),
        strategy="partial_update", action=Action.INCREMENT, steps=[ROWS]),
    "fail: new column": Case(FAIL, columns=(ID, V, W), refused="new column w string.*sync_all_columns"),
    "fail: column gone": Case(FAIL, table(ID, V, W), refused="column w is no longer in the model"),
    "fail: other type": Case(FAIL, columns=(ID, WIDE), refused="column v is now bigint"),
    "fail: options": Case({**FAIL, **WRITE_ONLY}, action=Action.INCREMENT, steps=[SET_WRITE_ONLY, ROWS]),
    "append: new column": Case(APPEND_NEW, columns=(ID, V, W), action=Action.INCREMENT, steps=[ADD_W, ROWS]),
    "append: new NOT NULL column": Case(APPEND_NEW, columns=(ID, V, REQUIRED), refused="new columns are NOT NULL.*: w. "),
    "append: column gone": Case(APPEND_NEW, table(ID, V, REQUIRED), action=Action.INCREMENT, steps=[ROWS]),
    "append: wider type": Case(APPEND_NEW, columns=(ID, WIDE), action=Action.INCREMENT, steps=[ROWS]),
    "sync: new column": Case(SYNC, columns=(ID, V, W), action=Action.INCREMENT, steps=[ADD_W, ROWS]),
    "sync: new NOT NULL column": Case(SYNC, columns=(ID, V, REQUIRED), refused="new columns are NOT NULL.*: w. "),
    "sync: column gone": Case(SYNC, table(ID, V, W), action=Action.INCREMENT, steps=[ROWS, DROP_W]),
    "sync: NOT NULL column gone": Case(SYNC, table(ID, V, REQUIRED), action=Action.INCREMENT, steps=[W_NULLABLE, ROWS, DROP_W]),
    # NOT NULL stays: the table's other rows have values, and the contract may come back.
    "sync: NOT NULL removed": Case(SYNC, table(ID, V, REQUIRED), columns=(ID, V, W), action=Action.INCREMENT, steps=[ROWS]),
    "sync: wider type": Case(SYNC, columns=(ID, WIDE), action=Action.INCREMENT, steps=[WIDEN_V, ROWS]),
    "sync: number to text": Case(SYNC, columns=(ID, TEXT), action=Action.INCREMENT, steps=[ROWS]),
    "sync: number to text, filters still work": Case(SYNC, columns=(ID, TEXT), paimon="2.0.0", action=Action.INCREMENT, steps=[V_TO_TEXT, ROWS]),
    "sync: type that loses values": Case(SYNC, table(ID, WIDE), action=Action.INCREMENT, steps=[ROWS]),
    "sync: new column with a comment": Case({**SYNC, **COMMENTS}, columns=(ID, SAID, SAID_OF_NEW), action=Action.INCREMENT, steps=[ADD_W, ROWS, COMMENT_V]),
    "options and columns": Case({**SYNC, **WRITE_ONLY}, table(ID, V, W, target_file_size="64 mb"), columns=(ID, WIDE, ExistingColumn("x", "date")), action=Action.INCREMENT, steps=[
        (StepKind.ADD_COLUMNS, "columns: adds x date"),
        SET_WRITE_ONLY, UNSET_FILE_SIZE, WIDEN_V, ROWS, DROP_W]),
    "options that are reset first": Case(WRITE_ONLY, table(**{"snapshot.num-retained.max": "5"}), action=Action.INCREMENT, steps=[
        UNSET_RETAINED, SET_WRITE_ONLY, ROWS]),
    "primary key": Case(KEY, refused="primary-key: not set -> 'id'.*--full-refresh"),
    "partitions": Case({"partition_by": ["v"]}, refused="partition: not set -> 'v'"),
    "immutable option": Case({**KEY, "merge_engine": "first-row"}, table(key=["id"]), refused="merge-engine: not set -> 'first-row'"),
    "buckets": Case({**KEY, "bucket": 4}, table(key=["id"], bucket="2"), refused="bucket: '2' -> '4'.*run-operation rescale"),
    "merge option": Case({**AGGREGATING, "tblproperties": {SUM: "max"}}, table(key=["id"], **{"merge-engine": "aggregation", SUM: "sum"}),
        refused="would be merged differently.*'sum' -> 'max'"),
    "merge option of a dropped column": Case({**AGGREGATING, **SYNC}, table(ID, V, W, key=["id"], **{"merge-engine": "aggregation", SUM: "sum"}), columns=(ID, W),
        action=Action.INCREMENT, steps=[(StepKind.UNSET_OPTIONS, f"{SUM}: 'sum' -> not set"), ROWS, (StepKind.DROP_COLUMNS, "columns: drops v")]),
    "comment of the table": Case({"persist_docs": {"relation": True}}, description="said", action=Action.INCREMENT, steps=[ROWS, COMMENT_TABLE]),
}  # fmt: skip

SNAPSHOTS = {
    "nothing differs": Case(action=Action.INCREMENT, steps=[ROWS]),
    "new column": Case(columns=(ID, V, W), action=Action.INCREMENT, steps=[ADD_W, ROWS]),
    "new column with a comment": Case(COMMENTS, columns=(ID, V, SAID_OF_NEW), action=Action.INCREMENT, steps=[ADD_W, ROWS, COMMENT_W]),
    "column gone": Case(table=table(ID, V, REQUIRED), action=Action.INCREMENT, steps=[ROWS]),
    "wider type": Case(columns=(ID, WIDE), action=Action.INCREMENT, steps=[WIDEN_V, ROWS]),
    "number to text": Case(columns=(ID, TEXT), action=Action.INCREMENT, steps=[ROWS]),
    # dbt has this key only for models.
    "on_schema_change": Case(FAIL, columns=(ID, V, W), action=Action.INCREMENT, steps=[ADD_W, ROWS]),
    "options": Case(WRITE_ONLY, action=Action.INCREMENT, steps=[SET_WRITE_ONLY, ROWS]),
    "primary key": Case(SCD_KEY, refused="primary-key: not set -> 'dbt_scd_id'.*--full-refresh does not rebuild it"),
    "buckets": Case({**SCD_KEY, "bucket": 4}, table(key=["dbt_scd_id"], bucket="2"), refused="bucket: '2' -> '4'.*rescale.*or revert"),
}  # fmt: skip

ALL = REBUILDS["all at once"].plan("table")
CASES = [
    *(("table", name, case) for name, case in REBUILDS.items()),
    *(("incremental", name, case) for name, case in INCREMENTS.items()),
    *(("snapshot", name, case) for name, case in SNAPSHOTS.items()),
]


@pytest.mark.parametrize(
    ("materialized", "case"), [pytest.param(kind, case, id=f"{kind}-{name}") for kind, name, case in CASES]
)
def test_decided(materialized: str, case: Case):
    if case.refused:
        with pytest.raises(DbtRuntimeError) as raised:
            case.plan(materialized)
        assert re.search(case.refused, str(raised.value)), raised.value
        return
    plan = case.plan(materialized)
    assert (plan.action, steps(plan), str(plan.rebuild)) == (case.action, list(case.steps), case.rebuild)
    if plan.action is not Action.SWAP:
        assert plan.differs == tuple(plan.alters)


def test_a_swap_lists_all_differences():
    plan = Case({**KEY, **WRITE_ONLY}, columns=(ID, FLAG, W)).plan("table")
    assert plan.action is Action.SWAP and not list(plan.alters)
    assert plan.differs == (
        "columns: adds w string",
        "write-only: not set -> 'true'",
        "primary-key: not set -> 'id'",
        "type of column v changes from int to boolean",
    )


@pytest.mark.parametrize(
    ("materialized", "config", "column", "asked"),
    [
        ("table", {}, WIDE, {"retypes": True, "rewrites": True}),
        ("table", {}, V, {"retypes": False, "rewrites": True}),
        ("incremental", SYNC, WIDE, {"retypes": True}),
        ("incremental", {}, WIDE, {"retypes": False}),
        ("snapshot", {}, WIDE, {"retypes": True}),
        ("snapshot", {}, TEXT, {"retypes": False}),
    ],
)
def test_compare_is_told_of_type_changes_and_rewrites(materialized, config, column, asked):
    """Files with older types need other options, unless all rows are rewritten."""
    given = []

    def compare(catalog: str, spec: TableSpec, existing: ExistingTable, **flags: bool) -> Changeset:
        given.append(flags)
        return Changeset()

    Case(config, columns=(ID, column)).plan(materialized, compare)
    assert given == [asked]


@pytest.mark.parametrize("materialized", ["incremental", "streaming", "snapshot", "table", "seed"])
def test_a_full_refresh_rebuilds_all_but_snapshots(materialized):
    # An increment of a model is refused; a snapshot ignores `on_schema_change`.
    case = Case(FAIL, columns=(ID, V, W))
    refreshed = case.plan(materialized, full_refresh=True)
    assert refreshed.action is (Action.INCREMENT if materialized == "snapshot" else Action.REBUILD)
    assert steps(refreshed) == [ADD_W, ROWS]
    if materialized in ("incremental", "streaming"):
        with pytest.raises(DbtRuntimeError, match="on_schema_change"):
            case.plan(materialized)
    else:
        assert case.plan(materialized) == refreshed


KINDS_OF_A_RUN = {
    StepKind.READ_ONCE,
    StepKind.WRITE,
    StepKind.AUDIT,
    StepKind.PUBLISH,
    StepKind.COMPACT,
    StepKind.TAG,
    StepKind.MAINTAIN,
}
READ_LATE, READ_ONCE = "read once?", "read once"
WAP = {"wap": True}
TAGGED = {**KEY, "table_tag": {"name": "daily"}}


@pytest.mark.parametrize(
    ("config", "run", "expected"),
    [
        ({}, {}, ["write"]),
        (KEY, {"strategy": "upsert"}, ["write", "compact?"]),
        (KEY, {"strategy": "upsert", "adds": True}, ["write"]),
        (KEY, {"strategy": "merge", "adds": True}, [READ_LATE, "write"]),
        (KEY, {"strategy": "of_the_project", "adds": True}, [READ_LATE, "write"]),
        (KEY, {"strategy": "upsert", "adds": True, "override": True}, [READ_ONCE, "write"]),
        (WAP, {}, ["audit", "publish"]),
        ({**KEY, **WAP}, {"strategy": "merge", "adds": True}, [READ_ONCE, "audit", "publish"]),
        ({**TAGGED, **WAP}, {"strategy": "upsert", "adds": True, "branch": True}, ["write"]),
        (TAGGED, {"strategy": "upsert", "adds": True}, ["write", "tag"]),
    ],
)
def test_the_steps_of_a_run(config, run, expected):
    spec = table_spec(config, model="m", versions=Versions.of("0.9.0"))
    options = {"adds": False, "strategy": "", "branch": False, "override": False, **run}
    found = [f"{step.kind}{'?' * step.is_conditional}" for step in steps_of(spec, **options)]
    assert found == [*expected, *([] if options["branch"] else ["maintain?"])]


def test_the_macro_of_each_kind():
    called = {step.kind: (step.macro, dict(step.arguments)) for step in (*ALL.before, *ALL.after)}
    assert called == {
        StepKind.ADD_COLUMNS: ("paimon__add_columns", {"columns": (W,)}),
        StepKind.MOVE_COLUMN: ("paimon__move_column", {"name": "w", "after": "id"}),
        StepKind.SET_OPTIONS: ("paimon__set_options", {"options": {"write-only": "true"}}),
        StepKind.UNSET_OPTIONS: ("paimon__unset_options", {"names": ("target-file-size",)}),
        StepKind.CHANGE_TYPE: (
            "paimon__alter_column_type",
            {"column_name": "v", "new_column_type": "bigint"},
        ),
        # The last of two such steps.
        StepKind.DROP_NOT_NULL: ("paimon__drop_not_null", {"name": "old"}),
        StepKind.DROP_COLUMNS: ("paimon__drop_columns", {"names": ("old",)}),
        StepKind.COMMENT_COLUMN: ("paimon__comment_on_column", {"column_name": "v", "comment": "said"}),
        StepKind.COMMENT_TABLE: ("paimon__comment_on_table", {"comment": "said"}),
    }
    assert set(called) == set(StepKind) - KINDS_OF_A_RUN


def test_a_snapshot_adds_columns_with_its_own_macro():
    (step,) = SNAPSHOTS["new column"].plan("snapshot").before
    assert step == Step(
        StepKind.ADD_COLUMNS,
        "paimon__add_snapshot_columns",
        {"columns": as_dbt_columns([W])},
        ("columns: adds w string",),
    )


def test_the_properties_of_a_settled_plan():
    more = {"spec": TableSpec(), "columns": (ID,), "source": ModelQuery("t", ())}
    assert SettledPlan(ALL.action, ALL.before, ALL.after, **more).dropped == ("old",)
    staged = {action for action in Action if SettledPlan(action, **more).stages}
    assert staged == {Action.CREATE, Action.SWAP}
