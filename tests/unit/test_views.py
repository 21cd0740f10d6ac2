"""View definitions are stored as text and read back; a view is named with the catalog that has it."""

from contextlib import contextmanager, nullcontext
from unittest.mock import MagicMock

import pytest
from dbt.adapters.contracts.relation import RelationType
from dbt_common.exceptions import CompilationError
from hypothesis import given
from hypothesis import strategies as st

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import views
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.sql.views import (
    ViewDefinition,
    ViewDirectory,
    create_view_sql,
    definitions_from_properties,
    stored_settings,
)
from dbt.adapters.paimon.views.api import Views

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(query=TEXT, comment=TEXT, column=TEXT)
def test_definition_survives_the_registry(query, comment, column):
    definition = ViewDefinition("s", "v", query, comment, {"c": column}, ("c",), {"spark.sql.a": column, "b": None})
    rows = [("bucket", "1"), (views.PROPERTY_PREFIX + "v", definition.to_property())]
    assert definitions_from_properties("s", dict(rows)) == [definition]


@pytest.mark.parametrize(
    ("text", "literal"),
    [("", "''"), ("it's", r"'it\'s'"), ("a\\b", r"'a\\b'"), ("a\nb", r"'a\nb'"), ("ü", "'ü'")],
)
def test_string_literal(text, literal):
    assert string_literal(text) == literal


def test_create_view_sql_with_comments():
    definition = ViewDefinition("s", "v", "select 1 as a, 2 as b", "it's", {"a": "one"}, ("a", "b"))
    assert create_view_sql("`c`.`s`.`v`", definition) == (
        "create or replace view `c`.`s`.`v` (`a` comment 'one', `b`) comment 'it\\'s' as\n"
        "select `a`, `b` from (\nselect 1 as a, 2 as b\n)"
    )


def _definition(query: str) -> ViewDefinition:
    credentials = PaimonCredentials(schema="s", warehouse="/lake")
    adapter = MagicMock(query=lambda sql: [("a", "int", None)], credentials=credentials)
    directory = ViewDirectory()
    directory.configure(credentials.database, "spark_catalog", "a warehouse")
    model = {"name": "v", "config": {"persist_docs": {"columns": True}}, "columns": {"a": {"description": "one"}}}
    view = PaimonRelation.create(credentials.database, "s", "v", RelationType.View)
    return Views(adapter, MagicMock(), directory).definition(view, query, model)


@pytest.mark.parametrize("query", ["select 1 as a", "select 1 as a;", "select 1 as a ; -- the end"])
def test_a_later_session_can_create_a_view_whose_query_ends_with_a_semicolon(query: str) -> None:
    """A later session sends the statement to Spark as it is (`PysparkCursor._run_for_views`)."""
    created = create_view_sql("`v`", _definition(query))
    assert created == "create or replace view `v` (`a` comment 'one') as\nselect `a` from (\nselect 1 as a\n)"


def test_a_view_of_several_statements_is_refused() -> None:
    with pytest.raises(CompilationError, match="2 statements"):
        _definition("select 1 as a; select 2 as a")


@pytest.fixture
def directory(monkeypatch):
    directory = ViewDirectory()
    directory.configure("paimon", "spark_catalog", "a warehouse")
    monkeypatch.setattr(views, "DIRECTORY", directory)
    return directory


def test_a_view_of_a_schema_not_listed_yet(directory):
    view = PaimonRelation.create(database="paimon", schema="s", identifier="v", type=RelationType.View)
    assert view.render() == "`spark_catalog`.`s`.`v`"
    assert directory.home_of_new("paimon") == "spark_catalog"
    assert directory.home_of_new("other") == "other"


def test_names_are_rendered_with_their_catalog(directory):
    directory.replace_schema("s", [ViewDefinition("s", "known", "select 1")])

    def render(identifier, kind):
        return PaimonRelation.create(database="paimon", schema="s", identifier=identifier, type=kind).render()

    assert render("t", RelationType.Table) == "`paimon`.`s`.`t`"
    assert render("t", None) == "`paimon`.`s`.`t`"
    # Configured as a view, but not listed as one: if it exists, it is still a table.
    assert render("v", RelationType.View) == "`paimon`.`s`.`v`"
    assert render("known", None) == "`spark_catalog`.`s`.`known`"
    assert render("known", RelationType.Table) == "`paimon`.`s`.`known`"
    assert render("a`b", RelationType.Table) == "`paimon`.`s`.`a``b`"


def test_views_are_created_with_their_inputs_first_and_once(directory):
    inner = ViewDefinition("s", "inner_view", "select 1 as id")
    outer = ViewDefinition("s", "outer_view", "select * from `spark_catalog`.`s`.`inner_view`")
    directory.replace_schema("s", [outer, inner])
    statements = []
    run = lambda sql: statements.append(sql) or []  # noqa: E731
    directory.create_mentioned("select * from `spark_catalog`.`s`.`outer_view`", run, nullcontext)
    created = [sql.split("\n")[0] for sql in statements if sql.startswith("create or replace view")]
    assert created == [
        "create or replace view `spark_catalog`.`s`.`inner_view` as",
        "create or replace view `spark_catalog`.`s`.`outer_view` as",
    ]
    statements.clear()
    directory.create_mentioned("select * from `spark_catalog`.`s`.`outer_view`", run, nullcontext)
    assert statements == []


def test_a_view_is_created_with_its_own_settings(directory):
    inner = ViewDefinition("s", "inner_view", "select 1 as id")
    outer = ViewDefinition("s", "outer_view", "select * from inner_view", settings={"spark.sql.ansi.enabled": "true"})
    directory.replace_schema("s", [outer, inner])
    now, seen = {}, {}

    @contextmanager
    def settings(of_view):
        now.update(of_view)
        yield
        now.clear()

    def run(sql):
        if sql.startswith("create or replace view"):
            seen[sql.split()[4]] = dict(now)
        return []

    directory.create_mentioned("select * from outer_view", run, settings)
    assert seen == {
        "`spark_catalog`.`s`.`inner_view`": {},
        "`spark_catalog`.`s`.`outer_view`": {"spark.sql.ansi.enabled": "true"},
    }
    assert now == {}


def test_settings_that_spark_stores_in_a_view():
    zone = {"spark.sql.session.timeZone": "Asia/Tokyo", "spark.sql.ansi.enabled": None}
    others = {"spark.sql.shuffle.partitions": "5", "spark.sql.adaptive.enabled": "false", "spark.paimon.a": "1"}
    assert stored_settings({**zone, **others}) == zone


def test_a_definition_of_an_earlier_version_has_no_settings():
    assert ViewDefinition.from_property("s", "v", '{"query": "select 1"}') == ViewDefinition("s", "v", "select 1")


def test_a_schema_that_was_not_listed_is_read_when_it_is_used(directory):
    kept = ViewDefinition("other", "v", "select 1 as id")

    def run(sql):
        return [(views.PROPERTY_PREFIX + "v", kept.to_property())] if "$options" in sql else []

    directory.create_mentioned("select * from `spark_catalog`.`other`.`v`", run, nullcontext)
    assert directory.get("other", "v") == kept


def test_another_warehouse_forgets_all(directory):
    directory.replace_schema("s", [ViewDefinition("s", "v", "select 1")])
    directory.configure("paimon", "spark_catalog", "another warehouse")
    assert directory.get("s", "v") is None
