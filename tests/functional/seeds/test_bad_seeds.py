"""A malformed seed fails with one message and changes nothing; the other nodes run."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, write_file

# (type, text that Spark would read as another value)
CUT = [
    ("date", "2024-01-01 or later"),
    ("date", "2024"),
    ("timestamp", "12:00"),
    ("timestamp", "2024-02"),
    ("timestamp", "2024-01-01 12:00:00.1234567"),
    ("timestamp_ntz", "2024-01-01 12:00:00+08:00"),
    ("float", "1e300"),
    ("float", "16777217"),
    ("float", "123456789.12"),
    ("double", "1e999"),
    ("double", "1e-999"),
    ("double", "9007199254740993"),
    ("decimal(3,1)", "1.25"),
    ("decimal(38,6)", "0.12345678"),
    ("decimal(38,0)", "1.5"),
]
# name -> (file, config, expected parts of the message)
BAD = {
    "too_long": ("a,b\n1,2\n3,4,5\n", {}, ["line 3", "3 values for 2 columns", "'5'", "'b'"]),
    "no_bytes": ("", {}, ["no header"]),
    "delimiter_of_two": ("a;;b\n1;;2\n", {"delimiter": ";;"}, ["delimiter=';;'"]),
    "wrong_delimiter": ("a;b\n1;2\n", {"quote_columns": False}, ["'a;b'", "delimiter", "','"]),
    "no_such_type": ("a,b\n1,2\n", {"column_types": {"b": "number"}}, ["column b", "'number'"]),
    "no_type_of_text": ("a,b\n1,2\n", {"column_types": {"b": "array<int>"}}, ["column b", "'array<int>'"]),
    "no_number": ("a,b\n1,2\n2,many\n", {"column_types": {"b": "int"}}, ["column b", "'many'", "int"]),
    "two_wrong": (
        "a,b\n1,2\nx,y\n",
        {"column_types": {"a": "date", "b": "int"}},
        ["column a", "column b", "'y'"],
    ),
    "too_wide": (
        "a,b\n1,abcd\n",
        {"column_types": {"b": "varchar(3)"}},
        ["column b", "'abcd'", "varchar(3)"],
    ),
    "cut": (
        ",".join(f"c{n}" for n in range(len(CUT))) + "\n" + ",".join(text for _, text in CUT) + "\n",
        {"column_types": {f"C{n}": kind for n, (kind, _) in enumerate(CUT)}},
        [f"column c{n}: '{text}' is not a valid {kind}" for n, (kind, text) in enumerate(CUT)],
    ),
    "no_double": ("a,b\n1,9007199254740993\n2,0.5\n", {}, ["column b", "9007199254740993", "double"]),
    "too_large": ("a,b\n1,9223372036854775808\n", {}, ["column b", "9223372036854775808", "decimal(38,0)"]),
}


class TestBadSeeds:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {f"{name}.csv": text for name, (text, _, _) in BAD.items()} | {"good.csv": "a,b\n1,2\n"}

    @pytest.fixture(scope="class")
    def models(self):
        return {"after_good.sql": "{{ config(materialized='table') }} select * from {{ ref('good') }}"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "seeds": {
                "test": {
                    name: {f"+{key}": value for key, value in config.items()} for name, (_, config, _) in BAD.items()
                }
            }
        }

    def test_each_names_file_and_column(self, project, rows):
        results = run_dbt(["build"], expect_pass=False)
        messages = {result.node.name: result.message for result in results if result.status == "error"}
        assert set(messages) == set(BAD)
        for name, (_, _, said) in BAD.items():
            assert f"seeds/{name}.csv" in messages[name], messages[name]
            assert all(part in messages[name] for part in said), messages[name]
            assert "Exception" not in messages[name] and "\tat " not in messages[name]
        assert {row[1] for row in rows("show tables in {schema}")} == {"good", "after_good"}

    def test_a_seed_that_turns_ragged_keeps_its_rows(self, project, rows):
        write_file("a,b\n1,2\n3,4,5\n", project.project_root, "seeds", "good.csv")
        (result,) = run_dbt(["seed", "--select", "good"], expect_pass=False)
        assert "line 3" in result.message
        assert rows("select * from {schema}.good") == [(1, 2)]
        assert len(rows("select * from {schema}.`good$snapshots`")) == 1
