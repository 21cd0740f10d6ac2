"""SQL as text: literals, names, and scripts that are split into statements."""

from __future__ import annotations

import pytest

from dbt.adapters.paimon.sql.text import (
    before_last_write,
    begins_query,
    commented,
    ilike,
    is_empty,
    is_plain,
    statements,
    string_literal,
    takes_the_rest,
    without_end,
)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("select 1", ["select 1"]),
        ("select 1;", ["select 1"]),
        ("select 1 ; ;\n; -- done;", ["select 1 "]),
        ("set a = 1; select 2", ["set a = 1", " select 2"]),
        ("set a;\nset b;\n\nselect 2", ["set a", "\nset b", "\n\n\nselect 2"]),
        ("select ';', \";\", `;`, r'\\', ';'; select 2", ["select ';', \";\", `;`, r'\\', ';'", " select 2"]),
        ("select 'it\\'s;', '''; select 2", ["select 'it\\'s;', '''; select 2"]),
        ("select 'a'';'; select 2", ["select 'a'';'", " select 2"]),
        ("select `a``;b`; select 2", ["select `a``;b`", " select 2"]),
        ("select 1 -- it's;\n; select 2", ["select 1 -- it's;\n", "\n select 2"]),
        ("select 1 -- on \\\n; not yet\n; select 2", ["select 1 -- on \\\n; not yet\n", "\n\n select 2"]),
        (
            "/* a; /* it's; */ b; */ select 1; /* c */ select 2",
            ["/* a; /* it's; */ b; */ select 1", " /* c */ select 2"],
        ),
        ("select 1 /* open; select 2", ["select 1 /* open; select 2"]),
        (
            "select * from (\nselect 1; -- )\n;) as t; select 2",
            ["select * from (\nselect 1  -- )\n ) as t", "\n\n select 2"],
        ),
        (
            "with e as (select ';)' as a /* ; */ ;\n) select 1",
            ["with e as (select ';)' as a /* ; */  \n) select 1"],
        ),
        ("-- nothing;", ["-- nothing;"]),
        (";", [";"]),
    ],
)
def test_statements(script: str, expected: list[str]) -> None:
    assert statements(script) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("delete from a;\n\ninsert into a select 1", ["delete from a", "set k=v", "\n\ninsert into a select 1"]),
        ("insert into a select 1;; -- b;", ["set k=v", "insert into a select 1"]),
        (
            "insert into a select ';'; /* c */ MERGE into a; drop view v",
            ["insert into a select ';'", "set k=v", " /* c */ MERGE into a", " drop view v"],
        ),
        ("cache table v; call p();", ["cache table v", "set k=v", " call p()"]),
    ],
)
def test_before_last_write(script: str, expected: list[str]) -> None:
    assert statements(before_last_write(script, "set k=v")) == expected


@pytest.mark.parametrize(
    ("text", "pattern", "matches"),
    [
        ("events", "events", True),
        ("Events", "eVENTS", True),
        ("events_1", "event%", True),
        ("events", "event_", True),
        ("events_1", "event_", False),
        ("events_1", r"events\_1", True),
        ("eventsx1", r"events\_1", False),
        ("a\nb", "a%b", True),
        ("a.c", "abc", False),
        ("a.c", "a.c", True),
        ("100%", r"100\%", True),
        ("x", "", False),
        ("", "%", True),
    ],
)
def test_ilike(text: str, pattern: str, matches: bool) -> None:
    assert ilike(text, pattern) is matches


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("plain", "'plain'"),
        ("it's", r"'it\'s'"),
        ("a\\b\nc\rd", r"'a\\b\nc\rd'"),
        ("${env:HOME} $x {y}", r"'\u0024{env:HOME} $x {y}'"),
    ],
)
def test_string_literal(text: str, literal: str) -> None:
    assert string_literal(text) == literal


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        *((name, True) for name in ("a", "A_1", "_", "1a", "1e", "select", "1dd")),
        *((name, False) for name in ("", "a b", "a.b", "é", "123", "1e5", "1L", "2bd", "a`")),
    ],
)
def test_names_without_backticks(name: str, plain: bool) -> None:
    assert is_plain(name) is plain


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("/* {} */\nselect 1", "/* orders * / */ /* {} */\nselect 1"),
        # A comment would change the positions in Spark's errors.
        ("select 1", "select 1"),
        ("/* {} */ select 1\nfrom a", "/* {} */ select 1\nfrom a"),
    ],
)
def test_commented(statement, expected) -> None:
    assert commented("orders */", statement) == expected
    assert commented("", statement) == statement


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("select 1", "select 1"),
        ("select 1; -- one;\n;", "select 1  -- one;\n "),
        ("set a = 1; select ';'", "set a = 1; select ';'"),
    ],
)
def test_a_clause_can_follow(script: str, expected: str) -> None:
    assert without_end(script) == expected


@pytest.mark.parametrize(
    ("script", "empty"),
    [
        ("", True),
        (" \n; -- select 1;\n/* /* a */ select */ ;", True),
        ("-- a\nselect 1", False),
        ("';'", False),
    ],
)
def test_nothing_to_run(script: str, empty: bool) -> None:
    assert is_empty(script) is empty


@pytest.mark.parametrize(
    ("script", "takes"),
    [
        ("set a = 1", True),
        ("select 1;\n-- a\n/* b */ RESET a;", True),
        ("add jar /a.jar", True),
        ("set a = 1; select 1", False),
        ("call sys.compact('t')", False),
        ("use a", False),
        ("select 1 as set", False),
    ],
)
def test_no_comment_may_follow(script: str, takes: bool) -> None:
    assert takes_the_rest(script) is takes


@pytest.mark.parametrize(
    ("header", "begins"),
    [
        ("with a as (select 1)", True),
        ("set x=1; /* b */ WITH a as (select 1)", True),
        ("set x=with", False),
        ("", False),
    ],
)
def test_a_header_may_begin_the_query(header: str, begins: bool) -> None:
    assert begins_query(header) is begins
