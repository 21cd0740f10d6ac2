"""The SQL of the adapter's macros, compared with the texts in `rendered/`.

`DBT_PAIMON_RENDER=1 pytest tests/unit/macros` rewrites the texts; review the diff before you commit it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timezone
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlglot
from dbt_common.exceptions import CompilationError
from sqlglot import expressions
from tests.unit.specs import incremental_spec, table_spec

from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.plan.decide import decide
from dbt.adapters.paimon.plan.macros import Macros
from dbt.adapters.paimon.plan.materialized_views.query import Branch
from dbt.adapters.paimon.plan.materialized_views.refresh import ChangedRows, PinnedSource, Refresh, RefreshKind
from dbt.adapters.paimon.plan.steps import SettledPlan
from dbt.adapters.paimon.plan.write_modes import NodeWriter, Overwrite
from dbt.adapters.paimon.spec.strategies import APPLY_CHANGES, STRATEGIES, conf_of
from dbt.adapters.paimon.sql import predicates
from dbt.adapters.paimon.tables.existing import ExistingColumn, ExistingTable, as_dbt_columns
from dbt.adapters.paimon.writing.deletes import kept_deletes
from dbt.adapters.paimon.writing.model_query import from_sql
from unit.macros.rendering import NOTHING, Adapter, Rendering, relation, with_conf

FOLDER = Path(__file__).with_name("rendered")
VERSIONS = Adapter.versions
TABLE = relation("orders")

ID = ExistingColumn("id", "bigint", nullable=False)
DAY = ExistingColumn("day", "date")
STATUS = ExistingColumn("status", "string", comment="it's open, or \\closed")
AMOUNT = ExistingColumn("amount", "decimal(10,2)")
COLUMNS = (ID, DAY, STATUS, AMOUNT)
# Names that need backticks.
ODD = (
    ExistingColumn("Order Id", "bigint", nullable=False),
    ExistingColumn("a`b", "string"),
    ExistingColumn("select", "int"),
)
ODD_TABLE = relation("order items", schema="shop's")

CASES: dict[str, Callable[[], Sequence[str]]] = {}


def case(name: str, render: Callable[..., Sequence[str]], /, *arguments: Any, **more: Any) -> None:
    """Register a case: the statements that `render` returns for these arguments."""
    assert name not in CASES
    CASES[name] = partial(render, *arguments, **more)


# -- incremental strategies -----------------------------------------------------------------------------------------


def increment(
    config: Mapping[str, Any],
    table: Sequence[ExistingColumn] = COLUMNS,
    lacks: Sequence[str] = (),
    target: Any = TABLE,
    known: Mapping[str, ExistingTable] = NOTHING,
) -> list[str]:
    """The statements of a strategy; `lacks` are the columns of the table that the model does not return."""
    spec = incremental_spec(config, model="orders", versions=VERSIONS)
    written = [column for column in table if column.name not in lacks]
    batch = {
        "event_time_start": datetime(2024, 1, 1, tzinfo=timezone.utc),
        "event_time_end": datetime(2024, 1, 2, tzinfo=timezone.utc),
    }
    render = Rendering({"config": config, "batch": batch}, known)
    keeps = spec.strategy == APPLY_CHANGES
    deletes = known.get("orders__dbt_deletes")
    wanted = config.get("incremental_predicates", [])
    kept = kept_deletes(relation("orders__dbt_deletes"), spec.table, table, deletes) if keeps else None
    if kept is not None:
        NodeWriter(render.context, render.adapter.plans).ready_deletes(kept, spec.table)
    columns, batched = list(table), spec.strategy == "microbatch"
    *before, rows = render(
        f"get_incremental_{spec.strategy.replace('+', '_')}_sql",
        {
            "target_relation": target,
            "temp_relation": from_sql("select * from landing", as_dbt_columns(written)),
            "unique_key": config.get("unique_key") or list(spec.table.primary_key),
            "dest_columns": list(as_dbt_columns(written)),
            "incremental_predicates": predicates.of_table(
                predicates.by_sqlglot, wanted, [column.name for column in table], "orders"
            ),
            "table_columns": list(table),
            "spec": spec.table,
            "kept_deletes": kept,
            "batch_window": render.adapter.rows.batch_window(render.node, columns) if batched else None,
        },
    )
    return [*before, with_conf(rows, conf_of(spec.strategy, spec.table))]


KEYED = {"primary_key": "id"}
MERGE = {**KEYED, "incremental_strategy": "merge"}
DELETE_INSERT = {"incremental_strategy": "delete+insert"}
MICROBATCH = {
    "incremental_strategy": "microbatch",
    "event_time": "day",
    "begin": "2024-01-01",
    "batch_size": "day",
}
DAILY = {"partition_by": ["day"]}
CHANGES = {
    **KEYED,
    "incremental_strategy": "apply_changes",
    "rowkind_field": "op",
    "sequence_field": ["changed_at", "offset"],
}
CHANGED = (
    *COLUMNS,
    ExistingColumn("op", "string"),
    ExistingColumn("changed_at", "timestamp", nullable=False),
    ExistingColumn("offset", "bigint", nullable=False),
)
ONLY_LARGE = {"incremental_predicates": ["amount > 10 or status is null", "day > date '2024-01-01'"]}

INCREMENTS: dict[str, dict[str, Any]] = {
    "append": {"config": {}},
    "append_without_columns_of_the_table": {"config": {}, "lacks": ["amount"]},
    "append_odd_names": {"config": {}, "table": ODD, "target": ODD_TABLE},
    "upsert": {"config": KEYED},
    "upsert_without_columns_of_the_table": {"config": KEYED, "lacks": ["amount"]},
    "partial_update": {
        "config": {**KEYED, "merge_engine": "partial-update", "incremental_strategy": "partial_update"},
        "lacks": ["status"],
    },
    "merge": {"config": MERGE},
    "merge_without_columns_of_the_table": {"config": MERGE, "lacks": ["amount", "status"]},
    "merge_by_several_keys": {
        "config": {"incremental_strategy": "merge", "unique_key": ["id", "day"], **ONLY_LARGE},
    },
    "merge_update_columns": {"config": {**MERGE, "merge_update_columns": ["AMOUNT"]}},
    "merge_exclude_columns": {"config": {**MERGE, "merge_exclude_columns": ["amount", "status"]}},
    "merge_that_only_inserts": {"config": {**MERGE, "merge_exclude_columns": ["day", "status", "amount"]}},
    "merge_with_conditions": {
        "config": {
            **MERGE,
            "matched_condition": "DBT_INTERNAL_SOURCE.amount > DBT_INTERNAL_DEST.amount",
            "not_matched_condition": "DBT_INTERNAL_SOURCE.amount > 0",
            "merge_delete_condition": "DBT_INTERNAL_SOURCE.status = 'gone'",
        }
    },
    "merge_that_deletes": {"config": {**MERGE, "merge_delete_condition": "DBT_INTERNAL_SOURCE.status = 'gone'"}},
    "merge_that_deletes_by_the_table": {
        "config": {**MERGE, "merge_delete_condition": "dbt_internal_dest.status = 'gone'"}
    },
    "merge_odd_names": {
        "config": {"incremental_strategy": "merge", "unique_key": ["Order Id", "a`b"]},
        "table": ODD,
        "target": ODD_TABLE,
    },
    "delete_insert": {"config": {**DELETE_INSERT, "unique_key": "id"}},
    "delete_insert_by_several_keys": {
        "config": {**DELETE_INSERT, "unique_key": ["id", "day"], **ONLY_LARGE},
        "lacks": ["amount"],
    },
    "delete_insert_with_primary_key": {"config": {**DELETE_INSERT, **KEYED, "unique_key": "day"}},
    "delete_insert_with_sequence": {
        "config": {**DELETE_INSERT, **KEYED, "unique_key": "day", "sequence_field": ["day", "amount"]}
    },
    "delete_insert_with_primary_key_and_predicates": {
        "config": {
            **DELETE_INSERT,
            "primary_key": ["id", "day"],
            "unique_key": ["day", "status"],
            **ONLY_LARGE,
        },
        "lacks": ["amount"],
    },
    "delete_insert_odd_names": {
        "config": {**DELETE_INSERT, "unique_key": ["Order Id", "a`b"]},
        "table": ODD,
        "target": ODD_TABLE,
    },
    "insert_overwrite": {"config": {**DAILY, "incremental_strategy": "insert_overwrite"}},
    "insert_overwrite_without_columns_of_the_table": {
        "config": {**DAILY, "incremental_strategy": "insert_overwrite"},
        "lacks": ["amount"],
    },
    "microbatch": {"config": MICROBATCH},
    "microbatch_with_primary_key": {
        "config": {**MICROBATCH, **KEYED, **ONLY_LARGE},
        "lacks": ["amount"],
    },
    "microbatch_by_partition": {"config": {**MICROBATCH, **DAILY}},
    "microbatch_by_partition_with_primary_key": {
        "config": {**MICROBATCH, **DAILY, "primary_key": ["id", "day"], **ONLY_LARGE},
        "lacks": ["amount"],
    },
    "microbatch_by_partition_with_sequence": {
        "config": {**MICROBATCH, **DAILY, "primary_key": ["id", "day"], "sequence_field": "amount"}
    },
    "microbatch_by_partition_first_row": {
        "config": {**MICROBATCH, **DAILY, "primary_key": ["id", "day"], "merge_engine": "first-row"}
    },
    "apply_changes_first_deletes": {"config": CHANGES, "table": CHANGED},
    "apply_changes": {
        "config": CHANGES,
        "table": CHANGED,
        "known": {
            "orders__dbt_deletes": ExistingTable(
                ("id",),
                columns=(
                    ID,
                    ExistingColumn("changed_at", "timestamp", nullable=False),
                    ExistingColumn("offset", "int", nullable=False),
                ),
            )
        },
    },
}
for name, given in INCREMENTS.items():
    case(f"increment_{name}", increment, **given)


# -- tables ---------------------------------------------------------------------------------------------------------

SPEC = table_spec(
    {
        "primary_key": ["id", "day"],
        "partition_by": ["day"],
        "bucket": 4,
        "tblproperties": {"deletion-vectors.enabled": True, "commit.user-prefix": "it's me"},
    },
    model="orders",
    versions=VERSIONS,
)
NO_KEY = table_spec({}, model="orders", versions=VERSIONS)
SOURCE = from_sql("select * from landing", as_dbt_columns(COLUMNS))


def macro(name: str, *arguments: Any, **more: Any) -> list[str]:
    return Rendering()(name, *arguments, **more)


case("create_table", macro, "paimon__create_table_sql", TABLE, COLUMNS, SPEC, "Orders of the shop's \\ own")
case("create_table_without_key", macro, "paimon__create_table_sql", ODD_TABLE, ODD, NO_KEY)
case("insert_into_new_table", macro, "paimon__insert_sql", TABLE, COLUMNS, SOURCE)
case("overwrite", macro, "paimon__overwrite_sql", TABLE, COLUMNS, [], SOURCE)
case(
    "overwrite_with_columns_to_drop",
    macro,
    "paimon__overwrite_sql",
    ODD_TABLE,
    ODD,
    ["old `one`", "b"],
    SOURCE,
)
case("create_temporary_view", macro, "create_temporary_view", relation("a`b", type="view"), "select 1")


def read_once() -> list[str]:
    render = Rendering()
    rows = render.adapter.rows.cached("orders__dbt_tmp_unique", f"select * from {SOURCE}")
    return [*render.adapter.sent, str(rows)]


def source_of_a_custom_strategy() -> list[str]:
    render = Rendering()
    view = NodeWriter(render.context, render.adapter.plans).relation_of(TABLE, SOURCE)
    return [*render.adapter.sent, view.render()]


case("read_once", read_once)
case("source_of_a_custom_strategy", source_of_a_custom_strategy)
case("rename_table", macro, "rename_relation", ODD_TABLE, relation("other items", schema="shop's"))
case("drop_table", macro, "drop_relation", ODD_TABLE)
case("drop_schema", macro, "drop_schema", ODD_TABLE)


def cross_database() -> list[str]:
    """One query with one expression for each of ten cross-database macros."""
    calls = {
        "safe_cast": ("status", "decimal(10,2)"),
        "dateadd": ("month", 3, "day"),
        "datediff": ("day", "now()", "hour"),
        "date_trunc": ("week", "day"),
        "last_day": ("day", "quarter"),
        "date": (2024, 2, 29),
        "split_part": ("status", "'|'", -1),
        "listagg": ("status", "', '", "order by id desc", 3),
        "array_construct": (["id", "2"], "int"),
        "escape_single_quotes": ("it's \\\\",),
    }
    sent = [Rendering()(f"paimon__{name}", *arguments)[-1] for name, arguments in calls.items()]
    sent[-1] = f"'{sent[-1]}'"
    return ["select\n  " + ",\n  ".join(sent) + "\nfrom orders"]


case("cross_database", cross_database)


# -- the steps of a plan --------------------------------------------------------------------------------------------

DOCUMENTED = {
    "description": "It's new",
    "columns": {"status": {"name": "status", "description": STATUS.comment}},
}
PERSISTED = {"relation": True, "columns": True}
OLD = ExistingTable(
    options={"bucket": "-1", "target-file-size": "64 mb", "snapshot.num-retained.max": "5"},
    columns=(
        ExistingColumn("id", "int", nullable=False),
        ExistingColumn("status", "varchar(10)", nullable=False),
        ExistingColumn("old `one`", "int", nullable=False),
        ExistingColumn("old", "int"),
    ),
)


def steps(materialized: str, current: ExistingTable = OLD, **config: Any) -> list[str]:
    """The statements that adapt an existing table to its model, before and after the rows are written."""
    config = {"materialized": materialized, "persist_docs": PERSISTED, **config}
    is_snapshot = materialized == "snapshot"
    node = {**DOCUMENTED, "config": config, "resource_type": "snapshot" if is_snapshot else "model"}
    render = Rendering(node)
    spec = table_spec(
        {**config, "tblproperties": {"write-only": True, "commit.user-prefix": "it's me"}},
        model="orders",
        versions=VERSIONS,
    )
    wanted = render.adapter.tables.wanted_columns(as_dbt_columns(COLUMNS), render.node, spec)
    changes = render.adapter.tables.column_changes(wanted, current, render.node)
    plan = decide(render.node, spec, current, changes, render.adapter.tables.changeset, adds=materialized != "table")
    macros = Macros(render.context)
    macros.alter(TABLE, plan.before)
    render.adapter.sent.append("-- the rows")
    macros.alter(TABLE, plan.after)
    return render.adapter.sent


case("steps_of_a_rebuild", steps, "table")
case("steps_of_an_increment", steps, "incremental", on_schema_change="sync_all_columns")
case("steps_of_an_increment_that_appends", steps, "incremental", on_schema_change="append_new_columns")
case("steps_of_a_snapshot", steps, "snapshot")


def rebuild_in_place() -> list[str]:
    render = Rendering({"config": {"materialized": "table"}})
    wanted = render.adapter.tables.wanted_columns(as_dbt_columns(COLUMNS), render.node, NO_KEY)
    changes = render.adapter.tables.column_changes(wanted, OLD, render.node)
    plan = decide(render.node, NO_KEY, OLD, changes, render.adapter.tables.changeset, adds=False)
    settled = SettledPlan(plan.action, plan.before, plan.after, spec=NO_KEY, columns=wanted, source=SOURCE)
    Overwrite(NodeWriter(render.context, render.adapter.plans), TABLE, settled).write()
    return render.adapter.sent


case("rebuild_in_place", rebuild_in_place)


# -- snapshots ------------------------------------------------------------------------------------------------------

VERSIONED = (
    *COLUMNS,
    ExistingColumn("dbt_scd_id", "string", nullable=False),
    ExistingColumn("dbt_updated_at", "timestamp"),
    ExistingColumn("dbt_valid_from", "timestamp"),
    ExistingColumn("dbt_valid_to", "timestamp"),
)
RECORDS = (*VERSIONED, ExistingColumn("dbt_is_deleted", "string"))
BY_TIME = {"strategy": "timestamp", "updated_at": "changed_at", "unique_key": "id"}
BY_COLUMNS = {"strategy": "check", "check_cols": ["STATUS", "amount"], "unique_key": "id"}
KEYS = {"unique_key": ["id", "day"]}
NEW_RECORD = {"hard_deletes": "new_record"}
OPEN_END = {"dbt_valid_to_current": "timestamp '9999-12-31'"}
NAMES = {
    "dbt_scd_id": "version_id",
    "dbt_updated_at": "as_of",
    "dbt_valid_from": "since",
    "dbt_valid_to": "until",
    "dbt_is_deleted": "gone",
}


def staging(**config: Any) -> list[str]:
    columns = RECORDS if config.get("hard_deletes") == "new_record" else VERSIONED
    names = config.get("snapshot_table_column_names") or {}
    table = ExistingTable(columns=tuple(replace(each, name=names.get(each.name, each.name)) for each in columns))
    node = {"resource_type": "snapshot", "config": config, "compiled_code": "select * from landing"}
    render = Rendering(node, {"orders": table})
    of = render.context["strategy_dispatch"](config["strategy"])
    strategy = of(render.node, "snapshotted_data", "source_data", config, True)
    query = [*COLUMNS, ExistingColumn("changed_at", "timestamp")]
    strategy.update(table=table, query_columns=as_dbt_columns(query))
    return render("snapshot_staging_table", strategy, node["compiled_code"], TABLE)


def merging(columns: Sequence[ExistingColumn] = VERSIONED, lacks: Sequence[str] = (), **config: Any) -> list[str]:
    render = Rendering(
        {"resource_type": "snapshot", "config": config}, {"orders": ExistingTable(columns=tuple(columns))}
    )
    written = [column.quoted for column in as_dbt_columns(columns) if column.name not in lacks]
    return render("snapshot_merge_sql", TABLE, "(\nselect * from staged\n)", written)


case("snapshot_staging_timestamp", staging, **BY_TIME)
case("snapshot_staging_timestamp_invalidate", staging, **BY_TIME, hard_deletes="invalidate")
case("snapshot_staging_timestamp_new_record", staging, **BY_TIME, **NEW_RECORD)
case("snapshot_staging_timestamp_keys", staging, **{**BY_TIME, **KEYS}, hard_deletes="invalidate")
case("snapshot_staging_timestamp_open_end", staging, **BY_TIME, **OPEN_END)
case("snapshot_staging_check", staging, **BY_COLUMNS)
case("snapshot_staging_check_invalidate", staging, **BY_COLUMNS, hard_deletes="invalidate")
case("snapshot_staging_check_new_record", staging, **BY_COLUMNS, **NEW_RECORD)
case("snapshot_staging_check_keys_new_record", staging, **{**BY_COLUMNS, **KEYS}, **NEW_RECORD, **OPEN_END)
case("snapshot_staging_names", staging, **BY_TIME, **NEW_RECORD, snapshot_table_column_names=NAMES)
case("snapshot_merge", merging)
case("snapshot_merge_new_record_open_end", merging, RECORDS, **OPEN_END)
case("snapshot_merge_without_columns_of_the_table", merging, lacks=["day", "amount"])


# -- views ----------------------------------------------------------------------------------------------------------


def view(answers: Sequence[Any] = (), **node: Any) -> list[str]:
    render = Rendering({"config": {"persist_docs": PERSISTED}, **node}, answers=answers)
    views, target = render.adapter.views, relation("open orders", type="view")
    return [
        *render.adapter.sent,
        views.create_sql(target, views.definition(target, "select 1 as id", render.node)),
    ]


case("create_view", view)
case("create_view_with_comments", view, [[("id",), ("a`b",), ("status",)]], **DOCUMENTED)
case("create_view_by_dbt", macro, "create_view_as", relation("failures", type="view"), "select 1 as id")


# -- maintenance ----------------------------------------------------------------------------------------------------


NO_PARTITIONS = ExistingTable(columns=COLUMNS)


def maintenance(
    name: str,
    *arguments: Any,
    table: ExistingTable = NO_PARTITIONS,
    answers: Sequence[Any] = (),
    **more: Any,
) -> list[str]:
    return Rendering(known={"orders": table}, answers=answers)(name, TABLE, *arguments, **more)


BY_DAY = ExistingTable(partition_by=("day",), columns=COLUMNS)
case("compact", maintenance, "compact")
case("compact_sorted", maintenance, "compact", order_strategy="zorder", order_by=["id", "status"])
case(
    "compact_partitions",
    maintenance,
    "compact",
    table=BY_DAY,
    partitions=[{"day": "2024-01-01"}, {"day": "2024-01-02"}],
)
case("compact_where", maintenance, "compact", table=BY_DAY, where="day < '2024-01-01'")
case(
    "expire_snapshots",
    maintenance,
    "expire_snapshots",
    retain_max=10,
    older_than="2024-01-01 00:00:00",
    max_deletes=5,
)
case("create_tag", maintenance, "create_tag", "it's done", snapshot=3, time_retained="7 d")
case("delete_tag", maintenance, "delete_tag", "done")
case("create_branch", maintenance, "create_branch", "dev", snapshot=3)
case("delete_branch", maintenance, "delete_branch", "dev")
case(
    "expire_partitions",
    maintenance,
    "expire_partitions",
    "30 d",
    "yyyy-MM-dd",
    expire_strategy="update-time",
    table=BY_DAY,
    answers=[[[0]]],
)
case(
    "remove_orphan_files",
    maintenance,
    "remove_orphan_files",
    "2024-01-01 00:00:00",
    answers=[[["2024-01-01 00:00:00"]]],
)
case("analyze", maintenance, "analyze", columns=["id", "a`b"])
case("analyze_all", maintenance, "analyze", columns="all")


def reading(**state: Any) -> list[str]:
    return [f"select * from {macro('at', TABLE, **state)[-1]} as o"]


case("at_snapshot", reading, snapshot=3)
case("at_tag", reading, tag="it's done")
case("at_branch", reading, branch="dev")

GONE = "status = 'gone' or amount is null"
FOUND = [[[3]]]


def deleting(engine: str = "deduplicate", known: Sequence[str] = (), **options: str) -> list[str]:
    options = {"merge-engine": engine, **{name.replace("_", "-"): value for name, value in options.items()}}
    columns = (*COLUMNS, ExistingColumn("op", "string"))
    table = ExistingTable(("id",), columns=columns, options=options)
    render = Rendering(known={"orders": table, **dict.fromkeys(known, ExistingTable(columns=(ID, DAY)))}, answers=FOUND)
    return render("delete_rows", TABLE, GONE)


case("delete_rows", maintenance, "delete_rows", GONE, answers=FOUND)
case("delete_rows_of_none", maintenance, "delete_rows", GONE, answers=[[[0]]])
case("delete_rows_deduplicate", deleting)
case("delete_rows_partial_update", deleting, "partial-update")
case("delete_rows_first_row", deleting, "first-row")
case("delete_rows_ignore_delete", deleting, ignore_delete="true")
case("delete_rows_rowkind", deleting, known=["orders__dbt_deletes"], **{"rowkind.field": "op"})


# Statements that sqlglot cannot parse: calls of Paimon's procedures, and Spark's UNSET TBLPROPERTIES.
ALTER = "alter table `lake`.`shop`.`orders`"
NOT_PARSED = ("CALL ", f"{ALTER} unset tblproperties (", f"{ALTER} alter column `day` after ")


@cache
def statements(name: str) -> Sequence[str]:
    return CASES[name]()


@pytest.mark.parametrize("name", CASES)
def test_rendered(name: str):
    text = ";\n\n".join(statements(name)) + "\n"
    path = FOLDER / f"{name}.sql"
    if os.environ.get("DBT_PAIMON_RENDER"):
        path.write_text(text, "utf-8")
    assert path.is_file(), f"DBT_PAIMON_RENDER=1 writes {path.name}"
    assert text == path.read_text("utf-8")


@pytest.mark.parametrize("name", CASES)
def test_sqlglot_parses_each_statement(name: str):
    for statement in statements(name):
        trees = sqlglot.parse(statement, dialect="spark")
        unknown = [isinstance(tree, expressions.Command) for tree in trees if tree]
        assert unknown == [statement.startswith(NOT_PARSED)] * len(unknown), statement


def test_each_text_has_a_case():
    assert {path.stem for path in FOLDER.iterdir()} == set(CASES)


def test_each_strategy_has_a_text():
    specs = [incremental_spec(given["config"], model="orders", versions=VERSIONS) for given in INCREMENTS.values()]
    assert {spec.strategy for spec in specs} == set(STRATEGIES)


@pytest.mark.parametrize("name", [202401, date(2024, 1, 31), None, True])
def test_a_name_that_yaml_does_not_read_as_text_is_refused(name: object) -> None:
    with pytest.raises(CompilationError, match=f"YAML reads this name as {name}, which is not text"):
        Rendering()("paimon__named_relation", name)


@pytest.mark.parametrize(("rows", "hinted"), [(1_000_000, True), (1_000_001, False)])
def test_a_refresh_broadcasts_only_few_rows(rows: int, hinted: bool) -> None:
    source = PinnedSource(TableName("lake", "shop", "names"), 2, 1, changes="changes", most=rows)
    part = ChangedRows("changed", source, ("id",), ("id",), ((source, {"id": "id"}),), Branch(0))
    refresh = Refresh(RefreshKind.INCREMENTAL, groups_view="groups", groups=("id",), rows_sql="q", affected=rows)
    plan = SimpleNamespace(table_columns=(ExistingColumn("id", "int"),), source="q")
    for name, arguments in (
        ("changed_rows", (part,)),
        ("rows_of_groups", (refresh,)),
        ("replaced_groups", (TABLE, refresh, plan)),
    ):
        assert ("/*+ broadcast" in Rendering()(f"paimon__{name}_sql", *arguments)[-1]) is hinted, name
