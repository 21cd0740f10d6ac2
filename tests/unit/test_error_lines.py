"""A position in a statement is mapped to a line of the source file, or to none, but never to a wrong line."""

from __future__ import annotations

import re
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import Environment

from dbt.adapters.paimon.errors import node_text, places, python_text
from dbt.adapters.paimon.errors.excerpts import SourceLocation, shown
from dbt.adapters.paimon.errors.messages import shorten
from dbt.adapters.paimon.errors.node_text import Source, source_in
from dbt.adapters.paimon.errors.places import Place

JINJA = Environment(autoescape=False)
JINJA.globals.update(
    config=lambda **_: "",
    ref=lambda name: f"`paimon`.`lake`.`{name}`",
    star=lambda caller=None: "one,\n  two,\n  worse",
    names=["a", "b"],
)
AROUND = "/* {{'app'}} */\ncreate table t as select * from (\n", "\n) where 1 = 1"
CONFIG = "{{ config(\n  materialized='table'\n) }}\n\n"


def spot(raw: str, wanted: str, file: str = "", compiled: bool = True) -> SourceLocation | None:
    """The source location of a word in the statement that a model's raw text is rendered into."""
    rendered = JINJA.from_string(raw).render()
    statement = AROUND[0] + rendered + AROUND[1]
    source = source_in("m.sql", file or raw, raw, compiled=rendered if compiled else "")
    return node_text.spot(Place(statement.index(wanted), len(wanted)), statement, [source])


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "not compiled"])
@pytest.mark.parametrize(
    ("raw", "line", "column"),
    [
        ("select bad from t -- words", 1, 8),
        (CONFIG + "select bad from t -- words", 5, 8),
        (CONFIG + "-- bed\n/* bod */ select\n\t\tbad from t", 7, 3),
        ("{#- a comment\nof two lines -#}\nselect id,\n  bad\nfrom {{ ref('t') }}", 4, 3),
        ("{% set x = 1 %}\n{%- set y = 2 -%}\nselect id,\n  bad\nfrom t as a_table", 4, 3),
        ("select id,\r\n  x,\r\n  bad\r\nfrom {{ ref('t') }}", 3, 3),
        ("select 'é', '名前', '😀', bad from t", 1, 24),
        ("select {{ star() }},\n bad from {{ ref('t') }}", 2, 2),
        ("with a as (\n select 1\n), b as (\n select bad from a\n) select * from b", 4, 9),
        ("select {% for n in names %}{{ n }}, {% endfor %}bad from t", 1, 49),
        ("select\n{% for n in names %}\n  {{ n }},\n{% endfor %}\n  bad from t_table", 5, 3),
        (
            "select\n{% for n in names %}\n  {{ n }},\n{% else %}\n  1 as x,\n{% endfor %}\n  bad from t_table",
            7,
            3,
        ),
        ("select\n{%- for n in names %}\n  {{ n }},\n{%- endfor %}\n  bad from t_table", 5, 3),
        ("select a\n{% if false %}, c from t\n{% else %}, bad from t\n{% endif %}", 3, 13),
        ("select a\n{% if true %}, bad from t\n{% else %}, c from t\n{% endif %}", 2, 16),
        ("select a\n{% if false %}\n, 1 as x\n{% endif %}, bad\nfrom t", 4, 14),
        ("{% raw %}select '{{ x }}',\n  bad{% endraw %} from t", 2, 3),
        ("{% macro m() %}\n  select 2\n{% endmacro %}\nselect\n  bad from t", 5, 3),
        ("{% set q %}\nselect id,\n  bad_column_of_q\nfrom t\n{% endset %}\n{{ q }}", 3, 3),
        ("{% call(x) star() %}\n{% endcall %}\n, a,\n   bad from t", 4, 4),
        ("select {{ 'x' if true else 'y' }},\n  {{ 'a' ~ '}}' }} as c,\n  bad from t", 3, 3),
        ("select 1 as id, bad;", 1, 17),
    ],
)
def test_a_word_of_the_text(raw, line, column, compiled):
    found = spot(raw, "bad", compiled=compiled)
    assert found is not None
    assert (found.line, (found.column or 0) + 1) == (line, column)
    assert found.text.startswith("bad", found.column)


@pytest.mark.parametrize(
    ("raw", "wanted", "line", "marked"),
    [
        (CONFIG + "select\n  {{ star() }}\nfrom {{ ref('t') }}", "worse", 6, "{{ star() }}"),
        ("select id\nfrom {{ ref('ordrs') }} as o", "`paimon`.`lake`.`ordrs`", 2, "{{ ref('ordrs') }}"),
        ("select\n{% for n in names %}\n  {{ n }}_bad,\n{% endfor %}\n 1", "b_bad", 3, "{{ n }}_bad"),
        ("select a / ({{ 'b - b' }}) as x", "a / (b - b)", 1, "a / ({{ 'b - b' }})"),
    ],
)
def test_a_word_that_jinja_made(raw, wanted, line, marked):
    found = spot(raw, wanted)
    assert found is not None
    assert (found.line, found.text[found.column or 0 :][: found.length]) == (line, marked)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("\n\n\nselect 1,\n  bad from t\n\n", 5),
        ("{% snapshot s %}\nselect 1,\n  bad from t\n{% endsnapshot %}", 3),
        ("-- é\r\n\r\nselect 1,\r\n  bad from t", 4),
    ],
)
def test_the_line_of_the_file(file, line):
    """dbt strips a file's text, and a snapshot is only a block of its file."""
    found = spot("select 1,\n  bad from t", "bad", file)
    assert found is not None
    assert (found.line, found.column, found.text.rstrip("\r")) == (line, 2, "  bad from t")


def test_an_ambiguous_match_gives_no_line():
    raw = "select\n{% if true %}\n  bad\n{% else %}\n  bad\n{% endif %}\nfrom t"
    assert spot(raw, "bad") is None
    rendered = JINJA.from_string(raw).render()
    source = Source("m.sql", raw, compiled=rendered, compiled_path="target/compiled/m.sql")
    found = node_text.spot(Place(rendered.index("bad"), 3), rendered, [source])
    assert found == SourceLocation("target/compiled/m.sql", 3, "  bad", 2, 3)


def test_sql_around_the_query_has_no_line():
    assert spot("select 1 as id, 2 as x from t", "create") is None
    assert spot("select 1 as id, 2 as x from t", "where 1") is None
    assert spot("select 1 as id, 2 as x from t", "create", compiled=False) is None


def test_invalid_jinja_gives_no_line():
    source = Source("m.sql", "select {% if", compiled="select bad from x")
    assert node_text.spot(Place(7, 3), "select bad from x", [source]) is None


def test_ephemeral_models():
    raw = "with a as (\n  select 1 as id\n)\nselect bad, x from a, __dbt__cte__e"
    inner = "select id,\n  worse from t"
    sent = f"with __dbt__cte__e as (\n{inner}\n), {raw[4:]}"
    sources = [
        source_in("e.sql", inner, inner, compiled=inner),
        source_in("m.sql", raw, raw, compiled=raw, sent=sent),
    ]
    statement = f"create view v as {sent}"

    def address(word: str) -> tuple[str, int, int | None] | None:
        found = node_text.spot(Place(statement.index(word), len(word)), statement, sources)
        return found and (found.path, found.line, found.column)

    assert address("worse") == ("e.sql", 2, 2)
    assert address("bad") == ("m.sql", 4, 7)
    assert address("1 as id") == ("m.sql", 2, 9)
    assert address("__dbt__cte__e as") is None


def test_hooks():
    raw = "delete from {{ this }}\nwhere bad = 1"
    file = f"models:\n  +post_hook: |\n    {raw}"
    source = source_in("dbt_project.yml", file, raw, note="post_hook of m")
    statement = "/* x */\ndelete from `t`\nwhere bad = 1"
    found = node_text.spot(Place(statement.index("bad"), 3), statement, [source])
    assert found == SourceLocation("dbt_project.yml", 4, "where bad = 1", 6, 3, "post_hook of m")
    assert node_text.spot(Place(2, 3), "insert into t values (1)", [source]) is None


# -- generated templates: each word occurs once, and must be found where it is -----------------------------------------

WORD = re.compile(r"\bw\d+\b")


@st.composite
def templates(draw: st.DrawFn) -> str:
    numbers = count()

    def words() -> str:
        gaps = draw(st.lists(st.sampled_from([" ", "\n  ", ",\n", "\t", " é名 ", ")", ""]), min_size=1, max_size=3))
        return "".join(f"{gap} w{next(numbers)}" for gap in gaps) + draw(st.sampled_from(["", "\n", " "]))

    def tag(text: str) -> str:
        first, last = draw(st.tuples(st.sampled_from(["", "-"]), st.sampled_from(["", "-"])))
        return f"{{%{first} {text} {last}%}}"

    def part(depth: int) -> str:
        kind = draw(st.sampled_from(["words", "words", "for", "if", "output", "comment", "set"]))
        if depth and kind == "for":
            return f"{tag('for n in ' + draw(st.sampled_from(['[]', '[1]', '[1, 2, 3]'])))}{parts(depth - 1)}{tag('endfor')}"
        if depth and kind == "if":
            other = f"{tag('else')}{parts(depth - 1)}" if draw(st.booleans()) else ""
            condition = draw(st.sampled_from(["true", "false"]))
            return f"{tag('if ' + condition)}{parts(depth - 1)}{other}{tag('endif')}"
        return {
            "output": "{{ " + draw(st.sampled_from(["'x'", "''", "'a,\\n  b'", "' y '"])) + " }}",
            "comment": "{# no\nword #}",
            "set": tag("set z = 1"),
        }.get(kind) or words()

    def parts(depth: int) -> str:
        return "".join(part(depth) for _ in range(draw(st.integers(1, 4))))

    return f"select {words()}{parts(2)}"


@settings(max_examples=150, deadline=None)
@given(templates(), st.booleans())
def test_no_word_gets_a_wrong_line(raw, compiled):
    raw = raw.strip()
    rendered = JINJA.from_string(raw).render()
    statement = AROUND[0] + rendered + AROUND[1]
    source = source_in("m.sql", f"\n{raw}\n", raw, compiled=rendered if compiled else "")
    for word in WORD.finditer(statement):
        found = node_text.spot(Place(word.start(), len(word[0])), statement, [source])
        if found is None:
            # Without the compiled text, a short query cannot be distinguished from the SQL around it.
            assert not compiled
            continue
        written = re.search(rf"\b{word[0]}\b", raw)
        assert written is not None
        # The file has an empty line above.
        line, begin = raw.count("\n", 0, written.start()) + 2, raw.rfind("\n", 0, written.start()) + 1
        assert (found.line, found.column) == (line, written.start() - begin)


# -- the position in Spark's error -------------------------------------------------------------------------------------

STATEMENT = "/* x */\nselect o.custmer, id\nfrom `a`.`b` as o"
COLUMN = (
    "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or function parameter with name `o`.`custmer` cannot be resolved."
)
ZERO = "[DIVIDE_BY_ZERO] Division by zero.\n== SQL{of}(line {line}, position {position}) ==\nselect 1 / 0 as x\n       ^^^^^\n"


@pytest.mark.parametrize(
    ("error", "statement", "marked"),
    [
        (f"{COLUMN}; line 2 pos 7;\n'Project", STATEMENT, "o.custmer"),
        # The position is in a view's text, so the name is searched instead.
        (f"{COLUMN}; line 1 pos 1;\n'Project", STATEMENT, "custmer"),
        (f"{COLUMN}; line 1 pos 1;\n'Project", f"{STATEMENT}, custmer", None),
        (f"{COLUMN}; line 7 pos 1;\n'Project", "select 1", None),
        ("[PARSE_SYNTAX_ERROR] Syntax error at or near 'from'.(line 3, pos 0)", STATEMENT, "from"),
        ("[PARSE_SYNTAX_ERROR] Syntax error at or near '''.(line 1, pos 7)", "select 'x", "'"),
        ("[PARSE_SYNTAX_ERROR] Syntax error at or near '.': extra input '.'.(line 3, pos 8)", STATEMENT, "."),
        ("[PARSE_SYNTAX_ERROR] Syntax error at or near 'x'.(line 3, pos 0)", STATEMENT, None),
        (
            "[TABLE_OR_VIEW_NOT_FOUND] The table or view `a`.`b` cannot be found.; line 3 pos 5;",
            STATEMENT,
            "`a`.`b`",
        ),
        (
            '[DATATYPE_MISMATCH.X] Cannot resolve "(id + 1)" due to data type mismatch; line 2 pos 18;',
            STATEMENT,
            "id",
        ),
        ('[MISSING_AGGREGATION] The non-aggregating expression "id" is based on columns', STATEMENT, "id"),
        (ZERO.format(of="", line=1, position=8), "select 1 / 0 as x", "1 / 0"),
        (ZERO.format(of=" ", line=2, position=10), "\n  select 1 / 0 as x", "1 / 0"),
        (ZERO.format(of="", line=1, position=8), "select * from v", None),
        (ZERO.format(of=" of VIEW v", line=1, position=8), "select 1 / 0 as x", None),
        ("something else", STATEMENT, None),
    ],
)
def test_places(error, statement, marked):
    found = places.found(error, statement)
    assert (found and statement[found.offset : found.offset + found.length]) == marked


def test_lines_are_counted_as_spark_does():
    """A form feed or a lone carriage return does not end a line."""
    statement = "select 1, '\x0c\r\u2028'\n, bad"
    found = places.found("[UNRESOLVED_COLUMN] name `bad` cannot be resolved; line 2 pos 2", statement)
    assert found == Place(statement.index("bad"), 3)


# -- excerpts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("select bad", "bad"),
        ("\t\tselect bad, x", "bad"),
        ("select '名前é', bad", "bad"),
        ("x" * 300 + " bad " + "y" * 300, "bad"),
        ("select " + "z" * 300, "z" * 300),
        ("select {{ macro('" + "z" * 60 + "') }} as a from b", "{{ macro('" + "z" * 60 + "') }}"),
    ],
)
def test_carets_are_below_the_text(text, wanted):
    head, line, carets = shown(SourceLocation("models/m.sql", 12, text, text.index(wanted), len(wanted))).split("\n")
    assert head == f"  models/m.sql:12:{text.index(wanted) + 1}"
    assert line.startswith("    12 | ")
    assert "\t" not in line
    assert len(line) < 130
    # Wide letters take two columns.
    columns = "".join(letter * (2 if letter in "名前" else 1) for letter in line)
    marked = columns[carets.index("^") : len(carets)]
    assert set(marked.removesuffix(" …")) <= set(wanted)
    assert marked.endswith(" …") == (len(wanted) > 55)
    assert len(carets) - carets.index("^") == min(len(wanted), 55)


def test_the_message_begins_with_sparks_words():
    """dbt's conformance suite looks for Spark's message in the first 240 characters."""
    where = shown(SourceLocation("models/m.sql", 2, "select o.custmer, id", 7, 9))
    message = shorten(f"{COLUMN}; line 2 pos 7;\n'Project", STATEMENT, where)
    first, *rest = message.split("\n")
    assert first == COLUMN.removesuffix(".")
    assert rest == ["  models/m.sql:2:8", "     2 | select o.custmer, id", "       |        ^^^^^^^^^"]


# -- Python models -----------------------------------------------------------------------------------------------------

# dbt appends code of its own to a Python model.
OF_DBT = "\n\ndef of_dbt():\n    return 1 / 0\n"
PYTHON = "\n\ndef model(dbt, session):\n    rows = []\n    return rows.index('é') + 1\n"


def raised(code: str) -> BaseException:
    space: dict[str, object] = {}
    try:
        exec(compile(code, "models/p.py", "exec"), space)
        space["model"](None, None)  # type: ignore[operator]
    except Exception as exc:  # noqa: BLE001 - whatever the model raises
        return exc
    raise AssertionError


def test_the_line_of_a_python_model():
    found = python_text.raised_at(raised(PYTHON), "models/p.py", PYTHON)
    assert found is not None
    assert (found.line, found.text) == (5, "    return rows.index('é') + 1")


def test_an_error_in_code_that_dbt_appends_gets_the_calling_line():
    file = "def model(dbt, session):\n    return of_dbt()\n"
    found = python_text.raised_at(raised(file + OF_DBT), "models/p.py", file.rstrip())
    assert found is not None
    assert (found.line, found.text) == (2, "    return of_dbt()")


def test_invalid_python():
    code = "def model(dbt, session):\n    return (1 +* 2)\n"
    found = python_text.raised_at(raised(code), "models/p.py", code)
    assert found is not None
    assert (found.line, found.text) == (2, "    return (1 +* 2)")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        ('PythonException: …\n  File "models/p.py", line 5, in f\nValueError: x', 5),
        ('File "models/p.py", line 3, in f\n  File "models/p.py", line 4, in g\nValueError', 4),
        ('[DIVIDE_BY_ZERO]\n== DataFrame ==\n"divide" was called from\nmodels/p.py:4\n', 4),
        (ZERO.format(of="", line=1, position=8), None),
        ('File "models/p.py", line 77, in f', None),
    ],
)
def test_the_line_of_a_python_model_that_a_later_statement_ran(error, line):
    found = python_text.named_in(error, "models/p.py", PYTHON)
    assert (found and found.line) == line


def test_sql_in_a_python_model():
    file = "def model(dbt, session):\n    return session.sql('select 1 / 0 as x')\n"
    found = python_text.named_in(ZERO.format(of="", line=1, position=8), "models/p.py", file)
    assert found == SourceLocation("models/p.py", 2, "    return session.sql('select 1 / 0 as x')", 31, 5)
