"""Strings that have broken programs, and how to write them into a dbt project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from tests.functional.conftest import VERSIONS

from dbt.adapters.paimon.capabilities import Capability
from dbt.adapters.paimon.spec.column_rules import is_attribute_name
from dbt.adapters.paimon.sql.names import column_problems

PIECES = [
    *"'\"`;\\\n\r\t .,/:$%#?&=(){}[]<>|*+@!~^-_",
    *"éÉß漢😀\u200b\u00a0\u2028\x7f",
    *(
        "select",
        "table",
        "1a",
        "42",
        "A",
        "a",
        "NULL",
        "this",
        "${spark.app.name}",
        "${env:PATH}",
        "{{ 1 }}",
        "{%",
    ),
    *(
        "--",
        "/*",
        "*/",
        "'; drop table x; --",
        "' or 1=1",
        "%s",
        "\\'",
        "``",
        "__",
        "%2F",
        "\\u0041",
        "&amp;",
    ),
]
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12),
)
# Every test uses these, in addition to random strings.
CURATED = [
    "it's; drop table x --",
    'say "hi"',
    "back`tick",
    "back\\slash\\",
    "two\nlines",
    "dotted.name",
    "comma,name",
    "SeLeCt",
    "1st",
    "123",
    "ünïcödé 漢字 😀",
    "${spark.app.name} ${env:PATH}",
    "{{ config() }} {% if %} {# no #}",
    "%s %(x)s ? :x",
    "x" * 200,
    "/* a */ -- b",
    "# of rows",
    "last",
]
FEW = settings(
    max_examples=2,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def some(strategy: st.SearchStrategy[str], size: int = 16) -> st.SearchStrategy[list[str]]:
    """Lists of strings that dbt and Spark tell apart: they differ in more than case and surrounding blanks."""
    return st.lists(strategy, min_size=size, max_size=size, unique_by=folded)


def folded(text: str) -> str:
    return text.strip().lower()


def jinja(text: str) -> str:
    """A Jinja string literal."""
    return '"' + "".join(c if c.isalnum() and c.isascii() else f"\\U{ord(c):08x}" for c in text) + '"'


def yaml_text(text: str) -> str:
    """A string for a YAML file, escaped because dbt renders it as Jinja."""
    opens = any(mark in text for mark in ("{{", "{%", "{#"))
    return "".join("{{ " + jinja(c) + " }}" if opens and c in "{\n" else c for c in text)


def write_project(root: str | Path, folder: str, files: dict[str, str | dict[str, Any]]) -> None:
    """Replace all files of a project's folder; the content of a YAML file may be a dict."""
    path = Path(root) / folder
    path.mkdir(exist_ok=True)
    for old in path.iterdir():
        old.unlink()
    for name, content in files.items():
        text = content if isinstance(content, str) else yaml.safe_dump(content)
        (path / name).write_text(text, encoding="utf-8", newline="")


def columns_of(names: list[str]) -> list[str]:
    """The given names that a column can have with the versions in use."""
    any_text = VERSIONS.supports(Capability.COLUMN_NAMES_OF_ANY_TEXT)
    return [name for name in names if not column_problems([name]) and (any_text or is_attribute_name(name))]
