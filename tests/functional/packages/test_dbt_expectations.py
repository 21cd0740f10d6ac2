"""The adapter's macro for dbt_expectations: where a regular expression matches."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

PACKAGE = """
{% macro regexp_instr(source_value, regexp, position=1, occurrence=1, is_raw=False, flags="") %}
  {{ adapter.dispatch('regexp_instr', 'dbt_expectations')(source_value, regexp, position, occurrence, is_raw, flags) }}
{% endmacro %}
{% macro spark__regexp_instr(source_value, regexp, position, occurrence, is_raw, flags) %}
  length(regexp_extract({{ source_value }}, '{{ regexp }}', 0))
{% endmacro %}
"""

# name: (text, arguments after the text, position of the match)
CASES = {
    "raw": ("a 91001", r"'\\d{5}$', is_raw=True", 3),
    "raw_quote": ("it's", r'"t\'s", is_raw=True', 2),
    "raw_backslash": (r"a\\b", r"'\\\\', is_raw=True", 2),
    "escaped": ("a 91001", r"'\\\\d{5}$'", 3),
    "case": ("ab", "'[A-Z]'", 0),
    "no_case": ("1ab", "'[A-Z]', flags='i'", 2),
    "no_case_raw": ("1ab", r"'[A-Z]\\w', is_raw=True, flags='i'", 2),
    "with_case": ("ab", "'[A-Z]', flags='c'", 0),
    "last_counts": ("ab", "'[A-Z]', flags='ic'", 0),
    "first_does_not": ("ab", "'[A-Z]', flags='ci'", 1),
    "no_characters": ("", "'^$'", 1),
    "none": ("abc", "'x'", 0),
}


class TestExpectations:
    @pytest.fixture(scope="class")
    def package_name(self):
        return "dbt_expectations"

    @pytest.fixture(scope="class")
    def package_macros(self):
        return PACKAGE

    @pytest.fixture(scope="class")
    def models(self):
        found = [
            f"select '{name}' as name, {{{{ dbt_expectations.regexp_instr(\"text\", {arguments}) }}}} as position\n"
            f'from (select "{text}" as text)'
            for name, (text, arguments, _) in CASES.items()
        ]
        wrong = "select {{ dbt_expectations.regexp_instr(\"'a'\", 'a', %s) }} as position"
        return {
            "found.sql": "{{ config(materialized='table') }}\n" + "\nunion all\n".join(found),
            "flag.sql": wrong % "flags='q'",
            "occurrence.sql": wrong % "occurrence=2",
        }

    @pytest.mark.usefixtures("project", "installed")
    def test_macros(self, rows):
        run_dbt(["run", "--select", "found"])
        assert dict(rows("select name, position from {schema}.found")) == {
            name: position for name, (_, _, position) in CASES.items()
        }

    @pytest.mark.usefixtures("project", "installed")
    @pytest.mark.parametrize(("model", "said"), [("flag", "no flag q"), ("occurrence", "the first match only")])
    def test_unsupported_arguments(self, model, said):
        results = run_dbt(["run", "--select", model], expect_pass=False)
        assert said in results[0].message
