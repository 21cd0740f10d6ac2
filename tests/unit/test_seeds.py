"""A seed's file is a table, or it is refused by line and column."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt_common.exceptions import CompilationError

from dbt.adapters.paimon.seeds import check_file


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
        # A blank line is a row of NULLs to dbt.
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
        (b"a,b,c\n1,2,3\n4,5\n", ",", ["line 3: 2 values for 3 columns", "'c'"]),
        (b"a,b\n1,2,30\n", ",", ["line 2: 3 values for 2 columns", "'30'", "'b'", "double quotes"]),
        (b'a,b\n"1\n2",3\n4\n', ",", ["line 4: 1 values for 2 columns"]),
        (b"a,b\n1\n2\n3,4\n5\n", ",", ["line 2", "And 2 more such lines"]),
        (b"", ",", ["no header"]),
        (b"\n1,2\n", ",", ["no header"]),
        (b"a,b\n1,caf\xe9\n", ",", ["not UTF-8"]),
        (b"a,b\n", "", ["delimiter=''"]),
        (b"a,b\n", "||", ["delimiter='||'"]),
    ],
)
def test_no_tables(tmp_path: Path, content: bytes, delimiter: str, said: list[str]) -> None:
    path = tmp_path / "cells.csv"
    path.write_bytes(content)
    with pytest.raises(CompilationError) as raised:
        check_file(path, seed(delimiter))
    message = str(raised.value)
    assert "seed 'cells' (seeds/cells.csv)" in message
    assert all(part in message for part in said), message
