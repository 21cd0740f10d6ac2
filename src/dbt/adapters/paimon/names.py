"""Names of schemas and views that Spark and Paimon take; every other one is refused before a statement is sent."""

from __future__ import annotations

import re
from typing import Final

# Quotes end a name within another; Paimon takes a name apart at dots when it renames a table [ran, 0.9.0], and makes a
# folder of it, where a slash means two of them and a colon a URI.
_NOT_IN_SCHEMAS: Final = re.compile(r"""['"`./\\:\x00-\x1f]""")
# Source: org.apache.spark.sql.catalyst.catalog.SessionCatalog.validateName, 3.5.7
_SESSION_CATALOG: Final = re.compile(r"\w+", re.ASCII)


def schema_problem(schema: str) -> str:
    """Why a schema cannot have this name, and what to do; empty if it can."""
    found = _NOT_IN_SCHEMAS.search(schema)
    if found is None:
        return ""
    return (
        f"schema {schema!r}: {found[0]!r} cannot be part of a schema's name. Use letters, digits and _ in `schema` of "
        "the node's config, or in what generate_schema_name makes of it."
    )


def view_problem(catalog: str, schema: str, identifier: str) -> str:
    """Why the catalog of views cannot hold one of this name, and what to do; empty if it can."""
    for name in (schema, identifier):
        if catalog == "spark_catalog" and not _SESSION_CATALOG.fullmatch(name):
            return (
                f"view {schema}.{identifier}: views live in {catalog}, which takes letters, digits and _ only, and "
                f"{name!r} has others. Use another name, or materialize it as a table."
            )
    return ""
