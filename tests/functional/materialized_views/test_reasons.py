"""Each query and remedy of docs/materialized-views.md as a view, with its query's rows and the page's reason."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from dbt.tests.util import run_dbt

KEYED = "tblproperties ('primary-key' = '{}', 'bucket' = '1')"
TABLES = {
    "orders": "(order_id int, customer_id int, amount decimal(10, 2), ordered_on date, note string, tags string) "
    + KEYED.format("order_id"),
    "customers": "(customer_id int, name string, country string) " + KEYED.format("customer_id"),
    "rates": "(country string, day date, rate decimal(10, 4)) " + KEYED.format("country,day"),
    "vip": "(customer_id int) " + KEYED.format("customer_id"),
    "items": "(order_id int, price double) " + KEYED.format("order_id"),
    "clicks": "(customer_id int, page string)",
    "pages": "(page string) " + KEYED.format("page"),
    "visits": "(page string, attributes map<string, string>)",
    "padded": "(id int, status char(5)) " + KEYED.format("id"),
    "sales": "(sale_id int, shop int, price int) " + KEYED.format("sale_id"),
}
FILL = (
    """insert into {orders} select cast(id as int), cast(id % 20 as int), cast(id as decimal(10, 2)),
       date_add(date'2026-01-01', cast(id % 30 as int)), '{{"a": 1}}', 'x,y' from range(100)""",
    "insert into {customers} select cast(id as int), concat('name', id), if(id % 5 = 0, null, concat('c', id % 5)) from range(20)",
    "insert into {rates} select concat('c', id % 5), date_add(date'2026-01-01', cast(id % 30 as int)), 1.5 from range(150)",
    "insert into {vip} values (1), (2)",
    "insert into {items} values (1, 2.5), (2, 3.5)",
    "insert into {clicks} values (1, 'home'), (2, 'cart')",
    "insert into {pages} values ('home'), ('about')",
    "insert into {visits} values ('home', map('a', 'b')), ('cart', map())",
    "insert into {sales} select cast(id as int), cast(id % 9 as int), 2 from range(100000)",
    "insert into {padded} values (1, 'ok'), (2, 'bad')",
)
# Changes of all sources but rates and pages.
CHANGE = (
    """insert into {orders} values (1, 3, 7.00, date'2026-02-01', '{{}}', 'z'), (901, 4, 8.00, date'2026-02-02', '{{}}', 'z')""",
    "delete from {orders} where order_id in (5, 6)",
    "insert into {customers} values (7, 'new name', 'c2')",
    "insert into {vip} values (3)",
    "insert into {items} values (3, 3.5)",
    "insert into {padded} values (1, 'ok'), (3, 'ok')",
    "insert into {clicks} values (3, 'about')",
    "insert overwrite {visits} values ('home', map('a', 'c')), ('home', map())",
    "insert into {sales} select cast(id * 9 as int), if(id = 0, 5, 0), if(id = 0, 3, 2) from range(4000)",
)
STAR = "from {orders} as o left join {customers} as c on c.customer_id = o.customer_id"
COUNTED = "select customer_id, count(*) as n from {orders} group by customer_id"
# Model -> (query, config, how the message of its second refresh begins)
MODELS: dict[str, tuple[str, str, str]] = {
    # The page's first sections and "The key".
    "order_list": (
        f"select o.order_id, o.amount, c.name, c.country {STAR}",
        "",
        "incremental, 9 of about 10",
    ),
    "by_country": (f"select c.country, count(*) as orders {STAR} group by c.country", "", "incremental, "),
    "by_country_keyed": (
        f"select coalesce(c.country, 'unknown') as country, count(*) as orders {STAR} "
        "group by coalesce(c.country, 'unknown')",
        "primary_key='country'",
        "incremental, ",
    ),
    "by_known_country": (
        f"select c.country, count(*) as orders {STAR} group by c.country having c.country is not null",
        "primary_key='country'",
        "incremental, ",
    ),
    "by_customer": (
        "select customer_id, max(ordered_on) as last_order from {orders} group by customer_id",
        "primary_key='customer_id'",
        "incremental, ",
    ),
    "few_groups": (
        "select shop, sum(price) as price from {sales} group by shop",
        "",
        "full: a full refresh is cheaper for 9 groups of about 104,000",
    ),
    "few_groups_remedy": (
        "select shop, sum(price) as price from {sales} group by shop",
        "refresh_mode='incremental'",
        "incremental, 2 of about 9 groups",
    ),
    "many_rows_of_groups": (
        "select sale_id % 50000 as part, sum(price) as price from {sales} group by sale_id % 50000",
        "",
        "full: about 4,000 rows have changed, more than 3,",
    ),
    "new_clicks": ("select customer_id, upper(page) as page from {clicks}", "", "incremental, 1 row added"),
    "over_a_view": ("select order_id, amount from {large}", "", "incremental, 4 of about 10"),
    "over_a_setting": ("select order_id, h from {tokyo}", "", "full: the view tokyo has other Spark settings"),
    "over_a_setting_remedy": (
        "select order_id, h from {tokyo}",
        "spark_config={'spark.sql.session.timeZone': 'Asia/Tokyo'}",
        "incremental, ",
    ),
    "strict": ("select order_id from {orders}", "refresh_mode='incremental'", "incremental, 4 of about 10"),
    # Reasons, and their remedies.
    "mode": ("select order_id from {orders}", "refresh_mode='full'", "full: refresh_mode is full"),
    "long_name": (
        "select {short_orders}.order_id from {orders}",
        "",
        "full: its SQL could not be parsed",
    ),
    "short_name": ("select order_id, amount from {short_orders}", "", "incremental, 4 of about 10"),
    "long_name_remedy": ("select o.order_id from {orders} as o", "", "incremental, "),
    "not_paimon": (
        "select o.order_id, r.id as k from {orders} as o inner join range(3) as r on r.id = o.order_id",
        "",
        "full: RANGE(3) is not a Paimon table",
    ),
    "function": (
        "select order_id, amount from {orders} where ordered_on > current_date() - 30",
        "",
        "full: it calls current_date",
    ),
    "clock_literal": (
        "select order_id, amount from {orders} where ordered_on > date'today' - 30",
        "",
        "full: it reads the clock ('today')",
    ),
    "subquery": (
        "select order_id, amount from {orders} where customer_id in (select customer_id from {vip})",
        "",
        "full: a subquery in an expression",
    ),
    "subquery_remedy": (
        "select o.order_id, o.amount from {orders} as o inner join {vip} as v on v.customer_id = o.customer_id",
        "",
        "incremental, ",
    ),
    "numbered": (
        "select order_id, row_number() over (partition by customer_id order by ordered_on, order_id) as number from {orders}",
        "",
        "full: a window function",
    ),
    "numbered_remedy": (
        "select customer_id, max_by(order_id, struct(ordered_on, order_id)) as last_order_id from {orders} group by customer_id",
        "",
        "incremental, ",
    ),
    "top": (
        "select order_id, amount from {orders} order by amount desc, order_id limit 10",
        "",
        "full: a LIMIT",
    ),
    "exploded": (
        "select order_id, explode(split(tags, ',')) as tag from {orders}",
        "",
        "full: a row becomes several",
    ),
    "tuple": (
        "select order_id, json_tuple(note, 'a') as a from {orders}",
        "",
        "full: Spark's plan has a Generate",
    ),
    "tuple_remedy": (
        "select order_id, get_json_object(note, '$.a') as a from {orders}",
        "",
        "incremental, ",
    ),
    "united": (
        "select customer_id from {orders} union select customer_id from {vip}",
        "",
        "full: a set operation: UNION without ALL",
    ),
    "united_remedy": (
        "select distinct customer_id from (select customer_id from {orders} union all select customer_id from {vip})",
        "",
        "incremental, ",
    ),
    "branches": (
        "select order_id as id from {orders} union all select customer_id from {vip}",
        "",
        "full: a UNION ALL whose branches",
    ),
    "branches_remedy": (
        "select 'order' as kind, order_id as id from {orders} union all select 'vip', customer_id from {vip}",
        "",
        "incremental, ",
    ),
    "pivoted": (
        "select * from (select order_id, customer_id, amount from {orders}) "
        "pivot (sum(amount) for customer_id in (1 as one, 2 as two))",
        "",
        "full: unsupported SQL: PIVOT",
    ),
    "pivoted_remedy": (
        "select order_id, sum(if(customer_id = 1, amount, 0)) as one, sum(if(customer_id = 2, amount, 0)) as two "
        "from {orders} group by order_id",
        "",
        "incremental, ",
    ),
    "then": (
        "select order_id, amount from {orders} version as of 1",
        "",
        "full: unsupported SQL: VERSION AS OF",
    ),
    "twice": (
        "with o as (select * from {orders}) select o.order_id, p.amount as again from o left join o as p "
        "on p.order_id = o.order_id",
        "",
        "full: {schema}.orders is read twice",
    ),
    "twice_remedy": (
        "select o.order_id, p.amount as again from {orders} as o left join {orders} as p on p.order_id = o.order_id",
        "",
        "incremental, ",
    ),
    "of_a_log": (
        "select k.customer_id, k.page, c.name from {clicks} as k left join {customers} as c on c.customer_id = k.customer_id",
        "",
        "full: the driving table {schema}.clicks has no primary key",
    ),
    "of_a_log_remedy": (
        "select k.customer_id, k.page, p.page as known from {clicks} as k left join {pages} as p on p.page = k.page",
        "",
        "incremental, 1 row added",
    ),
    "of_an_overwritten_log": (
        "select page, count(*) as n from {visits} group by page",
        "",
        "full: the changes of {schema}.visits are lost",
    ),
    "without_its_key": (
        "select customer_id, amount from {orders}",
        "",
        "full: the query does not return order_id, part of the primary key",
    ),
    "by_price": (
        "select price, count(*) as n from {items} group by price",
        "primary_key='price'",
        "full: its key has price, of type double",
    ),
    "padded_ok": (
        "select id from {padded} as p where status = 'ok'",
        "",
        "full: {schema}.padded has a char column (status)",
    ),
    "by_price_remedy": (
        "select cast(price as decimal(10, 2)) as price, count(*) as n from {items} group by cast(price as decimal(10, 2))",
        "primary_key='price'",
        "incremental, ",
    ),
    "other_key": (
        "select order_id, customer_id from {orders}",
        "primary_key=['order_id', 'customer_id']",
        "full: primary_key is (order_id, customer_id), but the key of the query is (order_id)",
    ),
    "by_day": (
        "select order_id, ordered_on from {orders}",
        "partition_by='ordered_on'",
        "full: partition_by has ordered_on, which is not part of its key",
    ),
    "by_day_remedy": (
        "select ordered_on, customer_id, count(*) as n from {orders} group by ordered_on, customer_id",
        "partition_by='ordered_on', primary_key=['ordered_on', 'customer_id']",
        "incremental, ",
    ),
    "right_join": (
        "select o.order_id, c.name from {customers} as c right join {orders} as o on c.customer_id = o.customer_id",
        "",
        "full: a RIGHT join",
    ),
    "join_to_query": (
        "select o.order_id, n.n from {orders} as o left join (" + COUNTED + ") as n on n.customer_id = o.customer_id",
        "",
        "full: a join with a query that joins or aggregates",
    ),
    "join_to_query_remedy": (
        "select o.order_id, n.last_order from {orders} as o left join {by_customer} as n on n.customer_id = o.customer_id",
        "",
        "incremental, ",
    ),
    "not_on_key": (
        "select o.order_id, r.rate from {orders} as o left join {rates} as r on r.day = o.ordered_on and r.country = 'c1'",
        "",
        "full: the join with {schema}.rates does not compare its whole primary key",
    ),
    "total": ("select count(*) as orders from {orders}", "", "full: an aggregate without GROUP BY"),
    "total_remedy": (
        "select 'all' as scope, count(*) as orders from {orders} group by 'all'",
        "",
        "incremental, 1 of about 1 groups",
    ),
    "sums": (
        "select try_sum(customer_id) as customers, 'x' as scope from {clicks}",
        "",
        "full: an aggregate without GROUP BY",
    ),
    "mean": ("select distinct mean(amount) as mean from {orders}", "", "full: an aggregate without GROUP BY"),
    "rollup": (
        "select customer_id, ordered_on, count(*) as n from {orders} group by customer_id, ordered_on with rollup",
        "",
        "full: GROUPING SETS, CUBE or ROLLUP",
    ),
    "by_alias": (
        "select date_trunc('month', ordered_on) as ordered_on, count(*) as n from {orders} group by ordered_on",
        "",
        "full: the query does not return ordered_on, which it groups by",
    ),
    "by_alias_remedy": (
        "select date_trunc('month', ordered_on) as ordered_on, count(*) as n from {orders} "
        "group by date_trunc('month', ordered_on)",
        "",
        "incremental, ",
    ),
    "above_groups": (
        "with n as (" + COUNTED + ") select customer_id, n from n where n > 4",
        "",
        "full: a query over grouped rows that does more",
    ),
    "above_groups_remedy": (COUNTED + " having count(*) > 4", "", "incremental, "),
}


class TestReasons:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        places = {name: f"{{{{ source('raw', '{name}') }}}}" for name in TABLES}
        places |= {"large": "{{ ref('large') }}", "tokyo": "{{ ref('tokyo') }}"}
        places |= {"by_customer": "{{ ref('by_customer') }}", "short_orders": "{{ target.schema }}.orders"}
        names = "\n".join(f"          - name: {name}" for name in TABLES)
        head = "{{{{ config(materialized='materialized_view'{}) }}}}\n"
        return {
            **{
                f"{name}.sql": head.format(config and f", {config}") + filled(sql, places)
                for name, (sql, config, _) in MODELS.items()
            },
            "large.sql": f"{{{{ config(materialized='view') }}}}\nselect * from {places['orders']} where amount > 30",
            "tokyo.sql": "{{ config(materialized='view', spark_config={'spark.sql.session.timeZone': 'Asia/Tokyo'}) }}\n"
            f"select order_id, hour(timestamp'2026-01-01 00:00:00Z') as h from {places['orders']}",
            "sources.yml": f"""
sources:
  - name: raw
    schema: "{{{{ target.schema }}}}"
    tables:
{names}
""",
        }

    def test_each_refresh_says_why(self, project: Any, rows: Any) -> None:
        schema = project.test_schema
        places = {name: f"paimon.{schema}.{name}" for name in (*TABLES, "by_customer")}
        places["short_orders"] = f"{schema}.orders"
        places["large"] = f"(select * from {places['orders']} where amount > 30)"
        places["tokyo"] = f"(select order_id, 9 as h from {places['orders']})"
        rows(f"create database if not exists paimon.{schema}")
        for name, columns in TABLES.items():
            rows(f"create table {places[name]} {columns}")
        for statement in FILL:
            rows(statement.format(**places).replace("{", "{{").replace("}", "}}"))
        assert said(run_dbt(["run"])).keys() == {*MODELS, "large", "tokyo"}
        for statement in CHANGE:
            rows(statement.format(**places).replace("{", "{{").replace("}", "}}"))
        words = said(run_dbt(["run"]))
        print(words)
        wrong = {
            name: words[name]
            for name, (_, _, expected) in MODELS.items()
            if not str(words[name]).startswith(expected.replace("{schema}", schema))
        }
        assert wrong == {}
        differs = {}
        for name, (sql, _, _) in MODELS.items():
            found, wanted = (
                Counter(rows(f"select * from ({query})"))
                for query in (f"select * from paimon.{schema}.{name}", filled(sql, places))
            )
            if found != wanted:
                differs[name] = (found - wanted, wanted - found)
        assert differs == {}
        # For --empty, dbt replaces tables with subqueries, which must not cause a refusal.
        assert said(run_dbt(["run", "--empty", "--select", "strict"])) == {"strict": "full: --empty or --sample"}
        assert rows(f"select * from paimon.{schema}.strict") == []


def filled(sql: str, places: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: places[found[1]], sql)


def said(results: Any) -> dict[str, str]:
    return {each.node.name: each.adapter_response.get("refresh") for each in results}
