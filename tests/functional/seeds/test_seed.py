"""Seeds are loaded exactly as written, in one commit."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from dbt.tests.util import run_dbt, write_file
from tests.functional.conftest import VERSIONS

from dbt.adapters.paimon.capabilities import Capability

CSV = """id,word,percent,money,big,day,at,flag,code
1,"it's, 100% ""sure"" \\ ünïcode",0.5,12345678901234567890.12,9223372036854775807,2024-02-29,2024-01-01 12:00:00.123456,true,007
2,,,,,,,,
"""
PROPERTIES = """
seeds:
  - name: cells
    config:
      primary_key: id
      bucket: 1
      column_types: {money: "decimal(22,2)", code: string, at: timestamp}
"""


class TestSeed:
    @pytest.fixture(scope="class")
    def seeds(self):
        many = "id,n\n" + "".join(f"{i},{i * 2}\n" for i in range(100_000))
        return {
            "cells.csv": CSV,
            "cells.yml": PROPERTIES,
            "many.csv": many,
            "empty.csv": "id,word\n",
            "short.csv": "id,word,code\n1,x,01\n2\n",
        }

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"test": {"short": {"+column_types": {"word": "text", "code": "varchar"}}}}}

    def test_cells(self, project, rows):
        run_dbt(["seed"])
        (one, two) = sorted(rows("select * from {schema}.cells"))
        assert one == (
            1,
            'it\'s, 100% "sure" \\ ünïcode',
            0.5,
            Decimal("12345678901234567890.12"),
            9223372036854775807,
            dt.date(2024, 2, 29),
            dt.datetime(2024, 1, 1, 12, 0, 0, 123456),
            True,
            "007",
        )
        assert two == (2, *[None] * 8)
        assert dict(rows("select key, value from {schema}.`cells$options`"))["bucket"] == "1"
        assert rows("select count(*), sum(n) from {schema}.many") == [(100_000, 9999900000)]
        assert len(rows("select * from {schema}.`many$snapshots`")) == 1
        assert rows("select count(*) from {schema}.empty") == [(0,)]
        assert sorted(rows("select * from {schema}.short")) == [(1, "x", "01"), (2, None, None)]

    def test_seed_again_replaces_rows_and_columns(self, project, rows):
        run_dbt(["seed"])
        write_file("id,other\n5,x\n", project.project_root, "seeds", "many.csv")
        run_dbt(["seed", "--select", "many"])
        assert rows("select * from {schema}.many") == [(5, "x")]

    def test_a_cell_of_the_wrong_type_changes_nothing(self, project, rows):
        before = rows("select * from {schema}.cells")
        write_file(CSV.replace("12345678901234567890.12", "a lot"), project.project_root, "seeds", "cells.csv")
        (result,) = run_dbt(["seed", "--select", "cells"], expect_pass=False)
        assert "money" in result.message and "a lot" in result.message
        assert rows("select * from {schema}.cells") == before


TYPES = """
seeds:
  - name: typed
    config:
      column_types:
        small: smallint
        exact: decimal(38,18)
        ratio: float
        day: date
        local: timestamp_ntz
        short: varchar(3)
        raw: binary
  - name: empty_typed
    config:
      column_types: {day: date, exact: "decimal(10,2)"}
"""
TYPED = """small,exact,ratio,day,local,short,raw,iso,mixed,big,negative,text_null
32767,12345678901234567890.123456789012345678,0.1,1582-10-15,2024-03-31 02:30:00.000001,äöü,abc,2024-01-01T12:00:00.123456,1.5,9223372036854775807,-9223372036854775808,x
-1,0.000000000000000001,,9999-12-31,,,,1969-12-31T23:59:59.999999,2,0,0,
"""
# (type, text in the file, the value as Spark writes it)
WHOLE = [
    ("date", "2024-1-5", "2024-01-05"),
    ("date", "2024-01-05T23:59:59.1234567Z", "2024-01-05"),
    ("timestamp", "2024-01-05", "2024-01-05 00:00:00"),
    ("timestamp", " 2024-01-05T12:00:00.1234560+08:00", "2024-01-05 04:00:00.123456"),
    ("timestamp", "2024-01-05 12:00:00 Asia/Shanghai", "2024-01-05 04:00:00"),
    ("timestamp_ntz", "2024-01-05T12:00", "2024-01-05 12:00:00"),
    ("float", "0.1", "0.1"),
    ("float", "16777216", "1.6777216E7"),
    ("float", "3.14159265358979", "3.1415927"),
    ("double", "0.30000000000000004", "0.30000000000000004"),
    ("double", "-9007199254740992.0", "-9.007199254740992E15"),
    ("double", "602214076000000000000000", "6.02214076E23"),
    ("double", "6.02214076e23", "6.02214076E23"),
    ("double", "-Infinity", "-Infinity"),
    ("float", "NaN", "NaN"),
    ("double", "0e0", "0.0"),
    ("string", "007", "007"),
]


class TestTypes:
    @pytest.fixture(scope="class")
    def seeds(self):
        names = ",".join(f"c{n}" for n in range(len(WHOLE)))
        whole = f"{names}\n{','.join(text for _, text, _ in WHOLE)}\n"
        return {
            "types.yml": TYPES,
            "typed.csv": TYPED,
            "empty_typed.csv": "id,day,exact\n",
            "whole.csv": whole,
        }

    @pytest.fixture(scope="class")
    def project_config_update(self):
        # The header of the file has these names in lower case.
        types = {f"C{n}": kind for n, (kind, _, _) in enumerate(WHOLE)}
        return {"seeds": {"test": {"whole": {"+column_types": types}}}}

    def test_values_are_those_of_the_file(self, project, rows):
        run_dbt(["seed"])
        assert [(row[0], row[1]) for row in rows("describe {schema}.typed")][:12] == [
            ("small", "smallint"),
            ("exact", "decimal(38,18)"),
            ("ratio", "float"),
            ("day", "date"),
            ("local", "timestamp_ntz"),
            ("short", "varchar(3)"),
            ("raw", "binary"),
            ("iso", "timestamp"),
            ("mixed", "double"),
            ("big", "bigint"),
            ("negative", "bigint"),
            ("text_null", "string"),
        ]
        two, one = sorted(rows("select * from {schema}.typed"), key=lambda row: row[0])
        assert one[1] == Decimal("12345678901234567890.123456789012345678")
        assert round(one[2], 6) == 0.1
        assert one[3] == dt.date(1582, 10, 15)
        assert one[4] == dt.datetime(2024, 3, 31, 2, 30, 0, 1)
        assert one[5:8] == ("äöü", bytearray(b"abc"), dt.datetime(2024, 1, 1, 12, 0, 0, 123456))
        assert one[8:] == (1.5, 9223372036854775807, -9223372036854775808, "x")
        assert two[1] == Decimal("0.000000000000000001")
        assert two[2:7] == (None, dt.date(9999, 12, 31), None, None, None)
        columns = ", ".join(f"cast(c{n} as string)" for n in range(len(WHOLE)))
        assert rows(f"select {columns} from {{schema}}.whole") == [tuple(text for _, _, text in WHOLE)]
        assert two[7:] == (dt.datetime(1969, 12, 31, 23, 59, 59, 999999), 2.0, 0, 0, None)

    def test_an_empty_file_has_its_types(self, project, rows):
        assert [row[1] for row in rows("describe {schema}.empty_typed")][1:3] == ["date", "decimal(10,2)"]
        assert rows("select * from {schema}.empty_typed") == []


TICKED = "tick`ed" if VERSIONS.supports(Capability.COLUMN_NAMES_OF_ANY_TEXT) else "tick'ed"
HEADERS = ["order by", TICKED, "Größe", "UPPER", "1st", "it's 100%"]


class TestHeaders:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "named.csv": ",".join(HEADERS) + "\n1,2,3,4,5,6\n",
            "piped.csv": 'a|b\n"1|2"|it,is\n',
            "tabbed.csv": "a\tb\n1\t2\n",
            "windows.csv": '\ufeffa,b\r\n1,"two\r\nlines"\r\n',
            "plain.csv": "a-b,B_2\n1,2\n",
        }

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "seeds": {
                "test": {
                    "named": {"+quote_columns": True},
                    "plain": {"+quote_columns": False},
                    "piped": {"+delimiter": "|"},
                    "tabbed": {"+delimiter": "\t"},
                }
            }
        }

    def test_names_and_delimiters(self, project, rows):
        run_dbt(["seed"])
        run_dbt(["seed"])
        names = [row[0] for row in rows("describe {schema}.named")][:6]
        assert names == HEADERS
        assert rows("select * from {schema}.named") == [(1, 2, 3, 4, 5, 6)]
        assert rows("select * from {schema}.piped") == [("1|2", "it,is")]
        assert rows("select * from {schema}.tabbed") == [(1, 2)]
        assert [(a, b.replace("\r", "")) for a, b in rows("select a, b from {schema}.windows")] == [(1, "two\nlines")]
        assert rows("select `a-b`, b_2 from {schema}.plain") == [(1, 2)]
