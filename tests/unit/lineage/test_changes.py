"""The class of a model's code change, and the readers that the change affects."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_paimon.lineage.affected import affected
from dbt_paimon.lineage.changes import Kind, own
from unit.lineage.manifests import node, project

QUERY = (
    "select o.id, o.amount, c.region from s.orders o left join s.customers c on o.customer = c.id where o.amount > 1"
)


@pytest.mark.parametrize(
    ("other", "kind", "columns", "rows"),
    [
        (QUERY.replace("select", "SELECT -- why\n"), Kind.NOTHING, "", False),
        (QUERY.replace("o.", "x.").replace("orders o", "orders as x"), Kind.NOTHING, "", False),
        (QUERY.replace("o.amount,", "o.amount, o.note,"), Kind.ADDITIVE, "note", False),
        (QUERY.replace("o.amount,", "o.amount + 1 as amount,"), Kind.BREAKING, "amount", False),
        (QUERY.replace("o.amount,", "nvl(o.amount, 0) as amount,"), Kind.BREAKING, "amount", False),
        (QUERY.replace("o.amount,", ""), Kind.BREAKING, "amount", False),
        (QUERY.replace("o.amount,", "o.amount as total,"), Kind.BREAKING, "amount total", False),
        (QUERY.replace("o.id, o.amount", "o.amount, o.id"), Kind.BREAKING, "", False),
        (QUERY.replace("> 1", "> 2"), Kind.BREAKING, "", True),
        (QUERY.replace("left join", "join"), Kind.BREAKING, "", True),
        (QUERY.replace("c.id where", "c.id and c.name is not null where"), Kind.BREAKING, "", True),
        (QUERY.replace("o.amount", "o.AMOUNT"), Kind.BREAKING, "", True),
        (QUERY.replace("select", "select distinct"), Kind.BREAKING, "", True),
        (QUERY + " limit 3", Kind.BREAKING, "", True),
        (QUERY + " order by 1", Kind.NOTHING, "", False),
        (QUERY.replace("s.customers", "s.orders").replace("region", "state as region"), Kind.BREAKING, "", True),
    ],
)
def test_class_of_a_change(other: str, kind: Kind, columns: str, rows: bool) -> None:
    change = own(project(node("m", QUERY)), project(node("m", other)), "model.p.m")
    assert (change.kind, change.columns, change.rows) == (kind, frozenset(columns.split()), rows)
    assert change.builds is (kind is not Kind.NOTHING)


def test_reordered_or_renamed_ctes_are_not_a_change() -> None:
    one = "with a as (select id from s.orders), b as (select id, name from s.customers) select a.id, b.name from a join b on a.id = b.id"
    other = "with y as (select id, name from s.customers), x as (select id from s.orders) select x.id, y.name from x join y on x.id = y.id"
    assert own(project(node("m", one)), project(node("m", other)), "model.p.m").kind is Kind.NOTHING


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cast(id as int)", "try_cast(id as int)"),
        ("nvl(id, 0)", "coalesce(id, 0)"),
        ("1.0", "1.00"),
        ("'a'", "'A'"),
        ("r'a'", "r'A'"),
        ("x'0a'", "x'0b'"),
        ("to_date(note)", "date(note)"),
        ("count(*) over (partition by id)", "count(*) over (partition by state)"),
        ("id + amount * 2", "(id + amount) * 2"),
    ],
)
def test_similar_expressions_are_different(one: str, other: str) -> None:
    change = own(*(project(node("m", f"select {each} as x from s.orders")) for each in (one, other)), "model.p.m")
    assert change.columns == {"x"}


@pytest.mark.parametrize(
    ("call", "changes"),
    [
        ("struct({0})", True),
        ("to_json(struct(1 as one, {0}))", True),
        ("named_struct('a', 1, 'b', struct(c.{0}))", True),
        ("arrays_zip({0}, array(1))", True),
        ("({0}, 1)", True),
        ("struct({0} as x)", False),
        ("array({0})", False),
    ],
)
def test_fields_that_are_named_by_columns(call: str, changes: bool) -> None:
    queries = [
        f"with c as (select id as {name} from s.orders) select {call.format(name)} as x from c"
        for name in ("old_name", "new_name")
    ]
    change = own(*(project(node("m", query)) for query in queries), "model.p.m")
    assert change.columns == ({"x"} if changes else set())


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"config": {"primary_key": "id"}}, "its config has changed: primary_key"),
        ({"kind": "view"}, "its config has changed: materialized"),
        ({"constraints": [{"type": "not_null"}]}, "its data types or constraints have changed"),
        ({"relation_name": "`paimon`.`s`.`another`"}, "its relation name has changed"),
    ],
)
def test_changes_outside_the_query(more: dict[str, Any], reason: str) -> None:
    change = own(project(node("m", QUERY)), project(node("m", QUERY, **more)), "model.p.m")
    assert change.rows and change.reasons == (reason,)


def test_tags_and_target_are_not_a_change() -> None:
    tagged = node("m", QUERY, config={"tags": ["x"], "meta": {"owner": "y"}})
    assert not own(project(node("m", QUERY)), project(tagged, schema="pr_7"), "model.p.m").builds


def test_one_fixed_schema_makes_no_other_name_a_change() -> None:
    fixed = node("history", resource="snapshot", schema="fixed", relation_name="`paimon`.`fixed`.`history`")
    here, there = (project(node("m", QUERY), {**fixed}, schema=schema) for schema in ("shop", "pr_7"))
    assert not own(here, there, "model.p.m").builds
    renamed = node("m", QUERY, relation_name="`paimon`.`s`.`other`")
    assert own(project(node("m", QUERY)), project(renamed), "model.p.m").builds
    moved = node("m", QUERY, relation_name="`paimon`.`elsewhere`.`m`")
    assert own(project(node("m", QUERY)), project(moved), "model.p.m").builds


@pytest.mark.parametrize(
    ("unrendered", "affects"),
    [
        ("{{ var('landing') }}", True),
        ("landing_{{ 'b' if var('new') else 'a' }}", True),
        ("{{ target.schema }}", False),
        ("{{ env_var('LANDING') }}", False),
    ],
)
def test_a_source_whose_schema_is_rendered_differently(unrendered: str, affects: bool) -> None:
    sides = []
    for schema in ("landing_a", "landing_b"):
        source = node(
            "raw", resource="source", relation_name=f"`paimon`.`{schema}`.`raw`", unrendered_schema=unrendered
        )
        reader = node("m", f"select id from {schema}.raw", depends_on={"nodes": ["source.p.raw"], "macros": []})
        sides.append(project(source, reader))
    assert set(affected(*sides)) == ({"model.p.m"} if affects else set())


def test_another_place_of_a_source_affects_its_readers() -> None:
    sides = []
    for place in ("landing/v1", "landing/v2"):
        source = node("raw", resource="source", external={"location": place})
        sides.append(project(source, node("m", "select id from s.raw")))
    assert set(affected(*sides)) == {"model.p.m"}


def test_a_function_that_reads_a_table_by_its_name_is_affected() -> None:
    reader = node("m", "select id from paimon_incremental_query('s.orders', '1', '2')")
    reader["depends_on"]["nodes"] = ["model.p.orders"]
    other = node("orders", "select id, customer, amount, state, note from s.raw where amount > 1")
    first = node("orders", "select id, customer, amount, state, note from s.raw")
    assert set(affected(project(first, reader), project(other, reader))) == {"model.p.orders", "model.p.m"}


FUNCTION = {
    "raw_code": "x + {{ one() }}",
    "arguments": [{"name": "x", "data_type": "int"}],
    "returns": {"data_type": "int"},
}


@pytest.mark.parametrize(
    ("other", "macro", "builds"),
    [
        ({}, "1", False),
        ({}, "2", True),
        ({"raw_code": "x * {{ one() }}"}, "1", True),
        ({"arguments": [{"name": "x", "data_type": "bigint"}]}, "1", True),
        ({"returns": {"data_type": "bigint"}}, "1", True),
        ({"overloads": [{"arguments": [], "returns": {"data_type": "int"}}]}, "1", True),
    ],
)
def test_changes_of_a_function(other: dict[str, Any], macro: str, builds: bool) -> None:
    sides = [
        project(node("f", resource="function", **{**FUNCTION, **more}), macros={"one": text})
        for more, text in (({}, "1"), (other, macro))
    ]
    assert own(*sides, "function.p.f").builds is builds


def test_a_persisted_description_builds_the_node() -> None:
    config = {"persist_docs": {"relation": True}}
    old, new = (project(node("m", QUERY, config=config, description=text)) for text in ("one", "other"))
    change = own(old, new, "model.p.m")
    assert change.builds and not change.rows and not change.columns


# -- propagation -----------------------------------------------------------------------------------------------------

ORDERS = "select id, customer, amount, state, note from s.raw"


def listed(reader: dict[str, Any], *more: dict[str, Any], change: str, **given: Any) -> dict[str, str]:
    """Affected node -> its reasons, after `change` replaces `amount` in the model `orders`. Omits `orders` itself."""
    sides = []
    for text in ("amount", change):
        copies = [
            {**each, "depends_on": {"nodes": [], "macros": each["depends_on"]["macros"]}} for each in (reader, *more)
        ]
        sides.append(
            project(
                node("raw", "select 1 as id, 2 as customer, 3 as amount, 4 as state, 5 as note"),
                node("orders", ORDERS.replace("amount", text)),
                *copies,
                **given,
            )
        )
    found = affected(*sides)
    return {name.rpartition(".")[2]: " ".join(each.reasons) for name, each in found.items() if "orders" not in name}


AMOUNT = "amount + 1 as amount"


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("select id, state from s.orders", ""),
        ("select count(*) as n from s.orders", ""),
        ("select id, amount as x from s.orders", "x is computed from orders.amount"),
        ("select id from s.orders where amount > 1", "orders.amount decides which rows it has"),
        ("select id, row_number() over (order by amount) as x from s.orders", "x is computed from orders.amount"),
        ("select c.id from s.customers c join s.orders o on c.id = o.id and o.amount > 1", "decides which rows"),
        ("select c.id, o.state from s.customers c join s.orders o on c.id = o.id", ""),
        ("select distinct state from s.orders", ""),
        ("select * from s.orders", "amount is computed from orders.amount"),
        ("select id from s.orders union select amount from s.orders", "decides which rows"),
        ("select id from s.customers where id in (select amount from s.orders)", "decides which rows"),
        ("select id from s.`orders$snapshots`", "decides which rows"),
        ("select * from s.orders pivot (sum(id) for state in (1))", "its columns cannot be resolved"),
    ],
)
def test_readers_of_a_changed_column_are_affected(sql: str, reason: str) -> None:
    found = listed(node("m", sql), change=AMOUNT)
    assert reason in found["m"] if reason else found == {}


@pytest.mark.parametrize(
    ("sql", "is_affected"),
    [
        ("select id, amount from s.orders", False),
        ("select * from s.orders", True),
        ("select * from s.orders pivot (sum(id) for state in (1))", True),
    ],
)
def test_reordered_columns_affect_readers_of_star(sql: str, is_affected: bool) -> None:
    swapped = [
        project(node("orders", f"select {text} from s.customers"), node("m", sql)) for text in ("id, name", "name, id")
    ]
    if "amount" in sql:
        swapped = [
            project(
                node("orders", each.nodes["model.p.orders"]["raw_code"].replace("name", "name as amount")),
                node("m", sql),
            )
            for each in swapped
        ]
    assert ("model.p.m" in affected(*swapped)) is is_affected


def test_readers_of_unchanged_columns_are_not_affected() -> None:
    below = [
        node("up", "select id, amount as x, state as y from s.orders"),
        node("reads_y", "select y from s.up"),
        node("reads_x", "select x from s.up"),
    ]
    assert list(listed(*below, change=AMOUNT)) == ["up", "reads_x"]


def test_changed_rows_affect_every_reader() -> None:
    assert (
        "orders may have changed rows"
        in listed(node("m", "select count(*) as n from s.orders"), change="amount from s.raw where id > 1 --")["m"]
    )


def test_a_new_column_affects_only_readers_of_star() -> None:
    readers = [node("star", "select * from s.orders"), node("named", "select id, amount from s.orders")]
    assert list(listed(*readers, change="amount, 1 as more")) == ["star"]


INCREMENT = "select id, state from s.orders {% if is_incremental() %} where amount > 1 {% endif %}"
MACROS = {
    "queries": "{% macro queries() %}{% do run_query('select 1') %}{% endmacro %}",
    "plain": "{% macro plain() %}1{% endmacro %}",
}


def incremental(raw: str, sql: str = "select id, state from s.orders", **config: Any) -> dict[str, Any]:
    config = {"incremental_strategy": "upsert", "primary_key": "id", **config}
    return node("m", sql, kind="incremental", raw_code=raw, config=config)


@pytest.mark.parametrize(
    ("reader", "reason"),
    [
        (incremental("select id, state from s.orders"), ""),
        (incremental(INCREMENT), "SQL under is_incremental() may read amount"),
        (incremental("select id, state from s.orders {% if is_incremental() %} where state > 1 {% endif %}"), ""),
        (
            incremental(
                "with q as (select id, state, amount as u from s.orders) select id, state from q {% if is_incremental() %} where u > 1 {% endif %}",
                "with q as (select id, state, amount as u from s.orders) select id, state from q",
            ),
            "may read u",
        ),
        (incremental("{% set later = is_incremental() %} select id, amount from s.orders"), "may read amount"),
        (
            incremental("select id, state from s.orders", incremental_strategy="microbatch"),
            "its strategy is microbatch",
        ),
        (node("m", "select id from s.orders", config={"post-hook": [{"sql": "delete from x"}]}), "it has hooks"),
        (node("m", "select id from s.orders", config={"sql_header": "set x = 1"}), "it has a sql_header"),
        (node("m", "def model(dbt, spark): return dbt.ref('s.orders')", language="python"), "it is a Python model"),
        (node("m", "select id from s.orders", kind="own"), "its materialization is own"),
        (
            node("m", "select id from s.orders", depends_on={"nodes": [], "macros": ["macro.p.queries"]}),
            "calls run_query",
        ),
        (node("m", "select id from s.orders", depends_on={"nodes": [], "macros": ["macro.p.plain"]}), ""),
        (node("m", "select id from s.orders", kind="snapshot", resource="snapshot", config={"strategy": "check"}), ""),
        (
            node("m", "select * from s.orders", kind="snapshot", resource="snapshot", config={"strategy": "check"}),
            "a snapshot adds a row for each changed row",
        ),
        (
            incremental(
                "select id, state from s.orders {% if is_incremental() %} where {% if x %} amount {% else %} id {% endif %} > 1 {% endif %}"
            ),
            "may read amount",
        ),
        (
            incremental(
                "select id, state from s.orders {% if x %} {% elif is_incremental() %} where amount > 1 {% endif %}"
            ),
            "may read amount",
        ),
        (
            incremental(
                "select id, state from s.orders {% if is_incremental() %} {% set later = is_incremental() %} {% endif %} {{ 'where amount > 1' if later }}"
            ),
            "may read amount",
        ),
    ],
)
def test_nodes_that_may_read_more_than_their_query(reader: dict[str, Any], reason: str) -> None:
    found = listed(reader, change=AMOUNT, macros=MACROS)
    assert reason in found["m"] if reason else found == {}


@pytest.mark.parametrize(
    ("config", "whole"),
    [
        ({}, False),
        ({"sequence_field": "x"}, True),
        ({"partition_by": ["x"]}, True),
        ({"incremental_strategy": "append"}, True),
        ({"incremental_strategy": "default"}, False),
        ({"incremental_strategy": None, "primary_key": None}, True),
        ({"incremental_strategy": None, "primary_key": None, "unique_key": "id"}, False),
        ({"merge_engine": "aggregation"}, True),
        ({"fields": {"seq": {"sequence_group": ["x"]}}}, False),
        ({"fields": {"x": {"sequence_group": ["y"]}}}, True),
        ({"post-hook": ["update"]}, True),
    ],
)
def test_a_changed_key_or_sequence_column_changes_all_rows(config: dict[str, Any], whole: bool) -> None:
    one, other = (
        project(incremental(sql, sql, **config))
        for sql in ("select id, amount as x from s.orders", "select id, note as x from s.orders")
    )
    change = own(one, other, "model.p.m")
    assert (change.columns, change.rows) == ({"x"}, whole)


def test_sql_under_is_incremental_is_compared() -> None:
    one, other = (project(incremental(raw)) for raw in (INCREMENT, INCREMENT.replace("> 1", "> 2")))
    assert own(one, other, "model.p.m").reasons == ("SQL under is_incremental() has changed",)


def test_a_macro_in_an_untaken_branch_is_found() -> None:
    raw = "select id, state from s.orders {% if is_incremental() %} where {{ hidden_column() }} > 1 {% endif %}"
    found = listed(
        incremental(raw), change=AMOUNT, macros={"hidden_column": "{% macro hidden_column() %}amount{% endmacro %}"}
    )
    assert "may read amount" in found["m"]


def test_the_order_of_macros_is_not_a_change() -> None:
    raw = "select id, state from s.orders {% if is_incremental() %} where {{ one() }} > {{ other() }} {% endif %}"
    texts = {name: f"{{% macro {name}() %}}{name}_column{{% endmacro %}}" for name in ("one", "other")}
    sides = []
    for order in (("one", "other"), ("other", "one")):
        model = incremental(raw)
        model["depends_on"]["macros"] = [f"macro.p.{name}" for name in order]
        sides.append(project(model, macros=texts))
    assert not own(*sides, "model.p.m").builds


def test_an_ephemeral_model_passes_changes_on_but_is_not_built() -> None:
    ephemeral = node("e", "select id, amount from s.orders", kind="ephemeral", relation_name=None)
    inlined = "with __dbt__cte__e as (select id, amount from s.orders) select amount from __dbt__cte__e"
    reader = node("m", inlined, depends_on={"nodes": ["model.p.e"], "macros": []})
    assert list(listed(ephemeral, reader, change=AMOUNT)) == ["m"]


def test_a_changed_seed_file_affects_its_readers() -> None:
    old, new = (
        project(
            node(
                "seeded",
                kind="seed",
                resource="seed",
                checksum={"name": "sha256", "checksum": text},
                original_file_path="no.csv",
            ),
            node("m", "select id from s.seeded"),
        )
        for text in "ab"
    )
    assert set(affected(old, new)) == {"seed.p.seeded", "model.p.m"}


def test_full_refresh_changes_all_rows_of_incremental_models() -> None:
    one, other = (
        project(incremental(sql, sql), node("below", "select id from s.m"))
        for sql in ("select id, amount as x from s.orders", "select id, note as x from s.orders")
    )
    assert set(affected(one, other)) == {"model.p.m"}
    assert set(affected(one, other, full_refresh=True)) == {"model.p.m", "model.p.below"}


def test_a_changed_override_of_a_dbt_macro_affects_every_node() -> None:
    dbts = {"name": "get_merge_sql", "package_name": "dbt", "macro_sql": "x", "depends_on": {"macros": []}}
    sides = []
    for text in "ab":
        made = project(node("m", QUERY), macros={"get_merge_sql": text})
        made.manifest["macros"]["macro.dbt.get_merge_sql"] = dbts
        sides.append(made)
    assert set(affected(*sides)) == {"model.p.m", "model.p.orders", "model.p.customers"}


def test_a_node_without_compiled_code_in_the_state_counts_as_changed() -> None:
    old = project(node("m", QUERY))
    old.manifest["nodes"]["model.p.m"]["compiled_code"] = None
    assert "no compiled code" in own(old, project(node("m", QUERY)), "model.p.m").reasons[0]


def test_a_new_model_is_listed() -> None:
    assert affected(project(), project(node("m", QUERY)))["model.p.m"].kind is Kind.NEW


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # An aggregate without GROUP BY makes one row of all rows.
        ("select amount as x, 1 as k from s.orders", "select max(amount) as x, 1 as k from s.orders"),
        ("select 1 as k from s.orders", "select 1 as k, count(*) as n from s.orders"),
        ("select 1 as k, 2 as n from s.orders", "select 1 as k, percentile_approx(amount, 0.5) as n from s.orders"),
        ("select 1 as k from s.orders", "select 1 as k from s.orders having true"),
        ("select 1 as k, 2 as n from s.orders", "select 1 as k, map(id) as n from s.orders"),
        (
            "with c as (select amount as x from s.orders) select 1 as k from c",
            "with c as (select max(amount) as x from s.orders) select 1 as k from c",
        ),
        (
            "select 1 as k from s.orders union all select 2 from s.customers",
            "select 1 as k from s.orders union all select max(2) from s.customers",
        ),
        # The order decides which rows a LIMIT keeps.
        (
            "select 1 as k, amount from s.orders order by all limit 3",
            "select 1 as k, -amount as amount from s.orders order by all limit 3",
        ),
        (
            "with w as (select * from s.orders order by id) select id as k from w limit 5",
            "with w as (select * from s.orders order by amount) select id as k from w limit 5",
        ),
        (
            "select k from (select id as k, note from s.orders order by note) limit 5",
            "select k from (select id as k, upper(note) as note from s.orders order by note) limit 5",
        ),
    ],
)
def test_changes_of_all_rows(one: str, other: str) -> None:
    change = own(project(node("m", one)), project(node("m", other)), "model.p.m")
    assert (change.kind, change.rows) == (Kind.BREAKING, True)


@pytest.mark.parametrize(
    "other",
    [
        "select amount as x, 1 as k, sum(amount) over (partition by id) as n from s.orders",
        "select amount as x, 1 as k, first(amount) ignore nulls over (order by id) as n from s.orders",
        "select amount as x, 1 as k, (select max(id) from s.customers) as n from s.orders",
    ],
)
def test_columns_that_keep_the_rows(other: str) -> None:
    change = own(project(node("m", "select amount as x, 1 as k from s.orders")), project(node("m", other)), "model.p.m")
    assert (change.kind, change.columns, change.rows) == (Kind.ADDITIVE, frozenset("n"), False)


@pytest.mark.parametrize("expression", ["to_json(struct(*))", "hash(*)", "count(distinct *)", "count(*, id)"])
def test_a_star_in_an_expression_reads_all_columns(expression: str) -> None:
    one, other = (
        f"with c as (select id, {amount} from s.orders) select {expression} as j from c"
        for amount in ("amount", "amount + 1 as amount")
    )
    assert own(project(node("m", one)), project(node("m", other)), "model.p.m").kind is not Kind.NOTHING
    reader = node("r", f"select {expression} as j from s.m")
    before, after = (node("m", f"select id, {amount} from s.orders") for amount in ("amount", "amount + 1 as amount"))
    assert "model.p.r" in affected(project(before, reader), project(after, reader))


def test_a_macro_by_dispatch_may_read_a_changed_column_in_later_runs() -> None:
    raw = "select id from s.orders {% if is_incremental() %} where {{ late() }} {% endif %}"
    macros = {"late": "{{ return(adapter.dispatch('late')()) }}", "default__late": "amount > 1"}
    sides = []
    for expression in ("amount", "amount + 1"):
        reader = node("m", "select id from s.orders", kind="incremental", raw_code=raw)
        reader["depends_on"]["macros"] = [f"macro.p.{name}" for name in macros]
        orders = node("orders", f"select id, customer, {expression} as amount, state, note from s.raw")
        sides.append(project(orders, reader, macros=macros))
    assert set(affected(*sides)) == {"model.p.orders", "model.p.m"}
