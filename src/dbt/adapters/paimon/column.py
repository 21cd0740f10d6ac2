"""A column of a Paimon table, in Spark's types."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.spark.column import SparkColumn


@dataclass
class PaimonColumn(SparkColumn):
    """dbt's column, with Spark's quoting.

    `dtype` is the complete Spark type text in lower case (`decimal(10,2)`, `array<struct<a:int>>`), so that `data_type`
    can be pasted into DDL.
    """

    @property
    def quoted(self) -> str:
        """The name in backticks; backticks within it are doubled (Spark SQL's delimited identifiers)."""
        return f"`{self.column.replace('`', '``')}`"

    def is_string(self) -> bool:
        """Whether the type is text (`string`, `varchar(n)`, `char(n)`)."""
        return self.dtype.lower().startswith(("string", "varchar", "char"))

    def string_size(self) -> int:
        """Paimon does not limit the length of text unless a contract says so; dbt never needs to widen a column."""
        return 2_147_483_647

    def is_numeric(self) -> bool:
        """Whether the type is an exact decimal."""
        return self.dtype.lower().startswith("decimal")

    def is_integer(self) -> bool:
        """Whether the type is a whole number."""
        return self.dtype.lower() in ("tinyint", "smallint", "int", "integer", "bigint")

    def is_float(self) -> bool:
        """Whether the type is a binary floating point number."""
        return self.dtype.lower() in ("float", "double", "real")
