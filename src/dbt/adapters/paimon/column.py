"""A column of a Paimon table, with its Spark type."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from dbt.adapters.base.column import Column
from dbt.adapters.spark.column import SparkColumn

from dbt.adapters.paimon.sql.data_types import is_text
from dbt.adapters.paimon.sql.plain_values import INTEGERS
from dbt.adapters.paimon.sql.text import quoted

# char(n) and varchar(n), with the length as a group.
SIZED: Final = re.compile(r"(?:var)?char(?:acter)?\s*\(\s*(\d+)\s*\)")
# Paimon's STRING is a varchar of this length.
_UNLIMITED: Final = 2_147_483_647


@dataclass
class PaimonColumn(SparkColumn):
    """dbt's column; `dtype` is the complete Spark type in lower case (`decimal(10,2)`), ready for DDL."""

    @property
    def quoted(self) -> str:
        return quoted(self.column)

    def is_string(self) -> bool:
        return is_text(self.dtype)

    def string_size(self) -> int:
        sized = SIZED.match(self.dtype.lower())
        return int(sized[1]) if sized else _UNLIMITED

    def can_expand_to(self, other_column: Column) -> bool:
        """Whether both are strings and the other one is longer (`adapter.expand_target_column_types`)."""
        return self.is_string() and other_column.is_string() and other_column.string_size() > self.string_size()

    @classmethod
    def string_type(cls, size: int) -> str:
        return "string" if size >= _UNLIMITED else f"varchar({size})"

    def is_numeric(self) -> bool:
        return self.dtype.lower().startswith("decimal")

    def is_integer(self) -> bool:
        return self.dtype.lower() in INTEGERS
