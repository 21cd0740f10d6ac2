"""Names of schemas, tables, columns, tags and views that Spark or Paimon cannot handle are refused early."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dbt.adapters.paimon.spec.node_names import NodeNames
from dbt.adapters.paimon.sql.helper_names import is_helper
from dbt.adapters.paimon.sql.names import (
    column_problems,
    metastore_problem,
    schema_problem,
    table_problem,
    tag_problem,
    view_problem,
)


@pytest.mark.parametrize("schema", ["analytics", "Analytics_2", "a-b", "a b", "ünï", "a$b", ""])
def test_valid_schemas(schema: str) -> None:
    assert schema_problem(schema) == ""


@pytest.mark.parametrize("schema", ["it's", 'a"b', "a`b", "a.b", "a/b", "a\\b", "a:b", "a\nb"])
def test_invalid_schemas(schema: str) -> None:
    problem = schema_problem(schema)
    assert problem.startswith(f"schema {schema!r}: ")
    assert "generate_schema_name" in problem


@pytest.mark.parametrize(
    ("schema", "said"), [("sys", "Paimon's own"), ("s" * 253, "256 bytes"), ("é" * 127, "257 bytes")]
)
def test_schemas_that_are_reserved_or_too_long(schema: str, said: str) -> None:
    assert said in schema_problem(schema)


@pytest.mark.parametrize(
    "name",
    [
        "t",
        "it's",
        'a"b',
        "a`b",
        "a.b",
        "a\\b",
        "a\nb",
        "a b",
        "...",
        ".a",
        "漢",
        "x" * 229,
        "__dbt_tmp_",
        "a__dead_letters",
        "a__dbt_changes_",
    ],
)
def test_valid_tables(name: str) -> None:
    assert table_problem(name) == ""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a/b", "'/'"),
        ("a:b", "':'"),
        ("a$b", "'$'"),
        ("a\0b", "'\\x00'"),
        (".", "folder"),
        ("..", "folder"),
        (" ", "folder"),
        ("_dbt_views", "views of a schema"),
        ("a__dbt_tmp", "when 'a' is built"),
        ("a__dbt_backup", "when 'a' is built"),
        (f"a__dbt_tmp_{'0' * 16}", "when 'a' is built"),
        ("a__dbt_changes", "keeps for 'a'"),
        ("a__dbt_deletes", "keeps for 'a'"),
        (f"a__{'0' * 12}__dbt_deletes", "keeps for 'a'"),
        ("x" * 230, "256 bytes"),
        ("é" * 115, "256 bytes"),
    ],
)
def test_invalid_tables(name: str, said: str) -> None:
    problem = table_problem(name)
    assert problem.startswith(f"table {name!r}: ")
    assert said in problem and "as `alias` of the node" in problem


@pytest.mark.parametrize(("materialized", "problem"), [("streaming", "'source' has its dead letters"), ("table", "")])
def test_the_dead_letters_of_a_stream(materialized: str, problem: str) -> None:
    def node(name: str, alias: str, schema: str = "s") -> SimpleNamespace:
        config = SimpleNamespace(materialized=materialized if name == "source" else "table")
        return SimpleNamespace(
            resource_type="model", database="c", schema=schema, alias=alias, name=name, config=config
        )

    own, beside, elsewhere = node("source", "a"), node("m", "a__dead_letters"), node("m", "a__dead_letters", "other")
    named = NodeNames([own, beside, elsewhere])
    assert problem in named.problem(vars(beside)) and bool(problem) == bool(named.problem(vars(beside)))
    assert named.problem(vars(elsewhere)) == named.problem(vars(own)) == ""


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("a__dbt_tmp", 1), ("a__dbt_changes", 1), ("a__dbt_deletes", 1), ("a__dead_letters", 1), ("a", 0), ("a__b", 0)],
)
def test_names_of_helper_tables(name: str, is_one: bool) -> None:
    assert is_helper(name) == is_one


def test_columns() -> None:
    assert column_problems(["a", "A b", "a.b", "rowkind", "_key_"]) == []
    said = column_problems(["a", "A", "_KEY_a", "_SEQUENCE_NUMBER", " "])
    assert [problem.split(":")[0].split(" have")[0] for problem in said] == [
        "column '_KEY_a'",
        "column '_SEQUENCE_NUMBER'",
        "column ' '",
        "columns 'a', 'A'",
    ]


@pytest.mark.parametrize("tag", ["v1", "it's", "a.b", "2024-01-01", "a b", "ü", "x" * 251])
def test_valid_tags(tag: str) -> None:
    assert tag_problem(tag) == ""


@pytest.mark.parametrize("tag", ["", " ", "12", "a/b", "a:b", "a,b", "a\0", "x" * 252])
def test_invalid_tags(tag: str) -> None:
    assert tag_problem(tag)


def test_the_session_catalog_takes_fewer_names() -> None:
    assert view_problem("spark_catalog", "s_1", "v") == ""
    assert "'a-b'" in view_problem("spark_catalog", "a-b", "v")
    assert "'v.1'" in view_problem("spark_catalog", "s", "v.1")
    assert view_problem("paimon", "a-b", "v.1") == ""


@pytest.mark.parametrize(
    ("metastore", "name", "taken"),
    [
        ("hive", "fct_1", True),
        ("hive", "Fct", False),
        ("hive", "a-b", False),
        ("jdbc", "a-b", True),
        ("jdbc", "Fct", False),
        ("filesystem", "Fct-1", True),
    ],
)
def test_names_that_a_metastore_takes(metastore: str, name: str, taken: bool) -> None:
    for names in (("s", name), (name, "t")):
        assert (metastore_problem(metastore, *names) == "") is taken
