"""Which strategies each merge engine supports; a refusal says what to use instead."""

import pytest
from tests.unit.specs import incremental_spec

from dbt.adapters.paimon.capabilities import Versions
from dbt.adapters.paimon.spec.config_columns import unknown_columns
from dbt.adapters.paimon.spec.problems import ConfigErrors, Problems
from dbt.adapters.paimon.spec.strategies import (
    STRATEGIES,
    collect_strategy,
    conf_of,
    default_strategy,
    replace_fault,
)
from dbt.adapters.paimon.spec.table import TableSpec

P09 = Versions.of("0.9.0")

APPEND = TableSpec()
PARTITIONED = TableSpec(partition_by=("dt",))
ENGINES = {
    engine: TableSpec(("id",), (), {"merge-engine": engine})
    for engine in ("deduplicate", "partial-update", "aggregation", "first-row")
}
TABLES = {"append": APPEND, "partitioned append": PARTITIONED, **ENGINES}


def with_options(engine, **options):
    named = {name.replace("__", "-").replace("_", "."): value for name, value in options.items()}
    return TableSpec(("id",), (), {"merge-engine": engine, **named})


def with_partitions(engine):
    return TableSpec(("id", "dt"), ("dt",), {"merge-engine": engine})


def resolve(requested, spec, **config):
    problems = Problems("orders")
    strategy = collect_strategy(spec, {"incremental_strategy": requested, **config}, P09, problems)
    problems.raise_if_any()
    return strategy


def refusals(requested, spec, **config):
    with pytest.raises(ConfigErrors) as raised:
        resolve(requested, spec, **config)
    return raised.value.problems


@pytest.mark.parametrize(
    ("table", "strategy"),
    [
        ("append", "append"),
        ("partitioned append", "append"),
        ("deduplicate", "upsert"),
        ("partial-update", "upsert"),
        ("aggregation", "upsert"),
        ("first-row", "upsert"),
    ],
)
@pytest.mark.parametrize("requested", [None, "", "default"])
def test_default(requested, table, strategy):
    assert default_strategy(TABLES[table], {}) == strategy
    assert resolve(requested, TABLES[table]) == strategy


@pytest.mark.parametrize("unique_key", ["id", ["id", "dt"]])
def test_default_with_a_unique_key(unique_key):
    config = {"unique_key": unique_key}
    assert default_strategy(APPEND, config) == "merge"
    assert default_strategy(ENGINES["deduplicate"], config) == "upsert"
    assert default_strategy(APPEND, {"unique_key": []}) == default_strategy(APPEND, {"unique_key": ""}) == "append"


def test_missing_key():
    def unknown(strategy, unique_key):
        config = {"materialized": "incremental", "incremental_strategy": strategy, "unique_key": unique_key}
        return list(unknown_columns(config, ["id", "b"]))

    assert unknown("merge", ["ID", "b"]) == []
    assert unknown("of our own", "c") == unknown("append", "concat(c)") == []
    for strategy in STRATEGIES:
        assert unknown(strategy, ["id", "c"]) == [("unique_key", "the query has no column 'c'. Its columns: id, b")]


def test_an_expression_is_no_key():
    """Refused already in the first run, before the table has rows."""

    def unknown(unique_key, builds, strategy="merge"):
        config = {"materialized": "incremental", "incremental_strategy": strategy, "unique_key": unique_key}
        return [reason for _, reason in unknown_columns(config, ["id", "order id"], builds=builds)]

    for builds in (True, False):
        for strategy in ("merge", "delete+insert", None):
            (reason,) = unknown("concat(id, b)", builds, strategy)
            assert "concat(id, b) is an expression" in reason
        assert unknown(["id", "order id"], builds) == unknown("ID, order id", builds) == []
    # dbt's conformance suite requires this.
    assert unknown("c", True) == []


def test_a_column_that_the_table_does_not_get():
    """on_schema_change='ignore' leaves out new columns, so a MERGE can neither match by them nor update them."""

    def unknown(**config):
        config = {"materialized": "incremental", "incremental_strategy": "merge", **config}
        return [key for key, _ in unknown_columns(config, ["id", "Fresh"], table=["ID", "gone"])]

    assert unknown(unique_key="id", merge_update_columns=["fresh"]) == ["merge_update_columns"]
    assert unknown(unique_key=["id", "fresh"]) == ["unique_key"]
    # Excluding a missing column is harmless, and a strategy that does not match rows ignores unique_key.
    assert unknown(unique_key="id", merge_exclude_columns=["fresh"]) == []
    assert unknown(unique_key="fresh", incremental_strategy="append") == []
    assert unknown(event_time="fresh", incremental_strategy="microbatch") == ["event_time"]


# y: the table (row) accepts the strategy (column). Tables without a primary key get a unique_key if the strategy needs one.
MATRIX = """
                    append upsert merge partial_update insert_overwrite delete+insert microbatch apply_changes
append              y      -      y     -              -                y             y          -
partitioned_append  y      -      y     -              y                y             y          -
deduplicate         -      y      y     -              -                y             y          y
partial-update      -      y      y     y              -                -             -          -
aggregation         -      y      -     -              -                -             -          -
first-row           -      y      -     -              -                -             -          -
"""


def matrix():
    header, *rows = (line.split() for line in MATRIX.strip().splitlines())
    for table, *cells in rows:
        for strategy, cell in zip(header, cells, strict=True):
            yield pytest.param(table.replace("_", " "), strategy, cell == "y", id=f"{table}-{strategy}")


@pytest.mark.parametrize(("table", "strategy", "accepted"), list(matrix()))
def test_matrix(table, strategy, accepted):
    spec = TABLES[table]
    config = {} if spec.primary_key else {"unique_key": "id"}
    if strategy in ("append", "upsert", "partial_update"):
        config = {}
    if strategy == "apply_changes" and spec.primary_key:
        spec = with_options(spec.merge_engine, rowkind_field="op", sequence_field="seq")
    if accepted:
        assert resolve(strategy, spec, **config) == strategy
    else:
        (message,) = refusals(strategy, spec, **config)
        assert message.startswith(f"model 'orders': incremental_strategy='{strategy}': ")
        # every refusal says what to use instead
        assert any(f"'{other}'" in message for other in STRATEGIES if other != strategy), message


CHANGES = {"rowkind_field": "op", "sequence_field": "seq"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sequence_field": "seq"}, ["needs rowkind_field"]),
        ({"rowkind_field": "op"}, ["needs sequence_field"]),
        # the row kind alone does not order rows
        ({"rowkind_field": "op", "sequence_field": "op"}, ["needs sequence_field"]),
        ({}, ["needs rowkind_field", "needs sequence_field"]),
        ({**CHANGES, "ignore__delete": "true"}, ["drop every delete"]),
        ({**CHANGES, "sequence_field_sort__order": "descending"}, ["the greatest sequence is the newest"]),
    ],
)
def test_apply_changes_refuses(options, said):
    messages = refusals("apply_changes", with_options("deduplicate", **options))
    assert len(messages) == len(said)
    for message, part in zip(messages, said, strict=True):
        assert message.startswith("model 'orders': ")
        assert part in message


def test_apply_changes_takes_no_other_key():
    (message,) = refusals("apply_changes", with_options("deduplicate", **CHANGES), unique_key="other")
    assert "unique_key='other'" in message


@pytest.mark.parametrize("sequence", ["seq", ["seq", "sub"], ["seq", "op"]])
def test_apply_changes_orders_by_the_kind_last(sequence):
    config = {
        "incremental_strategy": "apply_changes",
        "primary_key": "id",
        "rowkind_field": "op",
        "sequence_field": sequence,
    }
    spec = incremental_spec(config, model="orders", versions=P09)
    assert spec.strategy == "apply_changes"
    named = [sequence] if isinstance(sequence, str) else sequence
    assert spec.table.options["sequence.field"].split(",") == [*dict.fromkeys([*named, "op"])]
    assert spec.table.sequence_columns == tuple(name for name in named if name != "op")


def test_matrix_covers_every_strategy():
    assert MATRIX.split("\n")[1].split() == list(STRATEGIES)


@pytest.mark.parametrize("engine", list(ENGINES))
@pytest.mark.parametrize("strategy", ["insert_overwrite", "microbatch"])
def test_partitions_can_be_replaced_under_every_merge_engine(engine, strategy):
    assert resolve(strategy, with_partitions(engine), event_time="dt") == strategy


@pytest.mark.parametrize("engine", list(ENGINES))
def test_a_batch_replaces_all_rows_of_its_keys(engine):
    """Otherwise a stored row would have values of several batches, some of which a repeated batch loses or doubles."""
    assert resolve("microbatch", with_partitions(engine), event_time="DT") == "microbatch"
    if engine in ("deduplicate", "first-row"):
        assert resolve("microbatch", with_partitions(engine), event_time="at") == "microbatch"
        return
    (message,) = refusals("microbatch", with_partitions(engine), event_time="at")
    assert f"merge_engine='{engine}' combines rows of several batches" in message


@pytest.mark.parametrize(
    ("requested", "spec", "config", "parts"),
    [
        ("append", ENGINES["deduplicate"], {}, ["cannot keep equal keys", "Use 'upsert'"]),
        ("append", ENGINES["first-row"], {}, ["INSERT merges their rows"]),
        ("upsert", APPEND, {}, ["needs a primary key", "'merge' with unique_key"]),
        ("upsert", ENGINES["deduplicate"], {"unique_key": "code"}, ["unique_key='code'", "(id)", "'merge'"]),
        (
            "partial_update",
            ENGINES["partial-update"],
            {"unique_key": ["id", "dt"]},
            ["unique_key=['id', 'dt']"],
        ),
        (None, ENGINES["deduplicate"], {"unique_key": "code"}, ["not by unique_key"]),
        (
            "merge",
            ENGINES["aggregation"],
            {},
            ["no MERGE for merge_engine='aggregation'", "Use 'upsert'"],
        ),
        ("merge", APPEND, {}, ["needs unique_key"]),
        ("merge", ENGINES["deduplicate"], {"unique_key": "code"}, ["primary key column id"]),
        (
            "merge",
            ENGINES["deduplicate"],
            {"unique_key": "code", "merge_update_columns": ["id", "v"]},
            ["primary key column id"],
        ),
        (
            "merge",
            ENGINES["partial-update"],
            {"merge_delete_condition": "s.gone"},
            ["would become unreadable"],
        ),
        (
            "merge",
            with_options("deduplicate", ignore__delete="true"),
            {"merge_delete_condition": "s.gone"},
            ["drop every delete"],
        ),
        (
            "merge",
            with_options("deduplicate", rowkind_field="op"),
            {"merge_delete_condition": "s.gone"},
            ["rowkind_field='op'"],
        ),
        (
            "merge",
            ENGINES["deduplicate"],
            {"matched_condition": "s.v > ( SELECT max(v) from t)"},
            ["matched_condition=", "does not accept a subquery"],
        ),
        (
            "merge",
            ENGINES["deduplicate"],
            {"incremental_predicates": ["t.dt > '2024'", "t.id in (select id from x)"]},
            ["incremental_predicates=", "does not accept a subquery"],
        ),
        (
            "merge",
            ENGINES["deduplicate"],
            {"merge_update_columns": ["a"], "merge_exclude_columns": ["b"]},
            ["merge_exclude_columns=['b']", "Keep one"],
        ),
        (
            "merge",
            ENGINES["deduplicate"],
            {"merge_update_columns": []},
            ["merge_update_columns=[]", "no column"],
        ),
        (
            "upsert",
            ENGINES["deduplicate"],
            {"merge_update_columns": ""},
            ["merge_update_columns=''", "no column"],
        ),
        (
            "upsert",
            ENGINES["deduplicate"],
            {"merge_update_columns": ["a"]},
            ["merge_update_columns=['a']", "'merge', or 'partial_update'"],
        ),
        ("append", APPEND, {"matched_condition": "a > 1"}, ["does not read it", "'merge'"]),
        ("insert_overwrite", PARTITIONED, {"incremental_predicates": ["a > 1"]}, ["does not read it"]),
        ("partial_update", ENGINES["deduplicate"], {}, ["merge_engine='partial-update'", "'merge'"]),
        ("partial_update", ENGINES["aggregation"], {}, ["or use 'upsert'"]),
        ("insert_overwrite", APPEND, {}, ["materialized='table'", "'append'"]),
        ("insert_overwrite", ENGINES["deduplicate"], {}, ["'upsert'"]),
        ("delete+insert", APPEND, {}, ["needs unique_key"]),
        ("delete+insert", with_options("deduplicate", ignore__delete="true"), {}, ["drop every delete"]),
        ("delete+insert", with_options("deduplicate", rowkind_field="op"), {}, ["no row is deleted"]),
        ("append", APPEND, {"predicates": ["a > 1"]}, ["incremental_predicates", "does not read it"]),
        ("microbatch", ENGINES["aggregation"], {}, ["combines rows of several batches", "use 'upsert'"]),
        ("microbatch", ENGINES["first-row"], {}, ["window of event_time", "Set partition_by"]),
        ("upsrt", APPEND, {}, ["Did you mean 'upsert'?"]),
        ("delete_insert", APPEND, {}, ["Did you mean 'delete+insert'?"]),
        ("partial-update", ENGINES["partial-update"], {}, ["Did you mean 'partial_update'?"]),
    ],
)
def test_refused(requested, spec, config, parts):
    (message,) = refusals(requested, spec, **config)
    assert [part for part in parts if part not in message] == []


def test_a_macro_of_the_project_is_no_misspelling():
    problems = Problems("orders")
    config = {"incremental_strategy": "append_only"}
    assert collect_strategy(APPEND, config, P09, problems, has_macro=True) == "append_only"
    assert not problems.messages
    assert "Did you mean 'append'?" in refusals("append_only", APPEND)[0]


@pytest.mark.parametrize("kind", ["insert_overwrite", "microbatch", "replace_days", "append override"])
def test_partitions_are_replaced_one_by_one(kind):
    assert conf_of(kind, PARTITIONED) == {"spark.sql.sources.partitionOverwriteMode": "dynamic"}
    assert conf_of(kind, APPEND) == {}
    assert conf_of("append", PARTITIONED) == {}


@pytest.mark.parametrize(
    ("requested", "spec", "config"),
    [
        ("upsert", ENGINES["deduplicate"], {"unique_key": "id"}),
        ("upsert", TableSpec(("a", "b"), (), {}), {"unique_key": ["b", "a"]}),
        ("merge", APPEND, {"unique_key": ["a", "b"]}),
        ("merge", ENGINES["deduplicate"], {"unique_key": ["id", "dt"]}),
        ("merge", ENGINES["deduplicate"], {"unique_key": "code", "merge_update_columns": ["v"]}),
        ("merge", ENGINES["deduplicate"], {"unique_key": "code", "merge_exclude_columns": ["id"]}),
        # A MERGE that only adds rows.
        ("merge", with_options("deduplicate", sequence__field="ts"), {"merge_exclude_columns": ["ts", "v"]}),
        (
            "merge",
            ENGINES["deduplicate"],
            {"merge_delete_condition": "s.gone", "matched_condition": "s.v > t.v"},
        ),
        (
            "merge",
            with_options("partial-update", partial__update_remove__record__on__delete="true"),
            {"merge_delete_condition": "s.gone"},
        ),
        ("merge", APPEND, {"unique_key": "id", "merge_delete_condition": "s.gone"}),
        ("delete+insert", PARTITIONED, {"unique_key": "id", "incremental_predicates": ["dt > '2024'"]}),
        # a macro of the project
        ("scd4", ENGINES["deduplicate"], {}),
    ],
)
def test_accepted(requested, spec, config):
    assert resolve(requested, spec, **config) == requested


def test_all_refusals_are_in_one_error():
    found = refusals(
        "merge",
        ENGINES["aggregation"],
        unique_key="code",
        merge_update_columns=["id"],
        merge_exclude_columns=["v"],
        matched_condition="(select 1) = 1",
    )
    assert len(found) == 4


@pytest.mark.parametrize(
    ("table", "replaceable"),
    [
        ("append", True),
        ("deduplicate", True),
        ("partial-update", False),
        ("aggregation", False),
        ("first-row", False),
    ],
)
def test_replace_fault(table, replaceable):
    assert (replace_fault(TABLES[table]) is None) is replaceable


def test_incremental_spec_gives_table_and_strategy():
    spec = incremental_spec({"primary_key": "id"}, model="orders", versions=P09)
    assert spec.table.primary_key == ("id",)
    assert spec.strategy == "upsert"


def test_incremental_spec_reports_problems_of_table_and_strategy():
    with pytest.raises(ConfigErrors) as raised:
        incremental_spec(
            {"primary_key": "id", "bucket_key": "id", "incremental_strategy": "append"},
            model="orders",
            versions=P09,
        )
    assert len(raised.value.problems) == 2
