"""Checks names of schemas, tables, columns, tags, branches and views, before any statement is sent."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from dbt.adapters.paimon.sql.helper_names import LONGEST_SUFFIX, base_table_name, owner_of
from dbt.adapters.paimon.sql.views import REGISTRY_TABLE

# A quote would end the string literal that contains the name. Paimon splits names at dots when it renames a table
# [ran, 0.9.0]. A schema is also a folder: in its name, a slash would add a level, and a colon would end a URI scheme.
_NOT_IN_SCHEMAS: Final = re.compile(r"""['"`./\\:\x00-\x1f]""")
# A table is a folder, too; a `$` separates its name from that of a system table (Identifier.isSystemTable).
_NOT_IN_TABLES: Final = re.compile(r"[/:$\x00]")
# A tag is a file (TagManager.tagPath). If a tag's name contains a colon, Paimon cannot list the table's tags. A comma
# would split the argument of delete_tag [ran, 0.9.0].
_NOT_IN_TAGS: Final = re.compile(r"[/:,\x00]")
# A brace that does not start a quantifier such as `{2}` or `{2,5}`.
_NON_QUANTIFIER_BRACE: Final = re.compile(r"(?<!\\)\{(?!\d+(?:,\d*)?\})")
_TAG_PREFIX: Final = "tag-"
# A branch is a folder (BranchManager.branchPath). Its name is also in table names such as `t$branch_b`, split at `$`.
_NOT_IN_BRANCHES: Final = re.compile(r"[/:,$\x00]")
_BRANCH_PREFIX: Final = "branch-"
# In bytes: NAME_MAX of Linux, dfs.namenode.fs-limits.max-component-length of HDFS.
_LONGEST_NAME: Final = 255
# Source: org.apache.spark.sql.catalyst.catalog.SessionCatalog.validateName, 3.5.7
_SESSION_CATALOG: Final = re.compile(r"\w+", re.ASCII)
# Reserved in some version: SystemColumns of 0.9, SpecialFields since 1.0. `rowkind`, which 0.9 allows, is checked in
# `spec.column_rules`.
_RESERVED_COLUMNS: Final = frozenset({"_VALUE_COUNT", "_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "_ROW_ID"})
_RESERVED_PREFIX: Final = "_KEY_"
# Sources: MetaStoreUtils.validateName of Hive, which also lowercases names; JdbcCatalog.allowUpperCase.
_METASTORE_NAMES: Final = {
    "hive": (re.compile(r"^[a-z0-9_]+$"), "a Hive metastore allows only names of lower-case letters, digits and _"),
    "jdbc": (re.compile(r"^[^A-Z]+$"), "a JDBC catalog does not allow names with upper-case letters"),
}
# Characters that Java's String.trim removes.
_JAVA_BLANKS: Final = "".join(map(chr, range(0x21)))
_EMPTY: Final = "the name is empty."


def schema_problem(schema: str) -> str:
    """Why a schema cannot have this name, and the remedy; '' if it can."""
    remedy = "in the node's `schema` config, or in generate_schema_name."
    if found := _NOT_IN_SCHEMAS.search(schema):
        return f"schema {schema!r}: {found[0]!r} cannot be part of a schema's name. Use letters, digits and _ {remedy}"
    if schema == "sys":
        return f"schema 'sys' is Paimon's own. Use a different name {remedy}"
    if too_long := _too_long(f"{schema}.db"):
        return f"schema {schema!r}: its folder's name, with .db, {too_long}. Use a shorter name {remedy}"
    return ""


def pattern_problem(name: str) -> str:
    """Why a name is not a valid regular expression; '' if it is. Some connectors use a name as a regular expression.

    Python's syntax is the same as Java's, except that Python reads a brace that starts no quantifier as a literal.
    """
    try:
        re.compile(f"({name})")
    except re.error as exc:
        return f"{name!r} is not a valid regular expression ({exc.msg})"
    if _NON_QUANTIFIER_BRACE.search(name):
        return f"{name!r} is not a valid regular expression: '{{' does not start a quantifier such as {{2}}"
    return ""


def table_problem(identifier: str) -> str:
    """Why a table cannot have this name, and the remedy; '' if it can."""
    remedy = "as `alias` of the node, or as its name."
    if found := _NOT_IN_TABLES.search(identifier):
        return f"table {identifier!r}: {found[0]!r} cannot be part of a table's name. Use a different name {remedy}"
    if identifier in (".", "..") or not identifier.strip():
        return f"table {identifier!r}: a folder cannot have this name. Use a different name {remedy}"
    if identifier == REGISTRY_TABLE:
        return f"table {identifier!r}: dbt-paimon stores the views of a schema there. Use a different name {remedy}"
    if problem := helper_problem(identifier):
        return problem
    if too_long := _too_long(identifier + "_" * LONGEST_SUFFIX):
        return (
            f"table {identifier!r}: its name, with the {LONGEST_SUFFIX}-character suffix that dbt-paimon adds while "
            f"building it, {too_long}. Use a shorter name {remedy}"
        )
    return ""


def helper_problem(identifier: str) -> str:
    """Why a table or view cannot have a helper table's name, and the remedy; '' if this is not such a name."""
    if (other := base_table_name(identifier)) is not None:
        why = f"for tables being built, and such a table is dropped when {other!r} is built"
    elif (other := owner_of(identifier)) is not None:
        why = f"for the positions and deletes that dbt-paimon keeps for {other!r}, and such a table is dropped with it"
    else:
        return ""
    return (
        f"table {identifier!r}: the suffix {identifier.removeprefix(other)} is reserved {why}. Use a different name "
        "as `alias` of the node, or as its name."
    )


def metastore_problem(metastore: str, schema: str, identifier: str) -> str:
    """Why a kind of metastore cannot store a table with these names, and the remedy; '' if it can."""
    if metastore not in _METASTORE_NAMES:
        return ""
    allowed, rule = _METASTORE_NAMES[metastore]
    for name in (schema, identifier):
        if not allowed.search(name):
            return (
                f"table {schema}.{identifier}: {name!r} cannot be stored: {rule}. Use a different name in the node's "
                "`schema` or `alias` config."
            )
    return ""


def column_problems(columns: Iterable[str]) -> list[str]:
    """Why a table cannot have columns with these names, each with the remedy; empty if it can."""
    problems = []
    # Spark ignores case when it looks up columns.
    by_name: dict[str, list[str]] = defaultdict(list)
    for name in columns:
        by_name[name.lower()].append(name)
        if not name.strip():
            problems.append(f"column {name!r}: a column's name cannot be empty. Name it with `as`.")
        elif name in _RESERVED_COLUMNS or name.startswith(_RESERVED_PREFIX):
            problems.append(f"column {name!r}: Paimon reserves this name. Rename it with `as`.")
    for same in by_name.values():
        if len(same) > 1:
            listed = ", ".join(map(repr, same))
            problems.append(f"columns {listed} have the same name. Rename all but one of them with `as`.")
    return problems


def tag_problem(tag: str) -> str:
    """Why a tag cannot have this name; '' if it can."""
    if not tag.strip():
        return _EMPTY
    # TagManager: a number would be taken for a snapshot id.
    if tag.isdigit():
        return "a tag's name cannot be a number: a number means a table snapshot. Put a letter before it."
    # DeleteTagProcedure of 1.0 and later trims the name, and then does not find the tag.
    if tag != tag.strip(_JAVA_BLANKS):
        return "a tag's name cannot begin or end with a blank or a control character: it could not be deleted."
    if found := _NOT_IN_TAGS.search(tag):
        return f"{found[0]!r} cannot be part of a tag's name. Use another character, such as '-' or '_'."
    if too_long := _too_long(_TAG_PREFIX + tag):
        return f"its file's name, with {_TAG_PREFIX}, {too_long}."
    return ""


def branch_problem(branch: str) -> str:
    """Why a branch cannot have this name; '' if it can."""
    if not branch.strip():
        return _EMPTY
    # BranchManager.createBranch
    if branch.isdigit():
        return "a branch's name cannot be a number."
    if branch == "main":
        return "'main' is the table's main branch, which always exists."
    if found := _NOT_IN_BRANCHES.search(branch):
        return f"{found[0]!r} cannot be part of a branch's name. Use another character, such as '-' or '_'."
    if too_long := _too_long(_BRANCH_PREFIX + branch):
        return f"its folder's name, with {_BRANCH_PREFIX}, {too_long}."
    return ""


def view_problem(catalog: str, schema: str, identifier: str) -> str:
    """Why the catalog of views cannot store a view with this name, and the remedy; '' if it can."""
    for name in (schema, identifier) if catalog == "spark_catalog" else ():
        if not _SESSION_CATALOG.fullmatch(name):
            return (
                f"view {schema}.{identifier}: {name!r} cannot be stored: views are in {catalog}, which allows only "
                "names of letters, digits and _. Use a different name, or materialize it as a table."
            )
    return ""


def _too_long(name: str) -> str:
    if (length := len(name.encode("utf-8", "surrogatepass"))) <= _LONGEST_NAME:
        return ""
    return f"has {length} bytes in UTF-8, and file systems allow {_LONGEST_NAME}"
