"""A malformed seed file is refused; the message gives the line and the column."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.paimon.writing.seed_values import differs_as_double
from dbt.adapters.paimon.writing.seeds import SeedColumn, _json_value, check_file, load


def seed(delimiter: object = ",") -> dict[str, object]:
    return {"name": "cells", "original_file_path": "seeds/cells.csv", "config": {"delimiter": delimiter}}


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n",
        "a,b\r\n1,2\r\n",
        "a,b",
        "\ufeffa,b\n1,2",
        'a,b\n"1,5","two\nlines"\n,\n',
        # dbt reads a blank line as a row of NULLs.
        "a\n1\n\n3\n",
        "a,b\n1,2\n\n",
    ],
)
def test_tables(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cells.csv"
    path.write_bytes(text.encode())
    check_file(path, seed())


@pytest.mark.parametrize(
    ("content", "delimiter", "said"),
    [
        (b"a,b\n1,2,30\n", ",", ["line 2: 3 values for 2 columns", "'30'", "'b'", "double quotes"]),
        (b'a,b\n"1\n2",3\n4,5,6\n', ",", ["line 4: 3 values for 2 columns"]),
        (b"a,b\n1\n2,3,4\n5\n", ",", ["line 3: 3 values", "And 2 more such lines"]),
        (b"", ",", ["no header"]),
        (b"\n1,2\n", ",", ["no header"]),
        (b"a,b\n1,caf\xe9\n", ",", ["not UTF-8"]),
        (b"a,b\n", "", ["delimiter=''"]),
        (b"a,b\n", "||", ["delimiter='||'"]),
    ],
)
def test_malformed(tmp_path: Path, content: bytes, delimiter: str, said: list[str]) -> None:
    path = tmp_path / "cells.csv"
    path.write_bytes(content)
    with pytest.raises(CompilationError) as raised:
        check_file(path, seed(delimiter))
    message = str(raised.value)
    assert "seed 'cells' (seeds/cells.csv)" in message
    assert all(part in message for part in said), message


def test_column_types_ignore_case(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_text("code,n,at\n007,007,2024-01-01T12:00:00.1234560\n")
    typed = seed() | {"config": {"column_types": {"CODE": "string"}}}
    assert [str(value) for value in load(path, typed).rows[0]] == ["007", "7", "2024-01-01 12:00:00.123456"]


def test_a_time_finer_than_microseconds(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_text("id,at\n1,2024-01-01T12:00:00\n2,2024-01-01T12:00:00.1234567\n")
    with pytest.raises(CompilationError, match=r"line 3: column at: '2024-01-01T12:00:00.1234567'"):
        load(path, seed())


@pytest.mark.parametrize(
    ("number", "other"),
    [
        ("0.1", False),
        ("1234567.891", False),
        ("9007199254740992", False),
        ("9007199254740993", True),
        ("602214076000000000000000", False),
        ("6.02214076E+23", False),
        ("1E+999", True),
        ("1E-999", True),
        ("0.00", False),
        ("NaN", False),
    ],
)
def test_whether_a_double_differs(number: str, other: bool) -> None:
    assert differs_as_double(Decimal(number)) is other


@pytest.mark.parametrize(
    ("value", "better"),
    [
        ("NaN", "string"),
        ("Infinity", "string"),
        ("7e12345678", "string"),
        ("1e39", "string"),
        ("1e20", "decimal(38,0)"),
    ],
)
def test_numbers_that_are_no_bigint(value: str, better: str) -> None:
    with pytest.raises(DbtRuntimeError) as raised:
        _json_value(Decimal(value), SeedColumn("code", "bigint", False), seed())
    assert f"column code: {Decimal(value)} does not fit into bigint" in str(raised.value)
    assert f"column_types: {{code: '{better}'}}" in str(raised.value)
