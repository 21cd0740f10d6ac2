"""Seeds arrive as they were written, in one commit."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from dbt.tests.util import run_dbt, write_file

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
        return {"cells.csv": CSV, "cells.yml": PROPERTIES, "many.csv": many, "empty.csv": "id,word\n"}

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

    def test_seed_again_replaces_rows_and_columns(self, project, rows):
        run_dbt(["seed"])
        write_file("id,other\n5,x\n", project.project_root, "seeds", "many.csv")
        run_dbt(["seed", "--select", "many"])
        assert rows("select * from {schema}.many") == [(5, "x")]

    def test_a_cell_of_the_wrong_type_changes_nothing(self, project, rows):
        before = rows("select * from {schema}.cells")
        write_file(
            CSV.replace("12345678901234567890.12", "a lot"), project.project_root, "seeds", "cells.csv"
        )
        (result,) = run_dbt(["seed", "--select", "cells"], expect_pass=False)
        assert "money" in result.message and "a lot" in result.message
        assert rows("select * from {schema}.cells") == before
