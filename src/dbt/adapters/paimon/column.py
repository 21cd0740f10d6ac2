"""A column of a Paimon table, in Spark's types."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.spark.column import SparkColumn


@dataclass
class PaimonColumn(SparkColumn):
    """dbt's column, rendered with Spark's quoting.

    `dtype` is Spark's type text, in lower case and whole (`decimal(10,2)`, `array<struct<a:int>>`), so that
    `data_type` can be written into DDL as it is.
    """

    @property
    def quoted(self) -> str:
        """The name in backticks; a backtick in it is doubled (Spark SQL's rule for delimited identifiers)."""
        return f"`{self.column.replace('`', '``')}`"

    def is_string(self) -> bool:
        """Whether the type is text (`string`, `varchar(n)`, `char(n)`)."""
        return self.dtype.lower().startswith(("string", "varchar", "char"))

    def string_size(self) -> int:
        """Paimon stores text without a limit unless a contract asks for one; dbt never has to widen it."""
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
